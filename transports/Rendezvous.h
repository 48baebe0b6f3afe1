/// The state word of a request to send (RTS): both ends agree by this one word which of them
/// copies, and until when memory is used.
///
///   Requested --receiver--> Reading --receiver--> Done | Fragments | RtrSent | Cooperating
///   RtrSent ----receiver--> Reading | Fragments
///   RtrSent ----sender----> Writing --sender----> Done | Fragments
///   Cooperating --the end that leaves last------> Done | Fragments
///   any but Reading --sender, cancel()--> Requested of the next use; not while the receiver copies
///
/// The copying end claims the word before the first byte and leaves the claim after the last one.
/// So an end that cancels knows: once the other end has no claim on the word, no byte of the
/// message moves any more. A cancelled RTS belongs to a use that is over, and every later step of
/// the receiver fails.
///
/// While the word is Cooperating both ends copy parts, by the word of CooperativeCopy.h.
///
/// `Word` is an atomic 32-bit word in shared memory; a model of it in tests.
#pragma once

#include "transports/CooperativeCopy.h"

#include <atomic>
#include <cstdint>

namespace colldsl::rendezvous {

enum class State : uint32_t {
  Requested,   ///< no rank copies
  Reading,     ///< the receiver copies out of the sender's memory
  Fragments,   ///< the receiver waits for fragments
  RtrSent,     ///< the receiver has sent the address of its buffer
  Writing,     ///< the sender copies into the receiver's memory
  Cooperating, ///< both ends copy parts into the receiver's memory
  Done,        ///< the sender's memory is not needed any more
};

/// The work that the sender of an RTS has left to do for its operation, as far as it knows.
struct SenderLoad {
  uint32_t copyKiB : 31;  ///< left to copy
  uint32_t sendsOnly : 1; ///< receives nothing on its machine and so mostly waits for receivers
};
constexpr uint32_t kMostCopyKiB = (1u << 31) - 1;

/// The word carries the number of its use, because a receiver may look at an RTS after it was
/// cancelled.
constexpr uint32_t wordOf(uint32_t use, State state) {
  return use * 8 + static_cast<uint32_t>(state);
}

/// Moves the word from one state to another. False: the word is in another state, or of another
/// use, and the caller has learned nothing more.
template <typename Word> bool change(Word &word, uint32_t use, State from, State to) {
  uint32_t before = wordOf(use, from);
  // Acquires what the other end wrote before the state that this one ends; releases to who reads
  // the new one.
  return word.compare_exchange_strong(before, wordOf(use, to), std::memory_order_acq_rel,
                                      std::memory_order_relaxed);
}

/// Leaves a claim of this end. An end that reads the new state sees the copied bytes.
template <typename Word> void leave(Word &word, uint32_t use, State to) {
  word.store(wordOf(use, to), std::memory_order_release);
}

/// The end that leaves a cooperation last ends it. False: the other end has cancelled the message.
template <typename Word>
bool endCooperation(Word &word, uint32_t use, cooperative::Outcome outcome) {
  bool isCopied = outcome == cooperative::Outcome::Copied;
  return change(word, use, State::Cooperating, isCopied ? State::Done : State::Fragments);
}

// The receiver's steps.

/// Claims the RTS before the receiver copies or replies. False: the sender cancelled the RTS.
template <typename Word> bool claim(Word &word, uint32_t use) {
  return change(word, use, State::Requested, State::Reading);
}
/// Ends an RTS whose payload the receiver does not want. Without effect if the RTS was cancelled.
template <typename Word> void refuse(Word &word, uint32_t use) {
  change(word, use, State::Requested, State::Done);
}
/// Turns an RTR back into a claim. False: the sender writes, has written, or has cancelled.
template <typename Word> bool withdrawRtr(Word &word, uint32_t use) {
  return change(word, use, State::RtrSent, State::Reading);
}
/// The receiver cancels its RTR. False: the sender writes just now.
template <typename Word> bool cancelRtr(Word &word, uint32_t use) {
  // Acquires the end of the sender's write: the buffer is the receiver's again.
  return change(word, use, State::RtrSent, State::Fragments) ||
         word.load(std::memory_order_acquire) != wordOf(use, State::Writing);
}

/// The receiver cancels a cooperation, if this is one. False: the sender writes a part just now.
template <typename Word> bool cancelCooperation(Word &word, Word &parts, uint32_t use) {
  if (word.load(std::memory_order_acquire) != wordOf(use, State::Cooperating)) // as in cancelRtr()
    return true;
  if (!cooperative::close(parts, cooperative::End::Receiver))
    return false;
  change(word, use, State::Cooperating, State::Fragments);
  return true;
}

// The sender's steps.

/// Starts a use of the word: for a message that begins, or after one that is done.
template <typename Word> void beginUse(Word &word, uint32_t use) {
  // Releases what the receiver of a static message finds with the state; others learn of the use by
  // a slot.
  word.store(wordOf(use, State::Requested), std::memory_order_release);
}
/// Claims the word before the sender writes into the buffer of the RTR. False: the receiver
/// withdrew the RTR.
template <typename Word> bool claimWrite(Word &word, uint32_t use) {
  return change(word, use, State::RtrSent, State::Writing);
}

enum class Cancelled : uint8_t {
  Unnoticed, ///< the receiver finds the RTS cancelled, or is done with it
  Awaited,   ///< the receiver waits for the bytes, and must be notified that they do not come
  NotYet,    ///< the receiver copies just now: try again
};

/// Ends this use of the word, and begins the next one.
template <typename Word> Cancelled cancel(Word &word, Word &parts, uint32_t use) {
  // Acquires the end of the receiver's copy: the memory is the sender's again.
  uint32_t now = word.load(std::memory_order_acquire);
  if (now == wordOf(use, State::Reading))
    return Cancelled::NotYet;
  if (now == wordOf(use, State::Cooperating) &&
      !cooperative::close(parts, cooperative::End::Sender))
    return Cancelled::NotYet;
  if (!word.compare_exchange_strong(now, wordOf(use + 1, State::Requested),
                                    std::memory_order_acq_rel, std::memory_order_relaxed))
    return Cancelled::NotYet;
  bool isUnnoticed = now == wordOf(use, State::Requested) || now == wordOf(use, State::Done);
  return isUnnoticed ? Cancelled::Unnoticed : Cancelled::Awaited;
}

} // namespace colldsl::rendezvous
