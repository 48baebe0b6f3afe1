/// The differences between MPIs: their algorithms, the way to force one, and the files by which
/// they choose.
#pragma once

#include "tools/tune/mpi/MpiJob.h"
#include "topology/MachineProfile.h"

namespace colldsl::tools {

/// One of the MPI's algorithms, and the way to force it.
struct MpiAlgorithm {
  TunedCollective what;
  std::string arm = "-";   ///< in a job that runs
  Environment environment; ///< variables that only a new job can set
};

/// A file, and the variables by which programs load it.
struct TuningFile {
  std::string path, text;
  Environment use;
};

/// Writes each file whole. After an error it removes the files that did not exist before.
Status writeTogether(const std::vector<TuningFile> &files);

/// All functions to measure, in order.
const std::vector<std::string> &mpiFunctions();
bool mpiFunctionReduces(const std::string &function);

class MpiKind {
public:
  /// `name` as in KnownMpi. An error: this MPI has no such files.
  static Result<std::unique_ptr<MpiKind>> make(const std::string &name, const MpiLaunch &launch);
  virtual ~MpiKind() = default;

  const MpiFacts &facts() const { return facts_; }

  /// The default file of `colldsl tune --mpi`.
  virtual std::string usualFile() const = 0;
  /// The form of the jobs, as the program takes it.
  virtual std::string form() const = 0;
  /// The environments of jobs with forced algorithms, and of jobs that run without any tuning.
  virtual Environment forcing() const = 0;
  virtual Environment untouched() const = 0;

  /// The algorithms for calls of so many bytes a block.
  virtual std::vector<MpiAlgorithm> algorithms(const std::string &function,
                                               uint64_t bytes) const = 0;
  /// True if the MPI chooses by a size that is the same on all ranks, whatever the program passes.
  virtual bool hasSize(const std::string &function) const = 0;

  /// The files for the decisions, whose bytes are those of one block. Several files are valid only
  /// together; their names differ unless all of them are equal.
  virtual std::vector<TuningFile> files(const std::vector<Decision> &decisions,
                                        const std::string &path) const = 0;

protected:
  explicit MpiKind(MpiFacts facts) : facts_(std::move(facts)) {}
  MpiFacts facts_;
};

} // namespace colldsl::tools
