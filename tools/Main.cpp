#include "tools/Commands.h"

int main(int argc, char **argv) {
  return static_cast<int>(colldsl::tools::runProgram({argv + 1, argv + argc}));
}
