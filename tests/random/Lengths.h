/// Lengths of blocks that are known at call time, of which a program must be right for all that its
/// contract allows: slices that it equates are equally long, a buffer that lies in another one is
/// as long as its place there, and a block fits into its room.
#pragma once

#include "ir/Result.h"
#include "ir/Schedule.h"
#include "tests/random/Build.h"

namespace colldsl::generated {

/// Which blocks of a program are equally long, with what it runs with.
class LengthClasses {
public:
  /// An error: no lengths are right.
  static Result<LengthClasses> of(const Program &program);

  enum class Choice : uint8_t {
    Random, ///< every fourth is empty
    Empty,
    Full,     ///< all have some elements; those of a room as many as fit in
    OneEmpty, ///< the others are full
    OneFull,  ///< the others are empty
  };
  BlockLengths choose(Choice choice, Random &random) const;

private:
  friend class ClassMaker;
  struct Class {
    std::optional<int64_t> fixed; ///< by a slice of known length
    int64_t room = INT64_MAX;
  };

  std::map<BlockLengths::Key, uint32_t> classOf_;
  std::vector<Class> classes_;
};

/// What turns slices into elements on each rank of a schedule of the program: the interpreted one,
/// or one that was instantiated. Blocks lie in any order, with gaps.
std::vector<Sizes> sizesFor(const Program &program, const Schedule &schedule);

} // namespace colldsl::generated
