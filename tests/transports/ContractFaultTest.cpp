// What protocol/Endpoint.h promises of ranks that disagree, fail, close and leave.
#include "tests/transports/Contract.h"
#include "tests/transports/ContractEnd.h"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>
#include <thread>

namespace colldsl::test {
namespace {

// Rank 1 expects one message more than rank 0 sends; rank 2 has nothing to do with it.
TEST_P(Contract, refusesEdgesThatDisagree) {
  if (GetParam().opensAlone)
    GTEST_SKIP() << "a rank that opens alone knows nothing of others";
  run(3, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> out, in;
    if (endpoint.rank() == Rank{0})
      out = {{Rank{1}, ids(2)}};
    if (endpoint.rank() == Rank{1})
      in = {{Rank{0}, ids(3)}};
    auto opened = endpoint.open({out, in});
    std::string why;
    if (opened) { // not every transport waits for all ranks
      std::vector<Completion> done;
      (*opened)->start();
      if (pollUntil(**opened, done, [] { return false; }) || !(*opened)->failed())
        return "it was opened";
      why = (*opened)->fault().reason;
    } else {
      why = opened.message();
    }
    if (why.find("rank 0 and rank 1 disagree") == std::string::npos)
      return why;
    std::vector<EdgeSpec> ring{{neighborOf(endpoint, 1), ids(1)}},
        back{{neighborOf(endpoint, -1), ids(1)}};
    return endpoint.open({ring, back}) ? "" : "the next plan was refused too";
  });
}

// Where all ranks agree on an open it is refused, else the first run fails.
TEST_P(Contract, comparesTermsOfBothEnds) {
  if (!GetParam().isOverNetwork && !GetParam().agreesOnTerms)
    GTEST_SKIP() << "its terms are compared a step above";
  run(3, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> ring{{neighborOf(endpoint, 1), ids(1)}},
        back{{neighborOf(endpoint, -1), ids(1)}};
    for (bool isSame : {true, false, true}) {
      auto opened =
          endpoint.open({ring, back,
                         !isSame && endpoint.rank() == Rank{1} ? "type=f32\nsize 'n'=5\n"
                                                               : "type=i32\nsize 'n'=5\n"});
      std::string why = opened ? "" : opened.message();
      if (opened) {
        Message in{std::vector<std::byte>(100)}, out{std::vector<std::byte>(100)};
        (*opened)->start();
        size_t pending = (*opened)->recv({0, 0}, OpId{0}, in.payload) == Posted::Pending;
        pending += (*opened)->send({0, 0}, OpId{1}, out.payload) == Posted::Pending;
        std::vector<Completion> done;
        bool isOver = pollUntil(**opened, done, [&] { return isSame && done.size() == pending; });
        why = isOver ? "" : (*opened)->failed() ? (*opened)->fault().reason : "it hangs";
      }
      if (why != (isSame
                      ? ""
                      : "rank 0 and rank 1 disagree on the type: i32 on rank 0, f32 on rank 1") &&
          (isSame || why != "rank 1 and rank 2 disagree on the type: f32 on rank 1, i32 on rank 2"))
        return "got: " + why;
    }
    return "";
  });
}

TEST_P(Contract, aRefusalReachesEveryRank) {
  run(3, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> ring{{neighborOf(endpoint, 1), ids(1)}},
        back{{neighborOf(endpoint, -1), ids(1)}};
    if (endpoint.rank() == Rank{1}) {
      endpoint.refuse("not today");
    } else {
      auto opened = endpoint.open({ring, back});
      std::string why = opened ? "" : opened.message();
      if (opened) { // not every transport waits for all ranks
        std::vector<Completion> done;
        (*opened)->start();
        if (pollUntil(**opened, done, [] { return false; }) || !(*opened)->failed())
          return "it was opened";
        why = (*opened)->fault().reason;
      }
      if (why != "rank 1: not today")
        return why;
    }
    return endpoint.open({ring, back}) ? "" : "the next plan was refused too";
  });
}

