/// A thread of a threadblock of a plan that runs in the memory of this process, and the proxy of a
/// GPU, both as tasks of a TaskPool.
#pragma once

#include "mscclpp/host/HostCaller.h"
#include "mscclpp/host/TaskPool.h"

#include <random>

namespace colldsl::mscclpp {

/// The threads of a block take turns with the units of an op, another one for each op, and do not
/// wait for each other between two ops.
struct HostBlock {
  uint32_t gpu = 0, block = 0, lanes = 1;
  const std::vector<Op> *ops = nullptr;
  Meeting meeting; ///< of its threads
};

struct HostJob {
  HostMachine &machine;
  HostCaller &caller;
  uint32_t launches;
};

class HostLane final : public Task {
public:
  HostLane(const HostJob &job, HostBlock &block, uint32_t lane, uint64_t seed)
      : job_(job), block_(block), gpu_(job.machine.gpu(block.gpu)), lane_(lane), random_(seed) {}
  TaskState run() override;
  TaskWait describeWait() const override;

private:
  struct End {
    std::byte *at;
    bool isPacket;
  };
  /// The sum of all words of `from` goes to each of `to`.
  struct Move {
    std::vector<End> from, to;
    uint64_t bytes;
  };

  /// These return false if the thread has to wait, and go on where it stopped.
  bool step();
  bool execute(const Op &op);
  bool endLaunch();
  bool meetThreads() { return meet(block_.meeting, block_.lanes); }
  bool meet(Meeting &meeting, uint32_t count);
  bool barrier(const Op &op);
  bool wait(const Op &op);
  bool acquire(const Op &op);
  bool moveData(const Op &op);
  bool moveUnits(const Move &move, uint64_t unitBytes);
  bool readPutPackets(const Op &op);
  bool putOverPort(const Op &op);

  void signal(const Op &op);
  void release(const Op &op);
  bool havePacketsCome(const Move &move, uint64_t at, uint64_t bytes) const;
  void moveUnit(const Move &move, uint64_t at, uint64_t bytes) const;
  std::vector<Move> movesOf(const Op &op) const;
  void addEnds(const Op &op, bool isSource, size_t position, std::vector<End> &into) const;
  End endOf(const Op &op, const ChunkRange &range, uint32_t gpu, bool isPacket,
            bool isLocalPointer) const;
  std::string waitWords(const Op &op) const;
  const Op &current() const;
  Unit unit() const;
  void next();
  uint64_t half() const;

  HostJob job_;
  HostBlock &block_;
  HostGpu &gpu_;
  uint32_t lane_;
  std::minstd_rand random_;
  uint32_t launch_ = 1;
  uint32_t op_ = 0, member_ = 0;
  uint64_t iteration_ = 0;
  // The place within the op.
  uint32_t phase_ = 0;
  uint64_t ticket_ = 0;     ///< the signals, requests or rounds that it waits for
  bool hasArrived_ = false; ///< at a meeting
  std::vector<Move> moves_;
  size_t move_ = 0;
  uint64_t position_ = 0;   ///< a unit of the move
  bool hasChanged_ = false; ///< something that others may wait for, since run() was called
};

class HostProxy final : public Task {
public:
  HostProxy(const HostJob &job, uint32_t gpu, uint64_t seed)
      : job_(job), gpu_(job.machine.gpu(gpu)), random_(seed) {}
  TaskState run() override;
  TaskWait describeWait() const override { return {}; }

private:
  HostJob job_;
  HostGpu &gpu_;
  std::minstd_rand random_;
};

} // namespace colldsl::mscclpp
