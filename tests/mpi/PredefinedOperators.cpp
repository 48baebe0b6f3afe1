// All operators of MPI on types of C. Numbers are small and whole, so that sums and products have
// one result in any order.
#include "tests/mpi/Operators.h"

#include <algorithm>
#include <complex>
#include <cstring>

namespace conformance {
namespace {

enum class Draw : uint32_t { Small, Factor, Bits, Logical };

struct Row {
  const char *name;
  MPI_Op op;
  MPI_Datatype type;
  size_t bytes;
  Draw draw;
  void (*drawOne)(std::byte *, Draw, Random &);
  void (*foldOne)(const std::byte *, std::byte *);
  /// The bytes that say something: two parts, the second of which may be empty.
  size_t firstEnd, secondBegin, secondEnd;
};

template <typename T> struct FoldedNumber {
  template <typename Function> static void fold(const std::byte *left, std::byte *right) {
    T a, b;
    std::memcpy(&a, left, sizeof a);
    std::memcpy(&b, right, sizeof b);
    b = static_cast<T>(Function()(a, b));
    std::memcpy(right, &b, sizeof b);
  }
};

template <typename T> struct Number : FoldedNumber<T> {
  static void draw(std::byte *at, Draw how, Random &random) {
    T value{};
    if (how == Draw::Bits)
      value = static_cast<T>(random.next());
    else if (how == Draw::Factor)
      value = static_cast<T>(random.oneIn(8) ? 2 : 1);
    else if (how == Draw::Logical)
      value = static_cast<T>(random.below(2) * random.between(1, 100));
    else
      value = static_cast<T>(random.between(0, 15));
    std::memcpy(at, &value, sizeof value);
  }
};

// No power of 2 + i has a part that is 0, whose sign would depend on the order of factors.
template <typename Part> struct Number<std::complex<Part>> : FoldedNumber<std::complex<Part>> {
  static void draw(std::byte *at, Draw how, Random &random) {
    auto part = [&] { return static_cast<Part>(random.between(0, 15)); };
    bool isFactor = random.oneIn(8);
    std::complex<Part> value = how == Draw::Small ? std::complex<Part>(part(), part())
                               : isFactor         ? std::complex<Part>(2, 1)
                                                  : std::complex<Part>(1, 0);
    std::memcpy(at, &value, sizeof value);
  }
};

// MPI's types of a value and where it is.
template <typename T> struct Located {
  T value;
  int place;

  static void draw(std::byte *at, Draw, Random &random) {
    Located one{static_cast<T>(random.between(-2, 2)), random.between(0, 1000)};
    std::memcpy(at, &one.value, sizeof one.value);
    std::memcpy(at + offsetof(Located, place), &one.place, sizeof one.place);
  }

  template <bool kMax> static void fold(const std::byte *left, std::byte *right) {
    Located a{}, b{};
    std::memcpy(&a, left, sizeof a);
    std::memcpy(&b, right, sizeof b);
    bool leftWins = kMax ? a.value > b.value : a.value < b.value;
    if (a.value == b.value)
      b.place = std::min(a.place, b.place);
    else if (leftWins)
      b = a;
    std::memcpy(right, &b, sizeof b);
  }
};

struct Sum {
  template <typename T> auto operator()(T a, T b) { return a + b; }
};
struct Product {
  template <typename T> auto operator()(T a, T b) { return a * b; }
};
struct Least {
  template <typename T> auto operator()(T a, T b) { return std::min(a, b); }
};
struct Most {
  template <typename T> auto operator()(T a, T b) { return std::max(a, b); }
};
struct And {
  template <typename T> auto operator()(T a, T b) { return a && b; }
};
struct Or {
  template <typename T> auto operator()(T a, T b) { return a || b; }
};
struct Xor {
  template <typename T> auto operator()(T a, T b) { return !a != !b; }
};
struct BitAnd {
  template <typename T> auto operator()(T a, T b) { return a & b; }
};
struct BitOr {
  template <typename T> auto operator()(T a, T b) { return a | b; }
};
struct BitXor {
  template <typename T> auto operator()(T a, T b) { return a ^ b; }
};

class Rows {
public:
  Rows() {
    addInteger<signed char>(MPI_SIGNED_CHAR);
    addInteger<unsigned char>(MPI_UNSIGNED_CHAR);
    addInteger<short>(MPI_SHORT);
    addInteger<unsigned short>(MPI_UNSIGNED_SHORT);
    addInteger<int>(MPI_INT);
    addInteger<unsigned>(MPI_UNSIGNED);
    addInteger<long>(MPI_LONG);
    addInteger<unsigned long>(MPI_UNSIGNED_LONG);
    addInteger<int8_t>(MPI_INT8_T);
    addInteger<uint16_t>(MPI_UINT16_T);
    addInteger<int32_t>(MPI_INT32_T);
    addInteger<uint64_t>(MPI_UINT64_T);
    addOrdered<float>(MPI_FLOAT);
    addOrdered<double>(MPI_DOUBLE);
    addOrdered<long double>(MPI_LONG_DOUBLE, 10);
    for (MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX})
      if (type != MPI_DATATYPE_NULL)
        addArithmetic<std::complex<float>>(type);
    for (MPI_Datatype type : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX})
      if (type != MPI_DATATYPE_NULL)
        addArithmetic<std::complex<double>>(type);
    addLogical<bool>(MPI_C_BOOL);
    addBitwise<unsigned char>(MPI_BYTE);
    addLocated<int>(MPI_2INT);
    addLocated<float>(MPI_FLOAT_INT);
    addLocated<double>(MPI_DOUBLE_INT);
    addLocated<long>(MPI_LONG_INT);
    addLocated<short>(MPI_SHORT_INT);
  }

