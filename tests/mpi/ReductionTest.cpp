// What plans combine with, compared bit by bit with MPI_Reduce_local.
//
// Deliberate differences, where an MPI is wrong and the oracle is C's arithmetic (mpiIsWrong()):
// MPICH 4.0.2 takes maxima and minima of unsigned integers as if they were signed, Open MPI 4.1.4
// those of MPI_UNSIGNED_LONG likewise, and those of MPI_OFFSET as if they were unsigned; with
// AVX it lets sums of integers of 8 and 16 bits stop at the largest value. Real numbers of 16
// bytes in Fortran (MPI_REAL16, MPI_COMPLEX32) are long doubles to Open MPI and bytes to MPICH.
// MPICH 4.0.2 ends the program where it combines MPIX_C_FLOAT16.
// Not compared: what becomes of NaNs, and of logical values other than 0 and 1.
#include "ir/SmallFloat.h"
#include "mpi/Mpi.h"
#include "mpi/types/Reductions.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace colldsl::mpi::test {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

__extension__ using Quad = __float128;

/// Bytes [first, second) of an element that mean something.
using Ranges = std::vector<std::pair<size_t, size_t>>;

struct TypeCase {
  const char *name;
  MPI_Datatype type;
  char group; ///< c, f, r, l, x, b, m, p: as OpCase::allowed has them
  std::function<void(Random &, std::byte *)> fill;
  Ranges values;
  /// inout = in op inout, for maxima, minima, sums and products of numbers.
  std::function<void(MPI_Op, const std::byte *, std::byte *)> oracle;
};

template <typename T> constexpr size_t kValueBytes = sizeof(T);
template <> constexpr size_t kValueBytes<long double> = 10;

template <typename T> T randomValue(Random &random) {
  if (random() % 6 == 0)
    return T(0);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random());
  else
    return T(static_cast<int64_t>(random() % 2000001) - 1000000) / T(random() % 97 + 1);
}

#ifdef __FLT16_MAX__
__extension__ using Half = _Float16;
template <> Half randomValue<Half>(Random &random) {
  return Half(static_cast<int>(random() % 2001) - 1000) / Half(static_cast<int>(random() % 97) + 1);
}
#endif

template <typename T> void put(std::byte *to, T value) { std::memcpy(to, &value, kValueBytes<T>); }

template <typename T> T computed(MPI_Op op, T a, T b) {
  if (op == MPI_MAX || op == MPI_MIN)
    return (op == MPI_MAX) == (a > b) ? a : b;
  if constexpr (std::is_integral_v<T>) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(op == MPI_SUM ? x + y : x * y);
  } else {
    return op == MPI_SUM ? a + b : a * b;
  }
}

template <typename T>
void computeNumbers(MPI_Op op, const std::byte *in, std::byte *inout, size_t count) {
  std::array<T, 2> a{}, b{};
  std::memcpy(a.data(), in, count * sizeof(T));
  std::memcpy(b.data(), inout, count * sizeof(T));
  std::array<T, 2> result{computed(op, a[0], b[0]), computed(op, a[1], b[1])};
  if (count == 2 && op == MPI_PROD)
    result = {static_cast<T>(a[0] * b[0] - a[1] * b[1]), static_cast<T>(a[0] * b[1] + a[1] * b[0])};
  std::memcpy(inout, result.data(), count * sizeof(T));
}

/// So many numbers, one behind the other.
template <typename T>
TypeCase numbers(const char *name, MPI_Datatype type, char group, size_t count = 1) {
  Ranges values;
  for (size_t i = 0; i < count; ++i)
    values.push_back({i * sizeof(T), i * sizeof(T) + kValueBytes<T>});
  auto fill = [count](Random &random, std::byte *to) {
    for (size_t i = 0; i < count; ++i)
      put(to + i * sizeof(T), randomValue<T>(random));
  };
  auto oracle = [count](MPI_Op op, const std::byte *in, std::byte *inout) {
    computeNumbers<T>(op, in, inout, count);
  };
  return {name, type, group, fill, values, oracle};
}

