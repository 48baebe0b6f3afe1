/// A digest of the text of a collective and of all that it uses: called collectives, trees, graphs
/// and functions. A proof of the text is bound to it.
#pragma once

#include "program/Program.h"

namespace colldsl {

/// XXH64 of what the text means: names, types, contract and body of the collective, then those of
/// the declarations that it reaches. Comments, line numbers, and the place in the program do not
/// count, so that one text has one digest in all programs. It finds mistakes; it is no protection
/// against forgery.
uint64_t textDigest(const Program &program, DeclId collective);

} // namespace colldsl
