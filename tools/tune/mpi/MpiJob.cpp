#include "tools/tune/mpi/MpiJob.h"

#include "ir/Numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace colldsl::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kStart = 60s; // until a job runs
constexpr auto kGrace = 3s;  // between a request to end and the end
constexpr size_t kMostComplaint = 600;

std::vector<std::string> mergedEnvironment(const Environment &changes) {
  std::vector<std::string> all;
  auto nameOf = [](llvm::StringRef word) { return word.split('=').first; };
  for (char **word = environ; *word; ++word)
    if (llvm::none_of(changes, [&](const std::string &c) { return nameOf(c) == nameOf(*word); }))
      all.push_back(*word);
  for (const std::string &change : changes)
    if (llvm::StringRef(change).contains('='))
      all.push_back(change);
  return all;
}

std::vector<char *> pointersTo(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool hasEnded(int pid) { return waitpid(pid, nullptr, WNOHANG) != 0; }

bool endsWithin(int pid, std::chrono::nanoseconds time) {
  Clock::time_point end = Clock::now() + time;
  while (!hasEnded(pid)) {
    if (Clock::now() > end)
      return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// Takes a line of the program about an arm. Ignores others, which the launcher printed.
void takeLine(llvm::StringRef line, std::vector<ArmResult> &results, size_t &begun) {
  static const std::map<llvm::StringRef, ArmResult::Verdict> verdicts = {
      {"begin", ArmResult::NotRun},
      {"right", ArmResult::Right},
      {"wrong", ArmResult::Wrong},
      {"refused", ArmResult::Refused}};
  auto [word, rest] = line.split(' ');
  auto [index, times] = rest.split(' ');
  std::optional<size_t> arm = parseWhole<size_t>(index);
  if (!arm || *arm >= results.size())
    return;
  if (auto verdict = verdicts.find(word); verdict != verdicts.end()) {
    results[*arm].verdict = verdict->second;
    begun = word == "begin" ? *arm : results.size();
  } else if (word == "times") {
    llvm::SmallVector<llvm::StringRef> all;
    times.split(all, ' ');
    for (llvm::StringRef ns : all)
      if (std::optional<uint64_t> number = parseWhole<uint64_t>(ns))
        results[*arm].times.push_back(static_cast<double>(*number));
  }
}

} // namespace

Status Job::spawn(const std::vector<std::string> &words, const Environment &environment) {
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  errors_ = memfd_create("stderr", MFD_CLOEXEC);
  if (errors_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 ||
      pipe2(out, O_CLOEXEC) != 0)
    return Status::error("cannot start '" + words[0] + "': " + llvm::sys::StrError());
  toChild_ = in[1];
  fromChild_ = out[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> merged = mergedEnvironment(environment);
  int error = posix_spawnp(&pid_, words[0].c_str(), &actions, &attributes, pointersTo(words).data(),
                           pointersTo(merged).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(in[0]);
  close(out[1]);
  if (error == 0)
    return {};
  pid_ = -1;
  return Status::error("cannot start '" + words[0] + "': " + llvm::sys::StrError(error));
}

std::optional<std::string> Job::readLine(std::chrono::seconds time) {
  Clock::time_point end = Clock::now() + time;
  for (;;) {
    if (size_t at = buffer_.find('\n'); at != std::string::npos) {
      std::string line = buffer_.substr(0, at);
      buffer_.erase(0, at + 1);
      return line;
    }
    pollfd wanted{fromChild_, POLLIN, 0};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    int ready = left.count() > 0 ? poll(&wanted, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    char bytes[4096];
    ssize_t got = ready > 0 ? read(fromChild_, bytes, sizeof(bytes)) : 0;
    if (got <= 0)
      return std::nullopt;
    buffer_.append(bytes, static_cast<size_t>(got));
  }
}

std::string Job::complaint() {
  std::string text(kMostComplaint, '\0');
  ssize_t got = pread(errors_, text.data(), text.size(), 0);
  llvm::StringRef read(text.data(), got > 0 ? static_cast<size_t>(got) : 0);
  if (read.size() == kMostComplaint) // whole lines
    read = read.substr(0, read.rfind('\n'));
  read = read.trim("-\n ");
  return read.empty() ? "" : ": " + read.str();
}

// The program ends at the end of its input. Otherwise SIGTERM asks the launcher to end it.
void Job::end() {
  for (int *file : {&toChild_, &fromChild_, &errors_})
    if (*file >= 0)
      close(std::exchange(*file, -1));
  if (pid_ < 0)
    return;
  if (!endsWithin(pid_, kGrace)) {
    kill(pid_, SIGTERM);
    if (!endsWithin(pid_, kGrace)) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  pid_ = -1;
}

Job::~Job() { end(); }

Result<std::unique_ptr<Job>> Job::start(const MpiLaunch &launch, uint32_t ranks,
                                        const std::string &form, const Environment &environment) {
  std::unique_ptr<Job> job(new Job());
  std::vector<std::string> words = launch.launcher;
  words.insert(words.end(), {"-n", std::to_string(ranks), launch.program, "serve", form});
  if (Status s = job->spawn(words, environment); !s)
    return s;
  std::optional<std::string> line = job->readLine(kStart);
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(line.value_or("")).split(parts, ' ');
  std::optional<uint32_t> started, nodes;
  if (parts.size() == 3 && parts[0] == "ready") {
    started = parseWhole<uint32_t>(parts[1]);
    nodes = parseWhole<uint32_t>(parts[2]);
  }
  if (!started || !nodes)
    return Status::error("'" + llvm::join(words, " ") + "' does not start the ranks" +
                         job->complaint());
  if (*started != ranks)
    return Status::error("'" + llvm::join(words, " ") + "' starts jobs of " +
                         std::to_string(*started) + ", not of " + std::to_string(ranks) +
                         " ranks: it belongs to another MPI");
  job->nodes_ = *nodes;
  job->callSeconds_ = launch.callSeconds;
  return job;
}

Result<std::vector<ArmResult>> Job::run(const MeasuredCall &call,
                                        const std::vector<std::string> &arms) {
  std::string command = "run " + call.function + " " + std::to_string(call.bytes) + " " +
                        std::to_string(call.warmups) + " " + std::to_string(call.rounds) + " " +
                        std::to_string(callSeconds_) + " " + llvm::join(arms, " ") + "\n";
  for (llvm::StringRef rest = command; !rest.empty();) {
    ssize_t wrote = send(toChild_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno != EINTR)
      return Status::error("the job has ended" + complaint());
    rest = rest.drop_front(wrote > 0 ? static_cast<size_t>(wrote) : 0);
  }
  // A job ends itself if a call takes longer. Until then it writes a line every second.
  std::chrono::seconds silence(2 * callSeconds_ + 2);
  std::vector<ArmResult> results(arms.size());
  size_t begun = arms.size(); // the arm that is being checked
  while (std::optional<std::string> line = readLine(silence)) {
    if (*line == "done")
      return results;
    takeLine(*line, results, begun);
  }
  if (begun == arms.size())
    return Status::error("the job ended while it measured " + call.function + complaint());
  results[begun].verdict = ArmResult::Lost;
  end();
  return results;
}

Result<MpiFacts> listFacts(const MpiLaunch &launch, const std::string &prefix,
                           const Environment &environment) {
  Job job;
  std::vector<std::string> words = launch.launcher;
  words.insert(words.end(), {"-n", "1", launch.program, "list", prefix});
  if (Status s = job.spawn(words, environment); !s)
    return s;
  MpiFacts facts;
  while (std::optional<std::string> line = job.readLine(kStart)) {
    auto [kind, rest] = llvm::StringRef(*line).split(' ');
    auto [name, values] = rest.split(' ');
    auto [value, more] = values.split(' ');
    if (kind == "library")
      facts.library = rest.str();
    else if (kind == "text")
      facts.texts.push_back(rest.str());
    else if (kind == "variable")
      facts.variables[name.str()] = {parseWhole<int>(value).value_or(0), more == "1", {}};
    else if (kind == "item")
      facts.variables[name.str()].items[parseWhole<int>(value).value_or(0)] = more.str();
  }
  if (facts.library.empty())
    return Status::error("'" + llvm::join(words, " ") + "' does not run" + job.complaint());
  return facts;
}

} // namespace colldsl::tools
