/// One TCP connection: the items that wait to be sent, and the parser of those that come.
///
/// An ItemParser and an ItemSender belong to the thread of their transport, and lock nothing.
#pragma once

#include "transports/network/Frames.h"
#include "transports/tcp/TcpCalls.h"
#include "transports/tcp/TcpItems.h"

#include <deque>
#include <unordered_map>

namespace colldsl::tcp {

/// The memory that peers may write, by key.
using Regions = std::unordered_map<uint64_t, iovec>;

/// Receives the items of a connection.
class ItemHandler {
public:
  virtual ~ItemHandler() = default;
  /// The first bytes of a connection that a peer made. False: they are a stranger's.
  virtual bool onHello(const Hello &hello) = 0;
  virtual void onFrame(std::span<const std::byte> frame) = 0;
  virtual void onWritten(const WriteHead &write) = 0;
  /// A write to memory that is not registered, or not any more. Its bytes are dropped.
  virtual void onStrayWrite() = 0;
};

/// The incoming half.
class ItemParser {
public:
  /// `expectsHello`: a peer made the connection.
  explicit ItemParser(bool expectsHello) : expectsHello_(expectsHello) {}

  enum class Outcome : uint8_t {
    Ok,
    Closed, ///< by the other end, between two items
    Failed, ///< see error()
  };

  /// Takes what has come, in a few calls. `buffer`: memory for it, which the parser does not keep.
  /// `moved`: true if something has come.
  Outcome receive(int file, Calls &calls, std::span<std::byte> buffer, const Regions &regions,
                  uint32_t maxFrameBytes, ItemHandler &handler, bool &moved);
  const std::string &error() const { return error_; }
  uint64_t bytes() const { return begun_.capacity(); }

private:
  size_t wanted(uint32_t maxFrameBytes) const;
  bool parse(std::span<const std::byte> bytes, const Regions &regions, uint32_t maxFrameBytes,
             ItemHandler &handler);
  bool takeBegun(ItemHandler &handler);
  std::byte *target(const Regions &regions) const;
  void advanceWrite(uint64_t bytes, const Regions &regions, ItemHandler &handler);
  bool fail(std::string error);

  bool expectsHello_;
  bool isWriting_ = false; ///< bytes of `write_` come
  bool isStray_ = false;   ///< some of them had no place
  WriteHead write_;
  uint64_t written_ = 0;         ///< bytes of `write_` that have come
  std::vector<std::byte> begun_; ///< an item that has not come as a whole, without a write's bytes
  std::string error_;
};

/// An item to be sent. Its pieces belong to the operation, or are of the head alone.
struct Outgoing {
  network::Operation *operation = nullptr; ///< null: of a Hello
  alignas(8) std::byte head[sizeof(WriteHead)] = {};
  uint32_t headBytes = 0;
  std::vector<iovec> pieces;
  uint64_t left = 0; ///< bytes to be sent, the head's included
};

/// The outgoing half.
class ItemSender {
public:
  enum class Outcome : uint8_t { All, Some, Failed };

  /// Sends an item as far as the kernel takes it, and keeps the rest. After Failed see error();
  /// the item is not kept. `isOpen`: false while the connection is being made.
  Outcome send(int file, Calls &calls, bool isOpen, network::Operation *operation,
               std::span<const std::byte> head, std::span<const iovec> pieces);
  /// Sends kept items. Those that are sent are appended to `done`.
  Outcome flush(int file, Calls &calls, std::vector<network::Operation *> &done);
  /// Removes all items and appends their operations.
  void drop(std::vector<network::Operation *> &dropped);

  bool empty() const { return waiting_.empty(); }
  ssize_t error() const { return error_; }

private:
  std::deque<Outgoing> waiting_;
  ssize_t error_ = 0;
};

} // namespace colldsl::tcp
