#include "lsp/ProofThread.h"

#include "llvm/ADT/STLExtras.h"

#include <sys/resource.h>
#include <unistd.h>

namespace colldsl::lsp {
namespace {

constexpr auto kQuietTimeOfProofs = std::chrono::milliseconds(300);
constexpr int kNiceness = 10; // typing comes first

} // namespace

ProofThread::ProofThread(const driver::ProofRequest &request, uint32_t seconds, Report report)
    : request_(request), seconds_(seconds), report_(std::move(report)), thread_([this] { run(); }) {
}

ProofThread::~ProofThread() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
    if (current_)
      current_->stop->store(true, std::memory_order_relaxed);
  }
  wakeup_.notify_all();
  thread_.join();
}

void ProofThread::start(const std::string &path, uint64_t generation,
                        std::shared_ptr<const Analysis> analysis) {
  cancel(path);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({path, generation, std::move(analysis), Clock::now() + kQuietTimeOfProofs,
                     std::make_shared<std::atomic<bool>>(false)});
  }
  wakeup_.notify_all();
}

void ProofThread::cancel(const std::string &path) {
  std::lock_guard lock(mutex_);
  llvm::erase_if(jobs_, [&](const Job &job) { return job.path == path; });
  if (current_ && current_->path == path)
    current_->stop->store(true, std::memory_order_relaxed);
}

/// Waits for the next job. Nothing: the server ends.
std::optional<ProofThread::Job> ProofThread::take() {
  std::unique_lock lock(mutex_);
  current_.reset();
  while (!ends_) {
    if (jobs_.empty()) {
      wakeup_.wait(lock);
    } else if (Clock::time_point begin = jobs_.front().begin; Clock::now() < begin) {
      wakeup_.wait_until(lock, begin);
    } else {
      current_ = jobs_.front();
      jobs_.pop_front();
      return current_;
    }
  }
  return std::nullopt;
}

void ProofThread::run() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  while (std::optional<Job> job = take())
    prove(*job);
}

void ProofThread::prove(const Job &job) {
  auto proofs = std::make_shared<DocumentProofs>(job.analysis, request_);
  for (const driver::Source::Target &target : proofs->targets()) {
    std::optional<Verdict> verdict = proofs->prove(target, seconds_, *job.stop);
    if (!verdict)
      return;
    report_({job.path, job.generation, target.name, std::move(*verdict), proofs});
  }
}

} // namespace colldsl::lsp
