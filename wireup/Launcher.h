/// The launcher that started this process together with others, if there is one: mpirun of Open
/// MPI, PRRTE and Slurm have PMIx, mpirun of MPICH has PMI.
///
/// Threads: one at a time. Errors: values. All calls but the first are collective over the ranks of
/// the job, in the same order; the launcher notices that a rank died, and ends the others.
/// A rank that does not come is waited for as long as COLLDSL_LAUNCH_SECONDS says, or 60 s; then
/// nothing more can be had from the launcher.
#pragma once

#include "wireup/Oob.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colldsl {

class Launcher {
public:
  /// The longest wait for other ranks; empty: for ever.
  using Limit = std::optional<std::chrono::seconds>;

  virtual ~Launcher() = default; ///< takes leave of the launcher

  /// The launcher of this process, perhaps for itself alone, found in the environment. Null: none.
  static Result<std::unique_ptr<Launcher>> find();

  uint32_t rank() const { return rank_; }
  uint32_t numRanks() const { return numRanks_; }

  /// From now on this process ends when its launcher is gone. Does nothing if it would end anyway.
  virtual Status endWithIt() { return {}; }

  /// Out-of-band collectives, by which ranks find each other; used while the launcher is there.
  Oob oob();

  /// So many bytes of each rank, which may be many, to everyone, in the order of the ranks.
  Status allgather(const void *mine, void *all, size_t bytes);

protected:
  explicit Launcher(Limit limit) : limit_(limit) {}

  // All launchers have keys: a rank gives them values, which others can see after a fence.

  virtual size_t longestValue() const = 0;
  virtual Status put(const std::string &key, std::span<const std::byte> value) = 0;
  virtual Status fence() = 0;
  /// The error of a fence that took too long.
  Status notAllCame() const;
  /// Gets a value that was put; `value` is as long as that.
  virtual Status get(uint32_t rank, const std::string &key, std::span<std::byte> value) = 0;

  uint32_t rank_ = 0, numRanks_ = 1;
  Limit limit_;

private:
  uint64_t numPut_ = 0; ///< no key is used twice
};

/// The launcher of this kind; null: it did not start this process.
Result<std::unique_ptr<Launcher>> findPmix(Launcher::Limit limit);
Result<std::unique_ptr<Launcher>> findPmi(Launcher::Limit limit);

/// The limit by COLLDSL_LAUNCH_SECONDS; 0 stands for no limit.
Result<Launcher::Limit> limitFromEnvironment();

} // namespace colldsl
