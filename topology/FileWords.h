/// Text files of lines of words, and the places of the words for messages.
#pragma once

#include "ir/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// The content of a file or a pipe. An error names it.
Result<std::string> readText(const std::string &path);

struct FileWord {
  std::string_view text;
  size_t line = 0, column = 0; ///< from 1
};

/// Reads lines; a comment begins with '#'. The text outlives it and its words.
class FileWords {
public:
  FileWords(std::string_view text, std::string path) : rest_(text), path_(std::move(path)) {}

  /// Takes the next line that has words. False: there is none.
  bool next(std::vector<FileWord> &words);
  /// "topology: nodes.txt:3:7: MESSAGE".
  Status error(const FileWord &at, std::string_view message, size_t further = 0) const;
  const std::string &path() const { return path_; }

private:
  std::string_view rest_;
  std::string path_;
  size_t line_ = 0;
};

} // namespace colldsl
