#include "tests/random/Generate.h"

#include "tests/random/Compose.h"
#include "tests/random/Mutate.h"
#include "tests/random/NestedTrees.h"
#include "tests/random/Patterns.h"
#include "tests/random/PromisedParts.h"

namespace colldsl::generated {

Program generate(uint64_t seed) {
  Random random(seed);
  Program program;
  program.ranks = static_cast<uint32_t>(random.chance(10) ? 1 : random.between(2, 6));
  program.elements = static_cast<uint64_t>(random.chance(5) ? 0 : random.between(1, 6));
  auto kind = random.below(100);
  if (kind < 30)
    addPattern(program, random, static_cast<Pattern>(random.below(kPatterns)));
  else if (kind < 42)
    addNeighborExchange(program, random);
  else
    addComposition(program, random);
  Random more(~seed); // so that the rest of the program of a seed stays what it was
  nestTrees(program, more);
  promiseParts(program, more);
  program.inPlace = !program.main().aliases.empty() && random.chance(50);
  for (int percent = 40; random.chance(percent); percent = 30)
    mutate(program, random);
  return program;
}

} // namespace colldsl::generated
