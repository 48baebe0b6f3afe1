/// The lines of a graph file, as words, which all its formats share. Internal to the
/// graph files; GraphFile.h is the way in.
#pragma once

#include "ir/Numbers.h"
#include "ir/Result.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace colldsl {

class GraphFileLines {
public:
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 32;

  /// Opens a file: an ordinary one of up to kMaxBytes.
  static Result<GraphFileLines> open(const std::string &path);

  /// Goes on to the next line; false at the end of the file.
  bool next();
  /// Goes on to the next line that does not begin with '%' nor, where blank lines
  /// mean nothing, is blank.
  bool nextContent(bool skipsBlank);
  /// The current line, and the rest of it behind the words taken.
  const std::string &line() const { return line_; }
  std::string_view rest() const { return rest_; }
  std::string_view word() { return takeWord(rest_); }
  /// Takes a word that must be a number from `lo` to `hi`; `what` names it in errors.
  Status number(const char *what, int64_t lo, int64_t hi, int64_t &value);
  /// Nothing must be left on the line.
  Status end();
  /// An error at the current line.
  Status expected(const std::string &what) const;
  Status error(const std::string &what) const;
  /// Variant of expected() for a file that ended too early.
  Status endedBefore(const std::string &what) const;

  const std::string &path() const { return path_; }

private:
  static constexpr size_t kBytesOfFormat = 4096; ///< at the beginning, which tell the format

  /// An error if the file is no text. Goes back to its beginning.
  Status refuseForeign();

  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::string_view rest_;
  size_t number_ = 0;
};

} // namespace colldsl
