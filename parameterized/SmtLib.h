/// Queries as text that any solver of SMT-LIB 2.6 reads.
#pragma once

#include "parameterized/ProofRecord.h"

namespace colldsl::parameterized {

/// A script that declares the constants and functions of a query, asserts its formulas and asks for
/// a model, of which there is none: integers, uninterpreted functions, no quantifiers. It begins
/// with `comment`, a line. Terms that occur several times are defined once, so that the text grows
/// with the number of distinct terms.
std::string smtLib(const ProofRecord::Query &query, const std::string &comment);

} // namespace colldsl::parameterized
