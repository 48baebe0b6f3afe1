/// Blocking collectives of an MPI, as repeatable calls with known results.
#pragma once

#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace measure {

/// A call with its buffers. All elements are MPI_DOUBLE, sums are of small whole numbers.
class Call {
public:
  /// `bytes`: the size of one rank's block, which a rank passes to MPI as its count. Null: there is
  /// no such function. Throws std::bad_alloc.
  static std::unique_ptr<Call> make(const std::string &function, size_t bytes, MPI_Comm comm);

  /// Fills the buffer that this rank sends.
  void write(int root);
  /// Overwrites the buffer that this rank receives into.
  void spoil();
  /// Calls the function and returns the error code of MPI.
  int run(MPI_Comm comm, int root);
  /// Reads the buffer that this rank receives into.
  void read();
  /// True if this rank received the right data.
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
    /// True if the rank receives anything.
    bool (*receives)(const Buffers &buffers, int root);
    /// The expected value of a received element; null: a barrier.
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
