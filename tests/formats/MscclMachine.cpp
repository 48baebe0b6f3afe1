#include "tests/formats/MscclMachine.h"

#include "ir/Concat.h"

#include <deque>
#include <map>
#include <random>
#include <tuple>

namespace colldsl::msccl {
namespace {

constexpr size_t kSlots = 2;

/// How often each rank's entry value of each input chunk is in a sum.
using Value = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;

Value sum(Value a, const Value &b) {
  for (const auto &[operand, count] : b)
    a[operand] += count;
  return a;
}

class Machine {
public:
  Machine(const Algorithm &algorithm, uint64_t seed)
      : algorithm_(algorithm), engine_(seed), ranks_(static_cast<uint32_t>(algorithm.gpus.size())),
        share_(algorithm.chunksPerLoop / ranks_) {}
  std::string run();

private:
  struct Thread {
    uint32_t gpu, tb;
    size_t step = 0;
    uint32_t chunk = 0; ///< of the step
  };

  Value &at(uint32_t gpu, Place place, uint32_t chunk);
  std::deque<Value> &channel(uint32_t from, uint32_t to, uint32_t number) {
    return channels_[{from, to, number}];
  }
  void fillInputs();
  bool canGoOn(const Thread &thread);
  void goOn(Thread &thread);
  std::string checkOutputs();
  Value promised(uint32_t gpu, uint32_t chunk, bool &isPromised) const;

  const Algorithm &algorithm_;
  std::mt19937_64 engine_;
  uint32_t ranks_, share_;
  std::map<std::tuple<uint32_t, Memory, uint32_t>, Value> memory_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<Value>> channels_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> told_; ///< per gpu and tb: last step told of
};

// In place, input and output are one buffer, or one a part of the other.
Value &Machine::at(uint32_t gpu, Place place, uint32_t chunk) {
  auto offset = static_cast<uint32_t>(place.offset) + chunk;
  if (algorithm_.inPlace && place.memory != Memory::Scratch) {
    bool isPart =
        (algorithm_.collective == Collective::Allgather && place.memory == Memory::Input) ||
        (algorithm_.collective == Collective::ReduceScatter && place.memory == Memory::Output);
    return memory_[{gpu, Memory::Input, offset + (isPart ? gpu * share_ : 0)}];
  }
  return memory_[{gpu, place.memory, offset}];
}

void Machine::fillInputs() {
  for (uint32_t g = 0; g < ranks_; ++g) {
    uint32_t chunks =
        algorithm_.collective == Collective::Allgather ? share_ : algorithm_.chunksPerLoop;
    for (uint32_t c = 0; c < chunks; ++c)
      at(g, {Memory::Input, 0}, c) = {{{g, c}, 1}};
  }
}

bool Machine::canGoOn(const Thread &thread) {
  const Threadblock &block = algorithm_.gpus[thread.gpu].blocks[thread.tb];
  if (thread.step == block.steps.size())
    return false;
  const Step &step = block.steps[thread.step];
  auto number = static_cast<uint32_t>(step.waitBlock);
  auto told = told_.find({thread.gpu, number});
  if (thread.chunk == 0 && step.waitBlock >= 0 &&
      (told == told_.end() || told->second < step.waitStep))
    return false;
  if (receives(step.kind) &&
      channel(static_cast<uint32_t>(block.recvPeer), thread.gpu, block.channel).empty())
    return false;
  return !sends(step.kind) ||
         channel(thread.gpu, static_cast<uint32_t>(block.sendPeer), block.channel).size() < kSlots;
}

void Machine::goOn(Thread &thread) {
  const Threadblock &block = algorithm_.gpus[thread.gpu].blocks[thread.tb];
  const Step &step = block.steps[thread.step];
  if (step.kind != StepKind::Nop) {
    Value value;
    if (receives(step.kind)) {
      auto &from = channel(static_cast<uint32_t>(block.recvPeer), thread.gpu, block.channel);
      value = from.front();
      from.pop_front();
      if (reduces(step.kind))
        value = sum(value, at(thread.gpu, step.source, thread.chunk));
    } else {
      value = at(thread.gpu, step.source, thread.chunk);
      if (reduces(step.kind))
        value = sum(value, at(thread.gpu, step.target, thread.chunk));
    }
    if (writes(step.kind))
      at(thread.gpu, step.target, thread.chunk) = value;
    if (sends(step.kind))
      channel(thread.gpu, static_cast<uint32_t>(block.sendPeer), block.channel).push_back(value);
    ++thread.chunk;
  }
  if (thread.chunk < step.count)
    return;
  if (step.isAwaited)
    told_[{thread.gpu, thread.tb}] = static_cast<int64_t>(thread.step);
  ++thread.step;
  thread.chunk = 0;
}

Value Machine::promised(uint32_t gpu, uint32_t chunk, bool &isPromised) const {
  auto root = static_cast<uint32_t>(algorithm_.root);
  auto all = [&](uint32_t from) {
    Value value;
    for (uint32_t r = 0; r < ranks_; ++r)
      value[{r, from}] = 1;
    return value;
  };
  isPromised = true;
  switch (algorithm_.collective) {
  case Collective::Allreduce:
    return all(chunk);
  case Collective::Allgather:
    return {{{chunk / share_, chunk % share_}, 1}};
  case Collective::ReduceScatter:
    return all(gpu * share_ + chunk);
  case Collective::Alltoall:
    return {{{chunk / share_, gpu * share_ + chunk % share_}, 1}};
  case Collective::Broadcast:
    return {{{root, chunk}, 1}};
  case Collective::Reduce:
    isPromised = gpu == root;
    return all(chunk);
  case Collective::Custom:
    isPromised = false;
    return {};
  }
  return {};
}

std::string Machine::checkOutputs() {
  bool isScattered = algorithm_.collective == Collective::ReduceScatter;
  for (uint32_t g = 0; g < ranks_; ++g)
    for (uint32_t c = 0; c < (isScattered ? share_ : algorithm_.chunksPerLoop); ++c) {
      bool isPromised = false;
      Value expected = promised(g, c, isPromised);
      if (isPromised && at(g, {Memory::Output, 0}, c) != expected)
        return concat("gpu ", g, ", output chunk ", c, " is wrong");
    }
  for (const auto &[name, values] : channels_)
    if (!values.empty())
      return concat("gpu ", std::get<1>(name), " has not received all of gpu ", std::get<0>(name));
  return "";
}

std::string Machine::run() {
  fillInputs();
  std::vector<Thread> threads;
  for (uint32_t g = 0; g < ranks_; ++g)
    for (uint32_t tb = 0; tb < algorithm_.gpus[g].blocks.size(); ++tb)
      threads.push_back({g, tb});
  for (;;) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < threads.size(); ++i)
      if (canGoOn(threads[i]))
        ready.push_back(i);
    if (ready.empty())
      break;
    // Now and then one goes as far as it can, so that others fall behind.
    Thread &thread = threads[ready[engine_() % ready.size()]];
    for (uint64_t left = 1 + engine_() % 8; left > 0 && canGoOn(thread); --left)
      goOn(thread);
  }
  for (const Thread &thread : threads)
    if (thread.step < algorithm_.gpus[thread.gpu].blocks[thread.tb].steps.size())
      return concat("gpu ", thread.gpu, ", tb ", thread.tb, " waits for ever in step ",
                    thread.step);
  return checkOutputs();
}

} // namespace

std::string runMachine(const Algorithm &algorithm, uint64_t seed) {
  return Machine(algorithm, seed).run();
}

} // namespace colldsl::msccl
