#include "executor/Steps.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

bool isMessageWithoutSlices(const ImageOp &op) {
  return (op.kind == OpKind::Send || op.kind == OpKind::Recv) && op.sourceCount == 0 &&
         op.targetCount == 0;
}

} // namespace

Status Steps::bind(const Edges &edges, const Combiner &combiner) {
  if (Status s = makeRoom(); !s)
    return s;
  combiner_ = combiner;
  iovecsUsed_ = piecesUsed_ = 0;
  rests_.clear();
  staging_.clear();
  work_ = {};
  for (uint32_t i = 0; i < view_.ops.size(); ++i) {
    steps_[i] = {};
    steps_[i].slot = edges.slots[i];
    Status s = isMessage(view_.ops[i].kind) ? addMessage(i) : addLocal(i);
    if (!s)
      return s;
    if (steps_[i].kind == Step::Kind::Combine)
      work_.combines = true;
    else
      work_.movedBytes += steps_[i].payload.bytes;
  }
  return {};
}

Status Steps::makeRoom() {
  if (!steps_.empty())
    return {};
  size_t iovecs = 0, pieces = 0;
  for (const ImageOp &op : view_.ops) {
    (isMessage(op.kind) ? iovecs : pieces) += size_t{op.sourceCount} + op.targetCount + 1;
    if (isMessageWithoutSlices(op))
      blankBytes_ = std::max(blankBytes_, op.amount);
  }
  iovecs_.resize(iovecs);
  pieces_.resize(pieces);
  if (Status s = makeBlank(); !s)
    return s;
  steps_.resize(view_.ops.size());
  return {};
}

// One half is sent from, the other one received into.
Status Steps::makeBlank() {
  if (blankBytes_ == 0)
    return {};
  if (blankBytes_ > UINT64_MAX / 4)
    return Status::error(concat("a message of ", blankBytes_, " bytes is too large"));
  blank_.reset(static_cast<std::byte *>(std::calloc(blankBytes_, 2)));
  if (!blank_)
    return Status::error(ErrorKind::NoMemory,
                         concat("no memory for messages of ", blankBytes_, " bytes"));
  return {};
}

bool Steps::isVariable(std::span<const Slice> slices) const {
  return memory_->hasBlocks() && std::any_of(slices.begin(), slices.end(), [&](const Slice &s) {
           return memory_->isVariable(s);
         });
}

std::span<const Slice> Steps::messageSlices(uint32_t i) const {
  const ImageOp &op = view_.ops[i];
  return op.kind == OpKind::Send ? view_.sources(op) : view_.targets(op);
}

uint64_t Steps::listPieces(std::span<const Slice> slices, iovec *pieces) const {
  uint64_t bytes = 0;
  for (const Slice &slice : slices) {
    uint64_t here = memory_->rangeOf(slice).length;
    *pieces++ = {memory_->addressOf(slice), here};
    bytes += here;
  }
  return bytes;
}

void Steps::addSized(uint32_t i) {
  Step &step = steps_[i];
  uint64_t bytes = view_.ops[i].amount;
  std::byte *half = blank_.get() + (step.kind == Step::Kind::Recv ? blankBytes_ : 0);
  iovecs_[iovecsUsed_] = {half, bytes};
  step.payload = {&iovecs_[iovecsUsed_++], 1, false, false, bytes};
}

Status Steps::addMessage(uint32_t i) {
  const ImageOp &op = view_.ops[i];
  Step &step = steps_[i];
  if (!travels(op))
    return {};
  step.kind = sendsMessage(op.kind) ? Step::Kind::Send : Step::Kind::Recv;
  auto slices = messageSlices(i);
  if (op.kind == OpKind::Signal || op.kind == OpKind::Wait) {
    step.payload.always = true;
  } else if (slices.empty()) {
    addSized(i);
  } else if (isVariable(slices)) {
    return addVariableMessage(i, slices);
  } else {
    iovec *pieces = &iovecs_[iovecsUsed_];
    iovecsUsed_ += slices.size();
    auto count = static_cast<uint32_t>(slices.size());
    step.payload = {pieces, count, false, false, listPieces(slices, pieces)};
  }
  work_.maxBytes = std::max(work_.maxBytes, step.payload.bytes);
  return {};
}

