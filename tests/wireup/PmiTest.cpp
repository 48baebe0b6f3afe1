// PMI with a launcher that says what the test wants: right answers, wrong ones, none.
#include "wireup/Allgatherv.h"
#include "wireup/Launcher.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace colldsl {
namespace {

/// Answers to each line, if it likes; a blank is only the beginning of an answer.
using Answer = std::function<std::string(const std::string &line)>;

/// The launcher's end of a socket, served by a thread until the process hangs up.
class PlayedLauncher {
public:
  PlayedLauncher(uint32_t rank, uint32_t numRanks, Answer answer) : answer_(std::move(answer)) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0)
      std::abort();
    setenv("PMI_FD", std::to_string(ends_[0]).c_str(), 1);
    setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
    setenv("PMI_SIZE", std::to_string(numRanks).c_str(), 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~PlayedLauncher() {
    close(ends_[0]);
    thread_.join();
    for (const char *name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"})
      unsetenv(name);
  }

private:
  void serve() {
    std::string heard;
    char more[4096];
    for (ssize_t length; (length = recv(ends_[1], more, sizeof more, 0)) > 0;) {
      heard.append(more, static_cast<size_t>(length));
      for (size_t end; (end = heard.find('\n')) != std::string::npos; heard.erase(0, end + 1)) {
        std::string reply = answer_(heard.substr(0, end));
        if (reply.empty())
          return hangUp();
        if (reply != " ")
          reply += '\n';
        if (send(ends_[1], reply.data(), reply.size(), MSG_NOSIGNAL) < 0)
          return hangUp();
      }
    }
    hangUp();
  }
  void hangUp() { close(ends_[1]); }

  int ends_[2];
  Answer answer_;
  std::thread thread_;
};

/// As MPICH's launcher answers, with values of at most 20 letters; rank 1 says what rank 0 says.
class RightAnswers {
public:
  std::string operator()(const std::string &line) {
    auto word = [&](const char *name) {
      size_t begin = line.find(std::string(name) + "=");
      return begin == std::string::npos
                 ? ""
                 : line.substr(begin + std::strlen(name) + 1,
                               line.find(' ', begin) - begin - std::strlen(name) - 1);
    };
    std::string command = word("cmd"), key = word("key");
    if (command == "init")
      return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (command == "get_maxes")
      return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=20";
    if (command == "get_my_kvsname")
      return "cmd=my_kvsname kvsname=space";
    if (command == "put")
      values_[key.substr(0, key.find('-'))] = word("value");
    if (command == "put")
      return word("value").size() < 20 ? "cmd=put_result rc=0 msg=success"
                                       : "cmd=put_result rc=-1 msg=too_long";
    if (command == "get")
      return "cmd=get_result rc=0 msg=success value=" + values_[key.substr(0, key.find('-'))];
    return command == "barrier_in" ? "cmd=barrier_out rc=0" : "cmd=finalize_ack rc=0";
  }

private:
  std::map<std::string, std::string> values_; ///< by key, of any rank
};

std::string whyNotFound(Answer answer) {
  PlayedLauncher played(0, 2, std::move(answer));
  Result<std::unique_ptr<Launcher>> found = findPmi({});
  return found ? "found" : found.message();
}

/// The right answers, but for one line.
Answer otherwise(const std::string &command, const std::string &reply) {
  return [command, reply, right = RightAnswers()](const std::string &line) mutable {
    return line.find("cmd=" + command) == 0 ? reply : right(line);
  };
}

TEST(Pmi, LongValuesTravelInPieces) {
  PlayedLauncher played(1, 2, RightAnswers());
  Result<std::unique_ptr<Launcher>> found = findPmi({});
  ASSERT_TRUE(found) << found.message();
  Launcher &launcher = **found;
  EXPECT_EQ(launcher.rank(), 1u);
  EXPECT_EQ(launcher.numRanks(), 2u);
  for (size_t length : {0, 1, 9, 10, 1000}) {
    std::vector<std::byte> mine(length), all(2 * length);
    for (size_t i = 0; i < length; ++i)
      mine[i] = static_cast<std::byte>(i * 7);
    Status s = launcher.allgather(mine.data(), all.data(), length);
    ASSERT_TRUE(s) << s.message();
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), all.begin()));
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), all.begin() + static_cast<ptrdiff_t>(length)));
    auto each = allgatherv(launcher.oob(), mine);
    ASSERT_TRUE(each);
    EXPECT_EQ((*each)[0], mine);
    EXPECT_EQ((*each)[1], mine);
  }
}