TypeCase logical(const char *name, MPI_Datatype type, size_t bytes) {
  auto fill = [bytes](Random &random, std::byte *to) {
    std::memset(to, 0, bytes);
    to[0] = static_cast<std::byte>(random() % 2);
  };
  return {name, type, 'l', fill, {{0, bytes}}, {}};
}

/// Few values, so that many are equal.
template <typename Value, typename Index> TypeCase pairs(const char *name, MPI_Datatype type) {
  struct Both {
    Value value;
    Index index;
  };
  constexpr size_t at = offsetof(Both, index);
  auto fill = [](Random &random, std::byte *to) {
    put(to, static_cast<Value>(static_cast<int>(random() % 7) - 3));
    put(to + at, static_cast<Index>(random() % 5));
  };
  return {name, type, 'p', fill, {{0, kValueBytes<Value>}, {at, at + sizeof(Index)}}, {}};
}

/// 0: there is no such type, or it is a name without one.
int sizeOf(MPI_Datatype type) {
  int bytes = 0;
  return type != MPI_DATATYPE_NULL && MPI_Type_size(type, &bytes) == MPI_SUCCESS ? bytes : 0;
}

#define NUMBERS(T, group, type) numbers<T>(#type, type, group)
#define COMPLEX(T, type) numbers<T>(#type, type, 'x', 2)

