/// What ranks do beside the calls that are judged.
#pragma once

#include "tests/mpi/Flight.h"
#include "tests/mpi/Trial.h"

namespace conformance {

/// A message of the MPI's own to the next rank, as two requests.
class Message {
public:
  Message(MPI_Comm comm, int tag, bool persistent, int value);
  Message(const Message &) = delete;
  ~Message();
  void board(Flight &flight, Report &report);

private:
  bool persistent_;
  int from_, to_, tag_, in_ = -1, out_, expected_;
  MPI_Request requests_[2];
};

/// How many blocking calls there are that ranks may be inside.
constexpr int kInsideMethods = 6;

/// One nonblocking call: `caller` completes it first and then calls the others, which are inside
/// another blocking call on `comm` meanwhile: that call must let the operation advance.
void runInside(Trial &trial, MPI_Comm comm, int method, int caller, Report &report);

} // namespace conformance
