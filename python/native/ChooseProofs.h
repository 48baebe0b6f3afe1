/// Selects the proofs that the words of `verify` name.
#pragma once

#include "python/native/Work.h"

#include "tools/input/Functions.h"
#include "tools/verify/ProveTarget.h"

namespace colldsl::python {

/// The options and the collectives of a proof; it ends when `stop` is set.
inline Outcome chooseProofs(tools::Source &source, const Words &words,
                            const std::atomic<bool> &stop, tools::ProofOptions &proofs,
                            std::vector<tools::Source::Target> &targets) {
  tools::Options options("verify", "", "");
  proofs.addTo(options);
  if (Outcome exit = parse(options, words))
    return exit;
  proofs.schedule.instantiate.stop = &stop;
  proofs.request.verify.stop = &stop;
  targets = source.choose(proofs.schedule);
  tools::expandFunctions(source, targets);
  return std::nullopt;
}

} // namespace colldsl::python
