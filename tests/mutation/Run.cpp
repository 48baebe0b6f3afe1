#include "tests/mutation/Run.h"

#include "ir/Channel.h"

#include <algorithm>
#include <tuple>

// What can happen at any moment is kept as a list of ops that can take their next step. A step
// can only enable steps of its own op, of its successors, of the other end of its message and of
// its neighbours in a channel; those are looked at when it has been taken.

namespace colldsl::mutation {
namespace {

uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

bool isWholeBlock(const Slice &s) {
  return s.beginScale == 0 && s.beginOffset == 0 && s.endOffset == 0 &&
         s.endScale == static_cast<int64_t>(s.denominator);
}

bool isBare(OpKind kind) { return kind == OpKind::Signal || kind == OpKind::Wait; }

bool movesData(OpKind kind) { return kind == OpKind::Copy || kind == OpKind::Combine; }

} // namespace

Run::Run(const Schedule &schedule, const std::vector<Storage> &storages, Tokens &tokens)
    : schedule_(schedule), storages_(storages), tokens_(tokens) {
  addVertices();
  linkDependencies();
  pairMessages();
  fillChannels();
  payloads_.resize(ops_.size());
  memory_.resize(storages.size());
  lengths_.resize(storages.size());
  written_.resize(storages.size());
}

void Run::addVertices() {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    firsts_.push_back(static_cast<Vertex>(ops_.size()));
    for (uint32_t i = 0; i < schedule_.ranks[r].size(); ++i) {
      OpState &v = ops_.emplace_back();
      v.op = &schedule_.ranks[r].ops[i];
      v.rank = Rank{r};
      v.id = OpId{i};
      describe(v);
    }
  }
  firsts_.push_back(static_cast<Vertex>(ops_.size()));
}

void Run::describe(OpState &v) {
  auto travels = [&](const Slice &slice) { return storageOf(v).travels(slice); };
  v.hasLengths = std::any_of(sources(v).begin(), sources(v).end(), travels) ||
                 std::any_of(targets(v).begin(), targets(v).end(), travels);
  std::vector<uint32_t> from = cellsOf(v, sources(v)), to = cellsOf(v, targets(v));
  v.travels = isBare(v.op->kind) ||
              (isMessage(v.op->kind) && (v.hasLengths || !from.empty() || !to.empty()));
  for (size_t i = 0; i < from.size() && !to.empty(); ++i) {
    auto same = std::find(to.begin(), to.end(), from[i]);
    v.overlaps |= same != to.end();
    v.tangled |= same != to.end() && static_cast<size_t>(same - to.begin()) != i;
  }
  std::sort(to.begin(), to.end());
  v.twice = std::adjacent_find(to.begin(), to.end()) != to.end();
}

/// All cells that the slices may cover, in their order; of slices outside of their buffers none.
std::vector<uint32_t> Run::cellsOf(const OpState &v, std::span<const Slice> slices) const {
  std::vector<uint32_t> all;
  for (const Slice &slice : slices) {
    auto cells =
        storageOf(v).travels(slice) ? storageOf(v).roomOf(slice) : storageOf(v).locate(slice);
    for (uint32_t i = 0; cells && i < cells->length; ++i)
      all.push_back(cells->begin + i);
  }
  return all;
}

void Run::linkDependencies() {
  successors_.resize(ops_.size());
  for (Vertex v = 0; v < ops_.size(); ++v) {
    Vertex first = firsts_[index(ops_[v].rank)];
    for (const Dep &dep : dagOf(ops_[v]).depsOf(*ops_[v].op))
      successors_[first + index(dep.op)].push_back({v, dep.kind});
  }
}

/// The k-th send of a key meets the k-th receive; signals meet waits. The rest stays unmatched.
void Run::pairMessages() {
  using Key = std::tuple<Rank, Rank, MessageId, bool>;
  std::vector<std::pair<Key, Vertex>> sends, recvs;
  for (Vertex i = 0; i < ops_.size(); ++i) {
    const OpState &v = ops_[i];
    if (sendsMessage(v.op->kind))
      sends.push_back({{v.rank, v.op->peer, v.op->message, isBare(v.op->kind)}, i});
    else if (receivesMessage(v.op->kind))
      recvs.push_back({{v.op->peer, v.rank, v.op->message, isBare(v.op->kind)}, i});
  }
  std::sort(sends.begin(), sends.end());
  std::sort(recvs.begin(), recvs.end());
  for (size_t s = 0, r = 0; s < sends.size() && r < recvs.size();) {
    if (sends[s].first < recvs[r].first) {
      ++s;
    } else if (recvs[r].first < sends[s].first) {
      ++r;
    } else {
      ops_[sends[s].second].partner = recvs[r].second;
      ops_[recvs[r++].second].partner = sends[s++].second;
    }
  }
}