  std::vector<Row> all;

private:
  template <typename T, typename Function>
  void add(const char *name, MPI_Op op, MPI_Datatype type, Draw draw, size_t end = sizeof(T)) {
    all.push_back({name, op, type, sizeof(T), draw, Number<T>::draw,
                   Number<T>::template fold<Function>, end, 0, 0});
  }
  template <typename T> void addArithmetic(MPI_Datatype type, size_t end = sizeof(T)) {
    add<T, Sum>("MPI_SUM", MPI_SUM, type, Draw::Small, end);
    add<T, Product>("MPI_PROD", MPI_PROD, type, Draw::Factor, end);
  }
  template <typename T> void addOrdered(MPI_Datatype type, size_t end = sizeof(T)) {
    addArithmetic<T>(type, end);
    add<T, Least>("MPI_MIN", MPI_MIN, type, Draw::Small, end);
    add<T, Most>("MPI_MAX", MPI_MAX, type, Draw::Small, end);
  }
  template <typename T> void addLogical(MPI_Datatype type) {
    add<T, And>("MPI_LAND", MPI_LAND, type, Draw::Logical);
    add<T, Or>("MPI_LOR", MPI_LOR, type, Draw::Logical);
    add<T, Xor>("MPI_LXOR", MPI_LXOR, type, Draw::Logical);
  }
  template <typename T> void addBitwise(MPI_Datatype type) {
    add<T, BitAnd>("MPI_BAND", MPI_BAND, type, Draw::Bits);
    add<T, BitOr>("MPI_BOR", MPI_BOR, type, Draw::Bits);
    add<T, BitXor>("MPI_BXOR", MPI_BXOR, type, Draw::Bits);
  }
  template <typename T> void addInteger(MPI_Datatype type) {
    addArithmetic<T>(type);
    add<T, Least>("MPI_MIN", MPI_MIN, type, Draw::Bits);
    add<T, Most>("MPI_MAX", MPI_MAX, type, Draw::Bits);
    addLogical<T>(type);
    addBitwise<T>(type);
  }
  template <typename T> void addLocated(MPI_Datatype type) {
    using Pair = Located<T>;
    constexpr size_t place = offsetof(Pair, place);
    all.push_back({"MPI_MINLOC", MPI_MINLOC, type, sizeof(Pair), Draw::Small, Pair::draw,
                   Pair::template fold<false>, sizeof(T), place, place + sizeof(int)});
    all.push_back({"MPI_MAXLOC", MPI_MAXLOC, type, sizeof(Pair), Draw::Small, Pair::draw,
                   Pair::template fold<true>, sizeof(T), place, place + sizeof(int)});
  }
};

class Predefined : public Operator {
public:
  explicit Predefined(const Row &row) : row_(row) {
    char typeName[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(row.type, typeName, &length);
    name = std::string(row.name) + " of " + typeName;
    op = row.op;
    type = Datatype(row.type);
    elementBytes = row.bytes;
  }

  void draw(std::byte *elements, int count, Random &random) const override {
    std::memset(elements, 0, count * row_.bytes);
    for (int i = 0; i < count; ++i)
      row_.drawOne(elements + i * row_.bytes, row_.draw, random);
  }
  void fold(const std::byte *left, std::byte *right, int count) const override {
    for (int i = 0; i < count; ++i)
      row_.foldOne(left + i * row_.bytes, right + i * row_.bytes);
  }
  void put(const std::byte *elements, int count, std::byte *memory) const override {
    if (count > 0)
      std::memcpy(memory, elements, count * row_.bytes);
  }
  bool isPadding(size_t offset) const override {
    return offset >= row_.firstEnd && (offset < row_.secondBegin || offset >= row_.secondEnd);
  }

private:
  const Row &row_;
};

} // namespace

std::unique_ptr<Operator> makePredefined(Random &shared) {
  static const Rows rows;
  return std::make_unique<Predefined>(shared.oneOf(rows.all));
}

} // namespace conformance
