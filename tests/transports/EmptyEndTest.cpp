// Messages that have no bytes at one end: the other end is told that nothing comes.
#include "tests/transports/Contract.h"

namespace colldsl::test {
namespace {

// One end of 0 bytes, and one of more. Rank 0 is through with the run before rank 1 waits, and
// stays in it or goes on to the next one; all the time it looks.
TEST_P(Contract, anEndWithoutBytesIsNotWaitedFor) {
  if (!GetParam().isOverNetwork)
    GTEST_SKIP() << "waits until a timeout";
  run(2, [](Endpoint &endpoint) -> std::string {
    Transfer fixed;
    fixed.protocol = Protocol::Static;
    std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(2), {fixed, {}}}};
    for (bool sends : {false, true})
      for (bool goesOn : {false, true})
        for (uint64_t bytes : {uint64_t{8}, uint64_t{100000}}) {
          if (sends && bytes == 8 && goesOn)
            continue; // what was short is gone
          auto opened = endpoint.open({edge, edge});
          if (!opened)
            return opened.message();
          Channels &channels = **opened;
          bool has = endpoint.rank() == Rank{1};
          Message message{std::vector<std::byte>(has ? bytes : 0)};
          message.payload.always = false;
          auto post = [&](OpId op) {
            return sends == has ? channels.send({0, 0}, op, message.payload)
                                : channels.recv({0, 0}, op, message.payload);
          };
          channels.start();
          std::vector<Completion> done;
          if (!has) {
            post(OpId{3});
            if (goesOn) {
              channels.start();
              post(OpId{6});
            }
            Payload signal;
            signal.always = true;
            channels.recv({0, 1}, OpId{4}, signal);
          } else {
            post(OpId{5});
          }
          pollUntil(channels, done, [] { return false; });
          if (!channels.failed())
            return "no error for " + std::to_string(bytes) + " bytes";
          if (channels.fault().kind != ErrorKind::Truncated)
            return channels.fault().reason;
          channels.abort(channels.fault());
        }
    return "";
  });
}

// The same, of a sender that has had bytes for later runs, and none again, when it is asked.
TEST_P(Contract, anEndThatHadNoBytesLongAgoIsNotWaitedFor) {
  if (!GetParam().isOverNetwork)
    GTEST_SKIP() << "waits until a timeout";
  run(2, [](Endpoint &endpoint) -> std::string {
    Transfer fixed;
    fixed.protocol = Protocol::Static;
    std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(1), {fixed}}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    Channels &channels = **opened;
    bool receives = endpoint.rank() == Rank{1};
    Message message{std::vector<std::byte>(100000)};
    if (receives) {
      channels.start();
      channels.recv({0, 0}, OpId{5}, message.payload);
    }
    for (uint64_t sent : {0, 8, 0, 8, 0}) {
      if (receives)
        break;
      Message next{std::vector<std::byte>(sent)};
      next.payload.always = false;
      channels.start();
      if (channels.send({0, 0}, OpId{3}, next.payload) != Posted::Done)
        return "not sent at once";
    }
    std::vector<Completion> done;
    pollUntil(channels, done, [] { return false; });
    if (!channels.failed())
      return "it was not told that nothing comes";
    if (channels.fault().kind != ErrorKind::Truncated)
      return channels.fault().reason;
    channels.abort(channels.fault());
    return "";
  });
}

} // namespace
} // namespace colldsl::test