void Run::fillChannels() {
  std::vector<uint32_t> ids(size_t{schedule_.numRanks()} * schedule_.numRanks(), kNone);
  for (Vertex i = 0; i < ops_.size(); ++i) {
    OpState &v = ops_[i];
    v.channel = kNone;
    bool queues =
        sendsMessage(v.op->kind) && v.travels && v.partner != kNone && ops_[v.partner].travels;
    if (!queues)
      continue;
    uint32_t &id = ids[index(v.rank) * schedule_.numRanks() + index(v.op->peer)];
    if (id == kNone) {
      id = static_cast<uint32_t>(channels_.size());
      channels_.emplace_back();
    }
    v.channel = id;
    v.position = static_cast<uint32_t>(channels_[id].sends.size());
    channels_[id].sends.push_back(i);
  }
  for (const Channel &channel : channels_)
    for (Vertex send : channel.sends) {
      OpState &recv = ops_[ops_[send].partner];
      recv.channel = ops_[send].channel;
      recv.position = ops_[send].position;
    }
}

Finding Run::execute(const OrderOptions &options) {
  reset(options);
  drain();
  if (!finding_ && options.late != kNoRank) {
    if (schedule_.synchronizes)
      finding_ = lateFinding();
    entered_[index(options.late)] = true;
    for (Vertex v = firsts_[index(options.late)]; v < firsts_[index(options.late) + 1]; ++v)
      tryReady(v);
    drain();
  }
  if (!finding_)
    finding_ = done_ == ops_.size() ? tailFinding() : stuck();
  return finding_;
}

void Run::reset(const OrderOptions &options) {
  options_ = options;
  random_ = scramble(options.seed);
  finding_ = {};
  done_ = 0;
  ready_.clear();
  entered_.assign(schedule_.numRanks(), true);
  if (options.late != kNoRank)
    entered_[index(options.late)] = false;
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    memory_[r] = storages_[r].entry();
    lengths_[r] = storages_[r].entryLengths();
    written_[r].assign(memory_[r].size(), false);
  }
  for (Channel &channel : channels_)
    channel.entered = channel.left = 0;
  for (OpState &v : ops_) {
    v.next = Step::Start;
    v.isReady = false;
    v.open = v.op->depCount;
  }
  for (Vertex v = 0; v < ops_.size(); ++v)
    tryReady(v);
}

uint64_t Run::nextRandom() { return random_ = scramble(random_); }

void Run::drain() {
  while (!ready_.empty() && !finding_) {
    size_t at = pick();
    Vertex v = ready_[at].vertex;
    ready_[at] = ready_.back();
    ready_.pop_back();
    ops_[v].isReady = false;
    take(v);
  }
}

size_t Run::pick() {
  if (options_.choice == Choice::AnyStep)
    return nextRandom() % ready_.size();
  auto least = std::min_element(ready_.begin(), ready_.end(), [](const Ready &a, const Ready &b) {
    return a.slowness < b.slowness;
  });
  return static_cast<size_t>(least - ready_.begin());
}

uint64_t Run::slowness(Vertex v) const {
  constexpr uint64_t kLast = uint64_t{1} << 63;
  auto step = static_cast<uint64_t>(ops_[v].next);
  uint64_t ofOp = scramble(options_.seed ^ uint64_t{v} << 3) >> 1;
  uint64_t ofStep = scramble(options_.seed ^ (uint64_t{v} << 3 | (step + 1))) >> 1;
  switch (options_.choice) {
  case Choice::AnyStep:
  case Choice::SlowOps:
    return ofOp;
  case Choice::SlowSteps:
    return ofStep;
  case Choice::SlowRanks:
    return scramble(options_.seed ^ index(ops_[v].rank)) >> 16 << 16 | ofStep >> 48;
  case Choice::StartsFirst:
    return ops_[v].next == Step::Start ? ofStep : ofStep | kLast;
  case Choice::EndsFirst:
    return ops_[v].next == Step::Start ? ofOp | kLast : ofOp;
  case Choice::SlowOne:
    if (ops_[v].rank != options_.slow.rank || ops_[v].id != options_.slow.op)
      return ofStep;
    return ops_[v].next == Step::Start ? 0 : kLast;
  }
  return ofOp;
}

