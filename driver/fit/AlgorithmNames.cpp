#include "driver/fit/AlgorithmNames.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

struct Known {
  llvm::StringLiteral function, algorithm, collective;
};
constexpr Known kKnown[] = {
#define COLLDSL_ALGORITHM(function, algorithm, collective) {function, algorithm, collective},
#include "driver/fit/AlgorithmNames.def"
#undef COLLDSL_ALGORITHM
};

} // namespace

bool isDefault(const Measurement &measured) {
  llvm::StringRef name = measured.algorithm;
  return name.starts_with("default_") || name == "default-default";
}

std::optional<TunedCollective> collectiveOf(const Measurement &measured, const Program &program) {
  if (isDefault(measured))
    return std::nullopt;
  std::string name = measured.algorithm;
  std::replace(name.begin(), name.end(), '-', '_');
  llvm::StringRef base = name;
  base.consume_front("default_"); // Fujitsu's way to name what is forced
  for (llvm::StringRef suffix : {"_ompi", "_mpich", "_over"})
    base.consume_back(suffix);
  std::string words = measured.algorithm;
  if (!llvm::StringRef(words).starts_with(measured.function + "_")) {
    auto known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known &k) {
      return k.function == measured.function && k.algorithm == base;
    });
    if (known == std::end(kKnown))
      return std::nullopt;
    words = known->collective.str();
  }
  Result<TunedCollective> parsed = TunedCollective::parse(words);
  if (!parsed || program.find(parsed->name, DeclKind::Collective) == kNoDecl)
    return std::nullopt;
  return parsed.take();
}

} // namespace colldsl::driver
