/// Walks all interleavings of a machine: every state that any order of its steps leads to, each
/// once, those of few steps first. A machine is a value with
///
///   template <typename Visit> void steps(Visit visit) const;   visit(next, "what happened")
///   std::string violation() const;      empty: this state may be
///   std::string unfinished() const;     where no step is left; empty: all have ended, nothing is
///   left llvm::ArrayRef<uint8_t> bytes() const;   equal if and only if the states are
///
/// A step is what a rank does without anybody seeing a part of it: one access to a shared word, one
/// line put or taken, one part of a copy.
#pragma once

#include <cstdint>
#include <deque>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/xxhash.h>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace colldsl::test {

struct Exploration {
  uint64_t states = 0;
  uint64_t ends = 0; ///< states in which no step is left
  std::string wrong; ///< empty: nothing; else what, and the steps that lead there
  bool isComplete = true;
};

template <typename Machine> class Explorer {
public:
  explicit Explorer(const Machine &first) { add(first, kNone, "begin"); }

  Exploration run() {
    while (!left_.empty() && found_.wrong.empty()) {
      auto [machine, number] = std::move(left_.front());
      left_.pop_front();
      visit(machine, number);
    }
    found_.states = seen_.size();
    return found_;
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Origin {
    uint32_t before;
    const char *step;
  };

  // Two states of 128 equal bits are taken for one.
  struct Print {
    uint64_t low, high;
    bool operator==(const Print &) const = default;
  };
  struct Hash {
    size_t operator()(const Print &print) const { return print.low; }
  };
  static Print printOf(const Machine &machine) {
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(machine.bytes());
    return {hash.low64, hash.high64};
  }

  void add(const Machine &machine, uint32_t before, const char *step) {
    auto number = static_cast<uint32_t>(origins_.size());
    if (!seen_.insert(printOf(machine)).second)
      return;
    origins_.push_back({before, step});
    left_.emplace_back(machine, number);
  }

  void visit(const Machine &machine, uint32_t number) {
    if (std::string wrong = machine.violation(); !wrong.empty())
      return blame(wrong, number);
    Print own = printOf(machine);
    bool isOver = true;
    machine.steps([&](const Machine &next, const char *step) {
      isOver = isOver && printOf(next) == own; // who looks in vain has done nothing
      add(next, number, step);
    });
    if (!isOver)
      return;
    ++found_.ends;
    if (std::string wrong = machine.unfinished(); !wrong.empty())
      blame(wrong, number);
  }

  void blame(const std::string &wrong, uint32_t number) {
    std::string steps;
    for (; number != kNone; number = origins_[number].before)
      steps = std::string("\n  ") + origins_[number].step + steps;
    found_.wrong = wrong + steps;
  }

  std::unordered_set<Print, Hash> seen_;
  std::vector<Origin> origins_;
  std::deque<std::pair<Machine, uint32_t>> left_;
  Exploration found_;
};

} // namespace colldsl::test
