#include "device/Kernels.h"

#include "device/KernelText.h"
#include "device/PerContext.h"
#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::device {
namespace {

// A longer range has threads that combine several vectors.
constexpr uint64_t kMaxBlocks = 16384;

size_t indexOf(Reduction reduction, ElementType type) {
  return static_cast<size_t>(reduction) * kElementTypes + static_cast<size_t>(type);
}

// The names that the C++ ABI gives to the function template and the function of Kernels.cu.
std::string combineName(Reduction reduction, ElementType type) {
  return concat("_ZN7colldsl6device7combineILj", static_cast<unsigned>(reduction), "ELj",
                static_cast<unsigned>(type), "EEEvNS0_15CombineOperandsE");
}
constexpr const char *kCopyName = "_ZN7colldsl6device10copyPiecesENS0_12CopyOperandsE";

constexpr std::string_view kEntry = ".visible .entry ";

// A module with this function alone, as a driver compiles whole modules; empty: there is none.
std::string moduleOf(std::string_view name) {
  std::string_view text = kernelText();
  std::string_view head = text.substr(0, text.find(kEntry));
  size_t at = text.find(concat(kEntry, name, "("));
  if (at == text.npos)
    return {};
  size_t next = text.find(kEntry, at + 1);
  return concat(head, text.substr(at, next == text.npos ? next : next - at));
}

uint64_t partBytes(ElementType type) {
  return arithmetic(type) == Arithmetic::Complex ? sizeBytes(type) / 2 : sizeBytes(type);
}

// Sets how the elements are cut: vectors where all addresses have one distance from their border.
void cut(CombineOperands &operands, ElementType type, uint64_t bytes) {
  const uint64_t elementBytes = sizeBytes(type);
  uint64_t differences = operands.first ^ operands.target, all = operands.first | operands.target;
  for (uint32_t i = 0; i < operands.sourceCount; ++i) {
    differences |= operands.sources[i] ^ operands.target;
    all |= operands.sources[i];
  }
  const uint64_t head = -operands.target % kVectorBytes;
  operands.elements = bytes / elementBytes;
  operands.isAligned = all % partBytes(type) == 0;
  if (differences % kVectorBytes != 0 || head % elementBytes != 0)
    return;
  operands.head = std::min(head / elementBytes, operands.elements);
  operands.vectors = (bytes - operands.head * elementBytes) / kVectorBytes;
}

} // namespace

bool Kernels::has(Reduction reduction, ElementType type) {
  return isDefined(reduction, type) && !kernelText().empty();
}
bool Kernels::hasCopies() { return !kernelText().empty(); }

std::shared_ptr<Kernels> Kernels::of(const CudaDriver &driver, CuContext context) {
  static PerContext<Kernels> all;
  return all.get(driver, context,
                 [&] { return std::shared_ptr<Kernels>(new Kernels(driver, context)); });
}

Kernels::~Kernels() {
  CurrentContext current(driver_, context_);
  for (size_t i = 0; current && i < modules_.size(); ++i)
    driver_.moduleUnload(modules_[i]);
}

Status Kernels::prepare(Reduction reduction, ElementType type) {
  if (Status s = checkDefined(reduction, type); !s)
    return s;
  ElementType served = kernelType(reduction, type);
  return prepare(combineName(reduction, served), combine_[indexOf(reduction, served)]);
}

Status Kernels::prepareCopies() { return prepare(kCopyName, copy_); }

Status Kernels::prepare(const std::string &name, Kernel &kernel) {
  std::lock_guard guard(loading_);
  if (kernel.function || !kernel.failure)
    return kernel.failure;
  Result<CuFunction> loaded = load(name);
  if (loaded)
    kernel.function = *loaded;
  else
    kernel.failure = loaded.status();
  return kernel.failure;
}

Result<CuFunction> Kernels::load(const std::string &name) {
  std::string text = moduleOf(name);
  if (text.empty())
    return Status::error(concat("the library has no kernel ", name));
  CurrentContext current(driver_, context_);
  CuModule module = nullptr;
  if (Status s =
          checkCuda(driver_, driver_.moduleLoadData(&module, text.c_str()), "cuModuleLoadData");
      !s)
    return s;
  modules_.push_back(module);
  CuFunction found = nullptr;
  if (Status s = checkCuda(driver_, driver_.moduleGetFunction(&found, module, name.c_str()),
                           "cuModuleGetFunction");
      !s)
    return s;
  return found;
}

Status Kernels::combine(CuStream stream, Reduction reduction, ElementType type, Side side,
                        DeviceAddress target, DeviceAddress first,
                        std::span<const DeviceAddress> sources, uint64_t bytes) const {
  assert(!sources.empty() && sources.size() <= kMaxSources);
  const ElementType served = kernelType(reduction, type);
  const uint64_t perVector = kVectorBytes / sizeBytes(served);
  CombineOperands operands{};
  operands.target = target;
  operands.first = first;
  std::copy(sources.begin(), sources.end(), operands.sources);
  operands.sourceCount = static_cast<uint32_t>(sources.size());
  operands.isBefore = side == Side::Before;
  cut(operands, served, bytes);
  uint64_t single = operands.elements - operands.vectors * perVector;
  return launch(combine_[indexOf(reduction, served)].function, std::max(operands.vectors, single),
                1, stream, &operands);
}

Status Kernels::copy(CuStream stream, std::span<const CopyPiece> pieces) const {
  assert(pieces.size() <= kMaxPieces);
  CopyOperands operands{};
  std::copy(pieces.begin(), pieces.end(), operands.pieces);
  uint64_t threads = 0;
  for (const CopyPiece &piece : pieces)
    threads = std::max(threads, piece.bytes / unitBytes(piece) + 1);
  return launch(copy_.function, threads, static_cast<unsigned>(pieces.size()), stream, &operands);
}

Status Kernels::launch(CuFunction function, uint64_t threads, unsigned rows, CuStream stream,
                       void *operands) const {
  assert(function);
  uint64_t blocks = std::min((threads + kThreadsPerBlock - 1) / kThreadsPerBlock, kMaxBlocks);
  if (blocks == 0 || rows == 0)
    return {}; // there is nothing to do, and the driver takes no empty grid
  CurrentContext current(driver_, context_);
  return checkCuda(driver_,
                   driver_.launchKernel(function, static_cast<unsigned>(blocks), rows, 1,
                                        kThreadsPerBlock, 1, 1, 0, stream, &operands, nullptr),
                   "cuLaunchKernel");
}

} // namespace colldsl::device
