// Times of neighbour operations: an MPI program that knows nothing of colldsl.
//
//   torus1 .. torus4       periodic grids: at two ranks partly self edges, the others parallel
//   parallel1 .. parallel8  a distributed graph of so many edges to the next rank
//
// On request, by --topologies:
//
//   hub       rank 0 and each other rank are neighbours
//   hubs      as hub, and each rank has the two ranks beside it, too
//   chain     an edge from each rank to the next, but for the last
//   random2, random4   two, four edges from each rank to others, drawn at random
//   all       all ranks are neighbours of all others
//
// A row is named by operation, topology and bytes per block. With --by-hand a row `hand-...`
// follows each: MPI_Irecv, MPI_Isend and MPI_Waitall along the same edges, with the same
// communicator and buffers. The rows `floor-...` are no operations: each rank copies the same bytes
// out of the memory of its neighbours, which have just written them.
#include "bench/mpi/Rows.h"
#include "mpi/Mpi.h"

#include <algorithm>
#include <cstring>

namespace {

using namespace bench;

// The origin of a block: a rank and a slot there.
struct Source {
  int rank, slot;
};

struct Network {
  std::string name;
  MPI_Comm comm;
  std::vector<Source> sources;
  std::vector<int> targets; // ranks, by slot
};

Network torus(int dims) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> sizes(dims), periodic(dims, 1);
  MPI_Dims_create(ranks, dims, sizes.data());
  Network n{"torus" + std::to_string(dims), MPI_COMM_NULL, {}, {}};
  MPI_Cart_create(MPI_COMM_WORLD, dims, sizes.data(), periodic.data(), 0, &n.comm);
  for (int d = 0; d < dims; ++d) {
    int below, above;
    MPI_Cart_shift(n.comm, d, 1, &below, &above);
    n.sources.insert(n.sources.end(), {{below, 2 * d + 1}, {above, 2 * d}});
    n.targets.insert(n.targets.end(), {below, above});
  }
  return n;
}

Network parallel(int edges) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> from(edges, (rank + ranks - 1) % ranks), to(edges, (rank + 1) % ranks);
  Network n{"parallel" + std::to_string(edges), MPI_COMM_NULL, {}, to};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, from.data(), MPI_UNWEIGHTED, edges,
                                 to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &n.comm);
  for (int i = 0; i < edges; ++i)
    n.sources.push_back({from[i], i});
  return n;
}

// Lists of neighbours by rank, which all ranks make alike.
using Lists = std::vector<std::vector<int>>;

Network graph(const std::string &name, const Lists &to) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Network n{name, MPI_COMM_NULL, {}, to[rank]};
  std::vector<int> from;
  for (int r = 0; r < static_cast<int>(to.size()); ++r)
    for (int slot = 0; slot < static_cast<int>(to[r].size()); ++slot)
      if (to[r][slot] == rank) {
        from.push_back(r);
        n.sources.push_back({r, slot});
      }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(to[rank].size()), to[rank].data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &n.comm);
  return n;
}

Lists lists(const std::string &name) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Lists to(ranks);
  uint32_t random = 1;
  auto draw = [&] { return random = random * 1664525 + 1013904223; };
  auto add = [&](int from, int peer) {
    if (from != peer && std::find(to[from].begin(), to[from].end(), peer) == to[from].end())
      to[from].push_back(peer);
  };
  for (int r = 0; r < ranks; ++r) {
    if (name == "random2" || name == "random4") {
      for (size_t wanted = std::min(name.back() - '0', ranks - 1); to[r].size() < wanted;)
        add(r, static_cast<int>((draw() >> 16) % static_cast<uint32_t>(ranks)));
      continue;
    }
    for (int peer = 0; peer < ranks && name != "chain"; ++peer)
      if (name == "all" || r == 0 || peer == 0)
        add(r, peer);
    for (int beside : {(r + ranks - 1) % ranks, (r + 1) % ranks})
      if (name == "hubs" || (name == "chain" && beside == r + 1))
        add(r, beside);
  }
  return to;
}

unsigned char pattern(int rank, int slot, long call) {
  return static_cast<unsigned char>(rank * 37 + slot * 11 + call * 5 + 1);
}

// Moves blocks from the `sent` of all ranks to the `got` of each. All bytes of a block are equal.
class BlockOperation : public Operation {
public:
  BlockOperation(const Network &network, bool gathers, size_t bytes)
      : sources_(network.sources), gathers_(gathers), bytes_(bytes),
        sentSlots_(gathers ? 1 : network.targets.size()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  void write(long call) override {
    for (size_t slot = 0; slot < sentSlots_; ++slot)
      std::memset(sent_ + slot * bytes_, pattern(rank_, static_cast<int>(slot), call), bytes_);
  }
  bool check(long call) const override {
    bool right = true;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const unsigned char *block = got_ + i * bytes_;
      const Source &source = sources_[i];
      right &= block[0] == pattern(source.rank, gathers_ ? 0 : source.slot, call) &&
               std::memcmp(block, block + 1, bytes_ - 1) == 0;
    }
    return right;
  }

protected:
  const std::vector<Source> &sources_;
  bool gathers_;
  size_t bytes_, sentSlots_;
  int rank_;
  unsigned char *sent_ = nullptr, *got_ = nullptr;
};

