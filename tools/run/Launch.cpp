#include "tools/run/Launch.h"

#include "tools/options/ErrorStream.h"

#include "protocol/fake/FakeWorld.h"
#include "runtime/job/WireUp.h"
#include "wireup/Allgatherv.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <set>
#include <sys/mman.h>
#include <system_error>
#include <thread>

namespace colldsl::tools {
namespace {

// More messages than these add nothing new.
constexpr size_t kMaxComplaints = 4;

/// A flag that processes forked later share.
class SharedFlag {
public:
  SharedFlag()
      : page_(mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0)) {}
  ~SharedFlag() {
    if (page_ != MAP_FAILED)
      munmap(page_, sizeof(Word));
  }
  SharedFlag(const SharedFlag &) = delete;
  SharedFlag &operator=(const SharedFlag &) = delete;

  /// Sets the flag. True for the first caller.
  bool raise() { return page_ != MAP_FAILED && static_cast<Word *>(page_)->exchange(1) == 0; }

private:
  using Word = std::atomic<uint32_t>; // zero, as a fresh page is
  void *page_;
};

/// The first failure, of the killed rank if there is one, with the reports of the others as notes.
Status failureOf(const std::vector<RankOutcome> &outcomes) {
  Status first = firstFailure(outcomes);
  if (first.ok())
    return first;
  Diagnostic d = first.diagnostic();
  std::set<std::string> told{d.message};
  for (uint32_t r = 0; r < outcomes.size() && told.size() <= kMaxComplaints; ++r)
    if (!outcomes[r].status && told.insert(outcomes[r].status.message()).second)
      d.notes.push_back(
          Diagnostic::note({}, "rank " + std::to_string(r) + ": " + outcomes[r].status.message()));
  return d;
}

shm::Options memoryFor(const LaunchOptions &options, SharedFlag &warned) {
  shm::Options memory;
  memory.singleCopy =
      options.transport == TransportKind::Shm ? shm::SingleCopy::Off : shm::SingleCopy::On;
  if (options.singleCopyMinBytes > 0)
    memory.singleCopyMinBytes = options.singleCopyMinBytes;
  else
    shm::measureOrUseKnown(memory);
  memory.warn = [&](const std::string &what) {
    if (warned.raise())
      errorStream() << "colldsl: warning: " << what << "\n";
  };
  return memory;
}

Result<std::vector<std::byte>> packedRun(const RunTask &task, Endpoint &endpoint) {
  Result<RankReport> report = runRank(task, endpoint);
  if (!report)
    return report.status();
  return report->pack();
}

using Returned = std::vector<std::vector<std::byte>>;

Result<Returned> returnedBy(std::vector<RankOutcome> outcomes) {
  if (Status s = failureOf(outcomes); !s)
    return s;
  Returned all;
  for (RankOutcome &outcome : outcomes)
    all.push_back(std::move(outcome.bytes));
  return all;
}

Result<Returned> forkProcesses(uint32_t numRanks, const LaunchOptions &options,
                               const RankBody &body) {
  SharedFlag warned;
  LocalOptions local;
  local.numRanks = numRanks;
  local.bindToCores = options.bindToCores;
  local.shm = memoryFor(options, warned);
  if (options.network.isAlone) {
    Result<AttachRank> attach = attachOver(options.network);
    if (!attach)
      return attach.status();
    local.attach = attach.take();
  }
  llvm::outs().flush(); // else each child would write the buffered text, too
  llvm::errs().flush();
  auto outcomes = runLocalRanks(local, body);
  if (!outcomes)
    return outcomes.status();
  return returnedBy(outcomes.take());
}

// The first byte of a rank's report is 1 for success.
Result<Returned> joinLaunched(const LaunchOptions &options, const RankBody &body) {
  SharedFlag warned;
  Launcher &launcher = *options.launcher;
  Result<WiredUp> wired = wireUp(launcher.oob(), memoryFor(options, warned), options.network);
  Result<std::vector<std::byte>> report = wired ? body(*wired->endpoint) : wired.status();
  std::vector<std::byte> mine = {std::byte{report.ok()}};
  std::string why = report ? "" : report.message();
  for (char letter : why)
    mine.push_back(static_cast<std::byte>(letter));
  if (report)
    mine.insert(mine.end(), report->begin(), report->end());
  auto told = allgatherv(launcher.oob(), mine);
  if (!told) // a rank may be missing because it failed here
    return report ? told.status() : report.status();
  std::vector<RankOutcome> outcomes(told->size());
  for (size_t r = 0; r < told->size(); ++r) {
    const std::vector<std::byte> &word = (*told)[r];
    if (word[0] != std::byte{0})
      outcomes[r].bytes.assign(word.begin() + 1, word.end());
    else
      outcomes[r].status = Status::error(
          std::string(reinterpret_cast<const char *>(word.data()) + 1, word.size() - 1));
  }
  return returnedBy(std::move(outcomes));
}

/// Calls body(r) for all ranks at once, in a thread each; for none if some thread cannot start.
Status runThreads(uint32_t numRanks, llvm::function_ref<void(uint32_t)> body) {
  std::promise<bool> haveAll;
  std::shared_future<bool> mayRun = haveAll.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(numRanks);
  Status status;
  try {
    for (uint32_t r = 0; r < numRanks; ++r)
      threads.emplace_back([&body, mayRun, r] {
        if (mayRun.get())
          body(r);
      });
  } catch (const std::system_error &e) {
    status = Status::error("cannot start a thread for rank " + std::to_string(threads.size()) +
                           ": " + e.code().message());
  }
  haveAll.set_value(status.ok());
  for (std::thread &thread : threads)
    thread.join();
  return status;
}

Result<std::vector<RankReport>> launchThreads(const RunTask &task, const LaunchOptions &options) {
  uint32_t numRanks = task.schedule->numRanks();
  fake::Options fakeOptions;
  fakeOptions.seed = options.seed;
  fake::World world(numRanks, fakeOptions);
  std::vector<RankOutcome> outcomes(numRanks);
  std::vector<RankReport> reports(numRanks);
  Status started = runThreads(numRanks, [&](uint32_t r) {
    std::unique_ptr<Endpoint> endpoint = world.attach(Rank{r});
    Result<RankReport> report = runRank(task, *endpoint);
    if (report)
      reports[r] = report.take();
    else
      outcomes[r].status = report.status();
  });
  if (!started)
    return started;
  if (Status s = failureOf(outcomes); !s)
    return s;
  return reports;
}

} // namespace

void prepare(LaunchOptions &options) {
  if (options.network.isAlone)
    options.prepared = prepareNetwork(options.network);
}

Result<Returned> onAllRanks(uint32_t numRanks, const LaunchOptions &options, const RankBody &body) {
  if (options.prepared.valid())
    options.prepared.wait(); // then its thread has ended
  return options.launcher ? joinLaunched(options, body) : forkProcesses(numRanks, options, body);
}

Result<std::vector<RankReport>> launch(const RunTask &task, const LaunchOptions &options) {
  if (options.transport == TransportKind::Fake)
    return launchThreads(task, options);
  auto run = [&](Endpoint &endpoint) { return packedRun(task, endpoint); };
  Result<Returned> returned = onAllRanks(task.schedule->numRanks(), options, run);
  if (!returned)
    return returned.status();
  std::vector<RankReport> reports;
  for (const std::vector<std::byte> &bytes : *returned)
    reports.push_back(RankReport::unpack(bytes));
  return reports;
}

} // namespace colldsl::tools
