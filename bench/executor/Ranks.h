/// Results of ranks that were forked, and a flag that two of them pass.
#pragma once

#include "wireup/ForkedRanks.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <errno.h>
#include <span>
#include <string>
#include <sys/mman.h>

namespace colldsl::bench {

[[noreturn]] inline void fail(const std::string &why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  std::exit(1);
}

/// Ends the program if a rank failed.
inline std::vector<RankOutcome> require(Result<std::vector<RankOutcome>> outcomes) {
  if (Status s = outcomes ? firstFailure(*outcomes) : outcomes.status(); !s)
    fail(s.message());
  return outcomes.take();
}

/// Values of plain types, as a rank returns them.
template <typename T> std::vector<std::byte> pack(const std::vector<T> &values) {
  auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}
template <typename T> std::vector<T> unpack(const RankOutcome &outcome) {
  std::vector<T> values(outcome.bytes.size() / sizeof(T));
  std::memcpy(values.data(), outcome.bytes.data(), outcome.bytes.size());
  return values;
}

/// Two cache lines, each written by one of two ranks.
struct Flags {
  alignas(64) std::atomic<uint32_t> there;
  alignas(64) std::atomic<uint32_t> back;

  /// In memory that processes forked later share, and never freed.
  static Flags &shared() {
    return *static_cast<Flags *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  /// There and back; turns are counted from 1.
  void pass(Rank me, uint32_t turn) {
    if (me == Rank{0}) {
      there.store(turn, std::memory_order_release);
      while (back.load(std::memory_order_acquire) != turn) {
      }
    } else {
      while (there.load(std::memory_order_acquire) != turn) {
      }
      back.store(turn, std::memory_order_release);
    }
  }
};

} // namespace colldsl::bench
