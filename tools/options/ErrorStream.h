/// Where mistakes and remarks are printed: on the standard error, or for a program that embeds
/// the commands into a text. Masked.
#pragma once

#include "tools/options/MaskedStream.h"

#include <string>

namespace colldsl::tools {

/// Of the calling thread.
llvm::raw_ostream &errorStream();

/// While it lives, what this thread prints on errorStream() is kept, and no progress is shown.
class CapturedErrors {
public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors &) = delete;
  CapturedErrors &operator=(const CapturedErrors &) = delete;

  /// All that was printed so far.
  const std::string &text() const { return text_; }

  /// Whether one lives in the calling thread.
  static bool areCaptured();

private:
  std::string text_;
  llvm::raw_string_ostream stream_{text_};
  MaskedStream masked_{stream_};
  llvm::raw_ostream *outer_;
};

} // namespace colldsl::tools
