/// One execution of a schedule on tokens, in one random order.
///
/// An op starts, reads its sources, writes its targets and finishes, each at a moment of its
/// own. From its start until it writes, a copy has torn targets: an op that reads them gets torn
/// data. So has a receive from when both it and its send have started, and a combine from when it
/// has read its targets.
#pragma once

#include "tests/mutation/OpPlace.h"
#include "tests/mutation/Storage.h"

#include <string>

namespace colldsl::mutation {

enum class Buffering : uint8_t {
  None,      ///< a send finishes once its receive has started
  Unlimited, ///< a send finishes by itself
  Channels,  ///< FIFO channels of 8 messages between two ranks, filled in program order
};

/// How the next step is chosen among those that are possible.
enum class Choice : uint8_t {
  AnyStep,     ///< each with equal chances
  SlowOps,     ///< some ops are slower than others in all they do
  SlowSteps,   ///< some steps are
  SlowRanks,   ///< some ranks are
  StartsFirst, ///< what can start does, so that as much as possible overlaps
  EndsFirst,   ///< what has started goes on, so that little does
  SlowOne,     ///< one op starts as soon as it can, and goes on when nothing else can
};
inline constexpr unsigned kRandomChoices = 6; ///< all but SlowOne

struct OrderOptions {
  Buffering buffering = Buffering::None;
  Choice choice = Choice::AnyStep;
  uint64_t seed = 0;
  Rank late = kNoRank; ///< enters when no other rank can go on
  OpPlace slow;        ///< SlowOne
};

/// What went wrong; an empty text: nothing.
struct Finding {
  std::string text;
  Rank rank = kNoRank;
  OpId op = kNoOp;
  explicit operator bool() const { return !text.empty(); }
};

/// Runs one schedule any number of times. Not thread safe.
class Run {
public:
  /// One storage per rank, made of the schedule or of one with the same buffers. All
  /// arguments outlive it.
  Run(const Schedule &schedule, const std::vector<Storage> &storages, Tokens &tokens);

  /// Whether all ops came to their end, as a finding.
  Finding execute(const OrderOptions &options);

  // After an execution

  Token token(Rank rank, uint32_t cell) const { return memory_[index(rank)][cell]; }
  BlockLength length(Rank rank, uint32_t lengthIndex) const {
    return lengths_[index(rank)][lengthIndex];
  }

private:
  enum class Step : uint8_t { Start, Read, Write, Finish, Done };
  using Vertex = uint32_t; // ops of rank 0 first
  static constexpr Vertex kNone = 0xffffffffu;

  struct OpState {
    const Op *op = nullptr;
    Rank rank{};
    OpId id{};
    Vertex partner = kNone;
    bool travels = false;    ///< a message of bytes, or of none that is sent nevertheless
    bool hasLengths = false; ///< some slice is of a block whose length travels
    bool overlaps = false;   ///< reads some cell that it writes
    bool tangled = false;    ///< and not at the same place of its list
    bool twice = false;      ///< writes a cell twice
    uint32_t channel = 0;    ///< of travelling messages with a partner
    uint32_t position = 0;   ///< in the channel
    // Of one execution
    Step next = Step::Start;
    bool isReady = false;
    uint32_t open = 0; ///< dependencies that are not yet met
  };
  struct Successor {
    Vertex vertex;
    DepKind kind;
  };
  struct Channel {
    std::vector<Vertex> sends;
    uint32_t entered = 0;
    uint32_t left = 0;
  };
  struct Payload {
    std::vector<Token> tokens;
    std::vector<uint32_t> parts; ///< lengths of the slices it was read from
  };

  // What does not change
  void addVertices();
  void describe(OpState &v);
  void linkDependencies();
  void pairMessages();
  void fillChannels();

  // One execution
  void reset(const OrderOptions &options);
  void drain();
  size_t pick();
  uint64_t slowness(Vertex v) const;
  bool isEnabled(Vertex v) const;
  void tryReady(Vertex v);
  void take(Vertex v);
  void release(Vertex v, DepKind kind);
  void start(Vertex v);
  void read(Vertex v);
  void write(Vertex v);
  void finish(Vertex v);
  Finding stuck() const;
  Finding lateFinding() const;
  Finding tailFinding() const;
  bool isDone(Rank rank) const;
  bool isReadyFor(const OpState &send) const;
  bool isMet(const OpState &v) const { return v.partner != kNone && ops_[v.partner].travels; }
  bool writesWhatCame(const OpState &recv) const;
  void fail(Vertex v, std::string text);

  const Dag &dagOf(const OpState &v) const { return schedule_.ranks[index(v.rank)]; }
  std::span<const Slice> sources(const OpState &v) const { return dagOf(v).sources(*v.op); }
  std::span<const Slice> targets(const OpState &v) const { return dagOf(v).targets(*v.op); }
  const Storage &storageOf(const OpState &v) const { return storages_[index(v.rank)]; }
  BlockLength &lengthOf(const OpState &v, const Slice &slice) {
    return lengths_[index(v.rank)][storageOf(v).lengthIndex(slice)];
  }
  bool takesAnyLength(const OpState &v, const Slice &slice) const;
  std::vector<uint32_t> cellsOf(const OpState &v, std::span<const Slice> slices) const;
  std::optional<Cells> cellsNow(const OpState &v, const Slice &slice);
  bool checkPlaces(Vertex v, std::span<const Slice> slices);
  bool gather(Vertex v, std::span<const Slice> slices, Payload &into);
  void tear(Vertex v);
  bool sameForm(const OpState &sender, const OpState &receiver) const;
  bool makeRoom(Vertex v, const Payload &payload);
  bool takeLength(Vertex v, const Slice &slice, size_t which, const Payload &payload);
  void store(Vertex v, const Token *tokens);
  void combineAndStore(Vertex v);

  const Schedule &schedule_;
  const std::vector<Storage> &storages_;
  Tokens &tokens_;
  std::vector<OpState> ops_;
  std::vector<Vertex> firsts_; // per rank, and one past the end
  std::vector<std::vector<Successor>> successors_;
  std::vector<Channel> channels_;

  OrderOptions options_;
  uint64_t random_ = 0;
  uint64_t nextRandom();
  struct Ready {
    Vertex vertex;
    uint64_t slowness; ///< of its next step
  };
  std::vector<Ready> ready_;
  std::vector<bool> entered_; // per rank
  std::vector<std::vector<Token>> memory_;
  std::vector<std::vector<bool>> written_; ///< per cell of memory_
  std::vector<std::vector<BlockLength>> lengths_;
  std::vector<Payload> payloads_; // per vertex that reads
  std::vector<Token> results_;    // of the combine at hand
  std::vector<Cells> room_;       // of the op at hand
  Finding finding_;
  size_t done_ = 0;
};

} // namespace colldsl::mutation
