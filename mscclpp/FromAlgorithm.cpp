#include "mscclpp/FromAlgorithm.h"

#include "ir/Concat.h"

#include <algorithm>
#include <array>
#include <map>

namespace colldsl::mscclpp {
namespace {

using msccl::StepKind;

constexpr size_t kMostOps = 64;        ///< of a threadblock
constexpr size_t kMostSemaphores = 16; ///< of an op
constexpr size_t kMostStepOps = 8;     ///< of a step, without semaphores

Buffer bufferAs(msccl::Memory memory) {
  switch (memory) {
  case msccl::Memory::Input:
    return Buffer::Input;
  case msccl::Memory::Output:
    return Buffer::Output;
  case msccl::Memory::Scratch:
    return Buffer::Scratch;
  }
  return Buffer::Scratch;
}

/// Messages from one GPU to another over one of MSCCL's channels.
struct Connection {
  uint32_t from, to, channel;
  auto operator<=>(const Connection &) const = default;
};

class Translator {
public:
  explicit Translator(const msccl::Algorithm &algorithm) : algorithm_(algorithm) {}
  Result<Plan> run();

private:
  void addChannels();
  void placeMessages();
  Status translate(uint32_t gpu, uint32_t block);
  void addStep(const msccl::Step &step);
  ChunkRange local(const msccl::Place &place, uint32_t count) const {
    return {{gpu_}, bufferAs(place.memory), static_cast<uint32_t>(place.offset), count, false};
  }
  void add(OpKind kind, std::vector<ChunkRange> sources = {},
           std::vector<ChunkRange> destinations = {});
  void addSignal(OpKind kind, uint32_t channel);
  void addSemaphores(OpKind kind, const std::vector<uint32_t> &ids);
  void goOnIfFull(size_t semaphores);

