#include "tools/run/RankRun.h"

#include "driver/Lists.h"
#include "protocol/open/PlanTerms.h"
#include "tools/options/Progress.h"
#include "tools/run/Oracle.h"

#include <cstring>
#include <new>
#include <optional>

namespace colldsl::tools {

using namespace driver;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::align_val_t kAlignment{64};

/// Records the begin and end of the ops of a run.
class Tracing final : public Observer {
public:
  explicit Tracing(uint32_t ops) : times_(ops) {}
  void runStarted() override {}
  void opStarted(OpId op) override { times_[index(op)].begin = now(); }
  void opFinished(OpId op) override { times_[index(op)].end = now(); }
  void runFinished() override {}
  std::vector<OpTimes> take() { return std::move(times_); }

private:
  static uint64_t now() {
    std::chrono::nanoseconds time = Clock::now().time_since_epoch();
    return static_cast<uint64_t>(time.count());
  }

  std::vector<OpTimes> times_;
};

class RankRun {
public:
  RankRun(const RunTask &task, Endpoint &endpoint)
      : task_(task), rank_(endpoint.rank()), engine_(endpoint),
        oracle_(*task.schedule, *task.sizes, rank_),
        memory_(task.isShared ? &endpoint : nullptr, oracle_.bytes()) {}

  Result<RankReport> run() {
    if (Status s = open(); !s)
      return s;
    uint32_t calls = task_.warmup + task_.iterations;
    std::optional<Progress> progress;
    if (rank_ == Rank{0})
      progress.emplace();
    std::string name = task_.name + ", calls of " + counted(task_.schedule->numRanks(), "rank");
    for (uint32_t call = 0; call < calls; ++call) {
      if (Status s = makeCall(call); !s)
        return s;
      if (progress)
        progress->watch().progress({name, call + 1, calls});
    }
    return std::move(report_);
  }

private:
  /// Memory aligned to a cache line, as callers that measure allocate it.
  struct AlignedMemory {
    AlignedMemory(Endpoint *sharing, uint64_t bytes)
        : endpoint(sharing), shared(sharing ? sharing->allocateShared(bytes + 1) : nullptr),
          data(static_cast<std::byte *>(shared ? shared : ::operator new(bytes, kAlignment))),
          size(bytes) {}
    ~AlignedMemory() {
      if (shared)
        endpoint->releaseShared(shared);
      else
        ::operator delete(data, kAlignment);
    }
    AlignedMemory(const AlignedMemory &) = delete;
    AlignedMemory &operator=(const AlignedMemory &) = delete;
    Endpoint *endpoint;
    void *shared; ///< null: the memory is private to this process
    std::byte *data;
    uint64_t size;
  };

  Status open() {
    for (uint32_t i = 0; i < 2; ++i) {
      Result<Oracle::Contents> contents = oracle_.contents(i);
      if (!contents)
        return contents.status();
      contents_[i] = contents.take();
    }
    auto plan = Plan::open(engine_, task_.image->rank(rank_), task_.image->sizeClass(), binding(),
                           terms(), task_.transferPolicy);
    if (!plan)
      return plan.status();
    plan_ = plan.take();
    report_.transfers = plan_->transfers();
    auto barrier = Plan::open(engine_, task_.barrier->rank(rank_), task_.barrier->sizeClass(), {});
    if (!barrier)
      return barrier.status();
    barrier_ = barrier.take();
    return {};
  }

  /// The terms on which all ranks must agree: a launcher may start them with different options.
  std::string terms() const {
    const Dag &dag = task_.schedule->ranks[index(rank_)];
    protocol::PlanTerms terms;
    terms.add("collective", task_.name);
    if (!dag.buffers.empty())
      terms.add("type", spelling(dag.buffers.front().type));
    terms.add("size 'n'", std::to_string((*task_.sizes)[index(rank_)].elements));
    return terms.text();
  }

  Binding binding() const {
    const Dag &dag = task_.schedule->ranks[index(rank_)];
    const Sizes &sizes = (*task_.sizes)[index(rank_)];
    Binding binding;
    binding.elements = sizes.elements;
    binding.blocks = sizes.blocks;
    for (uint32_t b = 0; b < dag.buffers.size(); ++b) {
      const Buffer &buffer = dag.buffers[b];
      ByteRange place = oracle_.placeOf(BufferId{b});
      binding.buffers.push_back(
          {place.length ? memory_.data + place.offset : nullptr, place.length});
      bool holds = buffer.role == BufferRole::In || buffer.role == BufferRole::InOut;
      if (buffer.layout == Layout::Capacity && !holds)
        binding.blocks[b] = {}; // filled by the run
    }
    return binding;
  }

