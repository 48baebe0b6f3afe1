#include "mpi/operations/Prepared.h"

#include <algorithm>
#include <new>
#include <utility>

namespace colldsl::mpi {

PreparedOperations::Found PreparedOperations::find(const Call &call) {
  Kind &kind = of(call.kind);
  if (kind.places.empty())
    return {};
  uint64_t shape = kind.places.front().operation->shapeOf(call);
  Found found;
  Place *best = nullptr;
  for (Place &place : kind.places) {
    if (place.shape != shape || place.operation->isBusy() || !place.operation->hasShapeOf(call))
      continue;
    found.isThere = place.operation->isAt(call);
    if (found.isThere || !best || place.lastUse < best->lastUse)
      best = &place;
    if (found.isThere)
      break;
    ++found.places;
  }
  if (!best) {
    miss(kind, shape);
    return {};
  }
  best->lastUse = ++uses_;
  found.operation = best->operation;
  return found;
}

bool PreparedOperations::Recent::add(uint64_t word) {
  if (std::find(words_.begin(), words_.end(), word) != words_.end())
    return true;
  if (words_.size() < kRemembered)
    words_.push_back(word);
  else
    words_[oldest_++ % kRemembered] = word;
  return false;
}

// An operation that serves moves forward, so that those that serve most calls are tried first.
std::shared_ptr<Operation> PreparedOperations::follow(const Call &call) {
  Kind &kind = of(call.kind);
  std::vector<Place> &places = kind.places;
  if (places.empty())
    return nullptr;
  kind.wasFollowed = kind.followed.add(places.front().operation->lengthsOf(call));
  if (kind.wasFollowed)
    return nullptr;
  for (size_t at = 0; at < places.size(); ++at) {
    Operation &operation = *places[at].operation;
    if (!operation.isSpare() || operation.isBusy() || !operation.follow(call))
      continue;
    size_t before = at == 0 ? 0 : at - 1;
    std::swap(places[at], places[before]);
    places[before].lastUse = ++uses_;
    return places[before].operation;
  }
  return nullptr;
}

void PreparedOperations::miss(Kind &kind, uint64_t shape) {
  kind.comesAgain = std::exchange(kind.wasFollowed, false) || kind.missed.add(shape);
}

/// False: that operation cannot serve the call.
bool PreparedOperations::resizeAt(Kind &kind, size_t at, const Call &call) {
  Place &place = kind.places[at];
  if (place.operation->isBusy())
    return false;
  auto drop = [&] { // it no longer serves either call
    place = std::move(kind.places.back());
    kind.places.pop_back();
  };
  Result<bool> isResized = false;
  try {
    isResized = place.operation->resizeTo(call);
  } catch (const std::bad_alloc &) {
    drop();
    throw;
  }
  if (!isResized)
    drop();
  if (!isResized || !*isResized)
    return false;
  place.shape = place.operation->shape();
  place.lastUse = ++uses_;
  return true;
}

// Once all places are taken, every operation is spare.
std::shared_ptr<Operation> PreparedOperations::resize(const Call &call) {
  Kind &kind = of(call.kind);
  bool isFull = kind.places.size() >= kMost;
  if (kind.comesAgain && !isFull)
    return nullptr;
  size_t first = isFull ? randomPlace() : 0;
  for (size_t i = 0; i < kind.places.size(); ++i) {
    size_t at = (first + i) % kind.places.size();
    if (!isFull && !kind.places[at].operation->isSpare())
      continue;
    if (resizeAt(kind, at, call))
      return kind.places[at].operation;
  }
  return nullptr;
}

// A busy operation that loses its place lives on until its run ends.
void PreparedOperations::put(const std::shared_ptr<Operation> &operation) {
  Kind &kind = of(operation->kind());
  operation->setSpare(!kind.comesAgain);
  Place made{operation->shape(), ++uses_, operation};
  if (kind.places.size() < kMost)
    kind.places.push_back(std::move(made));
  else
    kind.places[randomPlace()] = std::move(made);
}

} // namespace colldsl::mpi
