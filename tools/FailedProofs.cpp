#include "tools/FailedProofs.h"

#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"

namespace colldsl::tools {

void printFailedProof(const driver::Summary &summary, size_t task, const driver::Source &source) {
  errorStream() << summary.target.name << ", " << summary.tasks[task].words() << ":\n"
                << source.render(summary.outcomes[task].why, summary.target);
}

llvm::json::Object failedProofJson(const driver::Summary &summary, size_t task,
                                   const driver::Source &source) {
  const driver::ProofTask &proof = summary.tasks[task];
  return llvm::json::Object{
      {"ranks", proof.shape.ranks},
      {"bytes", proof.bytes},
      {"inPlace", proof.shape.inPlace},
      {"parameters", jsonText(proof.call.words())},
      {"topology", jsonText(proof.topology)},
      {"text", jsonText(source.render(summary.outcomes[task].why, summary.target))},
  };
}

} // namespace colldsl::tools
