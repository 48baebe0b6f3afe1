// What neighbour operations cost: an MPI program that knows nothing of colldsl.
//
//   torus1 .. torus4       periodic grids: at two ranks partly self edges, the others parallel
//   parallel2, parallel8   a distributed graph of so many edges to the next rank
//
// Rank 0 prints a line per row: operation, topology, bytes per block, nanoseconds per call, and
// `right` or `wrong`, what the data was. The time of a call is the mean of the ranks', that of a
// row the median of the calls'. Send buffers are rewritten before and received data is checked
// after each call, outside of the time. The rows `floor-...` are no operations: each rank copies
// the same bytes out of the memory of its neighbours, which have just written them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define NEIGHBOR_INIT(name) MPIX_Neighbor_##name##_init
#else
#define NEIGHBOR_INIT(name) MPI_Neighbor_##name##_init
#endif

namespace {

const char kHelp[] = R"(usage: mpirun -n N neighbors [OPTION...]

  --form FORM      blocking (by default), nonblocking or persistent
  --alloc-mem      buffers of MPI_Alloc_mem
  --calls N        at most so many calls per row, 200 by default
  --row-ms MS      at most about so long per row, 200 by default
  --most BYTES     the largest block, 1 MiB by default
  --timeout S      ends the program after so many seconds, 300 by default
)";

struct Options {
  std::string form = "blocking";
  bool allocMem = false, wrong = false;
  long calls = 200, rowMs = 200, most = 1 << 20, timeoutSeconds = 300;
};

Options parse(int argc, char **argv) {
  static const option known[] = {{"form", required_argument, nullptr, 'f'},
                                 {"alloc-mem", no_argument, nullptr, 'a'},
                                 {"calls", required_argument, nullptr, 'c'},
                                 {"row-ms", required_argument, nullptr, 'r'},
                                 {"most", required_argument, nullptr, 'm'},
                                 {"timeout", required_argument, nullptr, 't'},
                                 {}};
  Options o;
  for (int found; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    long number = optarg ? std::atol(optarg) : 0;
    if (found == 'f')
      o.form = optarg;
    else if (found == 'a')
      o.allocMem = true;
    else if (found == 'c')
      o.calls = number;
    else if (found == 'r')
      o.rowMs = number;
    else if (found == 'm')
      o.most = number;
    else if (found == 't')
      o.timeoutSeconds = number;
    else
      o.wrong = true;
  }
  o.wrong |= o.form != "blocking" && o.form != "nonblocking" && o.form != "persistent";
  o.wrong |= optind != argc || o.calls < 1 || o.rowMs < 1 || o.most < 1 || o.timeoutSeconds < 1;
  return o;
}

// Where the blocks come from: rank and slot there.
struct Source {
  int rank, slot;
};

struct Network {
  std::string name;
  MPI_Comm comm;
  std::vector<Source> sources;
};

Network torus(int dims) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> sizes(dims), periodic(dims, 1);
  MPI_Dims_create(ranks, dims, sizes.data());
  Network n{"torus" + std::to_string(dims), MPI_COMM_NULL, {}};
  MPI_Cart_create(MPI_COMM_WORLD, dims, sizes.data(), periodic.data(), 0, &n.comm);
  for (int d = 0; d < dims; ++d) {
    int below, above;
    MPI_Cart_shift(n.comm, d, 1, &below, &above);
    n.sources.insert(n.sources.end(), {{below, 2 * d + 1}, {above, 2 * d}});
  }
  return n;
}

Network parallel(int edges) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Network n{"parallel" + std::to_string(edges), MPI_COMM_NULL, {}};
  std::vector<int> from(edges, (rank + ranks - 1) % ranks), to(edges, (rank + 1) % ranks);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, from.data(), MPI_UNWEIGHTED, edges,
                                 to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &n.comm);
  for (int i = 0; i < edges; ++i)
    n.sources.push_back({from[i], i});
  return n;
}

