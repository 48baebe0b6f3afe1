// Checks the memory of a collective's buffers: it has the right size, and overlaps with no other.
#include "runtime/CollectivePlan.h"

#include "ir/Concat.h"
#include "runtime/MemoryReserve.h"

#include <algorithm>
#include <functional>

namespace colldsl {
namespace {

std::string listed(const std::vector<std::string> &names) {
  std::string all;
  for (const std::string &name : names)
    all += concat(all.empty() ? "" : ", ", "'", name, "'");
  return all.empty() ? "none" : all;
}

/// An error if two blocks share an element.
Status checkDisjoint(const std::string &buffer, const BlockTable &blocks) {
  auto beginsFirst = [&](size_t a, size_t b) { return blocks.offset[a] < blocks.offset[b]; };
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.offset.size(); ++i)
    if (blocks.length[i] > 0)
      order.push_back(i);
  if (!std::is_sorted(order.begin(), order.end(), beginsFirst))
    std::sort(order.begin(), order.end(), beginsFirst);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t a = order[i - 1], b = order[i];
    if (blocks.offset[b] - blocks.offset[a] < blocks.length[a])
      return Status::error(ErrorKind::Overlap,
                           concat("blocks of '", buffer, "' overlap: block ", a, " has ",
                                  blocks.length[a], " elements from ", blocks.offset[a], ", block ",
                                  b, " begins at ", blocks.offset[b]));
  }
  return {};
}

} // namespace

/// The buffer's place in bufferNames_, or their number.
size_t CollectivePlan::entryOf(std::string_view buffer) const {
  size_t entry = 0;
  while (entry < bufferNames_.size() && bufferNames_[entry] != buffer)
    ++entry;
  return entry;
}

Status CollectivePlan::unknown(std::string_view buffer,
                               const std::vector<std::string> &names) const {
  return Status::error(
      concat("'", collective_, "' has no buffer '", buffer, "'; it has ", listed(names)));
}

/// Puts what was given into the order of these names.
Status CollectivePlan::nameBuffers(std::vector<std::string> names) {
  std::vector<bool> isGiven(names.size());
  Binding ordered;
  ordered.buffers.resize(names.size());
  ordered.blocks.resize(names.size());
  for (size_t i = 0; i < bufferNames_.size(); ++i) {
    if (!isGiven_[i])
      continue;
    auto found = std::find(names.begin(), names.end(), bufferNames_[i]);
    if (found == names.end())
      return unknown(bufferNames_[i], names);
    auto at = static_cast<size_t>(found - names.begin());
    isGiven[at] = true;
    ordered.buffers[at] = binding_.buffers[i];
    ordered.blocks[at] = binding_.blocks[i];
  }
  bufferNames_ = std::move(names);
  isGiven_ = std::move(isGiven);
  binding_ = std::move(ordered);
  return {};
}

Status CollectivePlan::checkBinding() {
  isChecked_ = false;
  binding_.elements = request_.elements / unit_;
  binding_.combiner = combiner_;
  binding_.names = bufferNames_;
  binding_.deviceOnly = isDeviceOnly_;
  binding_.deviceMessagesFrom = deviceMessagesFrom_;
  binding_.mayBeCaptured = mayBeCaptured_;
  for (uint32_t b = 0; b < bufferNames_.size(); ++b)
    if (Status s = checkBuffer(b); !s)
      return s;
  measureAreas();
  Status s = checkOverlap();
  isChecked_ = s.ok();
  return s;
}

// Buffers with blocks have no area. Binding checks that the blocks lie in the memory.
Status CollectivePlan::place(std::string_view buffer, BoundBuffer memory, BlockTable &blocks) {
  size_t b = entryOf(buffer);
  bool mayTake = isCommitted() && isChecked_ && !needsDisjointBlocks_ && b < bufferNames_.size() &&
                 view_.buffers[b].layout == Layout::CallTime &&
                 blocks.length.size() == binding_.blocks[b].length.size();
  if (!mayTake) {
    Status s = setBlocks(buffer, blocks);
    return s ? bind(buffer, memory) : s;
  }
  if (Status s = mayBind(); !s)
    return s;
  binding_.blocks[b].offset.swap(blocks.offset);
  binding_.blocks[b].length.swap(blocks.length);
  binding_.buffers[b] = memory;
  isBound_ = false;
  return {};
}

Status CollectivePlan::checkBuffer(uint32_t b) const {
  const Buffer &buffer = view_.buffers[b];
  const BlockTable &blocks = binding_.blocks[b];
  const BoundBuffer &memory = binding_.buffers[b];
  if (buffer.aliasOf != kNoBuffer && memory.data)
    return Status::error(concat("'", bufferNames_[b], "' lies in '",
                                bufferNames_[index(buffer.aliasOf)],
                                "' in place; it has no memory of its own"));
  if (!buffer.significant)
    return {};
  if (Status s = checkBlocks(b); !s)
    return s;
  if (buffer.aliasOf != kNoBuffer)
    return {};
  if (memory.isConst && buffer.role != BufferRole::In)
    return Status::error(
        concat("'", bufferNames_[b], "' is written, but the memory for it is constant"));
  if (buffer.layout == Layout::CallTime && buffer.role != BufferRole::In && needsDisjointBlocks_)
    if (Status s = checkDisjoint(bufferNames_[b], blocks); !s)
      return s;
  return checkLength(b);
}

