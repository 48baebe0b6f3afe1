#include "tests/mpi/Exchange.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace conformance {

Memory::Memory(size_t size, bool fromMpi) : size_(size) {
  if (!fromMpi) {
    bytes_ = {static_cast<std::byte *>(std::malloc(size)), [](std::byte *p) { std::free(p); }};
    return;
  }
  void *memory;
  MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &memory);
  bytes_ = {static_cast<std::byte *>(memory), [](std::byte *p) { MPI_Free_mem(p); }};
}

namespace {

// The bytes around each buffer that nobody may touch.
constexpr size_t kMargin = 64;

void fillRandomly(std::byte *bytes, size_t size, Random &random) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t value = random.next();
    std::memcpy(bytes + i, &value, std::min<size_t>(8, size - i));
  }
}

bool isUniform(Operation operation) {
  return operation == Operation::Allgather || operation == Operation::Alltoall;
}

bool isGather(Operation operation) {
  return operation == Operation::Allgather || operation == Operation::Allgatherv;
}

// What sizes depend on: nothing but the case, the rank that sends, or the edge.
Random drawFor(const Spec &spec, int rank, const Edge &edge, bool sending) {
  uint64_t from = sending ? rank : edge.peer, to = sending ? edge.peer : rank;
  if (isUniform(spec.name.operation))
    return Random({spec.key});
  if (isGather(spec.name.operation))
    return Random({spec.key, from});
  return Random({spec.key, from, to, static_cast<uint64_t>(edge.tag)});
}

int drawSize(const Spec &spec, Random random) {
  return random.oneIn(5) ? 0 : random.between(1, spec.mostCount);
}

Datatype drawType(const Spec &spec, const Pattern &pattern, int elements, int reach,
                  Random &random) {
  return spec.anyShape ? makeDatatype(pattern, elements, reach, random)
                       : makePlain(pattern, elements);
}

} // namespace

void Side::draw(const Spec &spec, const std::vector<Edge> &edges, int rank, bool sending,
                Random &random) {
  bool oneBlock = sending && isGather(spec.name.operation);
  std::vector<Edge> blocks = edges;
  if (oneBlock || blocks.empty())
    blocks.assign(1, Edge{rank, 0});
  std::vector<int> sizes;
  for (const Edge &edge : blocks)
    sizes.push_back(drawSize(spec, drawFor(spec, rank, edge, sending)));
  types.clear();
  oracleTypes.clear();
  counts.assign(sizes.size(), 0);
  displacements.assign(sizes.size(), 0);
  places.assign(sizes.size(), 0);
  if (spec.name.operation == Operation::Alltoallw)
    drawPerSlot(spec, sizes, blocks, rank, sending, random);
  else
    drawUniform(spec, sizes, sending, random);
  for (const Datatype &type : types)
    oracleTypes.push_back(type.duplicate());
  allocate(random);
}

// One type for all slots. Without displacements blocks lie in order, side by side; with them in
// any order with gaps; blocks that are only read may also be the same.
void Side::drawUniform(const Spec &spec, const std::vector<int> &sizes, bool sending,
                       Random &random) {
  int perType = random.divisor(spec.elements);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  bool anywhere =
      sending ? spec.name.operation == Operation::Alltoallv : !isUniform(spec.name.operation);
  bool same = sending && anywhere && random.oneIn(4);
  if (anywhere)
    random.shuffle(order);
  int end = 0;
  for (size_t slot : order) {
    counts[slot] = sizes[slot] * (spec.elements / perType);
    displacements[slot] = same ? 0 : end + (anywhere ? random.between(0, 2) : 0);
    end = std::max(end, displacements[slot] + counts[slot]);
  }
  const Pattern &pattern = Random({spec.key, 7}).oneOf(patterns());
  types.push_back(drawType(spec, pattern, perType, std::max(end, 1), random));
  MPI_Aint extent = boundsOf(types[0].get()).extent;
  for (size_t slot = 0; slot < places.size(); ++slot)
    places[slot] = displacements[slot] * extent;
}

void Side::drawPerSlot(const Spec &spec, const std::vector<int> &sizes,
                       const std::vector<Edge> &edges, int rank, bool sending, Random &random) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  for (size_t slot = 0; slot < sizes.size(); ++slot) {
    int perType = random.divisor(spec.elements);
    counts[slot] = sizes[slot] * (spec.elements / perType);
    Random shared = drawFor(spec, rank, edges[slot], sending);
    shared.next();
    types.push_back(
        drawType(spec, shared.oneOf(patterns()), perType, std::max(counts[slot], 1), random));
  }
  MPI_Aint end = -64;
  for (size_t slot : order) {
    Bounds b = boundsOf(types[slot].get());
    places[slot] = end - b.trueLowerBound / 8 * 8 + 8 * random.below(3);
    end = (places[slot] + b.trueLowerBound + b.extent * counts[slot] + b.trueExtent + 15) / 8 * 8;
  }
}

