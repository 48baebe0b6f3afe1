#include "executor/DeviceStage.h"

#include "ir/Concat.h"

#include <algorithm>
#include <functional>
#include <mutex>

namespace colldsl {

using device::DeviceAddress;
using device::Lane;

namespace {

// So many copies of an op are made by a kernel; fewer by the device's copy engines.
constexpr size_t kManyCopies = 8;
// The pieces of work that end graphs.
constexpr size_t kGraphPieces = 2;

/// False: no piece writes what another one reads.
bool mayInterfere(std::span<const LocalPiece> pieces) {
  std::less<const std::byte *> before;
  const std::byte *targets[2] = {pieces[0].target, pieces[0].target};
  const std::byte *sources[2] = {pieces[0].source, pieces[0].source};
  for (const LocalPiece &piece : pieces) {
    targets[0] = std::min<const std::byte *>(targets[0], piece.target, before);
    targets[1] = std::max<const std::byte *>(targets[1], piece.target + piece.bytes, before);
    sources[0] = std::min(sources[0], piece.source, before);
    sources[1] = std::max(sources[1], piece.source + piece.bytes, before);
  }
  return before(targets[0], sources[1]) && before(sources[0], targets[1]);
}

// The device copies so many bytes in about the time that a copy takes to begin. Cells for which
// different ops wait are no longer copy, as the first op would wait for bytes of the others.
constexpr uint64_t kShortCopyBytes = 64 << 10;

} // namespace

// A device that stands still may yet use all that its work has to do with, and graphs that go on
// without this rank what is shared with theirs.
DeviceStage::~DeviceStage() {
  if (!work_)
    return;
  if (drainGraphs()) {
    if (messages_.words().areReleased()) {
      messages_.abandonShared();
      areas_.abandonMirror();
    }
    return;
  }
  areas_.abandon();
  messages_.abandon();
  struct Abandoned {
    std::shared_ptr<device::Kernels> kernels;
    std::shared_ptr<device::IpcCache> opened;
    std::unique_ptr<device::IpcCache::Run> run;
  };
  static std::mutex mutex;
  static auto *abandoned = new std::vector<Abandoned>;
  std::lock_guard guard(mutex);
  abandoned->push_back(
      {std::move(kernels_), opened_, std::make_unique<device::IpcCache::Run>(*opened_)});
}

Status DeviceStage::bind(const Binding &binding) {
  failure_.reset();
  if (Status s = areas_.bind(binding); !s)
    return s;
  return openWork();
}

Status DeviceStage::openWork() {
  if (work_ && work_->context() == areas_.context())
    return {};
  work_.reset();
  auto work = device::AsyncWork::open(areas_.driver(), areas_.context());
  if (!work)
    return work.status();
  work_ = work.take();
  kernels_ = device::Kernels::of(areas_.driver(), areas_.context());
  opened_ = device::IpcCache::of(areas_.driver(), areas_.context());
  canCopyMany_ = device::Kernels::hasCopies() && kernels_->prepareCopies();
  return {};
}

Status DeviceStage::divide(const Memory &memory, const Edges &edges, const Steps &steps,
                           Endpoint &endpoint) {
  messages_.find(areas_.binding(), edges, steps);
  direct_.find(endpoint, areas_, steps);
  if (Status s = cells_.divide(areas_, memory, steps, *kernels_, messages_, direct_); !s)
    return s;
  areas_.endOldRegistrations();
  graphs_.reset();
  hasOrder_ = false;
  order_.reserve(2 * view_.ops.size());
  if (Status s = work_->reserve(Lane::Within, std::max<size_t>(view_.ops.size(), 1)); !s)
    return s;
  if (Status s = messages_.makeOffers(areas_, steps, *work_); !s)
    return s;
  if (cells_.usesHost())
    if (Status s = areas_.lock(); !s)
      return s;
  size_t numCells = cells_.cells().size();
  states_.resize(numCells);
  openWriters_.resize(numCells);
  causes_.resize(numCells);
  copyEnds_.resize(numCells);
  waiting_.resize(numCells);
  waiters_.reserve((direct_.any() ? 2 : 1) * cells_.numReads()); // a held send waits again
  missing_.resize(view_.ops.size());
  isDone_.assign(view_.ops.size(), 0);
  written_ = 0;
  for (size_t c = 0; c < numCells; ++c)
    written_ += cells_.writers()[c] > 0 && cells_.cells()[c].area->isCallers;
  for (Lane lane : {Lane::ToHost, Lane::ToDevice})
    if (Status s = work_->reserve(lane, numCells + kGraphPieces); !s)
      return s;
  return {};
}

void DeviceStage::begin() {
  run_.emplace(*opened_);
  complete_ = 0;
  next_ = {};
  order_.clear();
  hasOrder_ = false;
  std::fill(isDone_.begin(), isDone_.end(), 0);
  messages_.begin();
  direct_.begin();
  for (size_t c = 0; c < states_.size(); ++c) {
    bool isCallers = cells_.cells()[c].area->isCallers;
    states_[c] = {!isCallers, isCallers, false};
  }
  std::copy(cells_.writers().begin(), cells_.writers().end(), openWriters_.begin());
  std::fill(waiting_.begin(), waiting_.end(), kNone);
  waiters_.clear();
  for (const auto &[cell, op] : cells_.early())
    if (!failure_ && !states_[cell].comes)
      copy(Lane::ToHost, cell, op);
  beginCopies();
}

void DeviceStage::end() {
  if (!anyUnderWay())
    run_.reset();
}

bool DeviceStage::admit(OpId op) {
  bool isOnDevice = this->isOnDevice(op);
  uint32_t missing = 0;
  for (const auto &[first, last] : cells_.readsOf(op))
    for (uint32_t c = first; c < last && !failure_; ++c) {
      State &state = states_[c];
      if (isOnDevice ? state.onDevice : state.onHost)
        continue;
      if (!state.comes)
        copy(isOnDevice ? Lane::ToDevice : Lane::ToHost, c, op);
      waiters_.push_back({op, waiting_[c]});
      waiting_[c] = static_cast<uint32_t>(waiters_.size() - 1);
      ++missing;
    }
  missing_[index(op)] = missing;
  return missing == 0 && !failure_;
}

// Copies a cell to one side, for an op, together with neighbours that are ready, too.
void DeviceStage::copy(Lane lane, uint32_t c, OpId op) {
  if (isCancelled_)
    return;
  states_[c].comes = true;
  causes_[c] = op;
  NextCopy &next = nextOf(lane);
  if (next.bytes > 0 && !joins(lane, c, op))
    beginCopy(lane);
  bool isFirst = next.bytes == 0;
  next.first = isFirst ? c : std::min(next.first, c);
  next.last = isFirst ? c + 1 : std::max(next.last, c + 1);
  next.bytes += cells_.cells()[c].bytes;
  next.op = op;
}

// No op waits for a single one of the cells that go back to the caller's buffers.
bool DeviceStage::joins(Lane lane, uint32_t c, OpId op) {
  const NextCopy &next = nextOf(lane);
  if (c != next.last && c + 1 != next.first)
    return false;
  const DeviceCells::Cell &before = cells_.cells()[c == next.last ? c - 1 : c];
  const DeviceCells::Cell &behind = cells_.cells()[c == next.last ? c : c + 1];
  if (before.area != behind.area || before.begin + before.bytes != behind.begin)
    return false;
  uint64_t most = areas_.binding().segmentBytes;
  bool isResult = lane == Lane::ToDevice && before.area->isCallers && openWriters_[c] == 0 &&
                  openWriters_[next.first] == 0;
  if (op != next.op && !isResult)
    most = std::min(most, kShortCopyBytes);
  return next.bytes + cells_.cells()[c].bytes <= most;
}

void DeviceStage::beginCopy(Lane lane) {
  auto [first, last, bytes, op] = std::exchange(nextOf(lane), NextCopy());
  const DeviceCells::Cell &cell = cells_.cells()[first];
  copyEnds_[first] = last;
  if (Status s =
          work_->copy(lane, cell.begin, cell.area->deviceAddressOf(cell.begin), bytes, first);
      !s)
    failCopy(lane, first, s);
}

void DeviceStage::beginCopies() {
  for (Lane lane : {Lane::ToHost, Lane::ToDevice})
    if (nextOf(lane).bytes > 0 && !failure_)
      beginCopy(lane);
}

void DeviceStage::beginOnDevice(OpId op, const Steps &steps) {
  if (isCancelled_ || failure_)
    return;
  const bool isLocal = steps[op].isLocal();
  if (steps[op].kind != Step::Kind::Send) // whose offer counts
    order_.push_back({op, isLocal ? Action::Runs : Action::Receives});
  if (Status s = runOnDevice(op, steps); !s)
    fail(op, "on the device", s);
}

Status DeviceStage::runOnDevice(OpId op, const Steps &steps) {
  const Step &step = steps[op];
  device::CurrentContext current(areas_.driver(), areas_.context());
  device::CuStream stream = work_->begin(Lane::Within);
  Status status = step.isLocal() ? runLocal(op, steps, stream) : runMessage(op, step, stream);
  Status ended = work_->end(Lane::Within, index(op));
  return status ? ended : status;
}

Status DeviceStage::runLocal(OpId op, const Steps &steps, device::CuStream stream) {
  std::span pieces(steps[op].pieces, steps[op].pieceCount);
  if (steps[op].kind == Step::Kind::Copy)
    return copyPieces(pieces, stream);
  TypedReduction combine = steps.reductionOf(op).value_or(TypedReduction{});
  for (const LocalPiece &piece : pieces) {
    DeviceAddress target = deviceAddressOf(piece.target), source = deviceAddressOf(piece.source);
    DeviceAddress first = piece.first ? deviceAddressOf(piece.first) : target;
    Status s =
        kernels_->combine(stream, combine.reduction, combine.type, view_.ops[index(op)].side(),
                          target, first, std::span(&source, 1), piece.bytes);
    if (!s)
      return s;
  }
  return {};
}

// Copies by a kernel are in no order.
Status DeviceStage::copyPieces(std::span<const LocalPiece> pieces, device::CuStream stream) {
  std::array<device::CopyPiece, device::kMaxPieces> copies;
  const size_t atOnce = mayInterfere(pieces) ? 1 : copies.size();
  while (!pieces.empty()) {
    const size_t count = std::min(pieces.size(), atOnce);
    for (size_t i = 0; i < count; ++i)
      copies[i] = {deviceAddressOf(pieces[i].target), deviceAddressOf(pieces[i].source),
                   pieces[i].bytes};
    if (Status s = addCopies(std::span(copies).first(count), stream); !s)
      return s;
    pieces = pieces.subspan(count);
  }
  return {};
}

// The op's source is to be valid on the device already.
bool DeviceStage::continues(OpId op, OpId before, const Steps &steps) const {
  const Step &next = steps[op], &last = steps[before];
  if (next.kind != Step::Kind::Combine || !isOnDevice(op) || next.pieceCount != 1 ||
      last.pieceCount != 1 || steps.reductionOf(op) != steps.reductionOf(before) ||
      view_.ops[index(op)].side() != view_.ops[index(before)].side())
    return false;
  const LocalPiece &piece = next.pieces[0], &target = last.pieces[0];
  if (piece.target != target.target || piece.bytes != target.bytes ||
      (piece.first && piece.first != piece.target) || piece.source == piece.target)
    return false;
  for (const auto &[first, end] : cells_.readsOf(op))
    for (uint32_t c = first; c < end; ++c) {
      const std::byte *begin = cells_.cells()[c].begin;
      bool isOfTarget = begin >= piece.target && begin < piece.target + piece.bytes;
      if (!isOfTarget && !states_[c].onDevice)
        return false;
    }
  return true;
}

void DeviceStage::beginCombines(std::span<const OpId> ops, const Steps &steps) {
  if (isCancelled_ || failure_)
    return;
  for (OpId op : ops) {
    isDone_[index(op)] = op != ops[0];
    order_.push_back({op, op == ops[0] ? Action::Runs : Action::Continues});
  }
  device::CurrentContext current(areas_.driver(), areas_.context());
  Status status = runCombines(ops, steps, work_->begin(Lane::Within));
  Status ended = work_->end(Lane::Within, index(ops[0]));
  if (!status || !ended)
    fail(ops[0], "on the device", status ? ended : status);
}

Status DeviceStage::runCombines(std::span<const OpId> ops, const Steps &steps,
                                device::CuStream stream) {
  const LocalPiece &piece = steps[ops[0]].pieces[0];
  std::array<DeviceAddress, device::kMaxSources> sources;
  for (size_t i = 0; i < ops.size(); ++i)
    sources[i] = deviceAddressOf(steps[ops[i]].pieces[0].source);
  auto [reduction, type] = *steps.reductionOf(ops[0]);
  return kernels_->combine(stream, reduction, type, view_.ops[index(ops[0])].side(),
                           deviceAddressOf(piece.target),
                           deviceAddressOf(piece.first ? piece.first : piece.target),
                           std::span(sources).first(ops.size()), piece.bytes);
}

Status DeviceStage::runMessage(OpId op, const Step &step, device::CuStream stream) {
  auto found = step.kind == Step::Kind::Send ? messages_.pack(op, areas_, step)
                                             : messages_.open(op, areas_, step);
  return found ? addCopies(*found, stream) : found.status();
}

Status DeviceStage::addCopies(std::span<const device::CopyPiece> copies, device::CuStream stream) {
  while (copies.size() >= kManyCopies && canCopyMany_) {
    auto some = copies.first(std::min<size_t>(copies.size(), device::kMaxPieces));
    if (Status s = kernels_->copy(stream, some); !s)
      return s;
    copies = copies.subspan(some.size());
  }
  for (const auto &[to, from, bytes] : copies)
    if (Status s = work_->addCopyWithin(stream, to, from, bytes); !s)
      return s;
  return {};
}

void DeviceStage::finish(OpId op) {
  bool isOnDevice = this->isOnDevice(op);
  for (const auto &[first, last] : cells_.writesOf(op))
    for (uint32_t c = first; c < last && !failure_; ++c) {
      states_[c] = {!isOnDevice, isOnDevice, false};
      if (--openWriters_[c] > 0 || !cells_.cells()[c].area->isCallers)
        continue;
      if (isOnDevice)
        ++complete_;
      else
        copy(Lane::ToDevice, c, op);
    }
}

bool DeviceStage::poll(std::vector<OpId> &released, std::vector<OpId> &finished) {
  bool moved = false;
  beginCopies();
  while (!failure_) {
    std::optional<device::AsyncWork::Finished> culprit;
    auto done = work_->poll(culprit);
    if (!done) {
      if (culprit->lane == Lane::Within)
        fail(OpId{culprit->number}, "on the device", done.status());
      else
        failCopy(culprit->lane, culprit->number, done.status());
      break;
    }
    if (!*done)
      break;
    moved = true;
    if ((*done)->lane == Lane::Within)
      finished.push_back(OpId{(*done)->number});
    else
      for (uint32_t c = (*done)->number; c < copyEnds_[(*done)->number]; ++c)
        arrived((*done)->lane, c, released);
  }
  return moved;
}

void DeviceStage::arrived(Lane lane, uint32_t c, std::vector<OpId> &released) {
  states_[c] = {true, true, false};
  // Nothing is copied to the device behind the last writer but the result.
  if (lane == Lane::ToDevice && openWriters_[c] == 0 && cells_.cells()[c].area->isCallers)
    ++complete_;
  for (uint32_t w = std::exchange(waiting_[c], kNone); w != kNone; w = waiters_[w].next)
    if (--missing_[index(waiters_[w].op)] == 0)
      released.push_back(waiters_[w].op);
}

void DeviceStage::fail(OpId op, const std::string &what, const Status &why) {
  if (!failure_)
    failure_ = {op, Status::error(concat(what, ": ", why.message()))};
}

void DeviceStage::failCopy(Lane lane, uint32_t first, const Status &why) {
  const DeviceCells::Cell &cell = cells_.cells()[first];
  const DeviceCells::Cell &last = cells_.cells()[copyEnds_[first] - 1];
  uint64_t begin = cell.begin - cell.area->host;
  uint64_t end = last.begin + last.bytes - cell.area->host;
  fail(causes_[first],
       concat("the copy of bytes ", begin, " to ", end, " of ", areas_.inWords(*cell.area),
              lane == Lane::ToHost ? " from" : " to", " the device"),
       why);
}

void DeviceStage::cancel() {
  isCancelled_ = true;
  areas_.endRegistrations();
  if (!anyUnderWay() || work_->drain(std::chrono::seconds(1))) // else the destructor looks again
    messages_.closeAll();
}

} // namespace colldsl