std::vector<TypeCase> typeCases() {
  std::vector<TypeCase> cases = {
      NUMBERS(signed char, 'c', MPI_SIGNED_CHAR),
      NUMBERS(unsigned char, 'c', MPI_UNSIGNED_CHAR),
      NUMBERS(signed char, 'c', MPI_CHAR), // text to the standard, numbers to all MPIs
      NUMBERS(short, 'c', MPI_SHORT),
      NUMBERS(unsigned short, 'c', MPI_UNSIGNED_SHORT),
      NUMBERS(int, 'c', MPI_INT),
      NUMBERS(unsigned, 'c', MPI_UNSIGNED),
      NUMBERS(long, 'c', MPI_LONG),
      NUMBERS(unsigned long, 'c', MPI_UNSIGNED_LONG),
      NUMBERS(long long, 'c', MPI_LONG_LONG_INT),
      NUMBERS(unsigned long long, 'c', MPI_UNSIGNED_LONG_LONG),
      NUMBERS(int8_t, 'c', MPI_INT8_T),
      NUMBERS(int16_t, 'c', MPI_INT16_T),
      NUMBERS(int32_t, 'c', MPI_INT32_T),
      NUMBERS(int64_t, 'c', MPI_INT64_T),
      NUMBERS(uint8_t, 'c', MPI_UINT8_T),
      NUMBERS(uint16_t, 'c', MPI_UINT16_T),
      NUMBERS(uint32_t, 'c', MPI_UINT32_T),
      NUMBERS(uint64_t, 'c', MPI_UINT64_T),
      NUMBERS(int32_t, 'f', MPI_INTEGER),
      NUMBERS(int8_t, 'f', MPI_INTEGER1),
      NUMBERS(int16_t, 'f', MPI_INTEGER2),
      NUMBERS(int32_t, 'f', MPI_INTEGER4),
      NUMBERS(int64_t, 'f', MPI_INTEGER8),
      NUMBERS(MPI_Aint, 'm', MPI_AINT),
      NUMBERS(MPI_Offset, 'm', MPI_OFFSET),
      NUMBERS(MPI_Count, 'm', MPI_COUNT),
      NUMBERS(float, 'r', MPI_FLOAT),
      NUMBERS(double, 'r', MPI_DOUBLE),
      NUMBERS(long double, 'r', MPI_LONG_DOUBLE),
      NUMBERS(float, 'r', MPI_REAL),
      NUMBERS(double, 'r', MPI_DOUBLE_PRECISION),
      NUMBERS(float, 'r', MPI_REAL4),
      NUMBERS(double, 'r', MPI_REAL8),
      NUMBERS(Quad, 'r', MPI_REAL16),
      COMPLEX(float, MPI_C_FLOAT_COMPLEX),
      COMPLEX(double, MPI_C_DOUBLE_COMPLEX),
      COMPLEX(long double, MPI_C_LONG_DOUBLE_COMPLEX),
      COMPLEX(float, MPI_CXX_FLOAT_COMPLEX),
      COMPLEX(double, MPI_CXX_DOUBLE_COMPLEX),
      COMPLEX(long double, MPI_CXX_LONG_DOUBLE_COMPLEX),
      COMPLEX(float, MPI_COMPLEX),
      COMPLEX(double, MPI_DOUBLE_COMPLEX),
      COMPLEX(float, MPI_COMPLEX8),
      COMPLEX(double, MPI_COMPLEX16),
      logical("MPI_C_BOOL", MPI_C_BOOL, 1),
      logical("MPI_CXX_BOOL", MPI_CXX_BOOL, 1),
      logical("MPI_LOGICAL", MPI_LOGICAL, 4),
      NUMBERS(unsigned char, 'b', MPI_BYTE),
      pairs<float, int>("MPI_FLOAT_INT", MPI_FLOAT_INT),
      pairs<double, int>("MPI_DOUBLE_INT", MPI_DOUBLE_INT),
      pairs<long, int>("MPI_LONG_INT", MPI_LONG_INT),
      pairs<short, int>("MPI_SHORT_INT", MPI_SHORT_INT),
      pairs<int, int>("MPI_2INT", MPI_2INT),
      pairs<long double, int>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT),
      pairs<float, float>("MPI_2REAL", MPI_2REAL),
      pairs<double, double>("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION),
      pairs<int, int>("MPI_2INTEGER", MPI_2INTEGER),
      NUMBERS(wchar_t, '-', MPI_WCHAR),
      NUMBERS(char, '-', MPI_PACKED),
  };
#ifdef OPEN_MPI
  cases.push_back(NUMBERS(unsigned char, 'c', MPI_CHARACTER));
  cases.push_back(COMPLEX(Quad, MPI_COMPLEX32));
  cases.push_back(logical("MPI_LOGICAL1", MPI_LOGICAL1, 1));
  cases.push_back(logical("MPI_LOGICAL2", MPI_LOGICAL2, 2));
  cases.push_back(logical("MPI_LOGICAL4", MPI_LOGICAL4, 4));
  cases.push_back(logical("MPI_LOGICAL8", MPI_LOGICAL8, 8));
#else
  cases.push_back(NUMBERS(signed char, 'c', MPI_CHARACTER));
#endif
#ifdef __FLT16_MAX__
  for (const TypeCase &half : {NUMBERS(Half, 'r', MPI_REAL2), NUMBERS(Half, 'r', MPIX_C_FLOAT16)})
    if (sizeOf(half.type) == sizeof(Half))
      cases.push_back(half);
#endif
  if (sizeOf(MPIX_BFLOAT16) == sizeof(BFloat16))
    cases.push_back({"MPIX_BFLOAT16",
                     MPIX_BFLOAT16,
                     'r',
                     [](Random &random, std::byte *to) {
                       put(to, BFloat16(static_cast<float>(random() % 2001) - 1000));
                     },
                     {{0, sizeof(BFloat16)}},
                     {}});
  auto parameterized = [&](const char *name, TypeCase like, auto make, auto... arguments) {
    ASSERT_EQ(make(arguments..., &like.type), MPI_SUCCESS);
    like.name = name;
    cases.push_back(like);
  };
  parameterized("real(6, 30)", NUMBERS(float, 'r', MPI_REAL), MPI_Type_create_f90_real, 6, 30);
  parameterized("real(15, 300)", NUMBERS(double, 'r', MPI_REAL), MPI_Type_create_f90_real, 15, 300);
  parameterized("complex(15, 300)", COMPLEX(double, MPI_REAL), MPI_Type_create_f90_complex, 15,
                300);
  parameterized("integer(4)", NUMBERS(int16_t, 'f', MPI_REAL), MPI_Type_create_f90_integer, 4);
  parameterized("integer(18)", NUMBERS(int64_t, 'f', MPI_REAL), MPI_Type_create_f90_integer, 18);
  return cases;
}

