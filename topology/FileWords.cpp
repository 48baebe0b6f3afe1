#include "topology/FileWords.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace colldsl {

Result<std::string> readText(const std::string &path) {
  auto failed = [&] {
    return Status::error(concat("topology: cannot read '", path, "': ", std::strerror(errno)));
  };
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "rb"),
                                                          &std::fclose);
  if (!file)
    return failed();
  std::string text;
  char piece[1 << 16];
  while (size_t length = std::fread(piece, 1, sizeof piece, file.get()))
    text.append(piece, length);
  if (std::ferror(file.get()))
    return failed();
  return text;
}

bool FileWords::next(std::vector<FileWord> &words) {
  words.clear();
  while (words.empty() && !rest_.empty()) {
    ++line_;
    size_t end = rest_.find('\n');
    std::string_view whole = rest_.substr(0, end);
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end + 1);
    std::string_view line = whole.substr(0, whole.find('#'));
    for (std::string_view word = takeWord(line); !word.empty(); word = takeWord(line))
      words.push_back({word, line_, static_cast<size_t>(word.data() - whole.data()) + 1});
  }
  return !words.empty();
}

Status FileWords::error(const FileWord &at, std::string_view message, size_t further) const {
  return Status::error(
      concat("topology: ", path_, ":", at.line, ":", at.column + further, ": ", message));
}

} // namespace colldsl
