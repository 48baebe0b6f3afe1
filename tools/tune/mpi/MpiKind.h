/// What differs between MPIs: which algorithms they have, how one is forced, and the files by which
/// they choose.
#pragma once

#include "tools/tune/mpi/MpiJob.h"
#include "topology/MachineProfile.h"

namespace colldsl::tools {

/// One of the MPI's algorithms, and how it is forced.
struct MpiAlgorithm {
  TunedCollective what;
  std::string arm = "-";   ///< in a job that runs
  Environment environment; ///< of a job of its own: variables that a running job cannot write
};

/// A file, and the variables by which programs load it.
struct TuningFile {
  std::string path, text;
  Environment use;
};

/// Each is written whole. An error: those that were not there before are removed.
Status writeTogether(const std::vector<TuningFile> &files);

/// All functions that are measured, in order.
const std::vector<std::string> &mpiFunctions();
bool mpiFunctionReduces(const std::string &function);

class MpiKind {
public:
  /// `name` as in KnownMpi. An error: this MPI has no such files.
  static Result<std::unique_ptr<MpiKind>> make(const std::string &name, const MpiLaunch &launch);
  virtual ~MpiKind() = default;

  const MpiFacts &facts() const { return facts_; }

  /// What `colldsl tune --mpi` writes if no file is named.
  virtual std::string usualFile() const = 0;
  /// The form of the jobs, as the program takes it.
  virtual std::string form() const = 0;
  /// Of jobs whose algorithms are forced, and of those that run as without any of this.
  virtual Environment forcing() const = 0;
  virtual Environment untouched() const = 0;

  /// Calls of so many bytes a block.
  virtual std::vector<MpiAlgorithm> algorithms(const std::string &function,
                                               uint64_t bytes) const = 0;
  /// The MPI chooses by a size that is the same on all ranks, whatever the program passes.
  virtual bool hasSize(const std::string &function) const = 0;

  /// Files that follow the decisions, whose bytes are those of one block. Several files are valid
  /// together alone, and have the same names only if all of them are the same.
  virtual std::vector<TuningFile> files(const std::vector<Decision> &decisions,
                                        const std::string &path) const = 0;

protected:
  explicit MpiKind(MpiFacts facts) : facts_(std::move(facts)) {}
  MpiFacts facts_;
};

} // namespace colldsl::tools