bool Run::isEnabled(Vertex id) const {
  const OpState &v = ops_[id];
  bool queues = options_.buffering == Buffering::Channels && v.channel != kNone;
  const Channel *channel = queues ? &channels_[v.channel] : nullptr;
  bool isSend = sendsMessage(v.op->kind), met = isMet(v);
  switch (v.next) {
  case Step::Start:
    return v.open == 0 && entered_[index(v.rank)] &&
           (!queues || !isSend ||
            (v.position == channel->entered && channel->entered - channel->left < kChannelSlots));
  case Step::Read:
    return true;
  case Step::Write:
    return movesData(v.op->kind) || (met && ops_[v.partner].next > Step::Read);
  case Step::Finish:
    if (!v.travels)
      return true;
    if (isSend)
      return options_.buffering != Buffering::None || (met && ops_[v.partner].next > Step::Start);
    return met && ops_[v.partner].next > Step::Start && (!queues || v.position == channel->left);
  case Step::Done:
    return false;
  }
  return false;
}

void Run::tryReady(Vertex v) {
  if (ops_[v].isReady || !isEnabled(v))
    return;
  ops_[v].isReady = true;
  bool isChosenBySlowness = options_.choice != Choice::AnyStep;
  ready_.push_back({v, isChosenBySlowness ? slowness(v) : 0});
}

void Run::take(Vertex id) {
  OpState &v = ops_[id];
  switch (v.next) {
  case Step::Start:
    start(id);
    break;
  case Step::Read:
    read(id);
    break;
  case Step::Write:
    write(id);
    break;
  case Step::Finish:
    finish(id);
    break;
  case Step::Done:
    break;
  }
  tryReady(id);
  if (v.partner != kNone)
    tryReady(v.partner);
}

void Run::release(Vertex v, DepKind kind) {
  for (const Successor &s : successors_[v])
    if (s.kind == kind && --ops_[s.vertex].open == 0)
      tryReady(s.vertex);
}

void Run::start(Vertex id) {
  OpState &v = ops_[id];
  if (!checkPlaces(id, sources(v)) || !checkPlaces(id, targets(v)))
    return;
  if (v.op->kind == OpKind::Send && v.op->transfer.announced && !isReadyFor(v))
    return fail(id, "is written to a place whose receiver is not ready");
  switch (v.op->kind) {
  case OpKind::Send:
    v.next = v.travels ? Step::Read : Step::Finish;
    if (isMet(v) && ops_[v.partner].next != Step::Start && writesWhatCame(ops_[v.partner]))
      tear(v.partner);
    break;
  case OpKind::Recv:
    v.next = v.travels ? Step::Write : Step::Finish;
    if (!writesWhatCame(v) || ops_[v.partner].next > Step::Start)
      tear(id);
    break;
  case OpKind::Copy:
    v.next = Step::Read;
    tear(id);
    break;
  case OpKind::Combine:
    v.next = Step::Read;
    break;
  case OpKind::Signal:
  case OpKind::Wait:
  case OpKind::Calc:
    v.next = Step::Finish;
    break;
  }
  if (v.channel != kNone && sendsMessage(v.op->kind)) {
    Channel &channel = channels_[v.channel];
    if (++channel.entered < channel.sends.size())
      tryReady(channel.sends[channel.entered]);
  }
  release(id, DepKind::IRequires);
}

/// A receive whose first byte is written when its send has started. A canary is there before.
bool Run::writesWhatCame(const OpState &v) const {
  return v.op->kind == OpKind::Recv && v.travels && isMet(v) && !v.op->transfer.canary;
}

/// An announced message is written into its target without any further notice.
bool Run::isReadyFor(const OpState &send) const {
  return send.partner == kNone || !send.travels ||
         (entered_[index(ops_[send.partner].rank)] && ops_[send.partner].open == 0);
}

void Run::read(Vertex id) {
  OpState &v = ops_[id];
  Payload &payload = payloads_[id];
  payload.tokens.clear();
  payload.parts.clear();
  if (!gather(id, sources(v), payload))
    return;
  size_t incoming = payload.tokens.size();
  if (v.op->kind == OpKind::Combine) {
    if (!gather(id, targets(v), payload))
      return;
    if (payload.tokens.size() != 2 * incoming)
      return fail(id, "combines " + std::to_string(incoming) + " elements into " +
                          std::to_string(payload.tokens.size() - incoming));
    tear(id);
  }
  v.next = v.op->kind == OpKind::Send ? Step::Finish : Step::Write;
}

