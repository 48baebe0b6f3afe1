#include "executor/DeviceStage.h"

#include "ir/Concat.h"

#include <algorithm>
#include <functional>
#include <mutex>

namespace colldsl {
namespace {

using device::Lane;

// Stages are whole pages, and one lies between any two of them: no address is in two stages.
constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t wholePages(uint64_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

bool hasInput(const Buffer &buffer) {
  return buffer.role == BufferRole::In || buffer.role == BufferRole::InOut;
}

/// Keeps the memory for good, known to checkers of leaks.
void abandon(std::byte *memory) {
  static std::mutex mutex;
  static auto *abandoned = new std::vector<std::byte *>;
  std::lock_guard guard(mutex);
  abandoned->push_back(memory);
}

} // namespace

// A device that stands still may yet write to the stages.
DeviceStage::~DeviceStage() {
  if (!anyUnderWay())
    freeStages();
  else
    abandon(stages_);
}

bool DeviceStage::isNeeded(const Binding &binding) {
  return std::any_of(binding.buffers.begin(), binding.buffers.end(),
                     [](const BoundBuffer &buffer) { return buffer.driver && buffer.data; });
}

Status DeviceStage::bind(const Binding &binding) {
  failure_.reset();
  segmentBytes_ = std::max<uint64_t>(binding.segmentBytes, 1);
  if (Status s = openContext(binding); !s)
    return s;
  return placeStages(binding);
}

Status DeviceStage::openContext(const Binding &binding) {
  std::optional<uint32_t> first;
  device::CuContext context = nullptr;
  auto nameOf = [&](uint32_t b) {
    return b < binding.names.size() ? concat("'", binding.names[b], "'") : concat("buffer ", b);
  };
  for (uint32_t b = 0; b < binding.buffers.size(); ++b) {
    const BoundBuffer &buffer = binding.buffers[b];
    if (!buffer.driver || !buffer.data)
      continue;
    Result<device::CuContext> own = device::contextOf(*buffer.driver, buffer.data, buffer.bytes);
    if (!own)
      return Status::error(concat(nameOf(b), ": ", own.message()));
    if (first && (*own != context || buffer.driver != driver_))
      return Status::error(concat(nameOf(*first), " and ", nameOf(b),
                                  " are memory of different devices or contexts"));
    context = *own;
    driver_ = buffer.driver;
    first = b;
  }
  if (work_ && work_->context() == context)
    return {};
  freeStages();
  work_.reset();
  auto work = device::AsyncWork::open(*driver_, context);
  if (!work)
    return work.status();
  work_ = work.take();
  return {};
}

Status DeviceStage::placeStages(const Binding &binding) {
  areas_.clear();
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < binding.buffers.size(); ++b) {
    const BoundBuffer &buffer = binding.buffers[b];
    if (!buffer.driver || !buffer.data)
      continue;
    if (buffer.bytes > UINT64_MAX / 4 - bytes)
      return Status::error(ErrorKind::NoMemory, concat("no memory for ", buffer.bytes, " bytes"));
    areas_.push_back(
        {b, bytes, buffer.bytes, reinterpret_cast<device::DeviceAddress>(buffer.data)});
    bytes += wholePages(buffer.bytes) + kPageBytes;
  }
  if (bytes > stageBytes_) {
    freeStages();
    auto *memory = static_cast<std::byte *>(std::aligned_alloc(kPageBytes, bytes));
    if (!memory)
      return Status::error(ErrorKind::NoMemory,
                           concat("no memory for ", bytes, " bytes beside device memory"));
    device::CurrentContext current(*driver_, work_->context());
    if (Status s = device::checkCuda(
            *driver_, driver_->memHostRegister(memory, bytes, device::kRegisterPortable),
            "cuMemHostRegister");
        !s) {
      std::free(memory);
      return Status::error(
          concat("cannot lock ", bytes, " bytes beside device memory: ", s.message()));
    }
    stages_ = memory;
    stageBytes_ = bytes;
  }
  binding_ = binding;
  for (const Area &area : areas_)
    binding_.buffers[area.buffer].data = stages_ + area.offset;
  return {};
}

void DeviceStage::freeStages() {
  if (!stages_)
    return;
  device::CurrentContext current(*driver_, work_->context());
  driver_->memHostUnregister(stages_);
  std::free(std::exchange(stages_, nullptr));
  stageBytes_ = 0;
}

std::optional<uint32_t> DeviceStage::areaOf(const std::byte *address) const {
  std::less<const std::byte *> before;
  if (before(address, stages_) || before(stages_ + stageBytes_, address))
    return {};
  auto offset = static_cast<uint64_t>(address - stages_);
  for (uint32_t a = static_cast<uint32_t>(areas_.size()); a-- > 0;)
    if (areas_[a].offset <= offset)
      return offset <= areas_[a].offset + areas_[a].bytes ? std::optional(a) : std::nullopt;
  return {};
}

void DeviceStage::use(std::vector<Range> &ranges, const std::byte *begin, uint64_t bytes) const {
  if (bytes == 0 || !areaOf(begin))
    return;
  auto offset = static_cast<uint64_t>(begin - stages_);
  ranges.push_back({offset, offset + bytes});
}

// The bytes of a step whose blocks change their lengths are known when it starts.
void DeviceStage::useWhole(std::vector<Range> &ranges, uint32_t op, const Memory &memory) const {
  const ImageOp &imageOp = view_.ops[op];
  for (auto slices : {view_.sources(imageOp), view_.targets(imageOp)})
    for (const Slice &slice : slices)
      if (auto a = areaOf(memory.bytesOf(slice.buffer).data()))
        ranges.push_back({areas_[*a].offset, areas_[*a].offset + areas_[*a].bytes});
}

void DeviceStage::findUses(const Memory &memory, const Steps &steps) {
  reads_.assign(view_.ops.size(), {});
  writes_.assign(view_.ops.size(), {});
  isWhole_.assign(areas_.size(), false);
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    const Step &step = steps[OpId{op}];
    bool isMessage = step.kind == Step::Kind::Send || step.kind == Step::Kind::Recv;
    if (step.variable) {
      useWhole(reads_[op], op, memory);
      if (step.kind != Step::Kind::Send)
        writes_[op] = reads_[op];
      for (const Range &range : writes_[op])
        isWhole_[*areaOf(stages_ + range.begin)] = true;
      continue;
    }
    for (uint32_t i = 0; isMessage && i < step.payload.count; ++i) {
      const iovec &piece = step.payload.pieces[i];
      use(step.kind == Step::Kind::Send ? reads_[op] : writes_[op],
          static_cast<const std::byte *>(piece.iov_base), piece.iov_len);
    }
    for (uint32_t i = 0; i < step.pieceCount; ++i) {
      const LocalPiece &piece = step.pieces[i];
      use(reads_[op], piece.source, piece.bytes);
      if (step.kind == Step::Kind::Combine)
        use(reads_[op], piece.first ? piece.first : piece.target, piece.bytes);
      use(writes_[op], piece.target, piece.bytes);
    }
  }
}