TEST_P(Contract, refusesMessagesOfTheWrongSize) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (uint64_t bytes : {8, 200, 100000}) {
      std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(1)}}, none;
      bool sends = endpoint.rank() == Rank{0};
      auto opened = endpoint.open({sends ? edge : none, sends ? none : edge});
      if (!opened)
        return opened.message();
      Channels &channels = **opened;
      if (!channels.prepare({bytes}))
        return "no room";
      channels.start();
      Message message{std::vector<std::byte>(sends ? bytes : bytes - 1)};
      std::vector<Completion> done;
      if (sends) {
        channels.send({0, 0}, OpId{0}, message.payload);
        pollUntil(channels, done, [] { return false; });
      } else {
        channels.recv({0, 0}, OpId{5}, message.payload);
        pollUntil(channels, done, [] { return false; });
        if (channels.failed() && channels.fault().op != OpId{5})
          return "the wrong op is named";
        if (channels.failed())
          channels.abort(channels.fault());
      }
      if (!channels.failed())
        return "no fault for " + std::to_string(bytes) + " bytes";
      if (channels.fault().kind != ErrorKind::Truncated)
        return channels.fault().reason; // on both ends
    }
    return "";
  });
}

// All ranks to all ranks, themselves included: no rank is through before all are there.
std::string meet(Channels &channels, uint32_t numRanks) {
  Payload signal;
  signal.always = true;
  channels.start();
  size_t pending = 0;
  for (uint32_t e = 0; e < numRanks; ++e) {
    pending += channels.send({e, 0}, OpId{0}, signal) == Posted::Pending;
    pending += channels.recv({e, 0}, OpId{1}, signal) == Posted::Pending;
  }
  std::vector<Completion> done;
  if (pollUntil(channels, done, [&] { return done.size() == pending; }))
    return "";
  return "not met: " + (channels.failed() ? channels.fault().reason : "in time");
}

TEST_P(Contract, failuresReachEveryRankOfThePlanAndNoOtherPlan) {
  run(4, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> all;
    for (uint32_t r = 0; r < endpoint.numRanks(); ++r)
      all.push_back({Rank{r}, ids(1)});
    auto doomed = endpoint.open({all, all});
    auto healthy = endpoint.open({all, all});
    if (!doomed || !healthy)
      return "not opened";
    if (auto s = meet(**healthy, 4); !s.empty())
      return s;
    (*doomed)->start();
    if (endpoint.rank() == Rank{2})
      (*doomed)->abort({Rank{2}, kNoOp, "out of luck", ErrorKind::NoMemory});
    std::vector<Completion> done;
    if (pollUntil(**doomed, done, [] { return false; }) || !(*doomed)->failed())
      return "the failure was not seen";
    if ((*doomed)->fault().reason != "out of luck" || (*doomed)->fault().peer != Rank{2} ||
        (*doomed)->fault().kind != ErrorKind::NoMemory)
      return (*doomed)->fault().reason;
    return meet(**healthy, 4);
  });
}

// Rank 1 goes away instead of sending.
TEST_P(Contract, noticesThatAPeerHasClosedThePlan) {
  run(2, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(1)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    if (endpoint.rank() == Rank{1})
      return "";
    (*opened)->start();
    Payload signal;
    signal.always = true;
    (*opened)->recv({0, 0}, OpId{0}, signal);
    std::vector<Completion> done;
    pollUntil(**opened, done, [] { return false; });
    if (!(*opened)->failed())
      return "does not wait";
    return (*opened)->fault().reason.find("has closed the plan") != std::string::npos
               ? ""
               : (*opened)->fault().reason;
  });
}

// What was sent before a rank left still arrives.
TEST_P(Contract, messagesOutliveTheirSender) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 100});
    if (auto s = end.openOneWay(endpoint); !s.empty())
      return s;
    if (!end.sends())
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return end.runOneWay(0);
  });
}

