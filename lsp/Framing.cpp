#include "lsp/Framing.h"

#include "ir/Numbers.h"

#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace colldsl::lsp {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{64} << 10;
constexpr size_t kMaxContentBytes = size_t{256} << 20;

} // namespace

/// Waits until the stream can be read or has ended. False: `interrupt_` can be read, or poll()
/// failed.
bool MessageReader::wait() const {
  pollfd both[] = {{descriptor_, POLLIN, 0}, {interrupt_, POLLIN, 0}};
  int ready = 0;
  do
    ready = ::poll(both, 2, -1);
  while (ready < 0 && errno == EINTR);
  return ready > 0 && both[1].revents == 0;
}

bool MessageReader::fill() {
  if (!wait())
    return false;
  char bytes[size_t{64} << 10];
  ssize_t count = 0;
  do
    count = ::read(descriptor_, bytes, sizeof bytes);
  while (count < 0 && errno == EINTR);
  if (count <= 0)
    return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

/// Reads a line, without its end. Nothing: the stream ends, or the line is too long for a header.
std::optional<std::string> MessageReader::readLine() {
  size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos)
    if (buffer_.size() > kMaxHeaderBytes || !fill())
      return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (line.ends_with('\r'))
    line.pop_back();
  return line;
}

Result<std::optional<size_t>> MessageReader::readHeaders() {
  std::optional<size_t> length;
  for (std::optional<std::string> line; (line = readLine());) {
    if (line->empty()) {
      if (length)
        return length;
      return Status::error("a message has no Content-Length");
    }
    auto [name, value] = llvm::StringRef(*line).split(':');
    if (!name.equals_insensitive("Content-Length"))
      continue; // Content-Type, which has one valid value
    std::optional<size_t> number = parseWhole<size_t>(value.trim());
    if (!number || *number > kMaxContentBytes)
      return Status::error("Content-Length '" + value.trim().str() + "' is no number up to " +
                           std::to_string(kMaxContentBytes));
    length = number;
  }
  if (buffer_.size() > kMaxHeaderBytes)
    return Status::error("a header has more than " + std::to_string(kMaxHeaderBytes) + " bytes");
  return std::optional<size_t>();
}

Result<std::optional<std::string>> MessageReader::next() {
  Result<std::optional<size_t>> length = readHeaders();
  if (!length)
    return length.status();
  if (!*length)
    return std::optional<std::string>();
  while (buffer_.size() < **length)
    if (!fill())
      return std::optional<std::string>();
  std::string content = buffer_.substr(0, **length);
  buffer_.erase(0, **length);
  return std::optional(std::move(content));
}

void MessageWriter::write(std::string_view content) {
  std::string bytes = "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n";
  bytes += content;
  std::lock_guard lock(mutex_);
  for (std::string_view rest = bytes; isOpen_ && !rest.empty();) {
    ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR)
      continue;
    isOpen_ = count > 0;
    rest.remove_prefix(isOpen_ ? static_cast<size_t>(count) : 0);
  }
}

} // namespace colldsl::lsp
