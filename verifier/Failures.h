/// Collects counterexamples up to the number that the caller wants to see.
#pragma once

#include "verifier/Model.h"
#include "verifier/Verifier.h"

namespace colldsl::proof {

class Failures {
public:
  /// most: at least one is kept, so that a failure never passes for a proof.
  Failures(const Model &model, uint32_t most) : model_(model), most_(most == 0 ? 1 : most) {}

  bool full() const { return all_.size() >= most_; }
  bool empty() const { return all_.empty(); }
  void add(Failure failure) {
    if (!full())
      all_.push_back(std::move(failure));
  }

  /// A step at an op.
  Failure::Step step(Vertex v, std::string text) const {
    return {model_.rankOf(v), model_.opIdOf(v), model_.op(v).loc, std::move(text)};
  }
  std::vector<Failure> take() { return std::move(all_); }

private:
  const Model &model_;
  size_t most_;
  std::vector<Failure> all_;
};

} // namespace colldsl::proof
