/// The operations that a communicator keeps for calls that come again.
///
/// A call that was not made before is served by a spare operation, which is resized, if there is
/// one: programs make calls whose lengths never come again. A call that comes a second time gets an
/// operation of its own.
///
/// Programs make calls in turns, so that the least recently used operation is the one that is
/// needed next: with one call more than there are places, LRU would never have it. The place that
/// is given up is chosen at random.
#pragma once

#include "mpi/operations/Operation.h"

#include <array>
#include <memory>
#include <vector>

namespace colldsl::mpi {

/// Under a Guard.
class PreparedOperations {
public:
  /// The most operations per kind of call.
  static constexpr size_t kMost = 40;

  struct Found {
    std::shared_ptr<Operation> operation; ///< has the shape of the call; null: no such one is idle
    bool isThere = false;                 ///< its buffers are those of the call
    size_t places = 0; ///< number of idle ones with that shape at other addresses
  };
  /// Finds the operation whose buffers are those of the call, else the least recently used one. It
  /// counts as used.
  Found find(const Call &call);

  /// The spare operation that serves the call from now on, as Operation::follow() has it. It counts
  /// as used. Null: none does, or a call of that length was followed lately, so that find() has one
  /// for it, or it is worth one.
  std::shared_ptr<Operation> follow(const Call &call);

  /// For a call that find() has none for: returns an idle operation of another call, which serves
  /// this one from now on. Null: none can, or the call came before and is worth one of its own.
  std::shared_ptr<Operation> resize(const Call &call);

  /// Keeps the operation, in the place of another one if none is left.
  void put(const std::shared_ptr<Operation> &operation);
  void clear() { kinds_.fill({}); }

private:
  /// Calls that come again in turns of so many have operations of their own, beside the spare ones.
  static constexpr size_t kRemembered = 32;

  struct Place {
    uint64_t shape = 0; ///< Operation::shape()
    uint64_t lastUse = 0;
    std::shared_ptr<Operation> operation;
  };
  /// The last kRemembered different words.
  class Recent {
  public:
    /// Returns whether the word is among them; if not, it replaces the oldest one.
    bool add(uint64_t word);

  private:
    std::vector<uint64_t> words_;
    size_t oldest_ = 0; ///< once all are there
  };
  struct Kind {
    std::vector<Place> places;
    Recent missed, followed;  ///< shapes for which find() had none; lengths that follow() has seen
    bool wasFollowed = false; ///< the call at hand has a length that follow() had seen before
    bool comesAgain = false;  ///< the call that was missed last had come before
  };

  Kind &of(CallKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  void miss(Kind &kind, uint64_t shape);
  bool resizeAt(Kind &kind, size_t at, const Call &call);
  size_t randomPlace() {
    random_ = random_ * 1664525 + 1013904223; // Numerical Recipes
    return (random_ >> 16) % kMost;
  }

  std::array<Kind, kCallKinds> kinds_;
  uint64_t uses_ = 0;
  uint32_t random_ = 1;
};

} // namespace colldsl::mpi
