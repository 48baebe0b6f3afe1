/// Traffic matrix: messages and bytes per pair of ranks, or of groups of consecutive ranks.
#pragma once

#include "show/OpTable.h"
#include "simulator/Workload.h"

namespace colldsl::show {

struct Matrix {
  struct Cell {
    uint32_t from = 0, to = 0; ///< rank / ranksPerCell
    uint64_t messages = 0, bytes = 0;
  };
  uint32_t ranks = 0;
  uint32_t ranksPerCell = 1;
  std::vector<Cell> cells; ///< those with messages, by (from, to)

  uint64_t volume() const; ///< bytes of all messages
  uint32_t size() const { return (ranks + ranksPerCell - 1) / ranksPerCell; }
  void addTo(const std::string &prefix, Columns &columns) const;
};

Matrix matrixOf(const sim::Workload &workload);
Matrix matrixOf(const OpTable &ops);

} // namespace colldsl::show