class NeighborOperation : public BlockOperation {
public:
  NeighborOperation(const Network &network, bool gathers, int bytes, const Options &options)
      : BlockOperation(network, gathers, bytes), network_(network), comm_(network.comm),
        persistent_(options.form == "persistent"), nonblocking_(options.form == "nonblocking"),
        count_(bytes), requests_(sources_.size() + network.targets.size()),
        out_(sentSlots_ * bytes, options), in_(sources_.size() * bytes, options) {
    place(0);
    if (persistent_)
      initialize();
  }
  ~NeighborOperation() override {
    if (persistent_)
      MPI_Request_free(&request_);
  }

  void write(long call) override {
    if (!persistent_)
      place(call);
    BlockOperation::write(call);
  }
  /// From now on calls are messages of the application, along the same edges.
  void beByHand() { isByHand_ = true; }

  void call() override {
    if (isByHand_)
      return exchange();
    if (!persistent_ && !nonblocking_)
      return block();
    if (persistent_)
      MPI_Start(&request_);
    else
      begin();
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

private:
  void place(long call) {
    sent_ = out_.of(call);
    got_ = in_.of(call);
  }
  void block() {
    if (gathers_)
      MPI_Neighbor_allgather(sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm_);
    else
      MPI_Neighbor_alltoall(sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm_);
  }
  void begin() {
    if (gathers_)
      MPI_Ineighbor_allgather(sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm_, &request_);
    else
      MPI_Ineighbor_alltoall(sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm_, &request_);
  }
  // The tag of a message is its slot at the sender, so that messages of parallel edges are told
  // apart.
  void exchange() {
    MPI_Request *next = requests_.data();
    for (size_t i = 0; i < sources_.size(); ++i)
      MPI_Irecv(got_ + i * bytes_, count_, MPI_BYTE, sources_[i].rank, sources_[i].slot, comm_,
                next++);
    for (size_t slot = 0; slot < network_.targets.size(); ++slot)
      MPI_Isend(sent_ + (gathers_ ? 0 : slot * bytes_), count_, MPI_BYTE, network_.targets[slot],
                static_cast<int>(slot), comm_, next++);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  void initialize() {
    auto *init = gathers_ ? COLLDSL_MPI_PERSISTENT(Neighbor_allgather_init)
                          : COLLDSL_MPI_PERSISTENT(Neighbor_alltoall_init);
    init(sent_, count_, MPI_BYTE, got_, count_, MPI_BYTE, comm_, MPI_INFO_NULL, &request_);
  }

  const Network &network_;
  MPI_Comm comm_;
  bool persistent_, nonblocking_, isByHand_ = false;
  int count_;
  std::vector<MPI_Request> requests_; // by hand
  Places out_, in_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class CopyFloor : public BlockOperation {
public:
  CopyFloor(const Network &network, bool gathers, int bytes)
      : BlockOperation(network, gathers, bytes), in_(sources_.size() * bytes, false) {
    MPI_Aint size = static_cast<MPI_Aint>(sentSlots_) * bytes;
    MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &sent_, &window_);
    got_ = in_.data();
    for (const Source &source : sources_) {
      int unit;
      unsigned char *memory;
      MPI_Win_shared_query(window_, source.rank, &size, &unit, &memory);
      memories_.push_back(memory);
    }
  }
  ~CopyFloor() override { MPI_Win_free(&window_); }
  bool isSynchronized() const override { return true; }

  void call() override {
    for (size_t i = 0; i < sources_.size(); ++i)
      std::memcpy(got_ + i * bytes_, memories_[i] + (gathers_ ? 0 : sources_[i].slot * bytes_),
                  bytes_);
  }

private:
  Buffer in_;
  MPI_Win window_;
  std::vector<unsigned char *> memories_;
};

void measureAll(Network network, Bench &bench) {
  for (bool gathers : {false, true}) {
    std::string name = gathers ? "allgather" : "alltoall";
    if (!bench.options().wants(name))
      continue;
    for (long bytes : bench.options().sizes) {
      std::string rest = name + ' ' + network.name + ' ' + std::to_string(bytes);
      {
        NeighborOperation operation(network, gathers, static_cast<int>(bytes), bench.options());
        bench.row(rest, operation);
        if (bench.options().byHand) {
          operation.beByHand();
          bench.row("hand-" + rest, operation);
        }
      }
      if (!bench.options().board.empty())
        continue; // no such floor without shared memory
      CopyFloor floor(network, gathers, static_cast<int>(bytes));
      bench.row("floor-" + rest, floor);
    }
  }
  MPI_Comm_free(&network.comm);
}

void measureAllGraphs(Bench &bench) {
  for (int dims = 1; dims <= 4; ++dims)
    if (bench.options().wantsTopology("torus" + std::to_string(dims)))
      measureAll(torus(dims), bench);
  for (int edges : {1, 2, 4, 8})
    if (bench.options().wantsTopology("parallel" + std::to_string(edges)))
      measureAll(parallel(edges), bench);
  for (const char *name : {"hub", "hubs", "chain", "random2", "random4", "all"})
    if (!bench.options().topologies.empty() && bench.options().wantsTopology(name))
      measureAll(graph(name, lists(name)), bench);
}

} // namespace

int main(int argc, char **argv) {
  return benchMain(argc, argv, "neighbors", {"blocking", "nonblocking", "persistent"},
                   {8, 64, 512, 4096, 32768, 262144, 1048576}, measureAllGraphs);
}