/// MPI-3.1, section 5.9.2: C integers, Fortran integers, real, logical, complex, byte, types of
/// several languages; and pairs.
struct OpCase {
  const char *name;
  MPI_Op op;
  std::string_view allowed;
};

std::vector<OpCase> opCases() {
  return {{"max", MPI_MAX, "cfrm"},    {"min", MPI_MIN, "cfrm"},    {"sum", MPI_SUM, "cfrxm"},
          {"prod", MPI_PROD, "cfrxm"}, {"land", MPI_LAND, "cl"},    {"band", MPI_BAND, "cfbm"},
          {"lor", MPI_LOR, "cl"},      {"bor", MPI_BOR, "cfbm"},    {"lxor", MPI_LXOR, "cl"},
          {"bxor", MPI_BXOR, "cfbm"},  {"minloc", MPI_MINLOC, "p"}, {"maxloc", MPI_MAXLOC, "p"}};
}

Bytes array(Random &random, const TypeCase &type, size_t extent, int count) {
  Bytes bytes(extent * count, std::byte{0x5a});
  for (int i = 0; i < count; ++i)
    type.fill(random, &bytes[i * extent]);
  return bytes;
}

/// Where they differ in what means something; count: nowhere.
int firstDifference(const TypeCase &type, const Bytes &a, const Bytes &b, size_t extent) {
  for (size_t i = 0; i * extent < a.size(); ++i)
    for (auto [first, last] : type.values)
      if (std::memcmp(&a[i * extent + first], &b[i * extent + first], last - first) != 0)
        return static_cast<int>(i);
  return static_cast<int>(a.size() / extent);
}

bool mpiIsWrong(MPI_Op op, const TypeCase &type, size_t extent) {
  bool isExtreme = op == MPI_MAX || op == MPI_MIN;
#ifdef OPEN_MPI
  bool isNarrow = extent <= 2 && type.group != 'x';
  if (isExtreme && (type.type == MPI_UNSIGNED_LONG || type.type == MPI_OFFSET))
    return true;
  return (op == MPI_SUM && isNarrow) || type.type == MPI_REAL16 || type.type == MPI_COMPLEX32;
#else
  bool isUnsigned = std::string_view(type.name).substr(0, 8) == "MPI_UINT" ||
                    std::string_view(type.name).substr(0, 12) == "MPI_UNSIGNED";
  bool isHalf = COLLDSL_MPICH < 40200 && type.type == MPIX_C_FLOAT16;
  return (isExtreme && isUnsigned) || type.type == MPI_REAL16 || isHalf;
#endif
}

/// What a plan makes of arrays of the program: combines their packed elements, in place or with the
/// result elsewhere.
Bytes combined(Reduction &reduction, MPI_Datatype type, const Bytes &target, const Bytes &source,
               Side side, bool isElsewhere) {
  const TypeLayout &layout = *knownLayoutOf(type);
  Combiner combiner = reduction.combiner();
  EXPECT_EQ(combiner.elementBytes, layout.size);
  Bytes result = target, own(target.size() / layout.extent * layout.size), other(own.size());
  pack(layout, target.data(), 0, own.size(), own.data());
  pack(layout, source.data(), 0, own.size(), other.data());
  Bytes elsewhere(own.size());
  std::byte *to = isElsewhere ? elsewhere.data() : own.data();
  combiner.apply(to, own.data(), other.data(), own.size(), side, combiner.context);
  unpack(layout, result.data(), 0, own.size(), to);
  return result;
}