  Status makeCall(uint32_t call) {
    const Oracle::Contents &contents = contents_[call % 2];
    std::memcpy(memory_.data, contents.before.data(), memory_.size);
    if (Status s = runPlan(*barrier_); !s)
      return Status::error("waiting to begin call " + std::to_string(call + 1) + ": " +
                           s.message());
    bool isTraced = task_.isTraced && call + 1 == task_.warmup + task_.iterations;
    Tracing tracing(isTraced ? task_.schedule->ranks[index(rank_)].size() : 0);
    plan_->setObserver(isTraced ? &tracing : nullptr);
    Clock::time_point begin = Clock::now();
    if (Status s = runPlan(*plan_); !s)
      return s;
    Clock::time_point end = Clock::now();
    plan_->setObserver(nullptr);
    report_.trace = tracing.take();
    if (call >= task_.warmup)
      report_.ns.push_back(std::chrono::nanoseconds(end - begin).count());
    if (task_.schedule->hasContract && report_.wrong.empty())
      check(call, contents_[call % 2]);
    return {};
  }

  Status runPlan(Plan &plan) {
    if (Status s = plan.start(); !s)
      return s;
    return plan.wait(task_.timeout);
  }

  void check(uint32_t call, Oracle::Contents &contents) {
    std::vector<std::byte> &expected = contents.after;
    for (const ByteRange &range : contents.anything)
      std::copy_n(memory_.data + range.offset, range.length, expected.data() + range.offset);
    std::string wrong = oracle_.wrongInvariant({memory_.data, memory_.size}, call % 2);
    bool isWrong = std::memcmp(memory_.data, expected.data(), memory_.size) != 0;
    if (wrong.empty())
      wrong = isWrong ? oracle_.mismatch({memory_.data, memory_.size}, expected) : wrongLength();
    if (!wrong.empty())
      report_.wrong = "call " + std::to_string(call + 1) + ": " + wrong;
  }

  /// Describes the first block whose length, which travels with the data, is wrong.
  std::string wrongLength() const {
    const Dag &dag = task_.schedule->ranks[index(rank_)];
    for (const Ensure &ensure : dag.contract.ensures) {
      const Buffer &buffer = dag.bufferOf(ensure.target);
      if (buffer.layout != Layout::Capacity)
        continue;
      uint32_t block = ensure.target.block;
      uint64_t expected =
          (*task_.sizes)[index(rank_)].blocks[index(ensure.target.buffer)].length[block];
      uint64_t found = plan_->blockLengths(ensure.target.buffer)[block];
      if (found != expected)
        return "block " + std::to_string(block) + " of " + task_.schedule->nameOf(buffer) +
               ": expected " + std::to_string(expected) + " elements, found " +
               std::to_string(found);
    }
    return "";
  }

  const RunTask &task_;
  Rank rank_;
  Engine engine_;
  Oracle oracle_;
  AlignedMemory memory_;
  Oracle::Contents contents_[2]; ///< of even and odd calls, so that no call passes with the
                                 ///< data of the one before
  std::unique_ptr<Plan> plan_, barrier_;
  RankReport report_;
};

} // namespace

std::vector<std::byte> RankReport::pack() const {
  std::vector<std::byte> bytes;
  auto append = [&](const void *data, size_t size) {
    auto begin = static_cast<const std::byte *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  uint64_t calls = ns.size(), ops = trace.size();
  append(&calls, sizeof calls);
  append(&ops, sizeof ops);
  append(&transfers, sizeof transfers);
  append(ns.data(), calls * sizeof(int64_t));
  append(trace.data(), ops * sizeof(OpTimes));
  append(wrong.data(), wrong.size());
  return bytes;
}

RankReport RankReport::unpack(std::span<const std::byte> bytes) {
  RankReport report;
  auto take = [&](void *into, size_t size) {
    if (size > 0)
      std::memcpy(into, bytes.data(), size);
    bytes = bytes.subspan(size);
  };
  uint64_t calls = 0, ops = 0;
  take(&calls, sizeof calls);
  take(&ops, sizeof ops);
  take(&report.transfers, sizeof report.transfers);
  report.ns.resize(calls);
  take(report.ns.data(), calls * sizeof(int64_t));
  report.trace.resize(ops);
  take(report.trace.data(), ops * sizeof(OpTimes));
  report.wrong.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return report;
}

double memoryOfRun(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  constexpr double kCopies = 1 + 2 * 2; // the memory; contents before and after two calls
  return kCopies * parameterBytes(schedule, sizes);
}

Result<RankReport> runRank(const RunTask &task, Endpoint &endpoint) {
  try {
    return RankRun(task, endpoint).run();
  } catch (const std::bad_alloc &) { // sizes come from the command line
    return Status::error("there is not enough memory for the buffers");
  }
}

} // namespace colldsl::tools
