/// The texts of a compilation, and diagnostics as people read them.
#pragma once

#include "ir/Result.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

class Sources {
public:
  static constexpr size_t kMaxFiles = UINT16_MAX; ///< the most that SourceLoc::file can number

  /// The number that SourceLocs of the text have. There must be fewer than kMaxFiles.
  uint16_t add(std::unique_ptr<llvm::MemoryBuffer> text, std::string name);

  size_t size() const { return names_.size(); }
  std::string_view text(uint16_t file) const;
  const std::string &name(uint16_t file) const { return names_[file]; }
  const std::vector<std::string> &names() const { return names_; }

  /// `ring.coll:12:9: error: message`, the line and a caret; the hint; the notes, alike.
  /// Without the place if that is not known. Ends with a newline.
  std::string render(const Diagnostic &diagnostic) const;

private:
  llvm::SMLoc find(SourceLoc loc) const;

  /// Buffer ids are file numbers plus one. Looking up a line fills its line table.
  mutable llvm::SourceMgr manager_;
  std::vector<std::string> names_;
};

} // namespace colldsl
