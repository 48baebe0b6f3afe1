/// An operation of all ranks that is under way while they are in other calls.
#pragma once

#include <mpi.h>
#include <string>
#include <vector>

namespace in_calls {

/// How it is started, and what it does.
enum class Form {
  Iallreduce,
  Ialltoall,
  Ibcast,
  IneighborAlltoall,
  AllreduceInit,
  NeighborAlltoallInit
};
inline constexpr int kForms = 6;

class UnderWay {
public:
  /// Collective over `comm`; every rank is a neighbour of all others in `graph`. A broadcast comes
  /// from the root.
  UnderWay(Form form, int ints, int root, MPI_Comm comm, MPI_Comm graph);
  ~UnderWay();
  UnderWay(const UnderWay &) = delete;
  UnderWay &operator=(const UnderWay &) = delete;

  void start();
  void wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  /// After wait().
  bool isRight() const;
  static const char *nameOf(Form form);

private:
  /// What a rank sends at this place.
  int value(int rank, int place) const { return place % 1000 + 7 * rank; }
  int expected(int place) const;

  Form form_;
  int ints_, block_, root_, rank_, ranks_;
  MPI_Comm comm_, graph_;
  std::vector<int> sent_, got_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace in_calls
