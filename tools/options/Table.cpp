#include "tools/options/Table.h"

#include "ir/Printable.h"
#include "tools/options/Color.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cassert>

namespace colldsl::tools {

/// A column is right-aligned if all of its cells begin with a digit.
void Table::print(llvm::raw_ostream &out) const {
  size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns);
  std::vector<bool> isRight(columns, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < columns; ++c) {
      assert(rows_[r].size() == columns && "a row has as many cells as there are heads");
      widths[c] = std::max(widths[c], rows_[r][c].size());
      bool isNumber = !rows_[r][c].empty() && llvm::isDigit(rows_[r][c].front());
      isRight[c] = isRight[c] && (r == 0 || isNumber);
    }
  bool paints = &out == &resultStream() && hasColors(1);
  for (const std::vector<std::string> &row : rows_) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      std::string padding(widths[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (isRight[c] ? padding + row[c] : row[c] + padding);
    }
    llvm::StringRef shown = llvm::StringRef(line).rtrim();
    bool isHead = &row == &rows_.front();
    if (paints && isHead) // masked here, as resultStream() would mask the colours
      llvm::outs() << colored(printable(shown), Color::Bold) << "\n";
    else
      out << shown << "\n";
  }
}

} // namespace colldsl::tools
