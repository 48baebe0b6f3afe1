/// Messages between ranks of one machine, from device memory to device memory. Ranks are processes
/// or threads; the memory of other processes is opened by CUDA IPC.
///
///   sender                                   receiver
///   offer: where the bytes lie ------------> opens them, copies them on its device
///                              <------------ answer: the sender's memory is free
///
/// The sender packs a message of several pieces into memory of the plan first.
///
/// In a graph, which no host takes part in, words of both devices (executor/GraphWords.h) stand for
/// offer and answer; where bytes and words lie is what was offered and answered in the run before:
///
///   sender's stream                          receiver's stream
///   packs, signals the receiver's word ----> waits, copies
///   waits                              <---- signals the sender's word
///
/// One thread at a time uses the messages of a plan.
#pragma once

#include "device/IpcMemory.h"
#include "device/KernelOperands.h"
#include "executor/GraphWords.h"
#include "executor/Steps.h"

#include <algorithm>

namespace colldsl {

class DeviceMessages {
public:
  /// `view` is of data that outlives it.
  explicit DeviceMessages(const RankView &view) : view_(view) {}

  /// The messages that may travel so, alike on both ends.
  static bool isEligible(const ImageOp &op, const Endpoint &endpoint);

  /// True if the message travels so, as both ends know; `edges` has the answers of eligible ones.
  static bool travels(OpId op, const Binding &binding, const Edges &edges, const Steps &steps) {
    const Step &step = steps[op];
    return !edges.answers.empty() && edges.answers[index(op)] && !step.variable &&
           step.payload.bytes >= std::max<uint64_t>(binding.deviceMessagesFrom, 1);
  }

  /// Called once memory and steps were bound: finds the messages that travel so.
  void find(const Binding &binding, const Edges &edges, const Steps &steps);
  bool travels(OpId op) const { return !travels_.empty() && travels_[index(op)]; }
  bool anyTravels() const { return !travels_.empty(); }

  /// Called once the areas have their device memory: makes the offers. Errors: the memory of a
  /// buffer cannot be opened by other processes, there is no device memory to pack messages.
  Status makeOffers(const DeviceAreas &areas, const Steps &steps, device::AsyncWork &work);

  /// Called at the beginning of a run.
  void begin();

  /// The phases of a message. Those of a send: Packs, if it has several pieces, then Offered; of a
  /// receive: Awaits, Copies, Answers.
  enum class Phase : uint8_t { None, Packs, Offered, Awaits, Copies, Answers };
  Phase &phaseOf(OpId op) { return states_[index(op)].phase; }
  /// Begins to wait for both the offer and its answer to be done.
  void offered(OpId op) {
    states_[index(op)].phase = Phase::Offered;
    states_[index(op)].open = 2;
  }
  bool isPacked(OpId op) const { return states_[index(op)].packing != kNone; }
  /// The offer of a send, or the room for that of a receive.
  const Payload &offerOf(OpId op) const { return states_[index(op)].offer.payload; }
  /// The answer of a receive, or the room for that to a send.
  const Payload &answerOf(OpId op) const { return states_[index(op)].answer.payload; }
  /// Called when one of the two is done. True: both are.
  bool countDone(OpId op) { return --states_[index(op)].open == 0; }

  /// Packs: the copies of the pieces, by the device. Valid until the next call, as are those of
  /// open().
  Result<std::span<const device::CopyPiece>> pack(OpId op, const DeviceAreas &areas,
                                                  const Step &step);
  /// Copies: those from what was offered, which stays open until the message is closed. Errors: the
  /// memory cannot be opened, the message has another length.
  Result<std::span<const device::CopyPiece>> open(OpId op, const DeviceAreas &areas,
                                                  const Step &step);
  void close(OpId op) { states_[index(op)].opened.reset(); }
  void closeAll();

  /// In graphs, for which the plan has the words:
  GraphWords &words() { return words_; }
  const GraphWords &words() const { return words_; }
  /// Called after a run: opens what graphs use of the peer of a message, as it was offered or
  /// answered in that run, until the plan is bound anew or destroyed. Errors: it cannot be opened,
  /// the peer has no words.
  Status openForGraphs(OpId op);
  /// Variant of open(), of bytes that are open for graphs.
  std::span<const device::CopyPiece> copiesInGraph(OpId op, const DeviceAreas &areas,
                                                   const Step &step);
  /// Adds the wait for the peer, and the signal for it.
  Status addWait(OpId op, device::CuStream stream) const {
    return words_.addWait(stream, states_[index(op)].word);
  }
  Status addSignal(OpId op, device::CuStream stream) const {
    return words_.addSignal(stream, states_[index(op)].peersWord->address());
  }

  /// Never gives back what it has of the device, and of other processes.
  void abandon();
  /// Never gives back what graphs of other ranks use.
  void abandonShared();

private:
  static constexpr uint64_t kNone = UINT64_MAX;

  struct Offer {
    device::ExportedMemory memory;
    uint64_t bytes;
    ExportedWord word; ///< of the sender
    bool hasData;      ///< false: the message is of no buffer
  };
  struct Answer {
    ExportedWord word; ///< of the receiver
  };
  /// An offer or answer as a message.
  template <typename Content> struct Note {
    Content content = {};
    iovec piece = {};
    Payload payload = {};
    void describe() {
      piece = {&content, sizeof content};
      payload = {&piece, 1, false, false, sizeof content};
    }
  };
  struct State {
    Phase phase = Phase::None;
    uint8_t open = 0;
    uint32_t word = 0;        ///< place in words_
    uint64_t packing = kNone; ///< offset in packed_
    Note<Offer> offer = {};
    Note<Answer> answer = {};
    std::optional<device::OpenedMemory> opened = {};
    std::optional<device::OpenedMemory> peersBytes = {}, peersWord = {}; ///< for graphs
  };

  /// An allocation of this rank that offers are of.
  struct Exported {
    device::DeviceAddress begin;
    device::ExportedMemory memory;
  };

  Status makeOffer(uint32_t op, const DeviceAreas &areas, const Step &step,
                   std::vector<Exported> &exported);
  Status describeOffer(uint32_t op, const DeviceAreas &areas, const Step &step,
                       std::vector<Exported> &exported);
  Result<device::OpenedMemory> openOf(OpId op, const device::ExportedMemory &memory) const;
  std::span<const device::CopyPiece> copiesFrom(device::DeviceAddress from,
                                                const DeviceAreas &areas, const Step &step);

  RankView view_;
  std::vector<bool> travels_;
  std::shared_ptr<device::IpcCache> cache_;
  DeviceBlock packed_;
  GraphWords words_;
  std::vector<State> states_;             ///< by op; empty: no message travels so
  std::vector<device::CopyPiece> copies_; ///< of the op at hand
};

} // namespace colldsl
