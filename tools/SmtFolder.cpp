#include "tools/SmtFolder.h"

#include "tools/TextProofs.h"

namespace colldsl::tools {

using parameterized::AllRanksProof;
using parameterized::ProofStep;

std::string wordsOf(const AllRanksProof &proof) {
  return proof.isProved ? "proved for " + domainInWords(textProofOf(proof)) : "not shown for all P";
}

Result<std::unique_ptr<SmtFolder>> SmtFolder::make(const std::string &path) {
  Result<std::unique_ptr<driver::NewFolder>> folder = driver::NewFolder::make(path);
  if (!folder)
    return folder.status();
  return std::unique_ptr<SmtFolder>(new SmtFolder(std::move(*folder)));
}

void SmtFolder::add(const std::string &name, const AllRanksProof &proof,
                    const std::vector<ProofStep> &steps) {
  std::string folder = name;
  if (unsigned others = names_[name]++) // a collective of a file, and one of the library
    folder += "-" + std::to_string(others + 1);
  index_ += "\n# " + name + ": " + wordsOf(proof) + "\n";
  for (size_t i = 0; i < steps.size() && status_; ++i) {
    std::string number = std::to_string(i + 1);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    std::string file = folder + "/" + number + ".smt2";
    status_ = folder_->write(file, steps[i].script);
    index_ += file + "  " + steps[i].title + "\n";
    ++files_;
  }
}

Status SmtFolder::finish() {
  if (status_)
    status_ = folder_->write(
        "index.txt",
        "# Proofs for every number of ranks, found by colldsl " COLLDSL_VERSION " with " +
            parameterized::solverName() +
            ".\n# Each file is a query of SMT-LIB 2 that refutes a mistake, and is expected to be "
            "unsat.\n# docs/verifier.md of colldsl says how queries make a proof.\n" +
            index_);
  return status_ ? folder_->finish() : status_;
}

} // namespace colldsl::tools