TEST(Pmi, WithoutLauncherNothingIsFound) {
  Result<std::unique_ptr<Launcher>> found = findPmi({});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, nullptr);
}

TEST(Pmi, ALauncherThatEndsOrErrsIsReported) {
  EXPECT_EQ(whyNotFound(RightAnswers()), "found");
  EXPECT_EQ(whyNotFound([](const std::string &) { return ""; }),
            "the launcher is gone: it closed the socket");
  EXPECT_EQ(whyNotFound(otherwise("init", "cmd=response_to_init rc=-1")),
            "the launcher refused PMI 1: cmd=response_to_init rc=-1");
  EXPECT_EQ(whyNotFound(otherwise("get_maxes", "cmd=nonsense")),
            "the launcher was to answer maxes, and answered: cmd=nonsense");
  EXPECT_EQ(whyNotFound(otherwise("get_maxes", "cmd=maxes vallen_max=2")),
            "the launcher has no place for keys and values");
}

TEST(Pmi, CorruptedValuesAreRefused) {
  for (auto [reply, why] :
       {std::pair("cmd=get_result rc=0 value=0g", "rank 0 put something else"),
        std::pair("cmd=get_result rc=0 value=001", "rank 0 put something else"),
        std::pair("cmd=get_result rc=-1 msg=no_key", "the launcher answered: ")}) {
    PlayedLauncher played(0, 2, otherwise("get ", reply));
    Result<std::unique_ptr<Launcher>> found = findPmi({});
    ASSERT_TRUE(found) << found.message();
    std::byte mine{1}, all[2];
    Status s = (*found)->allgather(&mine, all, 1);
    ASSERT_FALSE(s);
    EXPECT_EQ(s.message().find(why), 0u) << s.message();
  }
}

// The launcher says nothing until the process hangs up.
TEST(Pmi, RanksThatDoNotComeAreNotWaitedForForEver) {
  auto patient = [right = RightAnswers()](const std::string &line) mutable {
    return line == "cmd=barrier_in" ? " " : right(line); // no whole line
  };
  PlayedLauncher played(0, 2, patient);
  Result<std::unique_ptr<Launcher>> found = findPmi(std::chrono::seconds(1));
  ASSERT_TRUE(found) << found.message();
  std::byte mine{1}, all[2];
  auto begin = std::chrono::steady_clock::now();
  Status s = (*found)->allgather(&mine, all, 1);
  EXPECT_EQ(s.kind(), ErrorKind::TimedOut);
  EXPECT_EQ(s.message(), "some of the 2 ranks did not come to the launcher within 1 s, of which "
                         "COLLDSL_LAUNCH_SECONDS may give them more");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
}

TEST(Pmi, TheLimitIsReadWithCare) {
  EXPECT_EQ(**limitFromEnvironment(), std::chrono::seconds(60));
  setenv("COLLDSL_LAUNCH_SECONDS", "0", 1);
  EXPECT_FALSE(limitFromEnvironment()->has_value());
  setenv("COLLDSL_LAUNCH_SECONDS", "soon", 1);
  EXPECT_EQ(limitFromEnvironment().message(),
            "COLLDSL_LAUNCH_SECONDS is 'soon', which is no number of seconds");
  unsetenv("COLLDSL_LAUNCH_SECONDS");
}

TEST(Pmi, ARankBeyondTheLastIsRefused) {
  PlayedLauncher played(2, 2, RightAnswers());
  Result<std::unique_ptr<Launcher>> found = findPmi({});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.message(), "PMI_RANK is 2, PMI_SIZE 2");
}

} // namespace
} // namespace colldsl
