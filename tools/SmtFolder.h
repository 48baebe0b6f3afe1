/// The folder of `colldsl verify --all-ranks --smt`: proofs as scripts of SMT-LIB 2.
#pragma once

#include "driver/files/NewFolder.h"
#include "parameterized/AllRanksProofs.h"

#include <map>

namespace colldsl::tools {

/// "proved for all P, for operators that commute".
std::string wordsOf(const parameterized::AllRanksProof &proof);

/// A folder per collective with a file per query of its proof, and index.txt, which lists all files
/// in the order of the proofs. Nothing is left without finish().
class SmtFolder {
public:
  /// An error if there is something at `path` other than an empty folder.
  static Result<std::unique_ptr<SmtFolder>> make(const std::string &path);

  /// Writes the proof of a collective; after an error nothing more.
  void add(const std::string &name, const parameterized::AllRanksProof &proof,
           const std::vector<parameterized::ProofStep> &steps);
  /// Writes the index, and gives the folder its name. The first error, if there was one.
  Status finish();

  size_t files() const { return files_; }

private:
  explicit SmtFolder(std::unique_ptr<driver::NewFolder> folder) : folder_(std::move(folder)) {}

  std::unique_ptr<driver::NewFolder> folder_;
  std::string index_;
  std::map<std::string, unsigned> names_; ///< how many collectives have each
  size_t files_ = 0;
  Status status_;
};

} // namespace colldsl::tools
