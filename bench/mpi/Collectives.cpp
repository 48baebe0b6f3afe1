// Times of collectives: an MPI program that knows nothing of colldsl.
//
// A row is named by operation, bytes per block, and bytes of the largest buffer that a rank gives:
// for allgather and gather the receive buffer, for reduce_scatter_block, alltoall and scatter the
// send buffer, ranks blocks each. Reductions sum doubles; all other data are bytes. Rank 0 is the
// root. All ranks begin together.
#include "bench/mpi/Rows.h"

#include <algorithm>
#include <cstring>

namespace {

using namespace bench;

// Name as MPI spells it, name in lower case, arguments.
#define COLLECTIVES(X)                                                                             \
  X(Barrier, barrier, comm)                                                                        \
  X(Bcast, bcast, sent_, count_, MPI_BYTE, 0, comm)                                                \
  X(Reduce, reduce, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, 0, comm)                             \
  X(Allreduce, allreduce, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, comm)                          \
  X(Reduce_scatter_block, reduce_scatter_block, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, comm)    \
  X(Allgather, allgather, sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm)                   \
  X(Alltoall, alltoall, sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm)                     \
  X(Gather, gather, sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, 0, comm)                      \
  X(Scatter, scatter, sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, 0, comm)                    \
  X(Scan, scan, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, comm)

enum class Kind : uint32_t {
#define X(Name, ...) Name,
  COLLECTIVES(X)
#undef X
};

struct Named {
  Kind kind;
  const char *name;
};

const Named kAll[] = {
#define X(Name, name, ...) {Kind::Name, #name},
    COLLECTIVES(X)
#undef X
};

bool reduces(Kind kind) {
  return kind == Kind::Reduce || kind == Kind::Allreduce || kind == Kind::Reduce_scatter_block ||
         kind == Kind::Scan;
}

// The number of blocks in the largest buffer.
int blocks(Kind kind, int ranks) {
  switch (kind) {
  case Kind::Barrier:
  case Kind::Bcast:
  case Kind::Reduce:
  case Kind::Allreduce:
  case Kind::Scan:
    return 1;
  case Kind::Reduce_scatter_block:
  case Kind::Allgather:
  case Kind::Alltoall:
  case Kind::Gather:
  case Kind::Scatter:
    return ranks;
  }
  return 0;
}

long blockBytes(Kind kind, long size, int ranks) {
  long unit = reduces(kind) ? sizeof(double) : 1;
  return std::max(size / blocks(kind, ranks) / unit, 1L) * unit;
}

// The value that a block is filled with.
int pattern(int rank, int slot, long call) {
  return static_cast<int>((rank * 37 + slot * 11 + call * 5) % 251) + 1;
}

class Collective : public Operation {
public:
  Collective(Kind kind, size_t bytes, const Bench &bench)
      : kind_(kind), nonblocking_(bench.options().form == "nonblocking"), bytes_(bytes),
        count_(static_cast<int>(reduces(kind) ? bytes / sizeof(double) : bytes)),
        rank_(bench.rank()), ranks_(bench.ranks()),
        out_(blocks(kind, ranks_) * bytes, bench.options()),
        in_(blocks(kind, ranks_) * bytes, bench.options()) {}

  bool isSynchronized() const override { return true; }

  void write(long call) override {
    sent_ = out_.of(call);
    got_ = kind_ == Kind::Bcast ? sent_ : in_.of(call);
    bool sends = rank_ == 0 || (kind_ != Kind::Bcast && kind_ != Kind::Scatter);
    int slots = kind_ == Kind::Allgather || kind_ == Kind::Gather ? 1 : blocks(kind_, ranks_);
    for (int slot = 0; sends && slot < slots; ++slot)
      fill(sent_ + slot * bytes_, pattern(rank_, slot, call));
  }

  void call() override {
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (kind_) {
#define X(Name, name, ...)                                                                         \
  case Kind::Name:                                                                                 \
    nonblocking_ ? MPI_I##name(__VA_ARGS__, &request_) : MPI_##Name(__VA_ARGS__);                  \
    break;
      COLLECTIVES(X)
#undef X
    }
    if (nonblocking_)
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  bool check(long call) const override {
    bool gets = rank_ == 0 || (kind_ != Kind::Reduce && kind_ != Kind::Gather);
    bool one = kind_ == Kind::Scatter || kind_ == Kind::Reduce_scatter_block;
    bool right = true;
    for (int i = 0; gets && i < (one ? 1 : blocks(kind_, ranks_)); ++i)
      right &= kind_ == Kind::Barrier || isFilled(got_ + i * bytes_, expected(i, call));
    return right;
  }

private:
  void fill(unsigned char *block, int value) const {
    if (reduces(kind_))
      std::fill_n(reinterpret_cast<double *>(block), count_, value);
    else
      std::memset(block, value, bytes_);
  }

  // Compares the first element, and each with the one before.
  bool isFilled(const unsigned char *block, int value) const {
    size_t unit = reduces(kind_) ? sizeof(double) : 1;
    double number = value;
    bool first = reduces(kind_) ? std::memcmp(block, &number, unit) == 0 : block[0] == value;
    return first && std::memcmp(block, block + unit, bytes_ - unit) == 0;
  }

  int expected(int i, long call) const {
    if (!reduces(kind_))
      return pattern(kind_ == Kind::Bcast || kind_ == Kind::Scatter ? 0 : i,
                     kind_ == Kind::Alltoall || kind_ == Kind::Scatter ? rank_ : 0, call);
    int sum = 0;
    for (int rank = 0; rank < (kind_ == Kind::Scan ? rank_ + 1 : ranks_); ++rank)
      sum += pattern(rank, kind_ == Kind::Reduce_scatter_block ? rank_ : 0, call);
    return sum;
  }

  Kind kind_;
  bool nonblocking_;
  size_t bytes_;
  int count_, rank_, ranks_;
  Places out_, in_;
  unsigned char *sent_ = nullptr, *got_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void measure(const Named &named, Bench &bench) {
  bool sized = named.kind != Kind::Barrier;
  for (long size : sized ? bench.options().sizes : std::vector<long>{0}) {
    long bytes = sized ? blockBytes(named.kind, size, bench.ranks()) : 0;
    Collective collective(named.kind, bytes, bench);
    bench.row(std::string(named.name) + ' ' + std::to_string(bytes) + ' ' + std::to_string(size),
              collective);
  }
}

void measureAll(Bench &bench) {
  for (const Named &named : kAll)
    if (bench.options().wants(named.name))
      measure(named, bench);
}

} // namespace

int main(int argc, char **argv) {
  return benchMain(argc, argv, "collectives", {"blocking", "nonblocking"},
                   {8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20}, measureAll);
}
