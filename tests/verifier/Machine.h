/// A machine that runs schedules: an oracle for the verifier that shares no code with
/// it. Ops start and finish in random order as far as their deps and messages allow.
#pragma once

#include "ir/Schedule.h"

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace colldsl::test {

/// What one element holds: how it was combined, and its operands in order.
struct Cell {
  bool defined = false;
  std::string tree;
  std::string op; ///< the outermost operator; empty: none
  std::vector<std::string> operands;
  bool operator==(const Cell &) const = default;
};

enum class Buffering {
  None,      ///< a send finishes once its receive has started
  Channels,  ///< FIFO channels of `slots` slots, filled in program order
  Unlimited, ///< messages overtake each other
};

class Machine {
public:
  using Place = std::pair<uint32_t, uint32_t>; ///< rank, op

  /// All buffers are of 4-byte elements and dense, and touched in whole elements.
  Machine(const Schedule &schedule, const std::vector<Sizes> &sizes);

  Buffering buffering = Buffering::Unlimited;
  size_t slots = 0;
  std::set<Place> neverStart;  ///< ops that are held back
  std::set<Place> neverFinish; ///< ops that take forever

  /// Runs until nothing can happen any more.
  void run(std::mt19937 &random);

  bool started(Place p) const { return opOf(p).started; }
  bool finished(Place p) const { return opOf(p).finished; }
  /// The other end of a message that travels: of a send, of a receive.
  std::optional<Place> receiveOf(Place send) const { return partnerOf(send, true); }
  std::optional<Place> sendOf(Place receive) const { return partnerOf(receive, false); }
  bool allFinished() const;
  bool readUndefined() const { return readUndefined_; }
  const Cell &cell(uint32_t rank, BufferId buffer, uint64_t element) const;
  /// Elements that an op touches, as indices into the rank's memory.
  std::vector<size_t> touched(uint32_t rank, std::span<const Slice> slices) const;
  /// The name of an element's value at entry.
  std::string entryName(uint32_t rank, BufferId buffer, uint64_t element) const;

private:
  struct OpState {
    bool started = false;
    bool finished = false;
    bool travels = false;
    Place partner{};
    std::vector<Cell> payload;
  };

  OpState &opOf(Place p) { return ops_[p.first][p.second]; }
  const OpState &opOf(Place p) const { return ops_[p.first][p.second]; }
  const Op &op(Place p) const { return schedule_.ranks[p.first].ops[p.second]; }
  std::optional<Place> partnerOf(Place p, bool isSend) const {
    bool isThat = opOf(p).travels && sendsMessage(op(p).kind) == isSend;
    return isThat ? std::optional(opOf(p).partner) : std::nullopt;
  }
  void pairMessages();
  void fillMemory();
  bool mayStart(Place p) const;
  bool mayFinish(Place p) const;
  bool isNextInChannel(Place p) const;
  void start(Place p);
  void finish(Place p);
  std::vector<Cell> read(Place p, std::span<const Slice> slices);
  void write(Place p, const std::vector<Cell> &cells);
  std::vector<Cell> combined(Place p);
  size_t cellIndex(uint32_t rank, BufferId buffer, uint64_t element) const;

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  std::vector<std::vector<OpState>> ops_;
  std::vector<std::vector<size_t>> bufferBegins_;
  std::vector<std::vector<Cell>> memory_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Place>> channels_; // sends not yet taken
  bool readUndefined_ = false;
};

} // namespace colldsl::test
