/// What the benchmarks of MPI calls have in common: options, and rows of calls that are timed and
/// checked. Ranks agree through memory that they share, so that no MPI call is made but the one
/// that is measured.
#pragma once

#include <atomic>
#include <mpi.h>
#include <string>
#include <vector>

namespace bench {

/// What a program does with its buffers between calls.
enum class Data {
  Rewritten, ///< all ranks write what they send before each call, and read what they receive after
             ///< it
  Unread,    ///< they write, and no call reads
  Unchanged  ///< written before the first call, read after the last one
};

struct Options {
  std::string form = "blocking";
  Data data = Data::Rewritten;
  bool allocMem = false, wrong = false;
  long calls = 200, rowMs = 200, percentile = 50, timeoutSeconds = 300, places = 1;
  /// Those to be measured; all if empty.
  std::vector<std::string> operations;
  std::vector<std::string> topologies; ///< these alone; empty: those that are measured by default
  std::vector<long> sizes;
  /// A file that ranks agree by which cannot make shared memory; empty: they can.
  std::string board;

  bool wants(const std::string &operation) const;
  bool wantsTopology(const std::string &name) const;
};

/// What `kHelp` tells. `forms`: those that the program knows; `sizes`: by default.
Options parse(int argc, char **argv, const std::vector<std::string> &forms,
              const std::vector<long> &sizes);
extern const char kHelp[];

/// Zeros, from the system or from MPI_Alloc_mem.
class Buffer {
public:
  Buffer(size_t size, bool fromMpi);
  Buffer(const Buffer &) = delete;
  ~Buffer();
  unsigned char *data() const { return data_; }

private:
  bool fromMpi_;
  unsigned char *data_ = nullptr;
};

/// Memory that lies elsewhere from call to call, and again after so many places as are asked for.
class Places {
public:
  Places(size_t size, const Options &options)
      : count_(options.places), strideBytes_((size + 63) / 64 * 64),
        memory_(strideBytes_ * static_cast<size_t>(count_), options.allocMem) {}
  unsigned char *of(long call) const {
    return memory_.data() + static_cast<size_t>(call % count_) * strideBytes_;
  }

private:
  long count_;
  size_t strideBytes_;
  Buffer memory_;
};

/// What is measured.
class Operation {
public:
  virtual ~Operation() = default;
  /// New data in what is sent.
  virtual void write(long call) = 0;
  virtual void call() = 0;
  /// Whether the data of this call came.
  virtual bool check(long call) const = 0;
  /// Whether ranks begin together, and none goes on before all are through.
  virtual bool isSynchronized() const { return false; }
};

/// Makes rows; collective over MPI_COMM_WORLD, whose ranks must share a machine, though the MPI
/// need not know it.
class Bench {
public:
  explicit Bench(const Options &options);
  Bench(const Bench &) = delete;
  ~Bench();

  /// On rank 0 prints `name`, nanoseconds per call, and `right` or `wrong`, what the data was. The
  /// time of a call is the mean of the ranks', that of a row the median of the calls'. Data is
  /// written and checked outside of the time, as Options::data says.
  void row(const std::string &name, Operation &operation);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const Options &options() const { return options_; }

private:
  /// At the beginning of the memory that the ranks share; behind it, for each rank, whether its
  /// data was right and the seconds of its calls.
  struct Board {
    std::atomic<uint32_t> arrived, generation;
    long calls;
  };

  double *lineOf(int rank) const;
  void barrier() const;
  double once(Operation &operation, bool &right);
  bool writesEach() const { return options_.data != Data::Unchanged; }
  bool readsEach() const { return options_.data == Data::Rewritten; }
  long agreeOnCalls(double seconds) const;
  double percentileNs(long calls) const;

  const Options &options_;
  int rank_, ranks_;
  long call_ = 0;
  void *share(size_t bytes);

  MPI_Win window_ = MPI_WIN_NULL;
  Board *board_;
};

} // namespace bench