unsigned char pattern(int rank, int slot, long call) {
  return static_cast<unsigned char>(rank * 37 + slot * 11 + call * 5 + 1);
}

class Buffer {
public:
  Buffer(size_t size, bool fromMpi) : fromMpi_(fromMpi) {
    if (fromMpi)
      MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &data_);
    else
      data_ = static_cast<unsigned char *>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096));
    std::memset(data_, 0, size);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() {
    if (fromMpi_)
      MPI_Free_mem(data_);
    else
      std::free(data_);
  }
  unsigned char *data() const { return data_; }

private:
  bool fromMpi_;
  unsigned char *data_ = nullptr;
};

// What is measured: `call` moves blocks from the `sent` of all ranks to the `got` of each.
class Operation {
public:
  virtual ~Operation() = default;
  virtual void call() = 0;
  /// Whether ranks must be kept from writing while others may still read.
  virtual bool needsBarriers() const { return false; }
  unsigned char *sent = nullptr, *got = nullptr;
};

class NeighborOperation : public Operation {
public:
  NeighborOperation(const Network &network, bool gathers, int bytes, const Options &options)
      : comm_(network.comm), gathers_(gathers), persistent_(options.form == "persistent"),
        nonblocking_(options.form == "nonblocking"), bytes_(bytes),
        out_((gathers ? 1 : network.sources.size()) * bytes, options.allocMem),
        in_(network.sources.size() * bytes, options.allocMem) {
    sent = out_.data();
    got = in_.data();
    if (persistent_)
      initialize();
  }
  ~NeighborOperation() override {
    if (persistent_)
      MPI_Request_free(&request_);
  }