void expectAsMpi(const OpCase &op, const TypeCase &type, Reduction &reduction) {
  constexpr int kCount = 999;
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(type.type, &lb, &extent);
  Random random(7);
  Bytes left = array(random, type, extent, kCount), right = array(random, type, extent, kCount);
  Bytes wanted = right;
  if (mpiIsWrong(op.op, type, extent))
    for (size_t at = 0; at < left.size(); at += extent)
      type.oracle(op.op, &left[at], &wanted[at]);
  else
    ASSERT_EQ(MPI_Reduce_local(left.data(), wanted.data(), kCount, type.type, op.op), MPI_SUCCESS);
  for (bool isElsewhere : {false, true}) {
    Bytes before = combined(reduction, type.type, right, left, Side::Before, isElsewhere);
    Bytes after = combined(reduction, type.type, left, right, Side::After, isElsewhere);
    EXPECT_EQ(firstDifference(type, before, wanted, extent), kCount) << "before";
    EXPECT_EQ(firstDifference(type, after, wanted, extent), kCount) << "after";
  }
}

TEST(Reductions, OperatorsOfMpiAreAsMpiDoesThem) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int served = 0;
  for (const TypeCase &type : typeCases())
    for (const OpCase &op : opCases()) {
      SCOPED_TRACE(std::string(op.name) + " of " + type.name);
      std::unique_ptr<Reduction> reduction = Reduction::of(op.op, type.type);
      ASSERT_EQ(reduction != nullptr, op.allowed.find(type.group) != op.allowed.npos);
      if (!reduction)
        continue;
      EXPECT_TRUE(reduction->commutes());
      EXPECT_FALSE(reduction->isUsers());
      expectAsMpi(op, type, *reduction);
      ++served;
    }
  EXPECT_GT(served, 300);
}

TEST(Reductions, TypesOfTheTableHaveTheSizesOfMpi) {
  int compared = 0;
  auto compare = [&](std::string_view name, size_t bytes,
                     std::initializer_list<MPI_Datatype> types) {
    for (MPI_Datatype type : types)
      if (int size = sizeOf(type); size != 0) {
        EXPECT_EQ(static_cast<size_t>(size), bytes) << name;
        ++compared;
      }
  };
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, numpy, dlpack, meaning, ...)             \
  compare(spelling, sizeof(CppType), {__VA_ARGS__});
#include "ir/Vocabulary.def"
  EXPECT_GE(compared, 27);
}

TEST(Reductions, ComplexNumbersHaveNoOrder) {
  for (MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX}) {
    for (MPI_Op op : {MPI_SUM, MPI_PROD})
      EXPECT_NE(Reduction::of(op, type), nullptr);
    for (MPI_Op op : {MPI_MAX, MPI_MIN, MPI_LAND, MPI_BOR, MPI_MAXLOC})
      EXPECT_EQ(Reduction::of(op, type), nullptr);
  }
}

TEST(Reductions, ElementsWithGapsArePacked) {
  auto isPacked = [](MPI_Op op, MPI_Datatype type) { return Reduction::of(op, type)->isPacked(); };
  EXPECT_TRUE(isPacked(MPI_MINLOC, MPI_SHORT_INT));
  EXPECT_TRUE(isPacked(MPI_MAXLOC, MPI_DOUBLE_INT));
  EXPECT_FALSE(isPacked(MPI_MAXLOC, MPI_2INT));
  EXPECT_FALSE(isPacked(MPI_SUM, MPI_C_DOUBLE_COMPLEX));
}