std::pair<MPI_Aint, MPI_Aint> Side::range(size_t slot) const {
  MPI_Aint begin = static_cast<MPI_Aint>(base) + places[slot];
  if (counts[slot] == 0)
    return {begin, begin};
  Bounds b = boundsOf(oracleType(slot).get());
  return {begin + b.trueLowerBound,
          begin + b.trueLowerBound + b.extent * (counts[slot] - 1) + b.trueExtent};
}

void Side::allocate(Random &random) {
  base = 0;
  MPI_Aint low = 0, high = 0;
  for (size_t slot = 0; slot < places.size(); ++slot) {
    auto [begin, end] = range(slot);
    low = std::min(low, begin);
    high = std::max(high, end);
  }
  base = (kMargin - low + 15) / 16 * 16;
  memory = Memory(base + high + kMargin, random.oneIn(4));
}

void Side::fill(Random &random) { fillRandomly(memory.data(), memory.size(), random); }

SideArguments Side::arguments() const {
  SideArguments given{memory.data() + base, counts, displacements, places, {}};
  for (const Datatype &type : types)
    given.types.push_back(type.get());
  return given;
}

Exchange::Exchange(const Topology &topology, const Spec &spec, Random local, Report &report)
    : topology_(topology), spec_(spec), local_(local), report_(report),
      label_(spell(spec.name) + " on " + topology.name) {
  MPI_Comm_rank(topology.comm, &rank_);
  redraw(true, true);
}

Exchange::~Exchange() {
  if (persistent_ != MPI_REQUEST_NULL)
    MPI_Request_free(&persistent_);
}

void Exchange::redraw(bool sendSide, bool recvSide) {
  if (sendSide)
    send_.draw(spec_, topology_.out, rank_, true, local_);
  if (recvSide)
    recv_.draw(spec_, topology_.in, rank_, false, local_);
}

void Exchange::moveBuffers() {
  send_.allocate(local_);
  recv_.allocate(local_);
}

void Exchange::prepare() {
  send_.fill(local_);
  recv_.fill(local_);
  sent_.assign(send_.memory.data(), send_.memory.data() + send_.memory.size());
  guard_.assign(recv_.memory.data(), recv_.memory.data() + recv_.memory.size());
  expected_ = guard_;
  report_.doing("oracle of " + label_);
  askOracle();
  report_.doing(label_);
}

// The operation as its definition says: one message per edge.
void Exchange::askOracle() {
  std::vector<MPI_Request> requests;
  for (size_t i = 0; i < topology_.in.size(); ++i)
    MPI_Irecv(expected_.data() + recv_.base + recv_.places[i], recv_.counts[i],
              recv_.oracleType(i).get(), topology_.in[i].peer, topology_.in[i].tag,
              topology_.oracle, &requests.emplace_back());
  for (size_t i = 0; i < topology_.out.size(); ++i) {
    size_t slot = isGather(spec_.name.operation) ? 0 : i;
    MPI_Isend(send_.block(slot), send_.counts[slot], send_.oracleType(slot).get(),
              topology_.out[i].peer, topology_.out[i].tag, topology_.oracle,
              &requests.emplace_back());
  }
  report_.expectSuccess(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
      "oracle of " + label_);
}

void Exchange::makeCall(MPI_Request *request) {
  call_.emplace(spec_.name, send_.arguments(), recv_.arguments(), topology_.comm);
  report_.expectSuccess(call_->make(request), label_);
  if (spec_.spoilArrays)
    call_->release();
}

void Exchange::initialize() { makeCall(&persistent_); }

MPI_Request Exchange::start() {
  MPI_Request request = persistent_;
  if (spec_.name.form == Form::Persistent)
    report_.expectSuccess(MPI_Start(&persistent_), label_);
  else
    makeCall(&request);
  return spec_.name.form == Form::Persistent ? persistent_ : request;
}

void Exchange::freeTypes() {
  send_.types.clear();
  recv_.types.clear();
}

std::string Exchange::describe(size_t offset) const {
  std::string where = "no slot";
  for (size_t slot = 0; slot < topology_.in.size(); ++slot) {
    auto [begin, end] = recv_.range(slot);
    if (begin <= static_cast<MPI_Aint>(offset) && static_cast<MPI_Aint>(offset) < end)
      where = "slot " + std::to_string(slot);
  }
  if (guard_[offset] == expected_[offset])
    where += ", not to be touched";
  char text[160];
  std::snprintf(text, sizeof text,
                "%s: byte %zd of the receive buffer: expected 0x%02x, got 0x%02x", where.c_str(),
                static_cast<ssize_t>(offset - recv_.base),
                std::to_integer<unsigned>(expected_[offset]),
                std::to_integer<unsigned>(recv_.memory.data()[offset]));
  return text;
}

void Exchange::check() {
  const std::byte *got = recv_.memory.data();
  auto wrong = std::mismatch(expected_.begin(), expected_.end(), got).first;
  if (wrong != expected_.end())
    report_.mismatch(label_, describe(wrong - expected_.begin()));
  report_.expect(std::equal(sent_.begin(), sent_.end(), send_.memory.data()), label_,
                 "the send buffer was changed");
}

} // namespace conformance
