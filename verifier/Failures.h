/// Collects counterexamples, up to the number that the caller wants to see. One stands for all that
/// differ in their ranks only.
#pragma once

#include "verifier/Model.h"
#include "verifier/Verifier.h"

#include <unordered_map>

namespace colldsl::proof {

enum class Grouping : uint8_t {
  Alike, ///< failures of one pattern are one
  None   ///< each failure stands for itself
};

class Failures {
public:
  /// most: at least one is kept, so that a failure never passes for a proof.
  Failures(const Model &model, uint32_t most, Grouping grouping = Grouping::Alike,
           const std::atomic<bool> *stop = nullptr)
      : model_(model), most_(most == 0 ? 1 : most), grouping_(grouping), stop_(stop) {}

  /// True if the search should end: so many failures were added that more would teach nothing, or
  /// the caller stopped it.
  bool full() const { return seen_ >= kMostSeen || isStopped(); }
  bool isStopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }
  bool empty() const { return all_.empty(); }
  /// The number of failures that were added, kept or not.
  size_t count() const { return seen_; }
  void add(Failure failure);

  /// A step at an op.
  Failure::Step step(Vertex v, std::string text) const {
    return {model_.rankOf(v), model_.opIdOf(v), model_.op(v).loc, std::move(text)};
  }

  /// The number of patterns (Alike.h) of which no failure was kept.
  uint64_t numLeftOut() const { return patterns_.size() - all_.size(); }
  std::vector<Failure> take();

private:
  static constexpr size_t kMostSeen = 1000;

  const Model &model_;
  size_t most_;
  Grouping grouping_;
  const std::atomic<bool> *stop_;
  size_t seen_ = 0;
  std::vector<Failure> all_;                         // of the smallest rank of their pattern
  std::vector<std::vector<uint32_t>> ranks_;         // of all failures, per pattern
  std::unordered_map<std::string, size_t> patterns_; // index into all_; most_: not kept
};

} // namespace colldsl::proof
