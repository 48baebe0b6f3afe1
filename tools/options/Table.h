/// A table of text, as people read it on a terminal.
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace colldsl::tools {

/// Columns are as wide as their widest cell. Columns of numbers are right-aligned.
class Table {
public:
  explicit Table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }

  /// As many cells as there are heads.
  void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(llvm::raw_ostream &out) const;

private:
  std::vector<std::vector<std::string>> rows_;
};

} // namespace colldsl::tools