void Run::write(Vertex id) {
  OpState &v = ops_[id];
  v.next = Step::Finish;
  if (v.op->kind == OpKind::Combine)
    return combineAndStore(id);
  bool isRecv = v.op->kind == OpKind::Recv;
  if (isRecv && !sameForm(ops_[v.partner], v))
    return fail(id, "expects a message of another form");
  const Payload &payload = payloads_[isRecv ? v.partner : id];
  if (makeRoom(id, payload))
    store(id, payload.tokens.data());
}

void Run::finish(Vertex id) {
  OpState &v = ops_[id];
  v.next = Step::Done;
  ++done_;
  if (v.channel != kNone && receivesMessage(v.op->kind)) {
    Channel &channel = channels_[v.channel];
    if (++channel.left < channel.sends.size())
      tryReady(ops_[channel.sends[channel.left]].partner);
    if (channel.entered < channel.sends.size())
      tryReady(channel.sends[channel.entered]);
  }
  release(id, DepKind::Requires);
}

std::optional<Cells> Run::cellsNow(const OpState &v, const Slice &slice) {
  if (!storageOf(v).travels(slice))
    return storageOf(v).locate(slice);
  return storageOf(v).roomOf(slice) ? storageOf(v).locate(slice, lengthOf(v, slice)) : std::nullopt;
}

bool Run::checkPlaces(Vertex id, std::span<const Slice> slices) {
  const OpState &v = ops_[id];
  for (const Slice &slice : slices)
    if (storageOf(v).travels(slice) ? !storageOf(v).roomOf(slice) : !storageOf(v).locate(slice)) {
      fail(id, "leaves its buffer");
      return false;
    }
  return true;
}

bool Run::gather(Vertex id, std::span<const Slice> slices, Payload &into) {
  const OpState &v = ops_[id];
  const std::vector<Token> &memory = memory_[index(v.rank)];
  for (const Slice &slice : slices) {
    std::optional<Cells> cells = cellsNow(v, slice);
    if (!cells) {
      fail(id, "reads a block that has no such length");
      return false;
    }
    into.parts.push_back(cells->length);
    auto begin = memory.begin() + cells->begin;
    into.tokens.insert(into.tokens.end(), begin, begin + cells->length);
  }
  return true;
}

bool Run::takesAnyLength(const OpState &v, const Slice &slice) const {
  return storageOf(v).travels(slice) && isWholeBlock(slice) && v.op->kind != OpKind::Combine;
}

/// From here on the op's targets are undefined. A copy leaves alone what is to stay
/// where it is, and blocks that take its length until it has read.
void Run::tear(Vertex id) {
  const OpState &v = ops_[id];
  std::vector<Token> &memory = memory_[index(v.rank)];
  const std::vector<bool> &mayWrite = storageOf(v).mayWrite();
  bool isCopy = v.op->kind == OpKind::Copy;
  std::vector<uint32_t> from;
  if (isCopy && v.overlaps)
    from = cellsOf(v, sources(v));
  size_t i = 0;
  for (const Slice &slice : targets(v)) {
    bool any = takesAnyLength(v, slice);
    std::optional<Cells> cells = any ? storageOf(v).roomOf(slice) : cellsNow(v, slice);
    if (any && v.op->kind == OpKind::Recv)
      lengthOf(v, slice) = kNoLength;
    if (!cells)
      return fail(id, "writes a block that has no such length");
    for (uint32_t cell = cells->begin; cell < cells->begin + cells->length; ++cell, ++i) {
      if (!mayWrite[cell] && !any)
        return fail(id, "writes what is not promised");
      bool stays = (isCopy && any) || (i < from.size() && from[i] == cell);
      memory[cell] = stays ? memory[cell] : kTorn;
    }
  }
}

/// Messages of several blocks, of which some tell their lengths, carry a table of lengths.
bool Run::sameForm(const OpState &sender, const OpState &receiver) const {
  bool sendsTable = sender.hasLengths && sender.op->sourceCount > 1;
  bool takesTable = receiver.hasLengths && receiver.op->targetCount > 1;
  return sendsTable == takesTable &&
         (!sendsTable || sender.op->sourceCount == receiver.op->targetCount);
}

/// A block that is written as a whole takes the length of what comes for it.
bool Run::takeLength(Vertex id, const Slice &slice, size_t which, const Payload &payload) {
  const OpState &v = ops_[id];
  bool alone = v.op->targetCount == 1;
  size_t length = alone ? payload.tokens.size() : SIZE_MAX;
  if (!alone && payload.parts.size() == v.op->targetCount)
    length = payload.parts[which];
  bool fits = length <= storageOf(v).roomOf(slice)->length;
  if (fits)
    lengthOf(v, slice) = static_cast<BlockLength>(length);
  else
    fail(id, "gets more than its block may hold");
  return fits;
}

