#include "program/Portable.h"

#include "program/Fields.h"

#include <bit>
#include <cstring>

namespace colldsl {
namespace {

static_assert(std::endian::native == std::endian::little, "programs are stored little endian");

template <typename T> constexpr bool isVector = false;
template <typename T> constexpr bool isVector<std::vector<T>> = true;

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
public:
  std::vector<std::byte> bytes;

  template <Plain T> void operator()(const T &value) { raw(&value, sizeof value); }
  void operator()(const std::string &text) {
    (*this)(static_cast<uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <typename T> void operator()(const std::vector<T> &items) {
    (*this)(static_cast<uint32_t>(items.size()));
    for (const T &item : items)
      (*this)(item);
  }
  template <typename T>
  requires(!Plain<T>) void operator()(const T &record) { eachField(*this, record); }

private:
  void raw(const void *data, size_t size) {
    auto begin = static_cast<const std::byte *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
};

/// How many values an enum has; 0: any number is one (indices).
template <typename T> constexpr unsigned numValues = 0;
template <> constexpr unsigned numValues<bool> = 2;
template <> constexpr unsigned numValues<ExprKind> = kExprKinds;
template <> constexpr unsigned numValues<StmtKind> = kStmtKinds;
template <> constexpr unsigned numValues<ValueType> = kValueTypes;
template <> constexpr unsigned numValues<DimKind> = kDimKinds;
template <> constexpr unsigned numValues<EnsureKind> = kEnsureKinds;
template <> constexpr unsigned numValues<DeclKind> = kDeclKinds;
template <> constexpr unsigned numValues<OpKind> = kOpKinds;
template <> constexpr unsigned numValues<ElementType> = kElementTypes;
template <> constexpr unsigned numValues<Side> = 2;
template <> constexpr unsigned numValues<BufferRole> = 4;

class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool failed() const { return !error_.empty(); }
  const std::string &error() const { return error_; }
  size_t left() const { return rest_.size(); }

  template <Plain T> void operator()(T &value) {
    constexpr bool isCounted = numValues<T> != 0;
    std::conditional_t<isCounted, uint8_t, T> stored{};
    static_assert(sizeof stored == sizeof value);
    if (!take(&stored, sizeof stored))
      return;
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
    text.resize(size);
    take(text.data(), size);
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

  bool take(void *to, size_t size) {
    if (failed())
      return false;
    if (size > rest_.size()) {
      fail("it ends too early");
      return false;
    }
    if (size)
      std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return true;
  }

  void fail(std::string message) {
    if (error_.empty())
      error_ = std::move(message);
  }

  std::span<const std::byte> rest_;
  std::string error_;
};

} // namespace

std::vector<std::byte> encodeProgram(const Program &program) {
  Writer writer;
  writer(program);
  return std::move(writer.bytes);
}

Result<Program> decodeProgram(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Program program;
  reader(program);
  if (reader.failed())
    return Status::error("program: " + reader.error());
  if (reader.left() != 0)
    return Status::error("program: " + std::to_string(reader.left()) + " bytes behind its end");
  if (Status s = checkProgram(program); !s)
    return s;
  lower(program);
  return program;
}

} // namespace colldsl
