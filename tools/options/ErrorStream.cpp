#include "tools/options/ErrorStream.h"

#include "tools/options/Color.h"
#include "tools/options/MaskedStream.h"

namespace colldsl::tools {
namespace {

/// Paints whole lines on their way to the standard error.
class Painter : public llvm::raw_ostream {
public:
  Painter() : raw_ostream(/*unbuffered=*/true) {}
  ~Painter() override { llvm::errs() << line_; }

private:
  void write_impl(const char *text, size_t size) override {
    written_ += size;
    line_.append(text, size);
    for (size_t end = 0; (end = line_.find('\n')) != std::string::npos;) {
      llvm::errs() << paintedDiagnostic(llvm::StringRef(line_).take_front(end)) << "\n";
      line_.erase(0, end + 1);
    }
  }
  uint64_t current_pos() const override { return written_; }

  std::string line_; ///< the beginning of an unfinished line
  uint64_t written_ = 0;
};

llvm::raw_ostream &ownErrors() {
  static Painter painter;
  static const bool paints = hasColors(2);
  return paints ? static_cast<llvm::raw_ostream &>(painter) : llvm::errs();
}

} // namespace

llvm::raw_ostream &errorStream() {
  static MaskedStream standard(ownErrors()); // masks the text before it is painted
  return standard;
}

} // namespace colldsl::tools
