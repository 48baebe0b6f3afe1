/// Streams, and single runs, whose messages this rank throws away.
#pragma once

#include "transports/RunPlaces.h"

#include <unordered_set>
#include <vector>

namespace colldsl::protocol {

struct RunId {
  StreamId stream;
  uint32_t run;
  bool contains(const Tag &tag) const { return streamOf(tag) == stream && tag.run == run; }
};

class CancelledRuns {
public:
  void add(StreamId stream) { streams_.insert(stream); }
  bool contains(StreamId stream) const { return streams_.contains(stream); }

  /// Each run has a place, as its failure has, and an older one gives way.
  void add(const RunId &run) {
    runs_.resize(kRunPlaces);
    runs_[placeOf(run.stream, run.run)] = run;
  }
  bool containsRunOf(const Tag &tag) const {
    return !runs_.empty() && runs_[placeOf(streamOf(tag), tag.run)].contains(tag);
  }

private:
  std::unordered_set<StreamId> streams_;
  std::vector<RunId> runs_; ///< empty: there were none
};

} // namespace colldsl::protocol
