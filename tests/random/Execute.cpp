#include "tests/random/Execute.h"

#include "executor/Plan.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/random/Lengths.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

constexpr int64_t kGuard = 4; ///< elements before and behind each buffer
constexpr uint32_t kUnwritten = 0xa5a5a5a5u;
constexpr uint32_t kMaxRounds = 20000; ///< of all ranks, until a run counts as stuck

uint32_t matrixProduct(uint32_t a, uint32_t b) {
  auto entry = [](uint32_t m, uint32_t row, uint32_t column) {
    return m >> (8 * (2 * row + column)) & 0xff;
  };
  uint32_t result = 0;
  for (uint32_t row = 0; row < 2; ++row)
    for (uint32_t column = 0; column < 2; ++column)
      result |=
          ((entry(a, row, 0) * entry(b, 0, column) + entry(a, row, 1) * entry(b, 1, column)) & 0xff)
          << (8 * (2 * row + column));
  return result;
}

/// Of elements of type i32.
uint32_t combined(Reduction reduction, uint32_t a, uint32_t b) {
  auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (reduction) {
  case Reduction::Sum:
    return a + b;
  case Reduction::Prod:
    return a * b;
  case Reduction::Min:
    return static_cast<uint32_t>(std::min(x, y));
  case Reduction::Max:
    return static_cast<uint32_t>(std::max(x, y));
  case Reduction::Land:
    return a != 0 && b != 0;
  case Reduction::Lor:
    return a != 0 || b != 0;
  case Reduction::Lxor:
    return (a != 0) != (b != 0);
  case Reduction::Band:
    return a & b;
  case Reduction::Bor:
    return a | b;
  case Reduction::Bxor:
    return a ^ b;
  case Reduction::MatMul:
    return matrixProduct(a, b);
  }
  return 0;
}

/// Elements of a buffer that has memory of its own.
struct Place {
  uint32_t buffer = 0;
  int64_t begin = 0;
  int64_t length = 0;
};

using Words = std::vector<uint32_t>; ///< of a buffer, between its guards

class Execution {
public:
  Execution(const Image &image, const Program &program, const Schedule &meaning)
      : image_(image), meaning_(meaning), sizes_(sizesFor(program, meaning)),
        size_(static_cast<uint64_t>(program.sizeOf(program.mainSize()))) {
    for (const Param &param : program.main().params)
      params_ += param.kind == Param::Kind::Buffer;
    for (uint32_t r = 0; r < meaning.numRanks(); ++r)
      enter(r);
    initial_ = expected_ = memory_;
    for (uint32_t r = 0; r < meaning.numRanks(); ++r)
      for (const colldsl::Ensure &ensure : dag(r).contract.ensures)
        keep(r, ensure);
  }

  std::string run(uint64_t seed) {
    fake::Options options;
    options.seed = seed;
    options.synchronous = seed % 3 == 0;
    options.batches = seed % 5 == 0;
    options.flushPolls = seed % 7;
    fake::World world(meaning_.numRanks(), options);
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    std::vector<std::unique_ptr<Engine>> engines;
    std::vector<std::unique_ptr<colldsl::Plan>> plans;
    for (uint32_t r = 0; r < meaning_.numRanks(); ++r) {
      endpoints.push_back(world.attach(Rank{r}));
      engines.push_back(std::make_unique<Engine>(*endpoints.back()));
    }
    for (uint32_t r = 0; r < meaning_.numRanks(); ++r) {
      auto plan =
          colldsl::Plan::open(*engines[r], image_.rank(Rank{r}), image_.sizeClass(), binding(r));
      if (!plan)
        return "is not bound: " + plan.message();
      plans.push_back(plan.take());
    }
    for (uint32_t again = 0; again < 2; ++again) {
      restore();
      if (std::string fault = runOnce(plans); !fault.empty())
        return fault;
    }
    return "";
  }

private:
  const Dag &dag(uint32_t rank) const { return meaning_.ranks[rank]; }
  const BlockTable &table(uint32_t rank, uint32_t buffer) const {
    return sizes_[rank].blocks[buffer];
  }

  static bool hasMemory(const Buffer &buffer) {
    return buffer.significant && buffer.aliasOf == kNoBuffer;
  }

  int64_t lengthOf(uint32_t rank, uint32_t b) const {
    const Buffer &buffer = dag(rank).buffers[b];
    int64_t end = buffer.endOffset;
    for (uint32_t i = 0; buffer.layout == Layout::CallTime && i < buffer.blocks; ++i)
      end =
          std::max(end, static_cast<int64_t>(table(rank, b).offset[i] + table(rank, b).length[i]));
    return end;
  }

  /// Blocks of capacity have the length that the program's values give them.
  Place locate(uint32_t rank, const Slice &slice) const {
    auto b = index(slice.buffer);
    Place place{b, slice.beginOffset, slice.endOffset - slice.beginOffset};
    if (slice.block != kNoBlock) {
      place.begin += static_cast<int64_t>(table(rank, b).offset[slice.block]);
      if (slice.endScale == 1)
        place.length = static_cast<int64_t>(table(rank, b).length[slice.block]);
    }
    const Buffer &buffer = dag(rank).buffers[b];
    if (buffer.aliasOf == kNoBuffer)
      return place;
    Place outer = locate(rank, dag(rank).slices[buffer.aliasSlice]);
    return {outer.buffer, outer.begin + place.begin, place.length};
  }

  Slice blockOf(uint32_t buffer, uint32_t block) const {
    Slice slice;
    slice.buffer = BufferId{buffer};
    slice.endScale = 1;
    slice.block = block;
    return slice;
  }

  static uint32_t valueAt(uint32_t rank, uint32_t buffer, int64_t i) {
    Random random(uint64_t{rank} << 40 | uint64_t{buffer} << 32 | static_cast<uint32_t>(i));
    return static_cast<uint32_t>(random.next());
  }

