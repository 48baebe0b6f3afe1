// Ranks that watch each other, in one process.
#include "transports/network/ProcessMonitor.h"
#include "transports/network/FailureBody.h"
#include "wireup/Interfaces.h"

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace network;
using namespace std::chrono_literals;

constexpr uint64_t kToken = 4711;
const Fault kFault{Rank{7}, kNoOp, "out of luck"};

struct Watcher {
  std::unique_ptr<ProcessMonitor> monitor;
  RankAddress rankAddress;
  std::vector<ProcessMonitor::Event> events;

  explicit Watcher(Rank self) {
    auto opened = ProcessMonitor::open("127.0.0.1", self, kToken + index(self), 10s);
    EXPECT_TRUE(opened.ok()) << opened.message();
    monitor = opened.take();
    monitor->describe(rankAddress);
    rankAddress.token = kToken + index(self);
  }
  void tell() { monitor->notify(failureBody(true, kNoRank, kFault)); }
  void look() { monitor->poll(events); }
};

void lookUntil(Watcher &one, Watcher &other, const std::vector<ProcessMonitor::Event> &events) {
  for (auto end = std::chrono::steady_clock::now() + 10s;
       events.empty() && std::chrono::steady_clock::now() < end; ::poll(nullptr, 0, 1)) {
    one.look();
    other.look();
  }
}

void expectFailure(const Watcher &told, Rank by) {
  ASSERT_EQ(told.events.size(), 1u);
  EXPECT_EQ(told.events[0].what, ProcessMonitor::What::Failed);
  EXPECT_EQ(told.events[0].rank, by);
  auto read = readFailure(std::as_bytes(std::span(&told.events[0].failure, 1)));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->culprit, Rank{7});
  EXPECT_STREQ(read->reason, "out of luck");
}

TEST(ProcessMonitor, failuresReachPeersOfBothDirections) {
  for (bool comes : {false, true}) {
    Watcher failed(Rank{0}), other(Rank{1});
    (comes ? failed : other)
        .monitor->add(comes ? Rank{1} : Rank{0}, (comes ? other : failed).rankAddress);
    for (int i = 0; i < 20; ++i, ::poll(nullptr, 0, 1)) { // they know each other
      failed.look();
      other.look();
    }
    failed.tell();
    for (int i = 0; i < 10000 && other.events.empty(); ++i, ::poll(nullptr, 0, 1))
      other.look(); // the one that failed looks no more
    expectFailure(other, Rank{0});
    EXPECT_TRUE(failed.events.empty());
  }
}

TEST(ProcessMonitor, aLaterConnectionIsNotifiedOfTheFailure) {
  Watcher failed(Rank{0}), late(Rank{1});
  failed.tell();
  late.monitor->add(Rank{0}, failed.rankAddress);
  lookUntil(failed, late, late.events);
  expectFailure(late, Rank{0});
}

TEST(ProcessMonitor, strangersGetNoNotification) {
  Watcher failed(Rank{0}), stranger(Rank{1});
  RankAddress wrong = failed.rankAddress;
  wrong.token = 1;
  stranger.monitor->add(Rank{0}, wrong);
  failed.tell();
  lookUntil(failed, stranger, stranger.events);
  ASSERT_EQ(stranger.events.size(), 1u);
  EXPECT_EQ(stranger.events[0].what, ProcessMonitor::What::Died); // it is sent away
  EXPECT_EQ(failed.monitor->numRefused(), 1u);
}

/// So many connections to it that say nothing.
class Silent {
public:
  Silent(Watcher &to, size_t count) {
    rlimit files = {};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    SocketName name(to.rankAddress.monitorAddress, to.rankAddress.monitorPort);
    for (size_t i = 0; i < count; ++i, to.look()) {
      files_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(files_.back(), name.get(), name.bytes), 0) << i;
    }
  }
  ~Silent() {
    for (int file : files_)
      close(file);
  }

private:
  std::vector<int> files_;
};

TEST(ProcessMonitor, strangersTakeNoPlaceOfARank) {
  Watcher failed(Rank{0}), other(Rank{1});
  Silent strangers(failed, 1100);
  other.monitor->add(Rank{0}, failed.rankAddress);
  for (int i = 0; i < 20; ++i, ::poll(nullptr, 0, 1)) {
    failed.look();
    other.look();
  }
  EXPECT_TRUE(other.events.empty()) << "it lives";
  EXPECT_GT(failed.monitor->numRefused(), 0u);
  failed.tell();
  lookUntil(failed, other, other.events);
  expectFailure(other, Rank{0});
}

} // namespace
} // namespace colldsl::test
