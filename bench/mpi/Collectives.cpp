// Times of collectives: an MPI program that knows nothing of colldsl.
//
// A row is named by operation, bytes per block, and bytes of the largest buffer that a rank gives:
// for allgather and gather the receive buffer, for reduce_scatter_block, alltoall and scatter the
// send buffer, ranks blocks each. Reductions sum doubles; all other data are bytes. Rank 0 is the
// root. All ranks begin together.
//
// On request, by --operations: allgatherv, alltoallv, gatherv, scatterv and reduce_scatter, whose
// blocks are by turns half as long as a row says and one and a half times as long; exscan.
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
  X(Scan, scan, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, comm)                                    \
  X(Exscan, exscan, sent_, got_, count_, MPI_DOUBLE, MPI_SUM, comm)                                \
  X(Reduce_scatter, reduce_scatter, sent_, got_, counts_.data(), MPI_DOUBLE, MPI_SUM, comm)        \
  X(Allgatherv, allgatherv, sent_, counts_[rank_], MPI_BYTE, got_, counts_.data(), places_.data(), \
    MPI_BYTE, comm)                                                                                \
  X(Alltoallv, alltoallv, sent_, counts_.data(), places_.data(), MPI_BYTE, got_, counts_.data(),   \
    places_.data(), MPI_BYTE, comm)                                                                \
  X(Gatherv, gatherv, sent_, counts_[rank_], MPI_BYTE, got_, counts_.data(), places_.data(),       \
    MPI_BYTE, 0, comm)                                                                             \
  X(Scatterv, scatterv, sent_, counts_.data(), places_.data(), MPI_BYTE, got_, counts_[rank_],     \
    MPI_BYTE, 0, comm)

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
         kind == Kind::Reduce_scatter || kind == Kind::Scan || kind == Kind::Exscan;
}

bool isMeasuredByDefault(Kind kind) { return kind <= Kind::Scan; }

// Blocks of several lengths in one call.
bool isVarying(Kind kind) { return kind >= Kind::Reduce_scatter; }

bool scatters(Kind kind) {
  return kind == Kind::Scatter || kind == Kind::Scatterv || kind == Kind::Reduce_scatter_block ||
         kind == Kind::Reduce_scatter;
}

// Each rank gives one block, of which others get copies.
bool gathers(Kind kind) {
  return kind == Kind::Allgather || kind == Kind::Allgatherv || kind == Kind::Gather ||
         kind == Kind::Gatherv;
}

// The number of blocks in the largest buffer.
int blocks(Kind kind, int ranks) {
  switch (kind) {
  case Kind::Barrier:
  case Kind::Bcast:
  case Kind::Reduce:
  case Kind::Allreduce:
  case Kind::Scan:
  case Kind::Exscan:
    return 1;
  case Kind::Reduce_scatter:
  case Kind::Allgatherv:
  case Kind::Alltoallv:
  case Kind::Gatherv:
  case Kind::Scatterv:
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

size_t bufferBytes(Kind kind, size_t blockBytes, int ranks) {
  return blocks(kind, ranks) * blockBytes * (isVarying(kind) ? 2 : 1);
}

// The value that a block is filled with.
int pattern(int rank, int slot, long call) {
  return static_cast<int>((rank * 37 + slot * 11 + call * 5) % 251) + 1;
}

class Collective : public Operation {
public:
  Collective(Kind kind, size_t bytes, const Bench &bench)
      : kind_(kind), nonblocking_(bench.options().form == "nonblocking"),
        unit_(reduces(kind) ? sizeof(double) : 1), count_(static_cast<int>(bytes / unit_)),
        rank_(bench.rank()), ranks_(bench.ranks()),
        out_(bufferBytes(kind, bytes, ranks_), bench.options()),
        in_(bufferBytes(kind, bytes, ranks_), bench.options()) {
    int place = 0;
    for (int slot = 0; slot < blocks(kind, ranks_); ++slot) {
      bool isLong = (slot + (kind == Kind::Alltoallv ? rank_ : 0)) % 2 != 0;
      counts_.push_back(!isVarying(kind) ? count_
                        : isLong         ? count_ + count_ / 2
                                         : count_ - count_ / 2);
      places_.push_back(place);
      place += counts_.back();
    }
  }

  bool isSynchronized() const override { return true; }

  void write(long call) override {
    sent_ = out_.of(call);
    got_ = kind_ == Kind::Bcast ? sent_ : in_.of(call);
    bool sends =
        rank_ == 0 || (kind_ != Kind::Bcast && kind_ != Kind::Scatter && kind_ != Kind::Scatterv);
    if (gathers(kind_))
      fill(sent_, counts_[rank_], pattern(rank_, 0, call));
    for (int slot = 0; sends && !gathers(kind_) && slot < blocks(kind_, ranks_); ++slot)
      fill(sent_ + places_[slot] * unit_, counts_[slot], pattern(rank_, slot, call));
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
    bool gets =
        rank_ == 0 || (kind_ != Kind::Reduce && kind_ != Kind::Gather && kind_ != Kind::Gatherv);
    gets &= rank_ != 0 || kind_ != Kind::Exscan;
    if (!gets || kind_ == Kind::Barrier)
      return true;
    if (scatters(kind_))
      return isFilled(got_, counts_[rank_], expected(0, call));
    bool right = true;
    for (int i = 0; i < blocks(kind_, ranks_); ++i)
      right &= isFilled(got_ + places_[i] * unit_, counts_[i], expected(i, call));
    return right;
  }

private:
  void fill(unsigned char *block, int count, int value) const {
    if (reduces(kind_))
      std::fill_n(reinterpret_cast<double *>(block), count, value);
    else
      std::memset(block, value, static_cast<size_t>(count));
  }

  // Compares the first element, and each with the one before.
  bool isFilled(const unsigned char *block, int count, int value) const {
    if (count == 0)
      return true;
    double number = value;
    bool first = reduces(kind_) ? std::memcmp(block, &number, unit_) == 0 : block[0] == value;
    return first && std::memcmp(block, block + unit_, (count - 1) * unit_) == 0;
  }

  int expected(int i, long call) const {
    bool isOfRoot = kind_ == Kind::Bcast || kind_ == Kind::Scatter || kind_ == Kind::Scatterv;
    bool hasSlots = kind_ == Kind::Alltoall || kind_ == Kind::Alltoallv || scatters(kind_);
    if (!reduces(kind_))
      return pattern(isOfRoot ? 0 : i, hasSlots ? rank_ : 0, call);
    int summed = kind_ == Kind::Scan ? rank_ + 1 : kind_ == Kind::Exscan ? rank_ : ranks_, sum = 0;
    for (int rank = 0; rank < summed; ++rank)
      sum += pattern(rank, hasSlots ? rank_ : 0, call);
    return sum;
  }

  Kind kind_;
  bool nonblocking_;
  size_t unit_;
  int count_, rank_, ranks_;
  std::vector<int> counts_, places_; // by block, in elements
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
    if (bench.options().wants(named.name) &&
        (isMeasuredByDefault(named.kind) || !bench.options().operations.empty()))
      measure(named, bench);
}

} // namespace

int main(int argc, char **argv) {
  return benchMain(argc, argv, "collectives", {"blocking", "nonblocking"},
                   {8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20}, measureAll);
}