  void enter(uint32_t rank) {
    std::vector<Words> &all = memory_.emplace_back(params_);
    for (uint32_t b = 0; b < params_; ++b)
      if (hasMemory(dag(rank).buffers[b]))
        all[b].assign(static_cast<size_t>(lengthOf(rank, b) + 2 * kGuard), kUnwritten);
    for (uint32_t b = 0; b < params_; ++b) {
      const Buffer &buffer = dag(rank).buffers[b];
      if (buffer.role == BufferRole::Out || !buffer.significant)
        continue;
      Slice whole;
      whole.buffer = BufferId{b};
      whole.endOffset = buffer.endOffset;
      if (buffer.layout == Layout::Dense)
        fill(rank, locate(rank, whole));
      for (uint32_t i = 0; buffer.layout != Layout::Dense && i < buffer.blocks; ++i)
        fill(rank, locate(rank, blockOf(b, i)));
    }
  }

  void fill(uint32_t rank, const Place &place) {
    for (int64_t i = place.begin; i < place.begin + place.length; ++i)
      memory_[rank][place.buffer][static_cast<size_t>(kGuard + i)] = valueAt(rank, place.buffer, i);
  }

  uint32_t atEntry(uint32_t rank, const Place &place, int64_t i) const {
    return initial_[rank][place.buffer][static_cast<size_t>(kGuard + place.begin + i)];
  }

  void keep(uint32_t rank, const colldsl::Ensure &ensure) {
    Place target = locate(rank, ensure.target);
    auto operands = dag(rank).contract.operandsOf(ensure);
    for (int64_t i = 0; i < target.length; ++i) {
      uint32_t value = 0;
      for (const EntryValue &operand : operands) {
        auto owner = index(operand.rank);
        uint32_t next = atEntry(owner, locate(owner, operand.slice), i);
        value = &operand == &operands.front() ? next : combined(ensure.reduction, value, next);
      }
      expected_[rank][target.buffer][static_cast<size_t>(kGuard + target.begin + i)] = value;
    }
  }

  /// In place, because plans are bound to the memory.
  void restore() {
    for (size_t r = 0; r < memory_.size(); ++r)
      for (size_t b = 0; b < memory_[r].size(); ++b)
        std::copy(initial_[r][b].begin(), initial_[r][b].end(), memory_[r][b].begin());
  }

  Binding binding(uint32_t rank) {
    Binding binding;
    binding.elements = size_;
    binding.blocks = sizes_[rank].blocks;
    if (!binding.blocks.empty())
      binding.blocks.resize(params_);
    for (uint32_t b = 0; b < params_; ++b) {
      const Buffer &buffer = dag(rank).buffers[b];
      Words &words = memory_[rank][b];
      if (!hasMemory(buffer))
        binding.buffers.push_back({});
      else
        binding.buffers.push_back(
            {words.data() + kGuard, (words.size() - 2 * kGuard) * sizeof(uint32_t)});
      if (buffer.layout == Layout::Capacity && buffer.role == BufferRole::Out)
        binding.blocks[b].length.clear(); // nothing has arrived there
    }
    return binding;
  }

  std::string runOnce(std::vector<std::unique_ptr<colldsl::Plan>> &plans) {
    for (auto &plan : plans)
      if (Status s = plan->start(); !s)
        return "does not start: " + s.message();
    for (uint32_t round = 0;; ++round) {
      bool areDone = true;
      for (auto &plan : plans)
        areDone &= plan->test();
      for (auto &plan : plans)
        if (plan->failed())
          return "fails: " + plan->status().message();
      if (areDone)
        break;
      if (round == kMaxRounds)
        return "never finishes";
    }
    for (uint32_t r = 0; r < plans.size(); ++r)
      if (std::string fault = check(r, *plans[r]); !fault.empty())
        return fault;
    return "";
  }

  std::string check(uint32_t rank, const colldsl::Plan &plan) const {
    const std::vector<Words> &found = memory_[rank];
    for (const colldsl::Ensure &ensure : dag(rank).contract.ensures)
      if (std::string fault = checkBlock(rank, ensure.target, plan); !fault.empty())
        return fault;
    for (uint32_t b = 0; b < params_; ++b)
      if (auto [at, expected] =
              std::mismatch(found[b].begin(), found[b].end(), expected_[rank][b].begin());
          at != found[b].end())
        return "rank " + std::to_string(rank) + " ends with " + std::to_string(*at) +
               ", not with " + std::to_string(*expected) + ", in element " +
               std::to_string(at - found[b].begin() - kGuard) + " of buffer " + std::to_string(b);
    return "";
  }

  /// Of capacity: its length.
  std::string checkBlock(uint32_t rank, const Slice &target, const colldsl::Plan &plan) const {
    const Buffer &buffer = dag(rank).bufferOf(target);
    if (buffer.layout != Layout::Capacity)
      return "";
    Place place = locate(rank, target);
    uint64_t length = plan.blockLengths(target.buffer)[target.block];
    if (length != static_cast<uint64_t>(place.length))
      return "rank " + std::to_string(rank) + " ends with a block of " + std::to_string(length) +
             " elements, not of " + std::to_string(place.length);
    return "";
  }

  const Image &image_;
  const Schedule &meaning_;
  std::vector<Sizes> sizes_; // per rank
  uint64_t size_;
  uint32_t params_ = 0;
  std::vector<std::vector<Words>> memory_, initial_, expected_; // per rank and buffer
};

} // namespace

std::string executed(const Image &image, const Program &program, const Schedule &meaning,
                     uint64_t seed) {
  return Execution(image, program, meaning).run(seed);
}

} // namespace colldsl::generated