  const msccl::Algorithm &algorithm_;
  Plan plan_;
  std::map<std::pair<uint32_t, Connection>, uint32_t> channels_; ///< by GPU
  std::map<Connection, std::vector<uint32_t>> places_; ///< of messages, in the receiver's scratch
  std::map<std::array<uint32_t, 3>, std::vector<uint32_t>>
      releases_; ///< by GPU, threadblock and step
  std::map<std::array<uint32_t, 3>, std::vector<uint32_t>> acquires_;
  // The threadblock that is translated.
  uint32_t gpu_ = 0;
  std::optional<Connection> sends_, receives_;
  size_t sent_ = 0, received_ = 0;
  std::vector<Op> ops_;
};

// Both ends of a pair of GPUs list their channels in one order, so that the i-th meets the i-th.
void Translator::addChannels() {
  std::map<Connection, bool> known;
  for (uint32_t gpu = 0; gpu < algorithm_.gpus.size(); ++gpu)
    for (const msccl::Threadblock &block : algorithm_.gpus[gpu].blocks) {
      if (block.sendPeer >= 0)
        known[{gpu, static_cast<uint32_t>(block.sendPeer), block.channel}] = true;
      if (block.recvPeer >= 0)
        known[{static_cast<uint32_t>(block.recvPeer), gpu, block.channel}] = true;
    }
  for (const auto &[connection, is] : known)
    for (bool atSender : {true, false}) {
      uint32_t gpu = atSender ? connection.from : connection.to;
      std::vector<Channel> &list = plan_.gpus[gpu].memoryChannels;
      channels_[{gpu, connection}] = static_cast<uint32_t>(list.size());
      list.push_back({atSender ? connection.to : connection.from, Channel::kNoPair});
    }
}

void Translator::placeMessages() {
  for (uint32_t gpu = 0; gpu < algorithm_.gpus.size(); ++gpu) {
    uint32_t &scratch = plan_.gpus[gpu].scratchChunks;
    for (uint32_t b = 0; b < algorithm_.gpus[gpu].blocks.size(); ++b) {
      const msccl::Threadblock &block = algorithm_.gpus[gpu].blocks[b];
      for (uint32_t s = 0; s < block.steps.size(); ++s) {
        const msccl::Step &step = block.steps[s];
        if (msccl::receives(step.kind)) {
          places_[{static_cast<uint32_t>(block.recvPeer), gpu, block.channel}].push_back(scratch);
          scratch += step.count;
        }
        if (step.waitBlock < 0)
          continue;
        std::vector<int32_t> &semaphores = plan_.gpus[gpu].semaphores;
        auto id = static_cast<uint32_t>(semaphores.size());
        semaphores.push_back(0);
        acquires_[{gpu, b, s}].push_back(id);
        releases_[{gpu, static_cast<uint32_t>(step.waitBlock),
                   static_cast<uint32_t>(step.waitStep)}]
            .push_back(id);
      }
    }
  }
}

void Translator::add(OpKind kind, std::vector<ChunkRange> sources,
                     std::vector<ChunkRange> destinations) {
  Op op;
  op.kind = kind;
  op.sources = std::move(sources);
  op.destinations = std::move(destinations);
  if (kind == OpKind::Put || kind == OpKind::ReduceSend) {
    op.channelKind = ChannelKind::Memory;
    op.channels = {channels_.at({gpu_, *sends_})};
  }
  ops_.push_back(std::move(op));
}

void Translator::addSignal(OpKind kind, uint32_t channel) {
  Op op;
  op.kind = kind;
  op.channelKind = ChannelKind::Memory;
  op.channels = {channel};
  ops_.push_back(std::move(op));
}

void Translator::addSemaphores(OpKind kind, const std::vector<uint32_t> &ids) {
  for (size_t i = 0; i < ids.size(); i += kMostSemaphores) {
    Op op;
    op.kind = kind;
    op.semaphores.assign(ids.begin() + static_cast<ptrdiff_t>(i),
                         ids.begin() +
                             static_cast<ptrdiff_t>(std::min(i + kMostSemaphores, ids.size())));
    ops_.push_back(std::move(op));
  }
}

// The rest of a threadblock's steps goes on in another one.
void Translator::goOnIfFull(size_t semaphores) {
  if (ops_.size() + kMostStepOps + semaphores + 1 <= kMostOps)
    return;
  std::vector<int32_t> &all = plan_.gpus[gpu_].semaphores;
  auto id = static_cast<uint32_t>(all.size());
  all.push_back(0);
  addSemaphores(OpKind::Release, {id});
  plan_.gpus[gpu_].threadBlocks.push_back({std::move(ops_)});
  ops_.clear();
  addSemaphores(OpKind::Acquire, {id});
  add(OpKind::Nop);
}

void Translator::addStep(const msccl::Step &step) {
  ChunkRange arrived, sent;
  if (msccl::receives(step.kind)) {
    arrived = {{gpu_}, Buffer::Scratch, places_[*receives_][received_++], step.count, false};
    addSignal(OpKind::Wait, channels_.at({gpu_, *receives_}));
    add(OpKind::Nop);
  }
  if (msccl::sends(step.kind))
    sent = {{sends_->to}, Buffer::Scratch, places_[*sends_][sent_++], step.count, false};
  auto source = [&] { return local(step.source, step.count); };
  auto target = [&] { return local(step.target, step.count); };
  switch (step.kind) {
  case StepKind::Nop:
    break;
  case StepKind::Send:
    add(OpKind::Put, {source()}, {sent});
    break;
  case StepKind::Recv:
    add(OpKind::Copy, {arrived}, {target()});
    break;
  case StepKind::RecvCopySend:
    add(OpKind::Copy, {arrived}, {target()});
    add(OpKind::Put, {arrived}, {sent});
    break;
  case StepKind::RecvReduceSend:
    add(OpKind::ReduceSend, {source(), arrived}, {arrived, sent});
    break;
  case StepKind::RecvReduceCopy:
    add(OpKind::Reduce, {source(), arrived}, {target()});
    break;
  case StepKind::RecvReduceCopySend:
    add(OpKind::ReduceSend, {source(), arrived}, {target(), sent});
    break;
  case StepKind::Copy:
    add(OpKind::Copy, {source()}, {target()});
    break;
  case StepKind::Reduce:
    add(OpKind::Reduce, {target(), source()}, {target()});
    break;
  }
  if (step.kind != StepKind::Nop)
    add(OpKind::Nop);
  if (msccl::sends(step.kind))
    addSignal(OpKind::Signal, channels_.at({gpu_, *sends_}));
}

Status Translator::translate(uint32_t gpu, uint32_t b) {
  const msccl::Threadblock &block = algorithm_.gpus[gpu].blocks[b];
  gpu_ = gpu;
  sent_ = received_ = 0;
  sends_.reset();
  receives_.reset();
  ops_.clear();
  if (block.recvPeer >= 0) {
    receives_ = {static_cast<uint32_t>(block.recvPeer), gpu, block.channel};
    addSignal(OpKind::RelaxedSignal, channels_.at({gpu, *receives_}));
  }
  if (block.sendPeer >= 0) {
    sends_ = {gpu, static_cast<uint32_t>(block.sendPeer), block.channel};
    addSignal(OpKind::RelaxedWait, channels_.at({gpu, *sends_}));
    add(OpKind::Nop);
  }
  for (uint32_t s = 0; s < block.steps.size(); ++s) {
    const std::vector<uint32_t> &awaited = acquires_[{gpu, b, s}], &told = releases_[{gpu, b, s}];
    goOnIfFull((awaited.size() + told.size()) / kMostSemaphores + 2);
    addSemaphores(OpKind::Acquire, awaited);
    if (!awaited.empty())
      add(OpKind::Nop);
    addStep(block.steps[s]);
    addSemaphores(OpKind::Release, told);
  }
  if (ops_.size() > kMostOps)
    return Status::error(concat("gpu ", gpu, ", threadblock ", b, " has ", ops_.size(),
                                " ops, the executor of MSCCL++ takes ", kMostOps));
  plan_.gpus[gpu].threadBlocks.push_back({std::move(ops_)});
  return {};
}

Result<Plan> Translator::run() {
  if (algorithm_.collective == msccl::Collective::Reduce)
    return Status::error("plans of MSCCL++ have no word for a reduction to one GPU");
  plan_.name = algorithm_.name;
  std::string word(msccl::spelling(algorithm_.collective));
  std::erase(word, '_'); // reducescatter
  plan_.collective = word;
  plan_.inPlace = algorithm_.inPlace;
  for (const msccl::Gpu &gpu : algorithm_.gpus) {
    Gpu made;
    made.inputChunks = gpu.inputChunks;
    made.outputChunks = gpu.outputChunks;
    made.scratchChunks = gpu.scratchChunks;
    plan_.gpus.push_back(std::move(made));
  }
  addChannels();
  placeMessages();
  for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu) {
    for (uint32_t b = 0; b < algorithm_.gpus[gpu].blocks.size(); ++b)
      if (Status s = translate(gpu, b); !s)
        return s;
    // A kernel has a threadblock, also where a GPU has nothing to do.
    if (algorithm_.gpus[gpu].blocks.empty())
      plan_.gpus[gpu].threadBlocks.emplace_back();
  }
  return std::move(plan_);
}

} // namespace

Result<Plan> fromAlgorithm(const msccl::Algorithm &algorithm) {
  return Translator(algorithm).run();
}

} // namespace colldsl::mscclpp
