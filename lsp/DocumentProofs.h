/// The proofs of one document's collectives, few ranks first, within limits.
#pragma once

#include "driver/proofs/ProveTarget.h"
#include "lsp/Analysis.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace colldsl::lsp {

/// The verdict of the proofs of one collective.
struct Verdict {
  enum class Kind : uint8_t {
    Pending,  ///< not tried yet, or running
    Proved,   ///< for the range in `words`
    Refused,  ///< `why` has the counterexample
    Unproved, ///< no number of ranks was completed
  };
  Kind kind = Kind::Pending;
  std::string words;           ///< one line
  std::vector<Diagnostic> why; ///< Refused
  std::optional<driver::ProofTask>
      refused; ///< the first proof that the verifier refused, to be drawn
};

/// It has a program of its own, because proofs add to it.
class DocumentProofs {
public:
  /// `request` outlives this object. The analysis is without mistakes.
  DocumentProofs(std::shared_ptr<const Analysis> analysis, const driver::ProofRequest &request);

  /// The collectives of the document, or those of --name, in the order of its text.
  const std::vector<driver::Source::Target> &targets() const { return targets_; }

  /// Runs the proofs for one number of ranks after the other, until one is refused or `seconds` are
  /// over. The verdict covers the numbers that were completed. Nothing: `stop` became true, which
  /// is checked before each proof.
  std::optional<Verdict> prove(const driver::Source::Target &target, uint32_t seconds,
                               const std::atomic<bool> &stop);

  /// Draws the refused proof of a verdict. Thread safe; waits for the running proof.
  Status writePage(const std::string &file, llvm::StringRef collective,
                   const Verdict &verdict) const;

private:
  /// Adds the outcome of the task. If a limit of the server ends the proof, the result tells of it.
  std::string add(const driver::ProofTask &task, driver::Summary &summary) const;
  Verdict judge(driver::Summary &summary, const std::string &why) const;

  std::shared_ptr<const Analysis> analysis_;
  const driver::ProofRequest &request_;
  driver::SinkText messages_; ///< of passes, which no editor shows
  driver::Session session_{messages_};
  std::unique_ptr<driver::Source> source_;
  std::unique_ptr<driver::Proofs> proofs_;
  std::vector<driver::Source::Target> targets_;
  mutable std::mutex mutex_; ///< of the program, to which a plan adds
};

} // namespace colldsl::lsp
