#include "tools/PlanFile.h"

#include "driver/files/ReadInput.h"
#include "ir/ForeignFormat.h"
#include "mscclpp/Read.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace colldsl::tools {

bool isExecutionPlan(const std::string &file) {
  constexpr uint64_t kLookedAt = 1 << 16;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(file, status) ||
      status.type() != llvm::sys::fs::file_type::regular_file)
    return false;
  auto begin = llvm::MemoryBuffer::getFileSlice(file, std::min(kLookedAt, status.getSize()), 0);
  return begin &&
         foreignFormat(std::string_view((*begin)->getBuffer()), Readable::Text) == kExecutionPlan;
}

Result<mscclpp::Plan> readPlan(const std::string &file) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = driver::readInput(file);
  if (!input)
    return input.status();
  llvm::StringRef text = (*input)->getBuffer();
  return mscclpp::read({text.data(), text.size()});
}

std::string nameOf(const mscclpp::Plan &plan) { return plan.name.empty() ? "plan" : plan.name; }

} // namespace colldsl::tools