  void call() override {
    if (!persistent_ && !nonblocking_)
      return block();
    if (persistent_)
      MPI_Start(&request_);
    else
      begin();
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

private:
  void block() {
    if (gathers_)
      MPI_Neighbor_allgather(sent, bytes_, MPI_BYTE, got, bytes_, MPI_BYTE, comm_);
    else
      MPI_Neighbor_alltoall(sent, bytes_, MPI_BYTE, got, bytes_, MPI_BYTE, comm_);
  }
  void begin() {
    if (gathers_)
      MPI_Ineighbor_allgather(sent, bytes_, MPI_BYTE, got, bytes_, MPI_BYTE, comm_, &request_);
    else
      MPI_Ineighbor_alltoall(sent, bytes_, MPI_BYTE, got, bytes_, MPI_BYTE, comm_, &request_);
  }
  void initialize() {
    auto *init = gathers_ ? NEIGHBOR_INIT(allgather) : NEIGHBOR_INIT(alltoall);
    init(sent, bytes_, MPI_BYTE, got, bytes_, MPI_BYTE, comm_, MPI_INFO_NULL, &request_);
  }

  MPI_Comm comm_;
  bool gathers_, persistent_, nonblocking_;
  int bytes_;
  Buffer out_, in_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class CopyFloor : public Operation {
public:
  CopyFloor(const Network &network, bool gathers, int bytes)
      : sources_(network.sources), gathers_(gathers), bytes_(bytes),
        in_(sources_.size() * bytes, false) {
    MPI_Aint size = static_cast<MPI_Aint>(gathers ? 1 : sources_.size()) * bytes;
    MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &sent, &window_);
    got = in_.data();
    for (const Source &source : sources_) {
      int unit;
      unsigned char *memory;
      MPI_Win_shared_query(window_, source.rank, &size, &unit, &memory);
      memories_.push_back(memory);
    }
  }
  ~CopyFloor() override { MPI_Win_free(&window_); }
  bool needsBarriers() const override { return true; }

  void call() override {
    for (size_t i = 0; i < sources_.size(); ++i)
      std::memcpy(got + i * bytes_, memories_[i] + (gathers_ ? 0 : sources_[i].slot * bytes_),
                  bytes_);
  }

private:
  const std::vector<Source> &sources_;
  bool gathers_;
  size_t bytes_;
  Buffer in_;
  MPI_Win window_;
  std::vector<unsigned char *> memories_;
};

// One row: the calls and what they were like.
class Row {
public:
  Row(const Network &network, bool gathers, int bytes, Operation &operation)
      : network_(network), gathers_(gathers), bytes_(bytes), operation_(operation) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  /// Median nanoseconds, on rank 0.
  double measure(const Options &options) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    constexpr int kWarmUp = 5;
    for (int i = 0; i < kWarmUp; ++i)
      once();
    double seconds = (MPI_Wtime() - begin) / kWarmUp;
    long calls =
        std::clamp<long>(static_cast<long>(options.rowMs / 1e3 / seconds), 5, options.calls);
    MPI_Bcast(&calls, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    std::vector<double> mine, mean(calls);
    for (long i = 0; i < calls; ++i)
      mine.push_back(once());
    MPI_Reduce(mine.data(), mean.data(), static_cast<int>(calls), MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    std::nth_element(mean.begin(), mean.begin() + calls / 2, mean.end());
    return mean[calls / 2] / ranks_ * 1e9;
  }

  /// On rank 0: whether all ranks got what they had to get.
  bool isRight() const {
    int all = 0;
    MPI_Reduce(&right_, &all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    return all;
  }

private:
  double once() {
    ++call_;
    for (size_t slot = 0; slot < (gathers_ ? 1 : network_.sources.size()); ++slot)
      std::memset(operation_.sent + slot * bytes_, pattern(rank_, static_cast<int>(slot), call_),
                  bytes_);
    if (operation_.needsBarriers())
      MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    operation_.call();
    double seconds = MPI_Wtime() - begin;
    if (operation_.needsBarriers())
      MPI_Barrier(MPI_COMM_WORLD);
    check();
    return seconds;
  }

  // All bytes are equal: compares each with the one before.
  void check() {
    for (size_t i = 0; i < network_.sources.size(); ++i) {
      const unsigned char *block = operation_.got + i * bytes_;
      const Source &source = network_.sources[i];
      right_ &= block[0] == pattern(source.rank, gathers_ ? 0 : source.slot, call_) &&
                std::memcmp(block, block + 1, bytes_ - 1) == 0;
    }
  }

  const Network &network_;
  bool gathers_;
  size_t bytes_;
  Operation &operation_;
  int rank_, ranks_, right_ = 1;
  long call_ = 0;
};

void report(const std::string &name, const Network &network, bool gathers, int bytes,
            Operation &operation, const Options &options) {
  Row row(network, gathers, bytes, operation);
  double ns = row.measure(options);
  bool right = row.isRight();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0)
    return;
  std::printf("%s %s %d %.0f %s\n", name.c_str(), network.name.c_str(), bytes, ns,
              right ? "right" : "wrong");
  std::fflush(stdout);
}

void measureAll(Network network, const Options &options) {
  for (bool gathers : {false, true})
    for (int bytes : {8, 64, 512, 4096, 32768, 262144, 1048576}) {
      if (bytes > options.most)
        continue;
      std::string name = gathers ? "allgather" : "alltoall";
      {
        NeighborOperation operation(network, gathers, bytes, options);
        report(name, network, gathers, bytes, operation, options);
      }
      CopyFloor floor(network, gathers, bytes);
      report("floor-" + name, network, gathers, bytes, floor, options);
    }
  MPI_Comm_free(&network.comm);
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  if (options.wrong) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  alarm(static_cast<unsigned>(options.timeoutSeconds));
  MPI_Init(&argc, &argv);
  for (int dims = 1; dims <= 4; ++dims)
    measureAll(torus(dims), options);
  for (int edges : {2, 8})
    measureAll(parallel(edges), options);
  MPI_Finalize();
  return 0;
}
