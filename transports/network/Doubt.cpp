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

void NetworkChannels::skip(End &end) const {
  if (end.skipped + 1 != run_)
    end.skippedSince = run_;
  end.skipped = run_;
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
  bool isPast = static_cast<int32_t>(run_ - header.run) > 0;
  bool isSkipped = static_cast<int32_t>(header.run - end->skippedSince) >= 0 &&
                   static_cast<int32_t>(end->skipped - header.run) >= 0;
  body.progress = isSkipped ? Progress::Skipped : isPast ? Progress::Past : Progress::NotYet;
  endpoint_.mail_->say(
      from, {.plan = plan_, .run = header.run, .message = header.message, .kind = Kind::SoFar},
      body);
}

// The answer is behind all frames of that run. But what is written, or goes to several at once,
// comes in no order.
void NetworkChannels::onSoFar(Peer &from, const Header &header, const DoubtBody &body) {
  End *end = find(body.sends ? out_ : in_, from.rank, header.message);
  if (!end || end->run != header.run || !std::exchange(end->isDoubted, false) || !waits(*end))
    return;
  bool comesInOrder =
      end->state == End::State::Asked || (end->state == End::State::Posted && !end->way.multicast);
  bool neverComes =
      body.progress == Progress::Skipped || (body.progress == Progress::Past && comesInOrder);
  if (!neverComes)
    return;
  failAt(endedWithout(from.rank, end->op, end->payload));
  endpoint_.wake();
}

} // namespace colldsl::network
