/// Messages on a byte stream: headers, an empty line, as many bytes as Content-Length has.
#pragma once

#include "ir/Result.h"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace colldsl::lsp {

class MessageReader {
public:
  /// The stream also ends when the descriptor `interrupt` becomes readable; -1: none.
  explicit MessageReader(int descriptor, int interrupt = -1)
      : descriptor_(descriptor), interrupt_(interrupt) {}

  /// The content of the next message; nothing at the end of the stream, even within a message. An
  /// error: the headers are malformed, so that the start of the next message is unknown.
  Result<std::optional<std::string>> next();

private:
  Result<std::optional<size_t>> readHeaders();
  std::optional<std::string> readLine();
  bool fill();
  bool wait() const;

  int descriptor_, interrupt_;
  std::string buffer_; ///< read, and not yet used
};

/// Thread safe. It drops messages after the reader of the stream has closed it.
class MessageWriter {
public:
  explicit MessageWriter(int descriptor) : descriptor_(descriptor) {}

  void write(std::string_view content);

private:
  int descriptor_;
  std::mutex mutex_;
  bool isOpen_ = true;
};

} // namespace colldsl::lsp
