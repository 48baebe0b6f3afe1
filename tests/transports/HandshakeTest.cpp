// How two ranks come to a connection over datagrams that are lost, come twice, or late.
#include "transports/verbs/Handshake.h"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace colldsl::verbs {
namespace {

using namespace std::chrono_literals;
using State = Handshake::State;
using Kind = HandshakeMessage::Kind;

struct Weather {
  double loss = 0, duplication = 0;
  std::chrono::milliseconds mostDelay = 1ms;
};

// Two ranks and what flies between them. The queue card of rank r is r + 100.
class Meeting {
public:
  Meeting(uint32_t seed, Weather weather) : random_(seed), weather_(weather) {}

  struct End {
    Handshake handshake;
    uint32_t receivesFrom = 0; ///< number of the queue pair
    int numReceives = 0, numSends = 0;
  };
  std::array<End, 2> ends = {End{{Rank{4}, Rank{7}, 1000}}, End{{Rank{7}, Rank{4}, 77}}};
  std::vector<Kind> said[2];

  void begin(int r) { post(r, ends[r].handshake.begin(now_)); }

  void post(int from, HandshakeMessage message) {
    said[from].push_back(message.kind);
    message.queue.number = 100 + static_cast<uint32_t>(from);
    for (int copy = 0; copy < (chance(weather_.duplication) ? 2 : 1); ++copy)
      if (!chance(weather_.loss))
        flying_.push_back({now_ + delay(), 1 - from, message});
  }

  // What happens until then; in the order of time.
  void pass(std::chrono::milliseconds time) {
    for (auto until = now_ + time; now_ < until; now_ += 1ms) {
      for (int r : {0, 1})
        if (std::optional<HandshakeMessage> message = ends[r].handshake.again(now_))
          post(r, *message);
      std::vector<Flying> all;
      std::swap(all, flying_);
      for (const Flying &one : all)
        if (one.at > now_)
          flying_.push_back(one);
        else
          arrive(one);
    }
  }

  bool isOver() const {
    return ends[0].handshake.state() == State::Ready && ends[1].handshake.state() == State::Ready;
  }
  void expectConnected() const {
    for (int r : {0, 1}) {
      EXPECT_EQ(ends[r].handshake.state(), State::Ready);
      EXPECT_EQ(ends[r].receivesFrom, 100u + static_cast<uint32_t>(1 - r));
      EXPECT_EQ(ends[r].numReceives, 1);
      EXPECT_EQ(ends[r].numSends, 1);
    }
  }

private:
  struct Flying {
    Handshake::Clock::time_point at;
    int to;
    HandshakeMessage message;
  };

  Handshake::Clock::duration delay() {
    auto most = std::chrono::nanoseconds(weather_.mostDelay).count();
    return std::chrono::nanoseconds(
        static_cast<int64_t>(unit_(random_) * static_cast<double>(most)));
  }
  bool chance(double probability) { return unit_(random_) < probability; }

  // No end sends before the other one receives.
  void arrive(const Flying &one) {
    End &end = ends[one.to];
    Handshake::Step step = end.handshake.receive(one.message, now_);
    end.numReceives += step.mayReceive;
    end.numSends += step.maySend;
    if (step.mayReceive)
      end.receivesFrom = one.message.queue.number;
    EXPECT_GE(ends[1 - one.to].numReceives, int{step.maySend});
    if (step.reply)
      post(one.to, *step.reply);
  }

  std::mt19937 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
  Weather weather_;
  Handshake::Clock::time_point now_{1h};
  std::vector<Flying> flying_;
};

TEST(Handshake, takesThreeMessages) {
  Meeting meeting(1, {});
  meeting.begin(0);
  meeting.pass(9ms);
  meeting.expectConnected();
  EXPECT_EQ(meeting.said[0], (std::vector{Kind::Request, Kind::Confirm}));
  EXPECT_EQ(meeting.said[1], std::vector{Kind::Reply});
  meeting.pass(2000ms);
  EXPECT_EQ(meeting.said[0].size() + meeting.said[1].size(), 3u);
}

TEST(Handshake, theRequestOfTheGreaterRankWins) {
  Meeting meeting(1, {});
  meeting.begin(0);
  meeting.begin(1);
  meeting.pass(9ms);
  meeting.expectConnected();
  EXPECT_EQ(meeting.said[0], (std::vector{Kind::Request, Kind::Reply}));
  EXPECT_EQ(meeting.said[1], (std::vector{Kind::Request, Kind::Confirm}));
}

TEST(Handshake, endsInAnyWeather) {
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    Meeting meeting(seed, {0.1 * (seed % 6), 0.3, std::chrono::milliseconds(1 + seed % 40)});
    meeting.begin(seed % 2);
    meeting.pass(std::chrono::milliseconds(seed % 23));
    if (seed % 3 != 0 && meeting.ends[1 - seed % 2].handshake.state() == State::Idle)
      meeting.begin(1 - seed % 2);
    for (int i = 0; i < 600 && !meeting.isOver(); ++i)
      meeting.pass(100ms);
    meeting.expectConnected();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

// Replies that match no request of this end have no effect.
TEST(Handshake, repliesToOtherRequestsAreIgnored) {
  Handshake handshake(Rank{1}, Rank{2}, 500);
  auto now = Handshake::Clock::now();
  HandshakeMessage request = handshake.begin(now);
  HandshakeMessage reply;
  reply.kind = Kind::Reply;
  reply.from = Rank{2};
  reply.answers = request.sequence + 1;
  EXPECT_FALSE(handshake.receive(reply, now).mayReceive);
  HandshakeMessage confirm = reply;
  confirm.kind = Kind::Confirm;
  confirm.answers = request.sequence;
  EXPECT_FALSE(handshake.receive(confirm, now).maySend);
  EXPECT_EQ(handshake.state(), State::Requested);
  reply.answers = request.sequence;
  EXPECT_TRUE(handshake.receive(reply, now).maySend);
}

TEST(Handshake, retransmitsLessAndLessOften) {
  Handshake handshake(Rank{1}, Rank{2}, 500);
  Handshake::Clock::time_point begin{1h};
  handshake.begin(begin);
  int asked = 0;
  for (auto now = begin; now < begin + 60s; now += 1ms)
    asked += handshake.again(now).has_value();
  EXPECT_GE(asked, 60);
  EXPECT_LE(asked, 130);
}

} // namespace
} // namespace colldsl::verbs
