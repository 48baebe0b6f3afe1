#include "show/Columns.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"

#include <algorithm>
#include <bit>

namespace colldsl::show {

static_assert(std::endian::native == std::endian::little, "columns are written as they lie");

void Columns::begin(llvm::StringRef name, llvm::StringRef type, size_t count) {
  constexpr size_t kAlignment = 4;
  bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
  directory_[name.str()] = llvm::json::Object{{"type", type},
                                              {"at", static_cast<int64_t>(bytes_.size())},
                                              {"count", static_cast<int64_t>(count)}};
}

void Columns::append(llvm::ArrayRef<uint32_t> values) {
  bytes_.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(uint32_t));
}

void Columns::add(llvm::StringRef name, llvm::ArrayRef<uint8_t> values) {
  begin(name, "u8", values.size());
  bytes_.append(reinterpret_cast<const char *>(values.data()), values.size());
}

void Columns::add(llvm::StringRef name, llvm::ArrayRef<uint32_t> values) {
  begin(name, "u32", values.size());
  append(values);
}

void Columns::addSteps(llvm::StringRef name, llvm::ArrayRef<uint32_t> values) {
  begin(name, "steps", values.size());
  std::vector<uint32_t> steps(values.begin(), values.end());
  for (size_t i = steps.size(); i-- > 1;)
    steps[i] -= steps[i - 1];
  append(steps);
}

void Columns::add(llvm::StringRef name, llvm::ArrayRef<uint64_t> values) {
  bool isShort = std::all_of(values.begin(), values.end(), [](uint64_t v) { return v >> 32 == 0; });
  std::vector<uint32_t> words(values.begin(), values.end());
  if (isShort)
    return addSteps(name, words);
  begin(name, "u64", values.size());
  append(words);
  for (size_t i = 0; i < values.size(); ++i)
    words[i] = static_cast<uint32_t>(values[i] >> 32);
  append(words);
}

bool Columns::isDeflated() { return llvm::compression::zlib::isAvailable(); }

std::string Columns::packed() const {
  if (!isDeflated())
    return llvm::encodeBase64(bytes_);
  llvm::SmallVector<uint8_t, 0> deflated;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(bytes_), deflated,
                                    llvm::compression::zlib::DefaultCompression);
  return llvm::encodeBase64(deflated);
}

} // namespace colldsl::show
