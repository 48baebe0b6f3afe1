#include "tests/random/Generate.h"

#include "tests/random/Blocks.h"
#include "tests/random/Compose.h"
#include "tests/random/Derive.h"
#include "tests/random/Lengths.h"
#include "tests/random/Machines.h"
#include "tests/random/Mutate.h"
#include "tests/random/NestedTrees.h"
#include "tests/random/Patterns.h"
#include "tests/random/PromisedParts.h"

namespace colldsl::generated {

namespace {

/// Which kinds of the language a program has beyond those that all may have.
struct Kinds {
  bool blocks = false;
  bool wired = false; ///< the blocks' contract is derived
  bool machine = false;
};

void addMain(Program &program, const Kinds &kinds, Random &random, Random &more) {
  auto kind = random.below(100);
  if (kind >= 42) {
    addComposition(program, random);
    if (kinds.wired)
      addBlockWiring(program, more);
    if (kinds.machine)
      addLevelCalls(program, more);
    deriveContract(program);
  } else if (kinds.machine) {
    addByLevels(program, more);
  } else if (kinds.blocks && more.chance(50)) {
    program.collectives.emplace_back();
    addBlockPattern(program, more);
  } else if (kind < 30) {
    addPattern(program, random, static_cast<Pattern>(random.below(kPatterns)));
  } else {
    addNeighborExchange(program, random);
  }
  bool isWired = kinds.wired && kind >= 42;
  if (kinds.blocks && (!isWired || more.chance(20)))
    addBlockPattern(program, more);
}

/// Lengths that the contract allows. What a body writes over in a contract that is derived may ask
/// for more: there often all are equal, and it is left to what is claimed for others.
void chooseLengths(Program &program, const Kinds &kinds, Random &random) {
  if (!program.hasBlocks() || random.chance(kinds.wired ? 50 : 10))
    return;
  Result<LengthClasses> classes = LengthClasses::of(program);
  if (classes)
    program.lengths = classes->choose(LengthClasses::Choice::Random, random);
}

} // namespace

Program generate(uint64_t seed) {
  Random random(seed), beyond(seed ^ 0x5eed0b10c5u);
  Program program;
  program.ranks = static_cast<uint32_t>(random.chance(10) ? 1 : random.between(2, 6));
  program.sizes[0] = random.chance(5) ? 0 : random.between(1, 6);
  Kinds kinds{beyond.chance(40), beyond.chance(60), beyond.chance(20)};
  kinds.wired &= kinds.blocks;
  for (size_t symbol = 1; symbol < kSymbols; ++symbol)
    program.sizes[symbol] = beyond.between(1, 5);
  program.lengths.all = std::min<int64_t>(3, program.sizeOf(Symbol::M));
  if (kinds.machine)
    program.machine = beyond.anyOf(machinesFor(program.ranks));
  addMain(program, kinds, random, beyond);
  Random more(~seed); // so that the rest of the program of a seed stays what it was
  nestTrees(program, more);
  promiseParts(program, more);
  program.inPlace = !program.main().aliases.empty() && random.chance(50);
  for (int percent = 40; random.chance(percent); percent = 30)
    mutate(program, random);
  chooseLengths(program, kinds, beyond);
  return program;
}

} // namespace colldsl::generated
