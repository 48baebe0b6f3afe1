#include "wireup/ForkedRanks.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace colldsl {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t process = -1;
  int results = -1; // read end of its pipe
  std::vector<std::byte> received;
};

// A child's answer: one byte, 1 if the body succeeded, then what it returned or why not.
constexpr std::byte kFine{1};
constexpr std::byte kFailed{0};

void bindToCore(Rank rank) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
    return;
  uint32_t place = index(rank) % static_cast<uint32_t>(CPU_COUNT(&allowed));
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || place-- != 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void writeAll(int fd, const void *data, size_t bytes) {
  auto *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t n = write(fd, next, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return; // the parent is gone, and so are we soon
    next += n;
    bytes -= static_cast<size_t>(n);
  }
}

/// An exception would pass the parent's frames.
Result<std::vector<std::byte>> runCaught(Rank rank, const RankProcess &body) {
  try {
    return body(rank);
  } catch (const std::bad_alloc &) {
    return Status::error(concat("rank ", index(rank), ": there is not enough memory"));
  }
}

// Exits without running destructors and exit handlers that are the parent's.
[[noreturn]] void liveAsRank(Rank rank, const ForkOptions &options, const RankProcess &body,
                             pid_t parent, int results) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1); // it died before we asked for the signal
  if (options.bindToCores)
    bindToCore(rank);
  Result<std::vector<std::byte>> result = runCaught(rank, body);
  if (result) {
    writeAll(results, &kFine, 1);
    writeAll(results, result->data(), result->size());
  } else {
    writeAll(results, &kFailed, 1);
    writeAll(results, result.message().data(), result.message().size());
  }
  _exit(0);
}

class Family {
public:
  explicit Family(const ForkOptions &options) : options_(options) {
    children_.resize(options.numRanks);
  }
  ~Family();

  Status start(const RankProcess &body);
  void collect();
  std::vector<RankOutcome> outcomes();

private:
  Status startOne(Rank rank, const RankProcess &body);
  void killAll();
  bool readSome(Child &child);
  RankOutcome outcomeOf(Rank rank, int exitStatus);

  const ForkOptions &options_;
  std::vector<Child> children_;
  bool timedOut_ = false;
};

Status Family::startOne(Rank rank, const RankProcess &body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status::error(
        concat("cannot make a pipe for rank ", index(rank), ": ", std::strerror(errno)));
  pid_t parent = getpid();
  pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    for (Child &child : children_)
      if (child.results >= 0)
        close(child.results);
    liveAsRank(rank, options_, body, parent, ends[1]);
  }
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return Status::error(concat("cannot fork rank ", index(rank), ": ", std::strerror(errno)));
  }
  children_[index(rank)].process = process;
  children_[index(rank)].results = ends[0];
  return {};
}

Status Family::start(const RankProcess &body) {
  for (uint32_t r = 0; r < options_.numRanks; ++r)
    if (Status s = startOne(Rank{r}, body); !s)
      return s;
  return {};
}

// False at the end of what the child has to say.
bool Family::readSome(Child &child) {
  std::byte chunk[1 << 14];
  ssize_t n = read(child.results, chunk, sizeof chunk);
  if (n < 0 && errno == EINTR)
    return true;
  if (n <= 0) {
    close(child.results);
    child.results = -1;
    return false;
  }
  child.received.insert(child.received.end(), chunk, chunk + n);
  return true;
}

// Until all pipes are closed, which happens when the children end, or time is up.
void Family::collect() {
  constexpr auto forever = std::chrono::nanoseconds::max();
  Clock::time_point start = Clock::now();
  std::chrono::nanoseconds limit = options_.timeout;
  for (;;) {
    std::vector<pollfd> fds;
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < children_.size(); ++r)
      if (children_[r].results >= 0) {
        fds.push_back({children_[r].results, POLLIN, 0});
        ranks.push_back(r);
      }
    if (fds.empty())
      return;
    auto passed = [&] { return std::chrono::nanoseconds(Clock::now() - start); };
    auto left = limit == forever ? forever : limit - passed();
    if (left <= Clock::duration::zero()) {
      timedOut_ = true;
      return killAll();
    }
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(ms, 1 << 30)));
    for (size_t i = 0; i < fds.size(); ++i) {
      Child &child = children_[ranks[i]];
      if (fds[i].revents == 0 || readSome(child))
        continue;
      if (options_.onEnd)
        options_.onEnd(Rank{ranks[i]});
      if (child.received.empty() || child.received[0] != kFine)
        limit = std::min(limit, passed() + options_.grace);
    }
  }
}

void Family::killAll() {
  for (Child &child : children_)
    if (child.process > 0)
      kill(child.process, SIGKILL);
}

Family::~Family() {
  killAll();
  for (Child &child : children_) {
    if (child.results >= 0)
      close(child.results);
    if (child.process > 0)
      waitpid(child.process, nullptr, 0);
  }
}

RankOutcome Family::outcomeOf(Rank rank, int exitStatus) {
  Child &child = children_[index(rank)];
  RankOutcome outcome;
  std::string who = concat("rank ", index(rank));
  if (WIFSIGNALED(exitStatus)) {
    outcome.signal = WTERMSIG(exitStatus);
    outcome.tooLate = timedOut_ && outcome.signal == SIGKILL;
    outcome.status =
        Status::error(outcome.tooLate ? who + " did not end in time"
                                      : concat(who, " was killed by signal ", outcome.signal, " (",
                                               strsignal(outcome.signal), ")"));
  } else if (WEXITSTATUS(exitStatus) != 0) {
    outcome.status = Status::error(concat(who, " exited with ", WEXITSTATUS(exitStatus)));
  } else if (child.received.empty()) { // or its exit status is lost, because SIGCHLD is ignored
    outcome.status = Status::error(who + " ended without a word");
  } else if (child.received[0] == kFine) {
    outcome.bytes.assign(child.received.begin() + 1, child.received.end());
  } else {
    outcome.status = Status::error(std::string(
        reinterpret_cast<const char *>(child.received.data()) + 1, child.received.size() - 1));
  }
  return outcome;
}

std::vector<RankOutcome> Family::outcomes() {
  std::vector<RankOutcome> all;
  for (uint32_t r = 0; r < children_.size(); ++r) {
    int exitStatus = 0;
    while (waitpid(children_[r].process, &exitStatus, 0) < 0 && errno == EINTR) {
    }
    children_[r].process = -1;
    all.push_back(outcomeOf(Rank{r}, exitStatus));
  }
  return all;
}

} // namespace

Result<std::vector<RankOutcome>> forkRanks(const ForkOptions &options, const RankProcess &body) {
  Family family(options);
  if (Status s = family.start(body); !s)
    return s;
  family.collect();
  return family.outcomes();
}

Status firstFailure(const std::vector<RankOutcome> &outcomes) {
  auto first = [&](auto isWanted) {
    auto found = std::find_if(outcomes.begin(), outcomes.end(), isWanted);
    return found == outcomes.end() ? Status() : found->status;
  };
  if (Status s = first([](auto &o) { return o.signal != 0 && !o.tooLate; }); !s)
    return s;
  if (Status s = first([](auto &o) { return !o.status && !o.tooLate; }); !s)
    return s;
  return first([](auto &o) { return !o.status.ok(); });
}

} // namespace colldsl
