#include "tests/mpi/Movement.h"

#include <algorithm>
#include <numeric>

namespace conformance {
namespace {

constexpr int kTag = 1;
// MPIs refuse a send buffer and a receive buffer of one address.
constexpr size_t kApart = 64;

// All blocks that a rank sends are one.
bool sendsOneBlock(Collective c) {
  return c == Collective::Bcast || c == Collective::Allgather || c == Collective::Allgatherv;
}

bool isScatter(Collective c) { return c == Collective::Scatter || c == Collective::Scatterv; }

bool isGather(Collective c) { return c == Collective::Gather || c == Collective::Gatherv; }

std::vector<std::byte> bytesOf(const Side &side) {
  return {side.memory.data(), side.memory.data() + side.memory.size()};
}

// A side that the call must not read.
SideArguments nothing() { return {nullptr, {0}, {0}, {0}, {MPI_DATATYPE_NULL}}; }

} // namespace

Movement::Movement(const Members &members, const Deal &deal, Random local, Report &report,
                   Reused *reused)
    : members_(members), deal_(deal), local_(local), report_(report), root_(deal.rootOf(members)),
      label_(describe(members, deal)), call_(reused ? &reused->call : nullptr) {
  if (reused)
    useArenas(*reused);
  draw(true);
  draw(false);
}

// Whether what this rank sends lies in its receive buffer; of a scatter, at the root, it is the
// other way round.
bool Movement::isInPlace() const {
  Collective c = deal_.form.collective;
  return deal_.inPlace && hasInPlace(c) && (!hasRoot(c) || members_.rank == root_);
}

std::vector<int> Movement::sendPeers() const {
  Collective c = deal_.form.collective;
  if (isGather(c))
    return {root_};
  if ((c == Collective::Bcast || isScatter(c)) && members_.rank != root_)
    return {};
  std::vector<int> all(members_.size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> Movement::recvPeers() const {
  Collective c = deal_.form.collective;
  if (isScatter(c) || c == Collective::Bcast)
    return c == Collective::Bcast && members_.rank == root_ ? std::vector<int>{}
                                                            : std::vector<int>{root_};
  if (isGather(c) && members_.rank != root_)
    return {};
  std::vector<int> all(members_.size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// What both ends of a block draw.
Draft Movement::draft(int from, int to) const {
  Collective c = deal_.form.collective;
  uint64_t a = from, b = to;
  Random shared({deal_.key});
  if (c == Collective::Gatherv || c == Collective::Allgatherv)
    shared = Random({deal_.key, a});
  else if (c == Collective::Scatterv)
    shared = Random({deal_.key, b});
  else if ((c == Collective::Alltoallv || c == Collective::Alltoallw) && deal_.inPlace)
    shared = Random({deal_.key, std::min(a, b), std::max(a, b)});
  else if (c == Collective::Alltoallv || c == Collective::Alltoallw)
    shared = Random({deal_.key, a, b});
  return {drawSize(deal_, shared), shared};
}

Layout Movement::layout(bool sending) const {
  Collective c = deal_.form.collective;
  if (c == Collective::Alltoallw)
    return Layout::AnywhereTyped;
  bool anywhere = sending ? c == Collective::Scatterv || c == Collective::Alltoallv
                          : c == Collective::Gatherv || c == Collective::Allgatherv ||
                                c == Collective::Alltoallv;
  return anywhere ? Layout::Anywhere : Layout::InOrder;
}

// Types without gaps have lanes of equal length on both sides.
bool Movement::mayShareMemory() const {
  bool arePlaced = layout(true) == Layout::Anywhere || layout(false) == Layout::Anywhere;
  return arePlaced && !isInPlace() && !deal_.anyShape && !deal_.bottom && !sendPeers().empty() &&
         !recvPeers().empty();
}

void Movement::useArenas(const Arenas &arenas) {
  sharesMemory_ = arenas.areShared && mayShareMemory();
  send_.arena = &arenas.send;
  recv_.arena = sharesMemory_ ? &arenas.send : &arenas.recv;
  if (sharesMemory_)
    drawLanes();
}

// A side with one block has the first lane. Others interleave, or the sides lie apart.
void Movement::drawLanes() {
  size_t sent = sendsOneBlock(deal_.form.collective) ? 1 : sendPeers().size();
  size_t received = recvPeers().size(), all = sent + received;
  std::vector<int> order(all);
  std::iota(order.begin(), order.end(), 0);
  bool isOneSent = layout(true) != Layout::Anywhere,
       isOneReceived = layout(false) != Layout::Anywhere;
  if (!isOneSent && !isOneReceived && local_.oneIn(2))
    local_.shuffle(order);
  if (isOneReceived)
    std::rotate(order.begin(), order.begin() + 1, order.end());
  send_.lanes = {
      {order.begin(), order.begin() + static_cast<ptrdiff_t>(sent)}, static_cast<int>(all), 0};
  recv_.lanes = {
      {order.begin() + static_cast<ptrdiff_t>(sent), order.end()}, static_cast<int>(all), kApart};
}

void Movement::draw(bool sending) {
  Side &side = sending ? send_ : recv_;
  bool replaced = isInPlace() && sending != isScatter(deal_.form.collective);
  std::vector<int> peers = sending ? sendPeers() : recvPeers();
  if (replaced || peers.empty())
    return;
  if (sending && sendsOneBlock(deal_.form.collective))
    peers.resize(1);
  std::vector<Draft> drafts;
  for (int peer : peers)
    drafts.push_back(sending ? draft(members_.rank, peer) : draft(peer, members_.rank));
  bool mayOverlap = sending && deal_.form.collective == Collective::Alltoallv;
  side.draw(deal_, layout(sending), mayOverlap, drafts, local_);
  if (deal_.bottom)
    side.useBottom();
}

void Movement::moveBuffers() {
  if (local_.oneIn(2) || deal_.bottom) { // absolute addresses stay in types
    draw(true);
    draw(false);
    return;
  }
  for (Side *side : {&send_, &recv_})
    if (!side->counts.empty())
      side->allocate(local_);
}

void Movement::prepare() {
  send_.fill(local_);
  recv_.fill(local_);
  sent_ = bytesOf(send_);
  guard_ = bytesOf(recv_);
  expected_ = guard_;
  report_.doing("oracle of " + label_);
  askOracle();
  report_.doing(label_);
  call_.initialize(deal_.form, arguments(), label_, report_);
}

// The operation as its definition says: one message per block.
void Movement::askOracle() {
  std::vector<MPI_Request> requests;
  std::vector<int> from = recvPeers(), to = sendPeers();
  for (size_t i = 0; i < from.size() && !recv_.counts.empty(); ++i)
    if (!isInPlace() || from[i] != members_.rank)
      MPI_Irecv(expected_.data() + recv_.base + recv_.places[i], recv_.counts[i],
                recv_.oracleType(i).get(), from[i], kTag, members_.oracle,
                &requests.emplace_back());
  bool skipsSelf = isInPlace() || deal_.form.collective == Collective::Bcast;
  for (size_t i = 0; i < to.size(); ++i)
    if (!skipsSelf || to[i] != members_.rank)
      send(to[i], i, requests);
  report_.expectSuccess(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
      "oracle of " + label_);
}

void Movement::send(int peer, size_t slot, std::vector<MPI_Request> &requests) {
  Collective c = deal_.form.collective;
  bool own = isInPlace() && !isScatter(c);
  const Side &side = own ? recv_ : send_;
  if (sendsOneBlock(c))
    slot = own ? members_.rank : 0;
  MPI_Isend(side.block(slot), side.counts[slot], side.oracleType(slot).get(), peer, kTag,
            members_.oracle, &requests.emplace_back());
}

CollectiveArguments Movement::arguments() {
  Collective c = deal_.form.collective;
  CollectiveArguments a;
  a.send = send_.counts.empty() ? nothing() : send_.arguments();
  a.recv = recv_.counts.empty() ? nothing() : recv_.arguments();
  a.root = root_;
  a.comm = members_.comm;
  if (c == Collective::Bcast && members_.rank != root_)
    a.send = a.recv;
  if (isInPlace())
    (isScatter(c) ? a.recv : a.send).buffer = MPI_IN_PLACE;
  return a;
}

MPI_Request Movement::start() { return call_.start(deal_.form, arguments(), label_, report_); }

void Movement::check() {
  std::string wrong = findDifference({recv_, guard_, expected_, {}});
  report_.expect(wrong.empty(), label_, wrong);
  bool isUnchanged = std::equal(sent_.begin(), sent_.end(), send_.memory.data());
  report_.expect(isUnchanged || sharesMemory_, label_, "the send buffer was changed");
}

} // namespace conformance
