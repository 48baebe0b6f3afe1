#include "tests/mpi/Reduction.h"

#include <algorithm>
#include <numeric>

namespace conformance {
namespace {

constexpr int kTag = 2;

bool isScattered(Collective c) {
  return c == Collective::Reduce_scatter || c == Collective::Reduce_scatter_block;
}

std::vector<std::byte> bytesOf(const Side &side) {
  return {side.memory.data(), side.memory.data() + side.memory.size()};
}

} // namespace

std::unique_ptr<Operator> makeOperator(const Deal &deal) {
  Random shared({deal.key, 11});
  return deal.userOperator ? makeUser(shared) : makePredefined(shared);
}

Reduction::Reduction(const Members &members, const Deal &deal, Random local, Report &report,
                     Reused *reused)
    : members_(members), deal_(deal), local_(local), report_(report), root_(deal.rootOf(members)),
      call_(reused ? &reused->call : nullptr) {
  Random shared({deal.key, 11});
  operator_ = deal.userOperator ? makeUser(shared) : makePredefined(shared);
  label_ = describe(members, deal) + ", " + operator_->name;
  drawCounts();
  if (reused) {
    send_.arena = &reused->send;
    recv_.arena = &reused->recv;
  }
  moveBuffers();
}

bool Reduction::isInPlace() const {
  return deal_.inPlace && (deal_.form.collective != Collective::Reduce || members_.rank == root_);
}

bool Reduction::hasResult() const {
  return deal_.form.collective != Collective::Reduce || members_.rank == root_;
}

void Reduction::drawCounts() {
  bool each = deal_.form.collective == Collective::Reduce_scatter;
  for (uint64_t rank = 0; rank < static_cast<uint64_t>(members_.size); ++rank)
    counts_.push_back(drawSize(deal_, each ? Random({deal_.key, rank}) : Random({deal_.key})));
  mine_ = counts_[members_.rank];
  if (!isScattered(deal_.form.collective)) {
    elements_ = mine_;
    return;
  }
  before_ = std::accumulate(counts_.begin(), counts_.begin() + members_.rank, 0);
  elements_ = std::accumulate(counts_.begin(), counts_.end(), 0);
}

void Reduction::moveBuffers() {
  if (!isInPlace())
    send_.place(Datatype(operator_->type.get()), elements_, local_);
  recv_.place(Datatype(operator_->type.get()), isInPlace() ? elements_ : mine_, local_);
}

void Reduction::prepare() {
  send_.fill(local_);
  recv_.fill(local_);
  contribution_.resize(elements_ * operator_->elementBytes);
  operator_->draw(contribution_.data(), elements_, local_);
  operator_->put(contribution_.data(), elements_, (isInPlace() ? recv_ : send_).block(0));
  sent_ = bytesOf(send_);
  guard_ = bytesOf(recv_);
  expected_ = guard_;
  ignored_.clear();
  report_.doing("oracle of " + label_);
  askOracle();
  report_.doing(label_);
  call_.initialize(deal_.form, arguments(), label_, report_);
}

// Each rank sends each what it contributes.
void Reduction::askOracle() {
  std::vector<std::vector<std::byte>> contributions(members_.size);
  std::vector<MPI_Request> requests;
  int bytes = static_cast<int>(contribution_.size());
  for (int peer = 0; peer < members_.size; ++peer) {
    contributions[peer].resize(bytes);
    MPI_Irecv(contributions[peer].data(), bytes, MPI_BYTE, peer, kTag, members_.oracle,
              &requests.emplace_back());
    MPI_Isend(contribution_.data(), bytes, MPI_BYTE, peer, kTag, members_.oracle,
              &requests.emplace_back());
  }
  report_.expectSuccess(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
      "oracle of " + label_);
  if (hasResult())
    combine(contributions);
}

// In the order of the ranks.
void Reduction::combine(std::vector<std::vector<std::byte>> &contributions) {
  Collective c = deal_.form.collective;
  int end = c == Collective::Exscan ? members_.rank
            : c == Collective::Scan ? members_.rank + 1
                                    : members_.size;
  for (int rank = 1; rank < end; ++rank)
    operator_->fold(contributions[rank - 1].data(), contributions[rank].data(), elements_);
  const std::byte *result =
      end == 0 ? nullptr : contributions[end - 1].data() + before_ * operator_->elementBytes;
  expect(result);
}

// Bytes behind the result of a scattered one in place, and an exscan's on rank 0, are undefined.
void Reduction::expect(const std::byte *result) {
  if (result)
    operator_->put(result, mine_, expected_.data() + recv_.base);
  Bounds b = boundsOf(operator_->type.get());
  bool leavesRest = isInPlace() && isScattered(deal_.form.collective);
  bool padded = false;
  for (size_t i = 0; i < operator_->elementBytes; ++i)
    padded |= operator_->isPadding(i);
  if (result && !leavesRest && !padded)
    return;
  ignored_.assign(expected_.size(), false);
  auto [begin, ends] = recv_.range(0);
  MPI_Aint end = padded ? begin + recv_.counts[0] * b.extent : ends;
  MPI_Aint results = begin + (result ? mine_ * b.extent : 0);
  for (MPI_Aint at = begin; at < end; ++at) {
    MPI_Aint offset = at - static_cast<MPI_Aint>(recv_.base);
    ignored_[at] =
        at >= results || (padded && operator_->isPadding(static_cast<size_t>(offset % b.extent)));
  }
}

CollectiveArguments Reduction::arguments() {
  CollectiveArguments a;
  a.recv = recv_.arguments();
  a.send = isInPlace() ? a.recv : send_.arguments();
  if (isInPlace())
    a.send.buffer = MPI_IN_PLACE;
  if (!hasResult() && local_.oneIn(2))
    a.recv.buffer = nullptr;
  a.recv.counts = isScattered(deal_.form.collective) ? counts_ : std::vector<int>{mine_};
  if (deal_.form.collective == Collective::Reduce_scatter_block)
    a.recv.counts.resize(1);
  a.op = operator_->op;
  a.root = root_;
  a.comm = members_.comm;
  return a;
}

MPI_Request Reduction::start() { return call_.start(deal_.form, arguments(), label_, report_); }

void Reduction::check() {
  report_.expect(operator_->isContent(), label_, "the function was given another datatype");
  std::string wrong = findDifference({recv_, guard_, expected_, ignored_});
  report_.expect(wrong.empty(), label_, wrong);
  report_.expect(std::equal(sent_.begin(), sent_.end(), send_.memory.data()), label_,
                 "the send buffer was changed");
}

} // namespace conformance