/// The bytes with data that a run may read, and those that it may leave as they were though they
/// are copied back.
std::vector<DeviceStage::Range> DeviceStage::findInputs(const Memory &memory) const {
  std::vector<Range> inputs;
  for (uint32_t b = 0; b < view_.buffers.size(); ++b) {
    const Buffer &buffer = view_.buffers[b];
    auto bytes = memory.bytesOf(BufferId{b});
    auto area = areaOf(bytes.data());
    if (!area || !buffer.significant || !hasInput(buffer))
      continue;
    bool isPart = buffer.aliasOf != kNoBuffer && buffer.layout != Layout::Dense;
    if (isPart)
      inputs.push_back({areas_[*area].offset, areas_[*area].offset + areas_[*area].bytes});
    else
      use(inputs, bytes.data(), bytes.size());
  }
  for (uint32_t a = 0; a < areas_.size(); ++a)
    if (isWhole_[a])
      inputs.push_back({areas_[a].offset, areas_[a].offset + areas_[a].bytes});
  return inputs;
}

/// Unites the ranges, then cuts them into segments.
std::vector<DeviceStage::Segment> DeviceStage::cut(std::vector<Range> ranges) const {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  std::vector<Range> united;
  for (const Range &range : ranges)
    if (!united.empty() && range.begin <= united.back().end)
      united.back().end = std::max(united.back().end, range.end);
    else if (range.begin < range.end)
      united.push_back(range);
  std::vector<Segment> segments;
  for (const Range &range : united)
    for (uint64_t at = range.begin; at < range.end; at += segmentBytes_)
      segments.push_back(
          {*areaOf(stages_ + range.begin), at, std::min(range.end, at + segmentBytes_)});
  return segments;
}

