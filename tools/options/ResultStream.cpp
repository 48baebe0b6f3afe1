#include "tools/options/ResultStream.h"

#include "tools/options/MaskedStream.h"

namespace colldsl::tools {

llvm::raw_ostream &resultStream() {
  static MaskedStream stream(llvm::outs());
  return stream;
}

llvm::raw_ostream &jsonStream() {
  static MaskedStream stream(llvm::outs(), Masking::JsonEscapes);
  return stream;
}

} // namespace colldsl::tools
