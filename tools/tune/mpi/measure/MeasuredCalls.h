/// Blocking collectives of an MPI, as calls that can be repeated and whose results are known.
#pragma once

#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace measure {

/// A call with its buffers. All elements are MPI_DOUBLE, sums are of small whole numbers.
class Call {
public:
  /// `bytes` are those of one rank's block: what a rank passes to MPI as its count. Null: there is
  /// no such function. std::bad_alloc: no memory.
  static std::unique_ptr<Call> make(const std::string &function, size_t bytes, MPI_Comm comm);

  /// Fills what this rank sends.
  void write(int root);
  /// Overwrites what it receives.
  void spoil();
  /// An error code of MPI.
  int run(MPI_Comm comm, int root);
  /// Reads what it receives.
  void read();
  /// Whether this rank received what it should have.
  bool isRight(int root) const;

  bool hasRoot() const { return function_.hasRoot; }
  bool isBarrier() const { return function_.received == nullptr; }

  struct Buffers {
    int rank = 0, ranks = 1, count = 0;         ///< of elements of one block
    std::vector<double> pattern, send, receive; ///< pattern: what is written to `send`
    std::vector<int> counts, displacements;     ///< of blocks of all ranks
  };
  struct Function {
    const char *name;
    bool hasRoot, sendsAll, receivesAll; ///< a block for each rank, else one
    int (*run)(Buffers &buffers, MPI_Comm comm, int root);
    /// Whether a rank receives anything.
    bool (*receives)(const Buffers &buffers, int root);
    /// The element that it receives.
    double (*received)(const Buffers &buffers, int root, size_t element);
  };

private:
  Call(const Function &function, Buffers buffers)
      : function_(function), buffers_(std::move(buffers)) {}

  const Function &function_;
  Buffers buffers_;
  volatile double sum_ = 0; ///< of what was read
};

} // namespace measure
