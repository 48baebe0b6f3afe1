#include "instantiate/graphs/GraphFileLines.h"

#include "ir/ForeignFormat.h"
#include "ir/Numbers.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace colldsl {

Result<GraphFileLines> GraphFileLines::open(const std::string &path) {
  std::error_code error;
  bool isFile = std::filesystem::is_regular_file(path, error);
  if (!error && !isFile)
    return Status::error("the graph file '" + path + "' is not an ordinary file");
  GraphFileLines lines;
  lines.path_ = path;
  errno = 0;
  lines.file_.open(path);
  if (!lines.file_)
    return Status::error("cannot read the graph file '" + path + "'" +
                         (errno ? std::string(": ") + std::strerror(errno) : ""));
  uint64_t bytes = std::filesystem::file_size(path, error);
  if (!error && bytes > kMaxBytes)
    return Status::error("the graph file '" + path + "' has " + std::to_string(bytes) +
                         " bytes, but at most " + std::to_string(kMaxBytes) + " are read");
  if (Status s = lines.refuseForeign(); !s)
    return s;
  return lines;
}

Status GraphFileLines::refuseForeign() {
  std::string begin(kBytesOfFormat, '\0');
  file_.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file_.gcount()));
  file_.clear();
  file_.seekg(0);
  std::string format = foreignFormat(begin, Readable::Text);
  if (format.empty())
    return {};
  return Status::error("the graph file '" + path_ + "' is " + format +
                       "; read are lists of edges, METIS graphs and MatrixMarket");
}

bool GraphFileLines::next() {
  ++number_;
  bool found = static_cast<bool>(std::getline(file_, line_));
  if (!found)
    line_.clear();
  rest_ = line_;
  return found;
}

bool GraphFileLines::nextContent(bool skipsBlank) {
  while (next()) {
    std::string_view rest = line_;
    std::string_view first = takeWord(rest);
    if (first.empty() ? !skipsBlank : first[0] != '%')
      return true;
  }
  return false;
}

Status GraphFileLines::number(const char *what, int64_t lo, int64_t hi, int64_t &value) {
  std::string_view text = word();
  std::optional<int64_t> given = parseWhole<int64_t>(text);
  value = given.value_or(value);
  if (given && value >= lo && value <= hi)
    return {};
  return this->error("expected " + std::string(what) + ", " + std::to_string(lo) + ".." +
                     std::to_string(hi) + ", found '" + std::string(text.substr(0, 60)) + "'");
}

Status GraphFileLines::end() {
  std::string_view more = word();
  if (more.empty())
    return {};
  return error("expected the end of the line, found '" + std::string(more.substr(0, 60)) + "'");
}

Status GraphFileLines::expected(const std::string &what) const {
  return error("expected " + what + ", found '" + line_.substr(0, 60) + "'");
}

Status GraphFileLines::error(const std::string &what) const {
  return Status::error("graph file " + path_ + ":" + std::to_string(number_) + ": " + what);
}

Status GraphFileLines::endedBefore(const std::string &what) const {
  return error("expected " + what + ", found the end of the file");
}

} // namespace colldsl
