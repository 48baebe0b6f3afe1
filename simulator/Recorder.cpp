#include "simulator/Recorder.h"

namespace colldsl::sim {

Recorder::Recorder(size_t vertices, size_t ranks, size_t clocks, bool hasLinks)
    : releases_(vertices), holders_(clocks), lastEnd_(ranks) {
  recording_.ops.resize(vertices);
  recording_.messages.resize(vertices);
  recording_.last.resize(ranks);
  recording_.onLinks.resize(hasLinks ? vertices : 0);
}

void Recorder::released(uint32_t op, ActivityId by, uint64_t at) {
  Release &release = releases_[op];
  if (!release.by.known() || at >= release.at)
    release = {by, at};
}

// A dependency takes precedence over a busy processor, as the op that was awaited usually kept it
// busy.
void Recorder::explain(Activity &activity, const Use &use, bool usesGap,
                       const Release &release) const {
  ActivityId processor = holders_[use.processor];
  ActivityId gap = usesGap ? holders_[use.gap] : ActivityId();
  if (release.by.known() && release.at == activity.begin) {
    activity.after = release.by;
    activity.cause = Cause::Dependency;
  } else if (processor.known() && use.processorFree == activity.begin) {
    activity.after = processor;
    activity.cause = Cause::Processor;
  } else if (gap.known()) {
    activity.after = gap;
    activity.cause = Cause::Gap;
  } else if (release.by.known()) {
    activity.after = release.by;
    activity.cause = Cause::Dependency;
  }
}

void Recorder::occupy(ActivityId id, const Use &use, bool usesGap, uint64_t end) {
  holders_[use.processor] = id;
  if (usesGap)
    holders_[use.gap] = id;
  if (end >= lastEnd_[use.rank]) {
    lastEnd_[use.rank] = end;
    recording_.last[use.rank] = id;
  }
}

void Recorder::ranOp(uint32_t op, const Use &use, uint64_t begin, uint64_t end, bool usesGap) {
  Activity &activity = recording_.ops[op];
  activity = {begin, end, {}, Cause::Start, true};
  explain(activity, use, usesGap, releases_[op]);
  occupy({op, false}, use, usesGap, end);
}

void Recorder::ranMessage(uint32_t send, const Use &use, uint64_t begin, uint64_t end) {
  Activity &activity = recording_.messages[send];
  Release release{activity.after.known() ? activity.after : ActivityId{send, false},
                  activity.begin};
  activity = {begin, end, {}, Cause::Start, true};
  explain(activity, use, true, release);
  if (activity.after == ActivityId{send, false})
    activity.cause = Cause::Wire;
  occupy({send, true}, use, true, end);
}

void Recorder::awaited(uint32_t send, bool isMessage, uint32_t recv, uint64_t at) {
  ActivityId by = recording_.ops[recv].after;
  if (!isMessage)
    return released(send, by, at);
  recording_.messages[send].begin = at;
  recording_.messages[send].after = by;
}

void Recorder::posted(uint32_t recv, const Use &use, uint64_t at) {
  Activity &activity = recording_.ops[recv];
  activity = {at, at, {}, Cause::Start, true};
  explain(activity, use, false, releases_[recv]);
}

void Recorder::received(uint32_t recv, uint32_t send, uint64_t end) {
  Activity &activity = recording_.ops[recv];
  const Activity &message = recording_.messages[send];
  if (message.end >= activity.begin) {
    activity.after = {send, true};
    activity.cause = Cause::Dependency;
  }
  activity.end = end;
}

void Recorder::acknowledged(const Use &use, uint32_t send, uint64_t at) {
  if (use.processorFree < at)
    holders_[use.processor] = {send, true};
  if (use.gapFree < at)
    holders_[use.gap] = {send, true};
  if (at >= lastEnd_[use.rank]) {
    lastEnd_[use.rank] = at;
    recording_.last[use.rank] = {send, true};
  }
  Activity &activity = recording_.ops[send];
  activity.end = activity.end < at ? at : activity.end;
}

} // namespace colldsl::sim