bool Run::makeRoom(Vertex id, const Payload &payload) {
  const OpState &v = ops_[id];
  std::span<const Slice> all = targets(v);
  size_t length = 0;
  room_.clear();
  for (size_t i = 0; i < all.size(); ++i) {
    if (takesAnyLength(v, all[i]) && !takeLength(id, all[i], i, payload))
      return false;
    std::optional<Cells> cells = cellsNow(v, all[i]);
    if (!cells) {
      fail(id, "writes a block that has no such length");
      return false;
    }
    room_.push_back(*cells);
    length += cells->length;
  }
  if (length != payload.tokens.size())
    fail(id, "gets " + std::to_string(payload.tokens.size()) + " elements for " +
                 std::to_string(length));
  return !finding_;
}

void Run::store(Vertex id, const Token *tokens) {
  const OpState &v = ops_[id];
  std::vector<Token> &memory = memory_[index(v.rank)];
  for (const Cells &cells : room_) {
    for (uint32_t cell = cells.begin; cell < cells.begin + cells.length; ++cell) {
      if (!storageOf(v).mayWrite()[cell])
        return fail(id, "writes what is not promised");
      memory[cell] = *tokens++;
      written_[index(v.rank)][cell] = true;
    }
  }
  if (!v.twice)
    return;
  std::vector<uint32_t> all = cellsOf(v, targets(v));
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] == all[i - 1])
      memory[all[i]] = kTorn;
}

void Run::combineAndStore(Vertex id) {
  const OpState &v = ops_[id];
  const std::vector<Token> &tokens = payloads_[id].tokens;
  size_t count = tokens.size() / 2;
  Combination how{v.op->reduction, v.op->type};
  results_.clear();
  for (size_t i = 0; i < count; ++i) {
    Token incoming = tokens[i], present = tokens[count + i];
    Token result = v.op->side == Side::Before ? tokens_.combine(how, incoming, present)
                                              : tokens_.combine(how, present, incoming);
    results_.push_back(v.tangled ? kTorn : result);
  }
  room_.clear();
  for (const Slice &slice : targets(v))
    room_.push_back(*cellsNow(v, slice));
  store(id, results_.data());
}

bool Run::isDone(Rank rank) const {
  auto begin = ops_.begin() + firsts_[index(rank)];
  return std::all_of(begin, ops_.begin() + firsts_[index(rank) + 1],
                     [](const OpState &v) { return v.next == Step::Done; });
}

Finding Run::lateFinding() const {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    if (Rank{r} != options_.late && isDone(Rank{r}))
      return {"is through before rank " + std::to_string(index(options_.late)) + " has come",
              Rank{r}, kNoOp};
  return {};
}

/// Nothing may be written behind the length that a parameter's block has in the end.
Finding Run::tailFinding() const {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    const std::vector<Buffer> &buffers = schedule_.ranks[r].buffers;
    for (uint32_t b = 0; b < buffers.size(); ++b) {
      bool counts = buffers[b].layout == Layout::Capacity && buffers[b].role != BufferRole::Temp &&
                    buffers[b].significant && buffers[b].aliasOf == kNoBuffer;
      for (uint32_t i = 0; counts && i < buffers[b].blocks; ++i) {
        Slice block;
        block.endScale = 1;
        block.buffer = BufferId{b};
        block.block = i;
        BlockLength length = lengths_[r][storages_[r].lengthIndex(block)];
        Cells room = *storages_[r].roomOf(block);
        auto begin = written_[r].begin() + room.begin;
        if (std::find(begin + std::max<BlockLength>(0, length), begin + room.length, true) !=
            begin + room.length)
          return {"writes behind the end of a block", Rank{r}, kNoOp};
      }
    }
  }
  return {};
}

Finding Run::stuck() const {
  const OpState *waits = nullptr;
  for (const OpState &v : ops_)
    if (v.next != Step::Done && (!waits || waits->next == Step::Start))
      waits = &v;
  return {waits->next == Step::Start ? "can never start" : "never finishes", waits->rank,
          waits->id};
}

void Run::fail(Vertex id, std::string text) {
  if (!finding_)
    finding_ = {std::move(text), ops_[id].rank, ops_[id].id};
}

} // namespace colldsl::mutation
