/// Checks that a program is sound, which instantiation relies on.
#pragma once

#include "program/Program.h"

namespace colldsl {

/// Checks that every index is in range, every expression of the type that its user needs, and every
/// slot written before it is read; that expressions and statements have one user each. An error
/// says what is wrong.
Status checkProgram(const Program &program);

/// Takes the owner from the expressions that no declaration uses, which analysis leaves
/// behind here and there. Before lower().
void disownUnused(Program &program);

} // namespace colldsl
