#include "tools/Commands.h"
#include "tools/OutOfMemory.h"

int main(int argc, char **argv) {
  colldsl::tools::endWhenMemoryRunsOut();
  return static_cast<int>(colldsl::tools::runProgram({argv + 1, argv + argc}));
}
