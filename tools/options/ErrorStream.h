/// The stream for mistakes and remarks: standard error, or a text for a program that embeds the
/// commands. It masks what is not printable.
#pragma once

#include "tools/options/MaskedStream.h"

#include <string>

namespace colldsl::tools {

/// The stream of the calling thread.
llvm::raw_ostream &errorStream();

/// While it lives, it keeps all that this thread prints on errorStream(), and no progress is shown.
class CapturedErrors {
public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors &) = delete;
  CapturedErrors &operator=(const CapturedErrors &) = delete;

  /// All that was printed so far.
  const std::string &text() const { return text_; }

  /// True if a CapturedErrors lives in the calling thread.
  static bool areCaptured();

private:
  std::string text_;
  llvm::raw_string_ostream stream_{text_};
  MaskedStream masked_{stream_};
  llvm::raw_ostream *outer_;
};

} // namespace colldsl::tools
