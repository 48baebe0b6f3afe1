#include "tools/tune/Alternation.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

using Clock = std::chrono::steady_clock;

Status runPlan(CollectivePlan &plan) {
  if (Status s = plan.start(); !s)
    return s;
  return plan.plan().wait(kCallTimeout);
}

template <typename Body> Result<int64_t> timed(Body body) {
  Clock::time_point begin = Clock::now();
  if (Status s = body(); !s)
    return s;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

} // namespace

Result<std::unique_ptr<Alternation>> Alternation::make(Communicator &communicator,
                                                       Library &library) {
  std::unique_ptr<Alternation> made(new Alternation(communicator, library));
  if (Status s = made->open(); !s)
    return s;
  return made;
}

Status Alternation::open() {
  if (Status s = barrier_.commit(); !s)
    return s;
  Status s = greatest_.setType(ElementType::I64);
  if (s)
    s = greatest_.setValue("op", static_cast<int64_t>(Reduction::Max));
  if (s)
    s = greatest_.setElements(kWords);
  if (s)
    s = greatest_.bind("x", BoundBuffer::in(mine_.data(), kWords * sizeof(int64_t)));
  if (s)
    s = greatest_.bind("y", {all_.data(), kWords * sizeof(int64_t)});
  return s ? greatest_.commit() : s;
}

Status Alternation::agree(std::span<int64_t> values) {
  for (size_t first = 0; first < values.size(); first += kWords) {
    std::span<int64_t> part = values.subspan(first, std::min(kWords, values.size() - first));
    std::copy(part.begin(), part.end(), mine_.begin());
    if (Status s = runPlan(greatest_); !s)
      return s;
    std::copy_n(all_.begin(), part.size(), part.begin());
  }
  return {};
}

Result<int64_t> Alternation::greatest(int64_t mine) {
  if (Status s = agree({&mine, 1}); !s)
    return s;
  return mine;
}

// Every other round runs backwards, so that no call always follows the same one. The timed barrier
// follows another barrier, so that it includes no wait for late ranks.
Status Alternation::run(std::span<TimedCall *const> calls, CallMemory &memory, uint32_t rounds,
                        std::span<RoundTimes *const> times) {
  std::vector<int64_t> ns((calls.size() + 1) * rounds); // the barriers' times come last
  for (uint32_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < calls.size(); ++i) {
      size_t which = round % 2 == 0 ? i : calls.size() - 1 - i;
      memory.write();
      if (Status s = runPlan(barrier_); !s)
        return s;
      Result<int64_t> time = timed([&] { return calls[which]->run(); });
      if (!time)
        return time.status();
      ns[which * rounds + round] = *time;
      memory.read();
    }
    if (Status s = runPlan(barrier_); !s)
      return s;
    Result<int64_t> time = timed([&] { return runPlan(barrier_); });
    if (!time)
      return time.status();
    ns[calls.size() * rounds + round] = *time;
  }
  if (Status s = agree(ns); !s)
    return s;
  barriers_.assign(ns.end() - static_cast<ptrdiff_t>(rounds), ns.end());
  for (size_t i = 0; i < calls.size(); ++i)
    times[i]->insert(times[i]->end(), ns.begin() + static_cast<ptrdiff_t>(i * rounds),
                     ns.begin() + static_cast<ptrdiff_t>((i + 1) * rounds));
  return {};
}

} // namespace colldsl::tools
