/// Values of cells: sums of input cells, each of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace colldsl::mscclpp {

using Value = uint32_t;

class Values {
public:
  static constexpr Value kUndefined = 0; ///< what was never written, or what the caller left

  Values() { terms_.emplace_back(); }
  Value input(uint32_t launch, uint32_t gpu, uint32_t cell);
  Value sum(Value a, Value b);
  /// "input[2]@0 + input[2]@1 of launch 1", the chunks of `perChunk` cells.
  std::string describe(Value value, uint32_t perChunk) const;

private:
  struct Term {
    uint32_t launch, gpu, cell;
    auto operator<=>(const Term &) const = default;
  };
  Value intern(std::vector<Term> terms);

  std::vector<std::vector<Term>> terms_;
  std::map<std::vector<Term>, Value> known_;
};

} // namespace colldsl::mscclpp
