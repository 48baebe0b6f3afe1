/// Small mistakes, and other changes of one place of a program.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

void mutate(Program &program, Random &random);

/// All lists of statements of a program's collectives, outermost first.
std::vector<std::vector<Stmt> *> statementLists(Program &program);

} // namespace colldsl::generated