Status Steps::addVariableMessage(uint32_t i, std::span<const Slice> slices) {
  Step &step = steps_[i];
  bool isRecv = step.kind == Step::Kind::Recv;
  uint64_t most = 0;
  for (const Slice &slice : slices) {
    bool variable = memory_->isVariable(slice);
    most += variable ? memory_->capacityBytes(slice) : memory_->rangeOf(slice).length;
  }
  step.variable = true;
  iovec *pieces = &iovecs_[iovecsUsed_];
  iovecsUsed_ += slices.size() + 1;
  auto count = static_cast<uint32_t>(slices.size());
  step.payload = {pieces, count, true, isRecv, most};
  if (count == 1) {
    pieces[0] = {memory_->addressOf(slices[0]), most};
  } else {
    staging_.push_back({i, std::vector<uint64_t>(count), {}});
    Staging &staging = staging_.back();
    pieces[0] = {staging.table.data(), count * sizeof(uint64_t)};
    step.payload.bytes += pieces[0].iov_len;
    step.payload.count = count + 1;
    if (isRecv) {
      staging.bytes.resize(most);
      pieces[1] = {staging.bytes.data(), most};
      step.payload.count = 2;
    }
  }
  work_.maxBytes = std::max(work_.maxBytes, step.payload.bytes);
  return {};
}

Status Steps::addOperator(uint32_t i) {
  const ImageOp &op = view_.ops[i];
  steps_[i].side = op.side();
  if (combiner_)
    return {};
  Result<ReduceFunction> reduce = findReduction(op.reduction, op.type, op.side());
  if (!reduce)
    return Status::error(concat("op ", i, ": ", reduce.message()));
  steps_[i].reduce = *reduce;
  return {};
}

Status Steps::addLocal(uint32_t i) {
  const ImageOp &op = view_.ops[i];
  Step &step = steps_[i];
  if (op.kind == OpKind::Calc) {
    step.kind = Step::Kind::Calc;
    step.ns = op.amount;
    return {};
  }
  step.kind = op.kind == OpKind::Combine ? Step::Kind::Combine : Step::Kind::Copy;
  if (step.kind == Step::Kind::Combine)
    if (Status s = addOperator(i); !s)
      return s;
  step.pieces = &pieces_[piecesUsed_];
  piecesUsed_ += size_t{op.sourceCount} + op.targetCount;
  step.variable = isVariable(view_.sources(op)) || isVariable(view_.targets(op));
  if (op.kind == OpKind::Copy && isVariable(view_.targets(op)) && op.sourceCount != op.targetCount)
    return Status::error(concat("op ", i, " copies ", op.sourceCount, " slices to ", op.targetCount,
                                ", of which one is a block that takes the length of one slice"));
  return step.variable ? Status() : pairUp(i);
}

/// "24 bytes of buffer 0, block 1".
std::string Steps::inWords(std::span<const Slice> slices) const {
  uint64_t bytes = 0;
  for (const Slice &slice : slices)
    bytes += memory_->rangeOf(slice).length;
  std::string words = concat(bytes, " bytes");
  if (slices.size() == 1) {
    words += concat(" of ", memory_->inWords(index(slices[0].buffer)));
    words += slices[0].block == kNoBlock ? "" : concat(", block ", slices[0].block);
  }
  return words;
}

