// Walks the interleavings of a protocol one rule of which was broken, until that is found.
//   mutant FINDING MESSAGES [late]
// FINDING: a part of what is to be found, in scenarios of so many messages.
#include "tests/explorer/RemoteScenarios.h"

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) {
  using namespace colldsl::test;
  if (argc < 3)
    return 2;
  size_t messages = std::strtoul(argv[2], nullptr, 10);
  std::string found = explore({.messages = messages, .mostStates = 20000, .isLate = argc > 3});
  std::cout << found << std::endl;
  return found.find(argv[1]) == std::string::npos;
}