TEST(Reductions, OperatorsOfMpiDoNotServeDerivedTypes) {
  MPI_Datatype two, same;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_dup(MPI_INT, &same);
  EXPECT_EQ(Reduction::of(MPI_SUM, two), nullptr);
  EXPECT_EQ(Reduction::of(MPI_SUM, same), nullptr);
  EXPECT_EQ(Reduction::of(MPI_SUM, MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(Reduction::of(MPI_REPLACE, MPI_INT), nullptr);
  EXPECT_EQ(Reduction::of(MPI_NO_OP, MPI_INT), nullptr);
  EXPECT_EQ(Reduction::of(MPI_OP_NULL, MPI_INT), nullptr);
  MPI_Type_free(&two);
  MPI_Type_free(&same);
}

// Users' operators: 2x2 matrices of unsigned, the entries at `places` ints from the address.

using Places = std::array<MPI_Aint, 4>;
Places places;
MPI_Aint stride; ///< ints from one element to the next

/// What the function was given.
MPI_Datatype given;
int mostGiven;
bool isAligned;

std::array<unsigned, 4> product(const std::array<unsigned, 4> &x,
                                const std::array<unsigned, 4> &y) {
  return {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2],
          x[2] * y[1] + x[3] * y[3]};
}

void multiply(void *in, void *inout, int *count, MPI_Datatype *type) {
  given = *type;
  mostGiven = std::max(mostGiven, *count);
  for (void *array : {in, inout})
    isAligned &= reinterpret_cast<uintptr_t>(array) % alignof(std::max_align_t) == 0;
  auto at = [](void *array, int i, int k) {
    return reinterpret_cast<unsigned *>(reinterpret_cast<intptr_t>(array) +
                                        4 * (i * stride + places[k]));
  };
  for (int i = 0; i < *count; ++i) {
    std::array<unsigned, 4> x, y;
    for (int k = 0; k < 4; ++k)
      x[k] = *at(in, i, k), y[k] = *at(inout, i, k);
    std::array<unsigned, 4> made = product(x, y);
    for (int k = 0; k < 4; ++k)
      *at(inout, i, k) = made[k];
  }
}

struct UserType {
  UserType(Places at, MPI_Aint first, MPI_Aint ints) {
    places = at;
    stride = ints;
    MPI_Datatype entries;
    for (MPI_Aint &place : at)
      place *= 4;
    MPI_Type_create_hindexed_block(4, 1, at.data(), MPI_UNSIGNED, &entries);
    MPI_Type_create_resized(entries, first * 4, ints * 4, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&entries);
  }
  ~UserType() { MPI_Type_free(&type); }
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

struct UserOp {
  explicit UserOp(bool commutes) { MPI_Op_create(multiply, commutes, &op); }
  ~UserOp() { MPI_Op_free(&op); }
  MPI_Op op = MPI_OP_NULL;
};

enum class Form { Dense, Packed, OneByOne };

/// Both sides, on more elements than are unpacked at once.
void expectMultiplies(const UserType &type, MPI_Op op, Form form) {
  using Matrices = std::vector<std::array<unsigned, 4>>;
  std::unique_ptr<Reduction> reduction = Reduction::of(op, type.type);
  ASSERT_NE(reduction, nullptr);
  EXPECT_TRUE(reduction->isUsers());
  EXPECT_EQ(reduction->isPacked(), form != Form::Dense);
  Combiner combiner = reduction->combiner();
  ASSERT_EQ(combiner.elementBytes, sizeof(Matrices::value_type));
  Matrices left(20001), right(left.size()), wanted(left.size());
  Random random(3);
  for (size_t i = 0; i < left.size(); ++i) {
    for (int k = 0; k < 4; ++k)
      left[i][k] = random(), right[i][k] = random();
    wanted[i] = product(left[i], right[i]);
  }
  auto apply = [&](Matrices target, const Matrices &source, Side side, bool isElsewhere) {
    Matrices elsewhere(target.size());
    Matrices &result = isElsewhere ? elsewhere : target;
    given = MPI_DATATYPE_NULL;
    mostGiven = 0;
    isAligned = true;
    combiner.apply(reinterpret_cast<std::byte *>(result.data()),
                   reinterpret_cast<const std::byte *>(target.data()),
                   reinterpret_cast<const std::byte *>(source.data()), source.size() * 16, side,
                   combiner.context);
    EXPECT_EQ(given, type.type);
    EXPECT_EQ(mostGiven > 1, form != Form::OneByOne);
    EXPECT_TRUE(isAligned);
    return result;
  };
  for (bool isElsewhere : {false, true}) {
    EXPECT_TRUE(apply(right, left, Side::Before, isElsewhere) == wanted) << "before";
    EXPECT_TRUE(apply(left, right, Side::After, isElsewhere) == wanted) << "after";
  }
}

TEST(Reductions, UsersOperatorsOnTypesOfAnyShape) {
  constexpr MPI_Aint kFar = MPI_Aint{1} << 44;
  struct {
    const char *name;
    Places places;
    MPI_Aint first, ints;
    Form form;
  } shapes[] = {
      {"dense", {0, 1, 2, 3}, 0, 4, Form::Dense},
      {"data before the lower bound, dense", {0, 1, 2, 3}, 1, 4, Form::Dense},
      {"gaps", {6, 1, 2, 4}, 0, 7, Form::Packed},
      {"another order", {3, 2, 1, 0}, 0, 4, Form::Packed},
      {"behind the address", {3, 4, 5, 7}, 3, 5, Form::Packed},
      {"around the address", {-3, -2, 0, 1}, -4, 6, Form::Packed},
      {"misaligned", {3, 4, 5, 6}, 3, 4, Form::Packed},
      {"data before the lower bound", {-2, -1, 0, 1}, 0, 4, Form::Packed},
      {"far away", {kFar + 1, kFar + 2, kFar + 3, kFar + 5}, kFar, 6, Form::Packed},
      {"longer than a chunk", {0, 100, 20000, 29999}, 0, 30001, Form::OneByOne},
      {"far apart", {0, 1, 2, 3}, 0, 1 << 25, Form::OneByOne},
      {"longer than the extent", {0, 1, 2, 3}, 0, 3, Form::OneByOne},
      {"interleaved", {0, 3, 6, 9}, 0, 1, Form::OneByOne},
      {"at one place", {0, 1, 2, 3}, 0, 0, Form::OneByOne},
      {"backwards", {0, 1, 2, 3}, 0, -4, Form::OneByOne},
  };
  for (bool commutes : {true, false}) {
    UserOp op(commutes);
    EXPECT_EQ(Reduction::of(op.op, MPI_INT)->commutes(), commutes);
    for (const auto &shape : shapes) {
      SCOPED_TRACE(shape.name);
      expectMultiplies(UserType(shape.places, shape.first, shape.ints), op.op, shape.form);
    }
  }
}

TEST(Reductions, HoldTheTypesThatTheProgramMayFree) {
  UserOp op(true);
  UserType type({0, 1, 2, 3}, 0, 4);
  EXPECT_EQ(Reduction::of(op.op, type.type)->heldType(), type.type);
  EXPECT_EQ(Reduction::of(op.op, MPI_INT)->heldType(), MPI_DATATYPE_NULL);
  EXPECT_EQ(Reduction::of(MPI_SUM, MPI_INT)->heldType(), MPI_DATATYPE_NULL);
}

TEST(Reductions, NothingAndLargeElementsAreNotServed) {
  UserOp op(true);
  EXPECT_EQ(Reduction::of(op.op, UserType({0, 1, 2, 1 << 24}, 0, 4).type), nullptr);
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  EXPECT_EQ(Reduction::of(op.op, nothing), nullptr);
  MPI_Type_free(&nothing);
}

} // namespace
} // namespace colldsl::mpi::test
