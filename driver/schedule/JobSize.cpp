#include "driver/schedule/JobSize.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <unistd.h>

namespace colldsl::driver {
namespace {

constexpr uint32_t kFewRanks = 1024; // the limits count the ops of so few
constexpr double kMargin = 4;

} // namespace

Status checkJobSize(const Program &program, const InstantiateRequest &request, double bytesPerOp) {
  if (request.ranks < kFewRanks)
    return {};
  Instantiator instantiator(program, request);
  Dag dag;
  uint64_t least = UINT64_MAX;
  for (uint32_t rank : {0u, 1u, request.ranks / 3, request.ranks / 2, request.ranks - 1}) {
    if (Status s = instantiator.instantiate(Rank{rank}, dag); !s)
      return s;
    least = std::min<uint64_t>(least, dag.ops.size());
  }
  double ops = static_cast<double>(least) * request.ranks;
  double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::string what =
      llvm::formatv("about {0:e2} ops, {1} on each of {2} ranks, ", ops, least, request.ranks)
          .str();
  if (ops > kMargin * static_cast<double>(request.limits.maxTotalOps))
    return Status::error(llvm::formatv("{0}are more than the limit of {1} for all ranks together "
                                       "(--max-total-ops)",
                                       what, request.limits.maxTotalOps)
                             .str());
  if (ops * bytesPerOp > kMargin * present)
    return Status::error(llvm::formatv("{0}take more than {1:f1} GiB, the memory of this machine",
                                       what, present / (1 << 30))
                             .str());
  return {};
}

} // namespace colldsl::driver
