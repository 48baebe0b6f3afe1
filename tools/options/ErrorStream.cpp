#include "tools/options/ErrorStream.h"

namespace colldsl::tools {
namespace {

thread_local llvm::raw_ostream *captured = nullptr;

} // namespace

llvm::raw_ostream &errorStream() {
  static MaskedStream standard(llvm::errs());
  return captured ? *captured : standard;
}

CapturedErrors::CapturedErrors() : outer_(captured) {
  stream_.SetUnbuffered();
  captured = &masked_;
}

CapturedErrors::~CapturedErrors() { captured = outer_; }

bool CapturedErrors::areCaptured() { return captured != nullptr; }

} // namespace colldsl::tools
