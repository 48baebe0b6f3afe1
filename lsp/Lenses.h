/// The results of a document's proofs, as diagnostics and code lenses.
#pragma once

#include "lsp/ProofThread.h"
#include "lsp/View.h"

namespace colldsl::lsp {

inline constexpr const char *kShowCommand = "colldsl.showCounterexample";

/// The results for one text of a document.
struct Findings {
  uint64_t generation = 0;
  llvm::ArrayRef<std::string> names;            ///< only these are proved; empty: all
  std::shared_ptr<const Analysis> analysis;     ///< of the text
  std::map<std::string, Verdict> verdicts;      ///< by collective
  std::shared_ptr<const DocumentProofs> proofs; ///< null: no verdict is known
  bool isReported = true;                       ///< the client has the verdicts
};

/// A lens above each collective. Null findings: proofs are turned off.
json::Array codeLenses(const View &view, const Findings *findings);

/// A diagnostic for each collective that was refused, at the place of the first failure.
json::Array proofDiagnostics(Context &context, const Findings &findings);

} // namespace colldsl::lsp
