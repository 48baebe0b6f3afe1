/// Proofs in the background: one thread of low priority, a document at a time.
#pragma once

#include "lsp/DocumentProofs.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace colldsl::lsp {

class ProofThread {
public:
  struct Finding {
    std::string path;
    uint64_t generation = 0; ///< of the document, as start() was given it
    std::string collective;
    Verdict verdict;
    std::shared_ptr<const DocumentProofs> proofs; ///< draws its pages
  };
  /// The thread of the proofs calls it for each collective. It must return soon.
  using Report = std::function<void(Finding)>;

  /// `request` outlives this object.
  ProofThread(const driver::ProofRequest &request, uint32_t seconds, Report report);
  /// Waits for the running proof.
  ~ProofThread();
  ProofThread(const ProofThread &) = delete;
  ProofThread &operator=(const ProofThread &) = delete;

  /// Proves the collectives of a document when it has not changed for a while. Cancels earlier
  /// requests for the document.
  void start(const std::string &path, uint64_t generation,
             std::shared_ptr<const Analysis> analysis);
  void cancel(const std::string &path);

private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::string path;
    uint64_t generation;
    std::shared_ptr<const Analysis> analysis;
    Clock::time_point begin; ///< the earliest start
    std::shared_ptr<std::atomic<bool>> stop;
  };

  void run();
  std::optional<Job> take();
  void prove(const Job &job);

  const driver::ProofRequest &request_;
  uint32_t seconds_;
  Report report_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<Job> jobs_;
  std::optional<Job> current_;
  bool ends_ = false;
  std::thread thread_; ///< the last member: it uses the others
};

} // namespace colldsl::lsp
