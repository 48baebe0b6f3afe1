// Whether what is waited for will ever come: an end of a message that has no bytes says nothing.
#include "transports/network/NetworkChannels.h"

#include "transports/Pieces.h"

#include <algorithm>

namespace colldsl::network {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than others have a core that is shared.
constexpr std::chrono::nanoseconds kPatience = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kMostPatience = std::chrono::seconds(3);

} // namespace

bool NetworkChannels::waits(const End &end) {
  return end.state == End::State::Posted || end.state == End::State::Announced ||
         end.state == End::State::Asked;
}

// By whoever waits: of all that nothing was heard of, ever more rarely.
void NetworkChannels::doubt() {
  Clock::time_point now = Clock::now();
  if (nextDoubt_ == Clock::time_point()) {
    patience_ = kPatience;
    nextDoubt_ = now + patience_;
  }
  if (now < nextDoubt_)
    return;
  patience_ = std::min(2 * patience_, kMostPatience);
  nextDoubt_ = now + patience_;
  for (Side *side : {&in_, &out_})
    for (End &end : side->ends)
      if (waits(end) && !std::exchange(end.isDoubted, true))
        endpoint_.mail_->say(*end.peer, headerOf(Kind::HowFar, end), DoubtBody{.sends = end.sends});
}

void NetworkChannels::onHowFar(Peer &from, const Header &header, DoubtBody body) {
  const End *end = find(body.sends ? in_ : out_, from.rank, header.message);
  if (!end)
    return;
  if (static_cast<int32_t>(run_ - header.run) > 0)
    body.progress = Progress::Past;
  else if (header.run == run_ && end->run == run_ && end->isSkipped)
    body.progress = Progress::Skipped;
  else
    body.progress = Progress::NotYet;
  body.isWritten = end->sends && end->written == header.run;
  body.casts = end->castFrames;
  endpoint_.mail_->say(
      from, {.plan = plan_, .run = header.run, .message = header.message, .kind = Kind::SoFar},
      body);
}

// The answer is behind all frames of that run. What is written comes in no order with it: no later
// run has written this message, since this rank says in each run anew where it wants it. What goes
// to several at once comes in no order either, and is counted.
void NetworkChannels::onSoFar(Peer &from, const Header &header, const DoubtBody &body) {
  End *end = find(body.sends ? out_ : in_, from.rank, header.message);
  if (end && end->run == header.run && end->state == End::State::ToConfirm) {
    if (body.progress == Progress::NotYet) // the sender waits for the end of the read
      finishRead(*end);
    return;
  }
  if (!end || end->run != header.run || !std::exchange(end->isDoubted, false) || !waits(*end))
    return;
  bool isHere = end->sends || (body.isWritten == 0 && end->castFrames >= body.casts);
  bool neverComes =
      body.progress == Progress::Skipped || (body.progress == Progress::Past && isHere);
  if (!neverComes)
    return;
  failAt(endedWithout(from.rank, end->op, end->payload));
  endpoint_.wake();
}

} // namespace colldsl::network
