// For targets whose inputs have no parts that a mutation should know.
#include "tests/ir/ByteMutator.h"

namespace colldsl {

FuzzInput mutateFuzz(const std::vector<FuzzInput> &corpus, uint64_t seed) {
  return ByteMutator(seed).mutate(corpus);
}

} // namespace colldsl
