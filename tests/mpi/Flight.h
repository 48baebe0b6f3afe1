/// Requests in flight that complete in random order, by any of the functions that complete them.
#pragma once

#include "tests/mpi/Random.h"
#include "tests/mpi/Report.h"

#include <functional>
#include <mpi.h>

namespace conformance {

class Flight {
public:
  Flight(Random random, bool withTestall, Report &report)
      : random_(random), withTestall_(withTestall), report_(report) {}

  /// `landed` is called when the request is complete, with its status or with null.
  void add(MPI_Request request, bool persistent, std::function<void(const MPI_Status *)> landed);
  /// Completes all requests. Persistent ones must keep their handles, others must become null.
  void finish();

private:
  struct Entry {
    MPI_Request request;
    bool persistent;
    std::function<void(const MPI_Status *)> landed;
    bool done = false;
  };

  void step();
  std::vector<size_t> draw();
  void land(size_t entry, MPI_Request request, const MPI_Status *status);
  void completeOne(size_t entry, int method);
  void completeMany(const std::vector<size_t> &drawn, int method);

  Random random_;
  bool withTestall_;
  Report &report_;
  std::vector<Entry> entries_;
  size_t left_ = 0;
};

} // namespace conformance
