#include "driver/source/TraceFiles.h"

#include "driver/files/ReadInput.h"

#include "llvm/Support/FileSystem.h"

namespace colldsl::driver {
namespace {

constexpr llvm::StringRef kEnding = ".et";

} // namespace

std::string traceFile(llvm::StringRef name, size_t rank) {
  return (name + "." + llvm::Twine(rank) + kEnding).str();
}

Result<Traces> readTraces(const std::string &file) {
  llvm::StringRef name = file;
  uint32_t own = 0;
  bool isNamed = name.consume_back(kEnding);
  llvm::StringRef number = name.rsplit('.').second;
  if (!isNamed || number.empty() || number.getAsInteger(10, own) ||
      traceFile(name.drop_back(number.size() + 1), own) != file)
    return Diagnostic::error({},
                             "'" + file + "' is a trace of Chakra, and its name does not say whose",
                             "each rank has a trace of its own: NAME.0.et, NAME.1.et, ...");
  Traces traces;
  traces.name = name.drop_back(number.size() + 1).str();
  for (size_t rank = 0;; ++rank) {
    std::string next = traceFile(traces.name, rank);
    if (!llvm::sys::fs::exists(next))
      break;
    Result<std::unique_ptr<llvm::MemoryBuffer>> trace = readInput(next);
    if (!trace)
      return trace.status();
    traces.ranks.push_back(trace.take());
  }
  if (own >= traces.ranks.size())
    return Status::error("'" + traceFile(traces.name, traces.ranks.size()) + "' is missing: '" +
                         file + "' is the trace of a later rank");
  return traces;
}

} // namespace colldsl::driver