/// The sizes for buffers without blocks whose lengths are known at call time only.
Sizes CollectivePlan::denseSizes() const {
  return {binding_.elements, {}, binding_.combiner.elementBytes};
}

// Longer memory indicates another type, n or value than the caller meant.
Status CollectivePlan::checkLength(uint32_t b) const {
  const Buffer &buffer = view_.buffers[b];
  const BoundBuffer &memory = binding_.buffers[b];
  Sizes sizes = denseSizes();
  uint64_t needed = extentBytes(buffer, sizes), bound = memory.data ? memory.bytes : 0;
  bool mayBeLonger = buffer.layout == Layout::CallTime;
  if (needed == bound || (mayBeLonger && needed < bound))
    return {};
  uint64_t elementBytes = sizes.elementBytesOf(buffer);
  return Status::error(
      concat("'", bufferNames_[b], "' needs ", needed, " bytes, ", bound, " were bound: it has ",
             needed / elementBytes, " elements of ",
             combiner_ ? concat(elementBytes, " bytes") : std::string(spelling(buffer.type))));
}

// Refuses lengths and places that would be ignored.
Status CollectivePlan::checkBlocks(uint32_t b) const {
  const Buffer &buffer = view_.buffers[b];
  const BlockTable &blocks = binding_.blocks[b];
  const std::string &name = bufferNames_[b];
  bool isAlias = buffer.aliasOf != kNoBuffer, isGiven = !blocks.length.empty();
  if (buffer.layout == Layout::Dense)
    return isGiven ? Status::error(concat("'", name, "' has no blocks of its own lengths"))
                   : Status();
  if (isGiven ? blocks.length.size() != buffer.blocks
              : buffer.layout == Layout::CallTime && !isAlias && buffer.blocks > 0)
    return Status::error(concat("'", name, "' has ", buffer.blocks, " blocks, ",
                                blocks.length.size(), " lengths were given"));
  bool hasPlaces = buffer.layout == Layout::CallTime && !isAlias;
  uint64_t apart = 0; // of blocks in buffers whose places the collective gives
  if (buffer.layout == Layout::Capacity && buffer.blocks > 0) {
    Sizes sizes = denseSizes();
    apart = extentBytes(buffer, sizes) / sizes.elementBytesOf(buffer) / buffer.blocks;
  }
  for (size_t i = 0; !hasPlaces && i < blocks.offset.size(); ++i)
    if (blocks.offset[i] != i * apart)
      return Status::error(concat("block ", i, " of '", name, "' begins at element ", i * apart,
                                  ", not at ", blocks.offset[i]));
  return {};
}

// Blocks that are placed one by one may interleave with other buffers. The memory of all others is
// as long as they are.
void CollectivePlan::measureAreas() {
  areas_.assign(bufferNames_.size(), {});
  for (uint32_t b = 0; b < bufferNames_.size(); ++b) {
    const Buffer &buffer = view_.buffers[b];
    const BoundBuffer &memory = binding_.buffers[b];
    if (buffer.significant && buffer.layout != Layout::CallTime)
      areas_[b] = {static_cast<const std::byte *>(memory.data), memory.bytes,
                   buffer.role == BufferRole::In};
  }
}

// Parameters never overlap, unless one lies in the other in place.
Status CollectivePlan::checkOverlap() const {
  std::less<const std::byte *> before;
  for (size_t a = 0; a < areas_.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      const Area &first = areas_[a], &second = areas_[b];
      if ((first.isRead && second.isRead) || !first.begin || !second.begin)
        continue;
      if (before(first.begin, second.begin + second.bytes) &&
          before(second.begin, first.begin + first.bytes))
        return Status::error(ErrorKind::Overlap,
                             concat("'", bufferNames_[b], "' and '", bufferNames_[a],
                                    "' overlap; is the form in place meant?"));
    }
  return {};
}

Status CollectivePlan::makeReady() {
  if (!isCommitted())
    return Status::error("the plan is not committed");
  if (isMoved_ && isBound_)
    if (Status s = checkOverlap(); !s)
      return s;
  isMoved_ = false;
  if (!isBound_ && !plan_->running()) {
    Status s = unlessMemoryIsShort([this] {
      Status checked = isChecked_ ? Status() : checkBinding();
      return checked ? plan_->bind(binding_) : checked;
    });
    if (!s)
      return s;
    isBound_ = true;
  }
  return {};
}

Status CollectivePlan::startAnew(uint32_t polls) {
  Status s = makeReady();
  return s ? plan_->start(polls) : s;
}

Result<const std::vector<uint64_t> *>
CollectivePlan::blockLengths(const std::string &buffer) const {
  if (!isCommitted())
    return Status::error("the plan is not committed");
  size_t id = entryOf(buffer);
  if (id == bufferNames_.size())
    return unknown(buffer, bufferNames_);
  if (view_.buffers[id].layout != Layout::Capacity)
    return Status::error(concat("the blocks of '", buffer, "' do not change their lengths"));
  return &plan_->blockLengths(BufferId{static_cast<uint32_t>(id)});
}

} // namespace colldsl
