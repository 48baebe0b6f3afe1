#include "tests/ir/Fuzz.h"

#include <cstdio>
#include <cstdlib>

namespace colldsl {

void failFuzz(const std::string &what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

} // namespace colldsl
