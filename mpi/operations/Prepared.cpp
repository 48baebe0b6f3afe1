#include "mpi/operations/Prepared.h"

#include <new>
#include <utility>

namespace colldsl::mpi {

PreparedOperations::Found PreparedOperations::find(const Call &call) {
  Places &places = of(call.kind);
  if (places.empty())
    return {};
  uint64_t shape = places.front().operation->shapeOf(call);
  Found found;
  Place *best = nullptr;
  for (Place &place : places) {
    if (place.shape != shape || place.operation->isBusy() || !place.operation->hasShapeOf(call))
      continue;
    found.isThere = place.operation->isAt(call);
    if (found.isThere || !best || place.lastUse < best->lastUse)
      best = &place;
    if (found.isThere)
      break;
    ++found.places;
  }
  if (!best)
    return {};
  best->lastUse = ++uses_;
  found.operation = best->operation;
  return found;
}

std::shared_ptr<Operation> PreparedOperations::resize(const Call &call) {
  Places &places = of(call.kind);
  if (places.size() < kMost)
    return nullptr;
  size_t first = randomPlace();
  for (size_t i = 0; i < kMost; ++i) {
    Place &place = places[(first + i) % kMost];
    if (place.operation->isBusy())
      continue;
    auto drop = [&] { // it no longer serves either call
      place = std::move(places.back());
      places.pop_back();
    };
    Result<bool> isResized = false;
    try {
      isResized = place.operation->resizeTo(call);
    } catch (const std::bad_alloc &) {
      drop();
      throw;
    }
    if (!isResized) {
      drop();
      return nullptr;
    }
    if (!*isResized)
      continue;
    place.shape = place.operation->shape();
    place.lastUse = ++uses_;
    return place.operation;
  }
  return nullptr;
}

// A busy operation that loses its place lives on until its run ends.
void PreparedOperations::put(const std::shared_ptr<Operation> &operation) {
  Places &places = of(operation->kind());
  Place made{operation->shape(), ++uses_, operation};
  if (places.size() < kMost)
    places.push_back(std::move(made));
  else
    places[randomPlace()] = std::move(made);
}

} // namespace colldsl::mpi