// Rank 1 has what rank 0 sent, and rank 0 is gone, long before rank 1 asks for it.
TEST_P(Contract, messagesWaitForAReceiveAfterTheirSenderLeft) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 100});
    if (auto s = end.openOneWay(endpoint); !s.empty())
      return s;
    end.begin(0);
    if (end.sends()) {
      end.send(0, 0);
      end.send(0, 1);
      return end.finish();
    }
    end.recv(0, 0);
    auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) {
      end.look();
      if (!end.channels().check())
        return end.channels().fault().reason;
    }
    end.recv(0, 1);
    return end.finish();
  });
}

// A receiver closes the plan as soon as it has received; its sender must not take that
// for desertion.
TEST_P(Contract, receiversMayLeaveOnceTheyHaveReceived) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (uint64_t i = 0; i < 60; ++i) {
      End end(endpoint, {i % 2 == 0 ? 20000 + i : i, 10000});
      if (auto s = end.openOneWay(endpoint); !s.empty())
        return s;
      if (auto s = end.runOneWay(0); !s.empty())
        return s;
    }
    return "";
  });
}

// Rank 0 fails with messages of all sizes under way, and uses their memory for something else. Rank
// 1 comes then: what it receives is what was sent, or it fails too.
TEST_P(Contract, aLateReceiverGetsNoBytesOfReusedMemory) {
  void *shared = mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto &isReused = *new (shared) std::atomic<uint32_t>(0);
  bool polls = GetParam().isOverNetwork; // else rank 0 waits for it in vain
  run(2, [&](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 200, 5000, 20000, 70000, 300000});
    if (auto s = end.openOneWay(endpoint); !s.empty())
      return s == "enough" ? "" : s;
    end.begin(0);
    if (end.sends()) {
      for (uint32_t m = 0; m < end.numMessages(); ++m)
        end.send(0, m);
      end.channels().abort({Rank{0}, kNoOp, "enough"});
      end.channels().cancel();
      end.useMemoryAgain();
      isReused = 1;
      return "";
    }
    while (isReused == 0)
      if (polls)
        end.channels().poll();
    for (uint32_t m = 0; m < end.numMessages(); ++m)
      end.recv(0, m);
    std::string outcome = end.finish();
    return outcome == "enough" || outcome.empty() ? end.findReused() : outcome;
  });
  munmap(shared, sizeof(std::atomic<uint32_t>));
}

// Plans fail one after the other, more than the table of failures holds, while one works.
TEST_P(Contract, plansMayFailAgainAndAgain) {
  if (GetParam().isOverNetwork)
    GTEST_SKIP() << "failures of plans that are closed are kept nowhere";
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    End works(endpoint, {8});
    if (auto s = works.open(endpoint, {peer}, {peer}); !s.empty())
      return s;
    for (uint32_t i = 0; i < 2500; ++i) {
      End fails(endpoint, {8});
      std::string opened = fails.open(endpoint, {peer}, {peer});
      if (!opened.empty() && opened != "enough")
        return opened;
      if (opened.empty() && endpoint.rank() == Rank{0})
        fails.channels().abort({Rank{0}, kNoOp, "enough"});
      auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (opened.empty() && fails.channels().check())
        if (std::chrono::steady_clock::now() > until)
          return "failure " + std::to_string(i) + " is not told";
      if (opened.empty() && fails.channels().fault().reason != "enough")
        return "failure " + std::to_string(i) + ": " + fails.channels().fault().reason;
      if (i % 50 != 0)
        continue;
      works.begin(i);
      works.recv(0, 0);
      works.send(0, 0);
      if (auto s = works.finish(); !s.empty())
        return std::to_string(i) + ": " + s;
    }
    return "";
  });
}

// Opening and closing again and again must not use up the shared memory.
TEST_P(Contract, closedPlansGiveTheirMemoryBack) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    for (int i = 0; i < 100; ++i) {
      End end(endpoint, std::vector<uint64_t>(60, 300));
      if (auto s = end.open(endpoint, {peer}, {peer}); !s.empty())
        return s;
      end.begin(0);
      for (uint32_t m = 0; m < end.numMessages(); ++m) {
        end.recv(0, m);
        end.send(0, m);
      }
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

} // namespace
} // namespace colldsl::test
