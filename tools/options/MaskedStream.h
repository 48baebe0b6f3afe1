/// A stream that makes text printable (ir/Printable.h) before it passes it on.
#pragma once

#include "ir/Printable.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace colldsl::tools {

/// It buffers nothing except the beginning of a UTF-8 character. `to` outlives it.
class MaskedStream : public llvm::raw_ostream {
public:
  explicit MaskedStream(llvm::raw_ostream &to, Masking masking = Masking::QuestionMarks)
      : llvm::raw_ostream(/*unbuffered=*/true), to_(to), masking_(masking) {}

private:
  void write_impl(const char *begin, size_t size) override;
  uint64_t current_pos() const override { return to_.tell(); }

  llvm::raw_ostream &to_;
  Masking masking_;
  std::string begun_; ///< the beginning of a character
};

} // namespace colldsl::tools