/// Calls visit(i) once for each segment that shares a byte with a range.
template <typename Visit>
void DeviceStage::forEachTouched(const std::vector<Segment> &segments,
                                 const std::vector<Range> &ranges, Visit visit) {
  std::vector<uint32_t> touched;
  for (const Range &range : ranges) {
    auto first = std::upper_bound(
        segments.begin(), segments.end(), range.begin,
        [](uint64_t begin, const Segment &segment) { return begin < segment.end; });
    for (; first != segments.end() && first->begin < range.end; ++first)
      touched.push_back(static_cast<uint32_t>(first - segments.begin()));
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::for_each(touched.begin(), touched.end(), visit);
}

DeviceStage::Lists DeviceStage::listsOf(size_t rows, const std::vector<Pair> &pairs) {
  Lists lists;
  lists.begins.assign(rows + 1, 0);
  for (const Pair &pair : pairs)
    ++lists.begins[pair.row + 1];
  for (size_t row = 0; row < rows; ++row)
    lists.begins[row + 1] += lists.begins[row];
  lists.items.resize(pairs.size());
  std::vector<uint32_t> next(lists.begins.begin(), lists.begins.end() - 1);
  for (const Pair &pair : pairs)
    lists.items[next[pair.row]++] = pair.item;
  return lists;
}

Status DeviceStage::divide(const Memory &memory, const Steps &steps) {
  auto numOps = static_cast<uint32_t>(view_.ops.size());
  findUses(memory, steps);
  std::vector<Range> written;
  std::vector<bool> isRead;
  back_.clear();
  for (const auto &ranges : writes_)
    written.insert(written.end(), ranges.begin(), ranges.end());
  back_ = cut(std::move(written));
  come_ = cut(findInputs(memory));
  isRead.assign(come_.size(), false);
  for (const auto &ranges : reads_)
    forEachTouched(come_, ranges, [&](uint32_t segment) { isRead[segment] = true; });
  size_t kept = 0;
  for (size_t i = 0; i < come_.size(); ++i)
    if (isRead[i])
      come_[kept++] = come_[i];
  come_.resize(kept);

  std::vector<Pair> waiting, writing;
  gates_.assign(numOps, 0);
  writers_.assign(back_.size(), 0);
  for (uint32_t op = 0; op < numOps; ++op) {
    std::vector<Range> touched = reads_[op];
    touched.insert(touched.end(), writes_[op].begin(), writes_[op].end());
    forEachTouched(come_, touched, [&](uint32_t segment) {
      waiting.push_back({segment, op});
      ++gates_[op];
    });
    forEachTouched(back_, writes_[op], [&](uint32_t segment) {
      writing.push_back({op, segment});
      ++writers_[segment];
    });
  }
  opsOfComing_ = listsOf(come_.size(), waiting);
  backsOfOp_ = listsOf(numOps, writing);
  missing_.resize(numOps);
  isParked_.resize(numOps);
  openWriters_.resize(back_.size());
  lastWriter_.resize(back_.size());
  if (Status s = work_->reserve(Lane::ToHost, come_.size()); !s)
    return s;
  return work_->reserve(Lane::ToDevice, back_.size());
}

void DeviceStage::begin() {
  copiedBack_ = 0;
  std::copy(gates_.begin(), gates_.end(), missing_.begin());
  std::copy(writers_.begin(), writers_.end(), openWriters_.begin());
  std::fill(isParked_.begin(), isParked_.end(), 0);
  for (uint32_t i = 0; i < come_.size() && !failure_; ++i)
    copy(Lane::ToHost, i);
}

void DeviceStage::finish(OpId op) {
  for (uint32_t i : backsOfOp_[index(op)]) {
    if (--openWriters_[i] > 0 || failure_)
      continue;
    lastWriter_[i] = op;
    copy(Lane::ToDevice, i);
  }
}

/// Begins to copy a segment, of come_ or back_ by its lane.
void DeviceStage::copy(Lane lane, uint32_t i) {
  const Segment &segment = (lane == Lane::ToHost ? come_ : back_)[i];
  const Area &area = areas_[segment.area];
  Status s = work_->copy(lane, stages_ + segment.begin, area.device + (segment.begin - area.offset),
                         segment.end - segment.begin, i);
  if (!s)
    fail(lane, i, s);
}

bool DeviceStage::poll(std::vector<OpId> &released) {
  bool moved = false;
  while (!failure_) {
    std::optional<device::AsyncWork::Finished> culprit;
    auto finished = work_->poll(culprit);
    if (!finished) {
      fail(culprit->lane, culprit->number, finished.status());
      break;
    }
    if (!*finished)
      break;
    moved = true;
    if ((*finished)->lane == Lane::ToDevice) {
      ++copiedBack_;
      continue;
    }
    for (uint32_t op : opsOfComing_[(*finished)->number])
      if (--missing_[op] == 0 && std::exchange(isParked_[op], uint8_t{0}))
        released.push_back(OpId{op});
  }
  return moved;
}

std::string DeviceStage::inWords(const Segment &segment) const {
  const Area &area = areas_[segment.area];
  std::string name = area.buffer < binding_.names.size()
                         ? concat("'", binding_.names[area.buffer], "'")
                         : concat("buffer ", area.buffer);
  return concat("bytes ", segment.begin - area.offset, " to ", segment.end - area.offset, " of ",
                name);
}

void DeviceStage::fail(Lane lane, uint32_t i, const Status &why) {
  if (failure_)
    return;
  bool comes = lane == Lane::ToHost;
  failure_ = {
      comes ? OpId{opsOfComing_[i].front()} : lastWriter_[i],
      Status::error(concat("the copy of ", inWords(comes ? come_[i] : back_[i]),
                           comes ? " from the device: " : " to the device: ", why.message()))};
}

void DeviceStage::cancel() {
  if (anyUnderWay())
    (void)work_->drain(std::chrono::seconds(1)); // the destructor looks again
}

} // namespace colldsl
