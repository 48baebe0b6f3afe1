/// Records as bytes: little endian, field by field without padding; lists and texts are
/// a u32 count and their items. A record is what eachField(visit, record) visits.
#pragma once

#include "ir/Index32.h"
#include "program/Program.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace colldsl {

static_assert(std::endian::native == std::endian::little, "records are stored little endian");

/// Record is R or const R: for eachField() of records that are both written and read.
template <typename Record, typename R>
concept Is = std::is_same_v<std::remove_const_t<Record>, R>;

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class RecordWriter {
public:
  std::vector<std::byte> bytes;

  template <Plain T> void operator()(const T &value) { raw(&value, sizeof value); }
  void operator()(const std::string &text) {
    (*this)(index32(text.size()));
    raw(text.data(), text.size());
  }
  template <typename T> void operator()(const std::vector<T> &items) {
    (*this)(index32(items.size()));
    for (const T &item : items)
      (*this)(item);
  }
  template <typename T>
  requires(!Plain<T>) void operator()(const T &record) { eachField(*this, record); }

private:
  void raw(const void *data, size_t size) {
    size_t at = bytes.size();
    bytes.resize(at + size);
    if (size)
      std::memcpy(bytes.data() + at, data, size);
  }
};

/// The number of values of an enum; 0: any number is a value (indices).
template <typename T> inline constexpr unsigned numValues = 0;
template <> inline constexpr unsigned numValues<bool> = 2;
template <> inline constexpr unsigned numValues<ExprKind> = kExprKinds;
template <> inline constexpr unsigned numValues<StmtKind> = kStmtKinds;
template <> inline constexpr unsigned numValues<ValueType> = kValueTypes;
template <> inline constexpr unsigned numValues<DimKind> = kDimKinds;
template <> inline constexpr unsigned numValues<EnsureKind> = kEnsureKinds;
template <> inline constexpr unsigned numValues<DeclKind> = kDeclKinds;
template <> inline constexpr unsigned numValues<OpKind> = kOpKinds;
template <> inline constexpr unsigned numValues<ElementType> = kElementTypes;
template <> inline constexpr unsigned numValues<Side> = 2;
template <> inline constexpr unsigned numValues<BufferRole> = 4;

/// Fails once, at the first thing that is wrong, and reads nothing after it.
class RecordReader {
public:
  explicit RecordReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool failed() const { return !error_.empty(); }
  const std::string &error() const { return error_; }
  size_t left() const { return rest_.size(); }

  template <Plain T> void operator()(T &value) {
    constexpr bool isCounted = numValues<T> != 0;
    std::conditional_t<isCounted, uint8_t, T> stored{};
    static_assert(sizeof stored == sizeof value);
    if (!has(sizeof stored))
      return;
    std::memcpy(&stored, rest_.data(), sizeof stored);
    rest_ = rest_.subspan(sizeof stored);
    if constexpr (isCounted) {
      if (stored >= numValues<T>)
        return fail("an unknown kind, " + std::to_string(stored) + " of " +
                    std::to_string(numValues<T>));
      value = static_cast<T>(stored);
    } else {
      value = stored;
    }
  }
  void operator()(std::string &text) {
    uint32_t size = count(1);
    text.assign(reinterpret_cast<const char *>(rest_.data()), size);
    rest_ = rest_.subspan(size);
  }
  template <typename T> void operator()(std::vector<T> &items) {
    items.resize(count(leastBytes<T>()));
    for (T &item : items) {
      (*this)(item);
      if (failed())
        return items.clear();
    }
  }
  template <typename T>
  requires(!Plain<T>) void operator()(T &record) { eachField(*this, record); }

private:
  /// Bytes that one item takes at least, so that no count asks for more memory than the
  /// file is long.
  template <typename T> static size_t leastBytes() {
    if constexpr (Plain<T>)
      return sizeof(T);
    else if constexpr (isVector<T> || std::is_same_v<T, std::string>)
      return sizeof(uint32_t);
    else
      return sizeof(T) / 4; // records hold no more than three bytes in memory per byte stored
  }

  uint32_t count(size_t bytesEach) {
    uint32_t n = 0;
    (*this)(n);
    if (!failed() && n > rest_.size() / bytesEach)
      fail("a list of " + std::to_string(n) + " items in " + std::to_string(rest_.size()) +
           " bytes");
    return failed() ? 0 : n;
  }

  bool has(size_t size) {
    if (failed())
      return false;
    if (size > rest_.size())
      fail("it ends too early");
    return size <= rest_.size();
  }

  void fail(std::string message) {
    if (error_.empty())
      error_ = std::move(message);
  }

  std::span<const std::byte> rest_;
  std::string error_;
};

} // namespace colldsl
