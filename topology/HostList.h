/// Lists of hosts as Slurm writes them: "node[001-003,017],login1", "rack[0-1]node[00-15]".
#pragma once

#include "ir/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// The names of a list, in its order. The last brackets of a name run fastest. A range keeps the
/// width of its first number, so "n[08-10]" is n08, n09, n10. An error names the fault, and
/// column() says where it is. At most `limit` names.
class HostList {
public:
  explicit HostList(size_t limit) : limit_(limit) {}

  Status expand(std::string_view list);
  const std::vector<std::string> &names() const { return names_; }
  size_t column() const { return column_; } ///< of the fault in the list, from 1

private:
  struct Range {
    uint64_t first = 0, last = 0;
    size_t width = 1; ///< digits, at least
  };
  struct Part {
    std::string_view text;     ///< comes before the ranges
    std::vector<Range> ranges; ///< none in the last part of a name without brackets at its end
  };

  Status fail(size_t at, std::string message);
  Status parseName(std::string_view list, size_t begin, size_t end);
  Status parseRanges(std::string_view list, size_t begin, size_t end, std::vector<Range> &ranges);
  Status addNames(const std::vector<Part> &parts, size_t begin);
  void addFrom(const std::vector<Part> &parts, size_t part, std::string &name);

  size_t limit_;
  size_t column_ = 0;
  std::vector<std::string> names_;
};

} // namespace colldsl
