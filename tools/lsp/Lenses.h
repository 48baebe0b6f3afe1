/// What the proofs of a document found, as diagnostics and code lenses.
#pragma once

#include "tools/lsp/Prover.h"
#include "tools/lsp/View.h"

namespace colldsl::lsp {

inline constexpr const char *kShowCommand = "colldsl.showCounterexample";

/// Of one text of a document.
struct Findings {
  uint64_t generation = 0;
  llvm::ArrayRef<std::string> names;        ///< only these are proved; empty: all
  std::shared_ptr<const Analysis> analysis; ///< of the text
  std::map<std::string, Verdict> verdicts;  ///< by collective
  std::shared_ptr<const Proving> proving;   ///< null: no verdict is known
  bool isReported = true;                   ///< the client has the verdicts
};

/// A line above each collective. Null findings: no proofs are wanted.
json::Array codeLenses(const View &view, const Findings *findings);

/// Of the proofs that were refused, at the place of the first failure.
json::Array proofDiagnostics(Context &context, const Findings &findings);

} // namespace colldsl::lsp
