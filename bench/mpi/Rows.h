/// Common parts of the benchmarks of MPI calls: options, and rows of calls that are timed and
/// checked. Ranks agree through shared memory, so that the measured call is the only MPI call.
#pragma once

#include <atomic>
#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

namespace bench {

/// The use that a program makes of its buffers between calls.
enum class Data {
  Rewritten, ///< all ranks write what they send before each call, and read what they receive after
             ///< it
  Unread,    ///< they write, and no call reads
  Unchanged  ///< written before the first call, read after the last one
};

struct Options {
  std::string form = "blocking";
  Data data = Data::Rewritten;
  bool allocMem = false, byHand = false, wrong = false;
  /// The time of a call is that from its first rank's begin to its last rank's end, not the mean.
  bool slowest = false;
  long calls = 200, leastCalls = 5, rowMs = 200, percentile = 50, timeoutSeconds = 300, places = 1;
  /// The operations to measure; all if empty.
  std::vector<std::string> operations;
  std::vector<std::string> topologies; ///< these alone; empty: those that are measured by default
  std::vector<long> sizes;
  /// A file for ranks that cannot make shared memory, by which they agree; empty: they can.
  std::string board;

  bool wants(const std::string &operation) const;
  bool wantsTopology(const std::string &name) const;
};

/// Parses the options that `kHelp` lists. `forms`: the forms that the program knows; `sizes`: the
/// default sizes.
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

/// The operation that a row measures.
class Operation {
public:
  virtual ~Operation() = default;
  /// Writes new data to the send buffers.
  virtual void write(long call) = 0;
  virtual void call() = 0;
  /// True if the data of this call arrived.
  virtual bool check(long call) const = 0;
  /// True if ranks begin together, and none continues before all are through.
  virtual bool isSynchronized() const { return false; }
};

/// Makes rows; collective over MPI_COMM_WORLD. Its ranks must share a machine, though the MPI need
/// not know that.
class Bench {
public:
  explicit Bench(const Options &options);
  Bench(const Bench &) = delete;
  ~Bench();

  /// On rank 0 prints `name`, nanoseconds per call, and `right` or `wrong` for the data. The time
  /// of a call is the mean over the ranks, or as Options::slowest says, that of a row the median
  /// over the calls. Data is written and checked outside of the time, as Options::data says.
  void row(const std::string &name, Operation &operation);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const Options &options() const { return options_; }

private:
  /// The head of the memory that the ranks share. Behind it lie, for each rank, a flag for right
  /// data and the seconds of its calls.
  struct Board {
    std::atomic<uint32_t> arrived, generation;
    long calls;
    double begin; ///< seconds of the clock of the machine, when the last barrier was over
  };

  double *lineOf(int rank) const;
  void barrier() const;
  double once(Operation &operation, bool &right);
  /// Calls that are not part of the row; the seconds of one.
  double warmUp(Operation &operation, bool &right);
  bool writesEach() const { return options_.data != Data::Unchanged; }
  bool readsEach() const { return options_.data == Data::Rewritten; }
  long agreeOnCalls(double seconds, long least, long most) const;
  double percentileNs(long calls) const;

  const Options &options_;
  int rank_, ranks_;
  long call_ = 0;
  void *share(size_t bytes);

  MPI_Win window_ = MPI_WIN_NULL;
  Board *board_;
};

/// Before MPI_Finalize: a rank that stays there for seconds ends itself. MPICH 4.0.2 may hang there
/// between hosts that are namespaces, when there are several ranks on each.
void leaveInTime();

/// The main function of a program `name`: parses, and hands a bench to `measure`.
int benchMain(int argc, char **argv, const char *name, const std::vector<std::string> &forms,
              const std::vector<long> &sizes, const std::function<void(Bench &)> &measure);

} // namespace bench