// Cuts sources and targets at the union of their borders.
Status Steps::pairUp(uint32_t i) {
  auto *pieces = const_cast<LocalPiece *>(steps_[i].pieces);
  uint32_t &count = steps_[i].pieceCount;
  uint64_t &total = steps_[i].payload.bytes;
  const ImageOp &op = view_.ops[i];
  auto sources = view_.sources(op), targets = view_.targets(op);
  uint64_t unit = op.kind != OpKind::Combine ? 1
                  : combiner_                ? combiner_.elementBytes
                                             : sizeBytes(op.type);
  count = 0;
  total = 0;
  if (sources.size() == 1 && targets.size() == 1) {
    uint64_t bytes = memory_->rangeOf(sources[0]).length;
    if (bytes % unit == 0 && bytes == memory_->rangeOf(targets[0]).length) {
      total = bytes;
      if (bytes > 0)
        pieces[count++] = {memory_->addressOf(targets[0]), memory_->addressOf(sources[0]), bytes};
      return {};
    }
  }
  size_t s = 0, t = 0;
  uint64_t sDone = 0, tDone = 0;
  while (s < sources.size() && t < targets.size()) {
    uint64_t sLeft = memory_->rangeOf(sources[s]).length - sDone;
    uint64_t tLeft = memory_->rangeOf(targets[t]).length - tDone;
    uint64_t bytes = std::min(sLeft, tLeft);
    if (bytes % unit != 0)
      return Status::error(concat("op ", i, " reduces a part of an element"));
    total += bytes;
    if (bytes > 0)
      pieces[count++] = {memory_->addressOf(targets[t]) + tDone,
                         memory_->addressOf(sources[s]) + sDone, bytes};
    sDone = bytes == sLeft ? (++s, 0) : sDone + bytes;
    tDone = bytes == tLeft ? (++t, 0) : tDone + bytes;
  }
  while (s < sources.size() && memory_->rangeOf(sources[s]).length == sDone)
    ++s, sDone = 0;
  while (t < targets.size() && memory_->rangeOf(targets[t]).length == tDone)
    ++t, tDone = 0;
  if (s < sources.size() || t < targets.size())
    return Status::error(ErrorKind::Truncated,
                         concat("op ", i, op.kind == OpKind::Combine ? " combines " : " copies ",
                                inWords(sources), op.kind == OpKind::Combine ? " into " : " to ",
                                inWords(targets)));
  return {};
}

// A block of variable length takes the length of the bytes that are copied into it.
Status Steps::followSource(uint32_t i) {
  auto sources = view_.sources(view_.ops[i]), targets = view_.targets(view_.ops[i]);
  for (size_t k = 0; k < targets.size(); ++k) {
    if (!memory_->isVariable(targets[k]))
      continue;
    uint64_t bytes = memory_->rangeOf(sources[k]).length;
    if (bytes > memory_->capacityBytes(targets[k]))
      return Status::error(concat("op ", i, " copies ", bytes, " bytes to a block of ",
                                  memory_->capacityBytes(targets[k])));
    memory_->setLengthBytes(targets[k], bytes);
  }
  return {};
}

Steps::Staging *Steps::stagingOf(uint32_t i) {
  auto at = std::lower_bound(staging_.begin(), staging_.end(), i,
                             [](const Staging &s, uint32_t op) { return s.op < op; });
  return at != staging_.end() && at->op == i ? &*at : nullptr;
}

Status Steps::refresh(OpId id) {
  uint32_t i = index(id);
  Step &step = steps_[i];
  if (step.isLocal()) {
    if (step.kind == Step::Kind::Copy)
      if (Status s = followSource(i); !s)
        return s;
    return pairUp(i);
  }
  if (step.kind != Step::Kind::Send)
    return {};
  auto slices = messageSlices(i);
  Staging *staging = stagingOf(i);
  auto *pieces = const_cast<iovec *>(step.payload.pieces) + (staging ? 1 : 0);
  step.payload.bytes = listPieces(slices, pieces);
  if (!staging)
    return {};
  step.payload.bytes += staging->table.size() * sizeof(uint64_t);
  for (size_t k = 0; k < slices.size(); ++k)
    staging->table[k] = pieces[k].iov_len;
  return {};
}

Status Steps::unpack(OpId id, uint64_t bytes) {
  uint32_t i = index(id);
  auto slices = messageSlices(i);
  Staging *staging = stagingOf(i);
  if (!staging) {
    memory_->setLengthBytes(slices[0], bytes);
    return {};
  }
  uint64_t expected = staging->table.size() * sizeof(uint64_t);
  uint64_t offset = 0;
  bool sound = bytes >= expected;
  for (size_t k = 0; sound && k < slices.size(); ++k) {
    uint64_t here = staging->table[k];
    bool variable = memory_->isVariable(slices[k]);
    sound = here <= staging->bytes.size() - offset &&
            (variable ? here <= memory_->capacityBytes(slices[k])
                      : here == memory_->rangeOf(slices[k]).length);
    if (!sound)
      break;
    if (variable)
      memory_->setLengthBytes(slices[k], here);
    std::memcpy(memory_->addressOf(slices[k]), staging->bytes.data() + offset, here);
    offset += here;
  }
  if (!sound || expected + offset != bytes)
    return Status::error(concat("op ", i, " received blocks whose lengths do not fit"));
  return {};
}

} // namespace colldsl
