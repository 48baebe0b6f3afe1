#include "lsp/Prover.h"

#include "llvm/ADT/STLExtras.h"

#include <sys/resource.h>
#include <unistd.h>

namespace colldsl::lsp {
namespace {

constexpr auto kQuietTimeOfProofs = std::chrono::milliseconds(300);
constexpr int kNiceness = 10; // typing comes first

} // namespace

Prover::Prover(const driver::ProofRequest &request, uint32_t seconds, Report report)
    : request_(request), seconds_(seconds), report_(std::move(report)), thread_([this] { run(); }) {
}

Prover::~Prover() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
    if (current_)
      current_->stop->store(true, std::memory_order_relaxed);
  }
  wakeup_.notify_all();
  thread_.join();
}

void Prover::start(const std::string &path, uint64_t generation,
                   std::shared_ptr<const Analysis> analysis) {
  cancel(path);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({path, generation, std::move(analysis), Clock::now() + kQuietTimeOfProofs,
                     std::make_shared<std::atomic<bool>>(false)});
  }
  wakeup_.notify_all();
}

void Prover::cancel(const std::string &path) {
  std::lock_guard lock(mutex_);
  llvm::erase_if(jobs_, [&](const Job &job) { return job.path == path; });
  if (current_ && current_->path == path)
    current_->stop->store(true, std::memory_order_relaxed);
}

/// Waits for the next job. Nothing: the server ends.
std::optional<Prover::Job> Prover::take() {
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

void Prover::run() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  while (std::optional<Job> job = take())
    prove(*job);
}

void Prover::prove(const Job &job) {
  auto proving = std::make_shared<Proving>(job.analysis, request_);
  for (const driver::Source::Target &target : proving->targets()) {
    std::optional<Verdict> verdict = proving->prove(target, seconds_, *job.stop);
    if (!verdict)
      return;
    report_({job.path, job.generation, target.name, std::move(*verdict), proving});
  }
}

} // namespace colldsl::lsp
