/// The labels that live frames have set, such as `s[3]`.
///
/// A frame has one family per label name. A label is entry i of its family, where i is its index,
/// or 0 if it has none. Labels whose index is negative, or far beyond all others, are hashed, and
/// so are those with several indices, joined to one by joinIndices(). Entries carry the stamp of
/// the frame that set them, so that nothing is cleared between frames or runs.
#pragma once

#include "instantiate/dependence/OpRange.h"
#include "ir/EpochTable.h"

namespace colldsl {

/// Joins two indices to one with the highest bit set, so that it is no small index.
constexpr int64_t joinIndices(int64_t a, int64_t b) {
  return static_cast<int64_t>(mixHash(static_cast<uint64_t>(a), static_cast<uint64_t>(b)) |
                              uint64_t{1} << 63);
}

class LabelTable {
public:
  /// The labels of one frame.
  struct Scope {
    uint32_t firstFamily = 0;
    uint32_t families = 0;
    uint64_t stamp = 0;
  };

  void clear() {
    numFamilies_ = 0;
    others_.clear();
    anyHashed_ = false;
  }

  Scope open(uint32_t families) {
    Scope scope{numFamilies_, families, ++lastStamp_};
    numFamilies_ += families;
    if (families_.size() < numFamilies_)
      families_.resize(numFamilies_);
    return scope;
  }
  void close(const Scope &scope) { numFamilies_ = scope.firstFamily; }

  /// False: it is set already.
  [[gnu::always_inline]] bool set(const Scope &scope, uint32_t name, int64_t labelIndex,
                                  OpRange range) {
    auto at = static_cast<uint64_t>(labelIndex);
    std::vector<Entry> &family = families_[scope.firstFamily + name];
    if (at >= family.size() || anyHashed_) [[unlikely]]
      return setOther(scope, name, at, range);
    if (family[at].stamp == scope.stamp)
      return false;
    family[at] = {scope.stamp, range};
    return true;
  }

  /// Null: it is not set. Valid until the next set().
  const OpRange *find(const Scope &scope, uint32_t name, int64_t labelIndex) const {
    auto at = static_cast<uint64_t>(labelIndex);
    const std::vector<Entry> &family = families_[scope.firstFamily + name];
    if (at < family.size() && family[at].stamp == scope.stamp) [[likely]]
      return &family[at].range;
    return anyHashed_ ? others_.lookup(hash(scope, name, at)) : nullptr;
  }

private:
  struct Entry {
    uint64_t stamp = 0;
    OpRange range;
  };
  static constexpr uint64_t kDirect = 1 << 12;

  /// Up to kDirect at once; beyond, only as far as indices come one after the other.
  static bool grow(std::vector<Entry> &family, uint64_t at) {
    if (at >= kDirect && at > family.size())
      return false;
    family.resize(at + at / 2 + 4);
    return true;
  }

  /// Sets a label for which the family is too short, or that may be hashed.
  [[gnu::noinline]] bool setOther(const Scope &scope, uint32_t name, uint64_t at, OpRange range) {
    std::vector<Entry> &family = families_[scope.firstFamily + name];
    if (at >= family.size() && !grow(family, at))
      return setHashed(scope, name, at, range);
    Entry &entry = family[at];
    if (entry.stamp == scope.stamp || (anyHashed_ && others_.lookup(hash(scope, name, at))))
      return false;
    entry = {scope.stamp, range};
    return true;
  }

  bool setHashed(const Scope &scope, uint32_t name, uint64_t at, OpRange range) {
    anyHashed_ = true;
    auto [label, isNew] = others_.insert(hash(scope, name, at));
    if (isNew)
      *label = range;
    return isNew;
  }
  static uint64_t hash(const Scope &scope, uint32_t name, uint64_t at) {
    return mixHash(mixHash(scope.stamp, name), at);
  }

  std::vector<std::vector<Entry>> families_; ///< the first numFamilies_ are in use
  uint32_t numFamilies_ = 0;
  uint64_t lastStamp_ = 0;
  EpochTable<OpRange> others_;
  bool anyHashed_ = false;
};

} // namespace colldsl
