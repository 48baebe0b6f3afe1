/// Measured times of named algorithms, from files of several forms.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::driver {

/// One measured time.
struct Measurement {
  std::string system;          ///< the machine; empty: the data do not tell
  std::string run;             ///< measured together, on the same nodes
  std::string function;        ///< "allreduce"
  std::string algorithm;       ///< as the data call it, with its implementation: "ring_ompi"
  std::string nodes;           ///< their number, or the sizes of a torus: "64", "8x8x8"
  std::vector<uint32_t> shape; ///< the sizes of a torus; empty: the data do not tell
  uint32_t numNodes = 1;
  uint32_t ranksPerNode = 1;
  uint64_t bytes = 0; ///< of the whole buffer: of all blocks, where there are blocks
  double ns = 0;      ///< of the slowest rank
  uint32_t line = 0;  ///< of the file
};

/// The facts that the output of OSU's programs does not have: the user gives them.
struct MeasuredSituation {
  std::string system;
  std::string algorithm;
  uint32_t nodes = 1;
  uint32_t ranksPerNode = 1;
};

/// Reads a table of PICO (tabs between columns that the first line names), the output of programs
/// of the OSU micro-benchmarks, or a machine profile that `colldsl tune` wrote. `name`: of the
/// file, for errors, which tell the line.
Result<std::vector<Measurement>> readMeasurements(const std::string &name, std::string_view text,
                                                  const MeasuredSituation &situation);

/// True if the buffer of the function consists of a block per rank.
bool hasBlocks(std::string_view function);

} // namespace colldsl::driver
