#include "transports/tcp/TcpConnection.h"

#include <algorithm>
#include <cstring>

namespace colldsl::tcp {
namespace {

// The most calls of the kernel in a row; then others get their turn.
constexpr int kMaxLooks = 4;
constexpr size_t kMaxPieces = network::kMaxPieces + 1;

template <typename T> T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool isWrite(const ItemHead &head) { return head.kind != ItemKind::Frame; }

/// The pieces without their first `skipped` bytes.
int skip(iovec *to, std::span<const iovec> pieces, uint64_t skipped) {
  int count = 0;
  for (const iovec &piece : pieces) {
    uint64_t gone = std::min<uint64_t>(skipped, piece.iov_len);
    skipped -= gone;
    if (gone < piece.iov_len)
      to[count++] = {static_cast<std::byte *>(piece.iov_base) + gone, piece.iov_len - gone};
  }
  return count;
}

/// The bytes of an item that are still to be sent.
int rest(const Outgoing &item, iovec *to) {
  iovec all[kMaxPieces] = {{const_cast<std::byte *>(item.head), item.headBytes}};
  std::copy(item.pieces.begin(), item.pieces.end(), all + 1);
  uint64_t bytes = item.headBytes;
  for (const iovec &piece : item.pieces)
    bytes += piece.iov_len;
  return skip(to, {all, item.pieces.size() + 1}, bytes - item.left);
}

} // namespace

// ItemParser

bool ItemParser::fail(std::string error) {
  error_ = std::move(error);
  return false;
}

/// The length of the item whose beginning is in `begun_`, as far as that can be told. 0: there is
/// no such item.
size_t ItemParser::wanted(uint32_t maxFrameBytes) const {
  if (expectsHello_)
    return sizeof(Hello);
  if (begun_.size() < sizeof(ItemHead))
    return sizeof(ItemHead);
  auto head = read<ItemHead>(begun_);
  switch (head.kind) {
  case ItemKind::Frame:
    return head.frameBytes <= maxFrameBytes ? sizeof head + head.frameBytes : 0;
  case ItemKind::Write:
  case ItemKind::SilentWrite:
    return sizeof(WriteHead);
  }
  return 0;
}

/// The place of the next bytes of the write. Null: they have none.
std::byte *ItemParser::target(const Regions &regions) const {
  auto found = regions.find(write_.key);
  if (found == regions.end())
    return nullptr;
  auto begin = reinterpret_cast<uint64_t>(found->second.iov_base);
  uint64_t length = found->second.iov_len, offset = write_.address - begin;
  bool fits = write_.address >= begin && offset <= length && write_.bytes <= length - offset;
  return fits ? static_cast<std::byte *>(found->second.iov_base) + offset + written_ : nullptr;
}

void ItemParser::advanceWrite(uint64_t bytes, const Regions &regions, ItemHandler &handler) {
  isStray_ |= target(regions) == nullptr;
  written_ += bytes;
  if (written_ < write_.bytes)
    return;
  isWriting_ = false;
  if (isStray_)
    handler.onStrayWrite();
  else if (write_.kind == ItemKind::Write)
    handler.onWritten(write_);
}

/// Takes the item in `begun_`, which is whole.
bool ItemParser::takeBegun(ItemHandler &handler) {
  std::vector<std::byte> item = std::exchange(begun_, {});
  if (std::exchange(expectsHello_, false))
    return handler.onHello(read<Hello>(item)) || fail("a stranger connected");
  if (isWrite(read<ItemHead>(item))) {
    write_ = read<WriteHead>(item);
    isWriting_ = true;
    isStray_ = false;
    written_ = 0;
    return true;
  }
  handler.onFrame(std::span<const std::byte>(item).subspan(sizeof(ItemHead)));
  item.clear();
  begun_ = std::move(item); // its memory
  return true;
}

bool ItemParser::parse(std::span<const std::byte> bytes, const Regions &regions,
                       uint32_t maxFrameBytes, ItemHandler &handler) {
  while (!bytes.empty() || (isWriting_ && written_ == write_.bytes)) {
    if (isWriting_) {
      uint64_t part = std::min<uint64_t>(bytes.size(), write_.bytes - written_);
      if (std::byte *to = target(regions))
        std::copy_n(bytes.begin(), part, to);
      advanceWrite(part, regions, handler);
      bytes = bytes.subspan(part);
      continue;
    }
    if (begun_.empty() && !expectsHello_ && bytes.size() >= sizeof(ItemHead)) {
      auto head = read<ItemHead>(bytes);
      if (head.kind == ItemKind::Frame && head.frameBytes <= maxFrameBytes &&
          sizeof head + head.frameBytes <= bytes.size()) {
        handler.onFrame(bytes.subspan(sizeof head, head.frameBytes));
        bytes = bytes.subspan(sizeof head + head.frameBytes);
        continue;
      }
    }
    size_t part = std::min(bytes.size(), wanted(maxFrameBytes) - begun_.size());
    begun_.insert(begun_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    size_t whole = wanted(maxFrameBytes);
    if (whole == 0)
      return fail("it sent bytes that are no frame");
    if (begun_.size() == whole && !takeBegun(handler))
      return false;
  }
  return true;
}

// The bytes of a write go to their place, and what comes behind them into the buffer.
ItemParser::Outcome ItemParser::receive(int file, Calls &calls, std::span<std::byte> buffer,
                                        const Regions &regions, uint32_t maxFrameBytes,
                                        ItemHandler &handler, bool &moved) {
  for (int look = 0; look < kMaxLooks; ++look) {
    iovec into[2];
    int count = 0;
    std::byte *place = isWriting_ ? target(regions) : nullptr;
    uint64_t direct = place ? write_.bytes - written_ : 0;
    if (place)
      into[count++] = {place, direct};
    into[count++] = {buffer.data(), buffer.size()};
    ssize_t got = calls.receive(file, into, count);
    if (got == -EAGAIN || got == -EINTR)
      return Outcome::Ok;
    if (got == 0 && begun_.empty() && !isWriting_)
      return Outcome::Closed;
    if (got <= 0) {
      fail(got == 0 ? "it closed the connection" : std::strerror(static_cast<int>(-got)));
      return Outcome::Failed;
    }
    moved = true;
    auto came = static_cast<uint64_t>(got);
    uint64_t first = std::min(came, direct);
    if (first > 0)
      advanceWrite(first, regions, handler);
    if (!parse(buffer.first(came - first), regions, maxFrameBytes, handler))
      return Outcome::Failed;
    if (came < direct + buffer.size())
      return Outcome::Ok;
  }
  return Outcome::Ok;
}

// ItemSender

ItemSender::Outcome ItemSender::send(int file, Calls &calls, bool isOpen,
                                     network::Operation *operation, std::span<const std::byte> head,
                                     std::span<const iovec> pieces) {
  uint64_t bytes = head.size();
  iovec all[kMaxPieces] = {{const_cast<std::byte *>(head.data()), head.size()}};
  std::copy(pieces.begin(), pieces.end(), all + 1);
  for (const iovec &piece : pieces)
    bytes += piece.iov_len;
  ssize_t sent = 0;
  if (isOpen && waiting_.empty())
    sent = calls.send(file, all, static_cast<int>(pieces.size()) + 1);
  if (sent == -EAGAIN || sent == -EINTR)
    sent = 0;
  if (sent < 0) {
    error_ = sent;
    return Outcome::Failed;
  }
  if (static_cast<uint64_t>(sent) == bytes)
    return Outcome::All;
  Outgoing &item = waiting_.emplace_back();
  item.operation = operation;
  std::copy(head.begin(), head.end(), item.head);
  item.headBytes = static_cast<uint32_t>(head.size());
  item.pieces.assign(pieces.begin(), pieces.end());
  item.left = bytes - static_cast<uint64_t>(sent);
  return Outcome::Some;
}

ItemSender::Outcome ItemSender::flush(int file, Calls &calls,
                                      std::vector<network::Operation *> &done) {
  while (!waiting_.empty()) {
    Outgoing &item = waiting_.front();
    iovec pieces[kMaxPieces];
    int count = rest(item, pieces);
    ssize_t sent = calls.send(file, pieces, count);
    if (sent == -EAGAIN || sent == -EINTR)
      return Outcome::Some;
    if (sent < 0) {
      error_ = sent;
      return Outcome::Failed;
    }
    item.left -= static_cast<uint64_t>(sent);
    if (item.left > 0)
      continue;
    if (item.operation)
      done.push_back(item.operation);
    waiting_.pop_front();
  }
  return Outcome::All;
}

void ItemSender::drop(std::vector<network::Operation *> &dropped) {
  for (const Outgoing &item : waiting_)
    if (item.operation)
      dropped.push_back(item.operation);
  waiting_.clear();
}

} // namespace colldsl::tcp
