#include "tests/ir/Walk.h"

#include "ir/Concat.h"

#include <queue>

namespace colldsl {
namespace {

class Walker {
public:
  Walker(const Image &image, RankView view) : image_(image), view_(view) {
    sizes_.elements = image.sizeClass().elements;
  }

  std::string run() {
    for (const Buffer &buffer : view_.buffers)
      visitBuffer(buffer);
    for (const ImageOp &op : view_.ops)
      visitOp(op);
    for (const Ensure &e : view_.ensures)
      visitEnsure(e);
    if (runAll() != view_.ops.size())
      complain("not every op becomes ready");
    return complaint_;
  }

private:
  void complain(const std::string &what) {
    if (complaint_.empty())
      complaint_ = what;
  }

  void visitBuffer(const Buffer &buffer) {
    if (image_.bufferName(buffer).size() > 1u << 20)
      complain("a name without end");
    if (extentBytes(buffer, sizes_) > uint64_t{1} << 62)
      complain("a buffer beyond all memory");
    const Buffer *b = &buffer;
    for (size_t hops = 0; b->aliasOf != kNoBuffer; ++hops, b = &view_.buffers[index(b->aliasOf)]) {
      if (hops > view_.buffers.size())
        return complain("aliases in a circle");
      visitSlice(view_.slices[b->aliasSlice], view_.buffers);
    }
  }

  void visitSlice(const Slice &slice, std::span<const Buffer> buffers) {
    const Buffer &buffer = buffers[index(slice.buffer)];
    Sizes sizes = sizes_;
    if (slice.block != kNoBlock) {
      sizes.blocks.resize(index(slice.buffer) + size_t{1});
      BlockTable &table = sizes.blocks.back();
      table.offset.assign(slice.block + size_t{1}, 7);
      table.length.assign(slice.block + size_t{1}, 5);
    }
    ByteRange range = resolve(slice, buffer, sizes);
    if (slice.block != kNoBlock || buffer.layout != Layout::Dense)
      return;
    uint64_t extent = extentBytes(buffer, sizes);
    if (range.offset > extent || range.length > extent - range.offset)
      complain("a slice outside of its buffer");
    // Other sizes give other bytes, but never undefined ones.
    for (uint64_t n : {image_.sizeClass().min, image_.sizeClass().max, UINT64_MAX}) {
      sizes.elements = n;
      resolve(slice, buffer, sizes);
    }
  }

  void visitOp(const ImageOp &op) {
    if (spelling(op.kind).empty() || spelling(op.reduction).empty() || spelling(op.type).empty())
      complain("a word without spelling");
    if (isMessage(op.kind) && index(op.peer) >= image_.numRanks())
      complain("a peer that is no rank");
    if (op.line != 0 && image_.fileName(op.file).data() == nullptr)
      complain("a place in no file");
    for (const Slice &slice : view_.sources(op))
      visitSlice(slice, view_.buffers);
    for (const Slice &slice : view_.targets(op))
      visitSlice(slice, view_.buffers);
  }

  void visitEnsure(const Ensure &e) {
    visitSlice(e.target, view_.buffers);
    for (const EntryValue &value : view_.operands.subspan(e.operandBegin, e.operandCount))
      visitSlice(value.slice, image_.rank(value.rank).buffers);
  }

  /// The wavefront of an executor, sequentially: how many ops it reaches.
  size_t runAll() {
    std::vector<uint32_t> open;
    std::queue<uint32_t> ready;
    for (const ImageOp &op : view_.ops) {
      open.push_back(op.depCount);
      if (op.depCount == 0)
        ready.push(static_cast<uint32_t>(open.size() - 1));
    }
    size_t reached = 0;
    for (; !ready.empty(); ready.pop(), ++reached) {
      const ImageOp &op = view_.ops[ready.front()];
      for (uint32_t to :
           view_.successors.subspan(op.successorBegin, op.requireCount + op.irequireCount))
        if (open[to]-- == 1)
          ready.push(to);
    }
    return reached;
  }

  const Image &image_;
  RankView view_;
  Sizes sizes_;
  std::string complaint_;
};

} // namespace

std::string walk(const Image &image) {
  for (uint32_t r = 0; r < image.numRanks(); ++r)
    if (std::string what = Walker(image, image.rank(Rank{r})).run(); !what.empty())
      return concat("rank ", r, ": ", what);
  return "";
}

} // namespace colldsl
