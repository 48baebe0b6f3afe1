/// A list of passes as a person writes it: `edge-coloring{algorithm=optimal},fuse`.
#pragma once

#include "passes/Pass.h"

namespace colldsl {

/// The nearest of the words that fit, or nothing. The caller supplies the search.
using NearestName =
    std::function<std::string(std::string_view word, const std::vector<std::string_view> &words)>;

/// Watches a pipeline: what each pass made, and how long it took. An error stops it.
class PassObserver {
public:
  virtual ~PassObserver() = default;
  virtual Status ran(std::string_view pass, const DagOutcome &outcome, double seconds) = 0;
  virtual Status bound(std::string_view pass, const BindOutcome &outcome, double seconds) = 0;
};

class Pipeline {
public:
  /// Passes with commas between them, each with options in braces and semicolons between these. An
  /// error: an unknown pass or option; it names the known ones. `default` stands for `tune,choose`,
  /// or for `choose` alone if there are no tuning parameters.
  static Result<Pipeline> parse(std::string_view text, const NearestName &nearest);

  bool empty() const { return passes_.empty(); }
  /// The text that was parsed.
  const std::string &text() const { return text_; }
  bool has(PassKind kind) const;
  /// True if it names passes that bind tuning parameters: then it makes sense for a collective
  /// only.
  bool needsCollective() const;

  /// The program passes, one after the other, each seeing what those before it bound.
  Result<BindOutcome> bind(const BindContext &context, PassObserver *observer = nullptr) const;

  /// The DAG passes, one after the other.
  Result<Schedule> run(Schedule schedule, const DagContext &context,
                       PassObserver *observer = nullptr) const;

private:
  struct Step {
    const PassInfo *info;
    std::shared_ptr<const Pass> pass;
    bool isDefault = false;
  };

  std::string text_;
  std::vector<Step> passes_;
};

} // namespace colldsl
