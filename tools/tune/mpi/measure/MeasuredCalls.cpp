#include "tools/tune/mpi/measure/MeasuredCalls.h"

#include <algorithm>
#include <iterator>

namespace measure {
namespace {

using Buffers = Call::Buffers;

constexpr double kSpoiled = -1;
constexpr size_t kLineElements = 64 / sizeof(double); // of a cache line

// Sums of these over hundreds of ranks are exact.
double factorOf(size_t element) { return static_cast<double>(element % 1009 + 1); }
double valueOf(size_t rank, size_t element) {
  return static_cast<double>(rank + 1) * factorOf(element);
}
double sumOf(size_t ranks, size_t element) {
  return static_cast<double>(ranks * (ranks + 1) / 2) * factorOf(element);
}
size_t own(const Buffers &b, size_t element) {
  return static_cast<size_t>(b.rank) * static_cast<size_t>(b.count) + element;
}

bool everybody(const Buffers &, int) { return true; }
bool rootOnly(const Buffers &b, int root) { return b.rank == root; }
bool allButFirst(const Buffers &b, int) { return b.rank > 0; }

double ofRoot(const Buffers &, int root, size_t i) { return valueOf(static_cast<size_t>(root), i); }
double partOfRoot(const Buffers &b, int root, size_t i) {
  return valueOf(static_cast<size_t>(root), own(b, i));
}
double gathered(const Buffers &b, int, size_t i) {
  return valueOf(i / static_cast<size_t>(b.count), i % static_cast<size_t>(b.count));
}
double exchanged(const Buffers &b, int, size_t i) {
  size_t count = static_cast<size_t>(b.count);
  return valueOf(i / count, own(b, i % count));
}
double sum(const Buffers &b, int, size_t i) { return sumOf(static_cast<size_t>(b.ranks), i); }
double partOfSum(const Buffers &b, int, size_t i) {
  return sumOf(static_cast<size_t>(b.ranks), own(b, i));
}
double sumUpTo(const Buffers &b, int, size_t i) {
  return sumOf(static_cast<size_t>(b.rank) + 1, i);
}
double sumBefore(const Buffers &b, int, size_t i) { return sumOf(static_cast<size_t>(b.rank), i); }

int barrier(Buffers &, MPI_Comm comm, int) { return MPI_Barrier(comm); }
int bcast(Buffers &b, MPI_Comm comm, int root) {
  return MPI_Bcast(b.receive.data(), b.count, MPI_DOUBLE, root, comm);
}
int reduce(Buffers &b, MPI_Comm comm, int root) {
  return MPI_Reduce(b.send.data(), b.receive.data(), b.count, MPI_DOUBLE, MPI_SUM, root, comm);
}
int allreduce(Buffers &b, MPI_Comm comm, int) {
  return MPI_Allreduce(b.send.data(), b.receive.data(), b.count, MPI_DOUBLE, MPI_SUM, comm);
}
int gather(Buffers &b, MPI_Comm comm, int root) {
  return MPI_Gather(b.send.data(), b.count, MPI_DOUBLE, b.receive.data(), b.count, MPI_DOUBLE, root,
                    comm);
}
int scatter(Buffers &b, MPI_Comm comm, int root) {
  return MPI_Scatter(b.send.data(), b.count, MPI_DOUBLE, b.receive.data(), b.count, MPI_DOUBLE,
                     root, comm);
}
int allgather(Buffers &b, MPI_Comm comm, int) {
  return MPI_Allgather(b.send.data(), b.count, MPI_DOUBLE, b.receive.data(), b.count, MPI_DOUBLE,
                       comm);
}
int allgatherv(Buffers &b, MPI_Comm comm, int) {
  return MPI_Allgatherv(b.send.data(), b.count, MPI_DOUBLE, b.receive.data(), b.counts.data(),
                        b.displacements.data(), MPI_DOUBLE, comm);
}
int alltoall(Buffers &b, MPI_Comm comm, int) {
  return MPI_Alltoall(b.send.data(), b.count, MPI_DOUBLE, b.receive.data(), b.count, MPI_DOUBLE,
                      comm);
}
int alltoallv(Buffers &b, MPI_Comm comm, int) {
  return MPI_Alltoallv(b.send.data(), b.counts.data(), b.displacements.data(), MPI_DOUBLE,
                       b.receive.data(), b.counts.data(), b.displacements.data(), MPI_DOUBLE, comm);
}
int reduceScatter(Buffers &b, MPI_Comm comm, int) {
  return MPI_Reduce_scatter(b.send.data(), b.receive.data(), b.counts.data(), MPI_DOUBLE, MPI_SUM,
                            comm);
}
int reduceScatterBlock(Buffers &b, MPI_Comm comm, int) {
  return MPI_Reduce_scatter_block(b.send.data(), b.receive.data(), b.count, MPI_DOUBLE, MPI_SUM,
                                  comm);
}
int scan(Buffers &b, MPI_Comm comm, int) {
  return MPI_Scan(b.send.data(), b.receive.data(), b.count, MPI_DOUBLE, MPI_SUM, comm);
}
int exscan(Buffers &b, MPI_Comm comm, int) {
  return MPI_Exscan(b.send.data(), b.receive.data(), b.count, MPI_DOUBLE, MPI_SUM, comm);
}

constexpr Call::Function kFunctions[] = {
    {"barrier", false, false, false, barrier, everybody, nullptr},
    {"bcast", true, false, false, bcast, everybody, ofRoot},
    {"reduce", true, false, false, reduce, rootOnly, sum},
    {"allreduce", false, false, false, allreduce, everybody, sum},
    {"gather", true, false, true, gather, rootOnly, gathered},
    {"scatter", true, true, false, scatter, everybody, partOfRoot},
    {"allgather", false, false, true, allgather, everybody, gathered},
    {"allgatherv", false, false, true, allgatherv, everybody, gathered},
    {"alltoall", false, true, true, alltoall, everybody, exchanged},
    {"alltoallv", false, true, true, alltoallv, everybody, exchanged},
    {"reduce_scatter", false, true, false, reduceScatter, everybody, partOfSum},
    {"reduce_scatter_block", false, true, false, reduceScatterBlock, everybody, partOfSum},
    {"scan", false, false, false, scan, everybody, sumUpTo},
    {"exscan", false, false, false, exscan, allButFirst, sumBefore},
};

} // namespace

std::unique_ptr<Call> Call::make(const std::string &function, size_t bytes, MPI_Comm comm) {
  auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                            [&](const Function &f) { return f.name == function; });
  if (found == std::end(kFunctions))
    return nullptr;
  Buffers b;
  MPI_Comm_rank(comm, &b.rank);
  MPI_Comm_size(comm, &b.ranks);
  size_t count = bytes / sizeof(double), all = count * static_cast<size_t>(b.ranks);
  b.count = static_cast<int>(count);
  b.send.resize(found->sendsAll ? all : count);
  for (size_t i = 0; i < b.send.size(); ++i)
    b.pattern.push_back(valueOf(static_cast<size_t>(b.rank), i));
  b.receive.resize(found->receivesAll ? all : count);
  b.counts.assign(static_cast<size_t>(b.ranks), b.count);
  for (int rank = 0; rank < b.ranks; ++rank)
    b.displacements.push_back(rank * b.count);
  return std::unique_ptr<Call>(new Call(*found, std::move(b)));
}

void Call::write(int root) {
  Buffers &b = buffers_;
  bool isRootOfBcast = function_.run == bcast && b.rank == root;
  std::copy(b.pattern.begin(), b.pattern.end(), isRootOfBcast ? b.receive.begin() : b.send.begin());
}

void Call::spoil() { std::fill(buffers_.receive.begin(), buffers_.receive.end(), kSpoiled); }

void Call::read() {
  for (size_t i = 0; i < buffers_.receive.size(); i += kLineElements)
    sum_ = sum_ + buffers_.receive[i];
}

int Call::run(MPI_Comm comm, int root) { return function_.run(buffers_, comm, root); }

bool Call::isRight(int root) const {
  if (isBarrier() || !function_.receives(buffers_, root))
    return true;
  for (size_t i = 0; i < buffers_.receive.size(); ++i)
    if (buffers_.receive[i] != function_.received(buffers_, root, i))
      return false;
  return true;
}

} // namespace measure
