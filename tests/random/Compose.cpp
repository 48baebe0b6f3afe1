#include "tests/random/Compose.h"
#include "tests/random/Patterns.h"

namespace colldsl::generated {

void addComposition(Program &program, Random &random) {
  addPattern(program, random, Pattern::Bcast);
}

} // namespace colldsl::generated
