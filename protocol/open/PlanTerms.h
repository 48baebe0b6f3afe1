/// The terms of a plan: all that ranks must have in common to open it together, in words, from the
/// most general to the most special. Both ends of each edge compare them when the plan is opened,
/// so that an error names the first that differs, and both values.
///
///   PlanTerms terms;
///   terms.add("collective", "bcast");
///   terms.add("size 'n'", "1000");
///   terms.add("value of 'root'", "3");
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace colldsl::protocol {

class PlanTerms {
public:
  /// The most bytes of the text, so that it fits into a frame of any transport.
  static constexpr size_t kMaxBytes = 272;

  /// `name`: without '=' and line breaks. A long value is cut off, with a hash behind it.
  void add(std::string_view name, std::string_view value);

  /// A line for each term: "collective=bcast". Terms without room share one line with their hash.
  std::string text() const;

private:
  std::string text_;
  uint64_t restHash_ = 0;
  bool hasRest_ = false;
};

uint64_t hashOfTerms(std::string_view terms);

/// An error: "rank 0 and rank 1 disagree on the value of 'root': 3 on rank 0, 4 on rank 1".
Status compareTerms(Rank a, std::string_view ofA, Rank b, std::string_view ofB);

} // namespace colldsl::protocol
