/// The launcher that started this process together with others, if there is one: mpirun of Open
/// MPI, PRRTE and Slurm speak PMIx, mpirun of MPICH speaks PMI.
///
/// Threads: one at a time. Errors: values. All calls but the first are collective over the ranks of
/// the job, in the same order; that a rank died is for the launcher to tell, which ends the others.
#pragma once

#include "runtime/WireUp.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colldsl {

class Launcher {
public:
  virtual ~Launcher() = default; ///< takes leave of it

  /// Who started this process, found in the environment. Null: nobody, or for itself alone.
  static Result<std::unique_ptr<Launcher>> find();

  uint32_t rank() const { return rank_; }
  uint32_t numRanks() const { return numRanks_; }

  /// What ranks need to find each other; used while the launcher is there.
  OutOfBand outOfBand();

  /// So many bytes of each rank, which may be many, to everyone, in the order of the ranks.
  Status allgather(const void *mine, void *all, size_t bytes);

protected:
  Launcher() = default;

  // What all launchers have: keys, which a rank gives values that others can see after a fence.

  virtual size_t longestValue() const = 0;
  virtual Status put(const std::string &key, std::span<const std::byte> value) = 0;
  virtual Status fence() = 0;
  /// Into `value`, which is as long as what was put.
  virtual Status get(uint32_t rank, const std::string &key, std::span<std::byte> value) = 0;

  uint32_t rank_ = 0, numRanks_ = 1;

private:
  uint64_t numPut_ = 0; ///< no key is used twice
};

/// Null: not started by such a launcher.
Result<std::unique_ptr<Launcher>> findPmix();
Result<std::unique_ptr<Launcher>> findPmi();

} // namespace colldsl
