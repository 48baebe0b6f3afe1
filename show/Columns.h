/// Arrays of numbers in the encoding of a page: concatenated, deflated, in base64.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl::show {

/// Callers bound the lengths: browsers open pages of up to some hundred MiB.
class Columns {
public:
  void add(llvm::StringRef name, llvm::ArrayRef<uint8_t> values);
  void add(llvm::StringRef name, llvm::ArrayRef<uint32_t> values);
  /// Stores differences between consecutive values, which deflate well where neighbours are alike.
  void addSteps(llvm::StringRef name, llvm::ArrayRef<uint32_t> values);
  /// Values are below 2^53, which JavaScript represents exactly.
  void add(llvm::StringRef name, llvm::ArrayRef<uint64_t> values);

  /// The place of each column: {name: {type, at, count}}. Types: "u8", "u32", "steps" (u32), "u64"
  /// (all low words, then all high ones). Little endian, each column at a multiple of 4.
  llvm::json::Object directory() const { return directory_; }
  /// Bytes of all columns before they are packed.
  size_t size() const { return bytes_.size(); }
  /// True if packed() is deflated (RFC 1950).
  static bool isDeflated();
  std::string packed() const;

  /// A member of each record.
  template <typename Record, typename T>
  static std::vector<T> of(const std::vector<Record> &records, T Record::*member) {
    std::vector<T> values;
    for (const Record &record : records)
      values.push_back(record.*member);
    return values;
  }

private:
  void begin(llvm::StringRef name, llvm::StringRef type, size_t count);
  void append(llvm::ArrayRef<uint32_t> values);

  std::string bytes_;
  llvm::json::Object directory_;
};

} // namespace colldsl::show
