#include "tests/mpi/Exchange.h"

#include <algorithm>

namespace conformance {

namespace {

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

Layout layoutOf(Operation operation, bool sending) {
  if (operation == Operation::Alltoallw)
    return Layout::AnywhereTyped;
  bool anywhere = sending ? operation == Operation::Alltoallv : !isUniform(operation);
  return anywhere ? Layout::Anywhere : Layout::InOrder;
}

void draw(Side &side, const Spec &spec, const std::vector<Edge> &edges, int rank, bool sending,
          Random &random) {
  bool oneBlock = sending && isGather(spec.name.operation);
  std::vector<Edge> blocks = edges;
  if (oneBlock || blocks.empty())
    blocks.assign(1, Edge{rank, 0});
  std::vector<Draft> drafts;
  for (const Edge &edge : blocks) {
    Random shared = drawFor(spec, rank, edge, sending);
    drafts.push_back({drawSize(spec, shared), shared});
  }
  side.draw(spec, layoutOf(spec.name.operation, sending), sending, drafts, random);
}

} // namespace

Exchange::Exchange(const Topology &topology, const Spec &spec, Random local, Report &report,
                   const Arenas *arenas)
    : topology_(topology), spec_(spec), local_(local), report_(report),
      label_(spell(spec.name) + " on " + topology.name) {
  MPI_Comm_rank(topology.comm, &rank_);
  if (arenas) {
    send_.arena = &arenas->send;
    recv_.arena = &arenas->recv;
  }
  redraw(true, true);
}

Exchange::~Exchange() {
  if (persistent_ != MPI_REQUEST_NULL)
    MPI_Request_free(&persistent_);
}

void Exchange::redraw(bool sendSide, bool recvSide) {
  if (sendSide)
    draw(send_, spec_, topology_.out, rank_, true, local_);
  if (recvSide)
    draw(recv_, spec_, topology_.in, rank_, false, local_);
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

void Exchange::check() {
  std::string wrong = findDifference({recv_, guard_, expected_, {}});
  report_.expect(wrong.empty(), label_, wrong);
  report_.expect(std::equal(sent_.begin(), sent_.end(), send_.memory.data()), label_,
                 "the send buffer was changed");
}

} // namespace conformance
