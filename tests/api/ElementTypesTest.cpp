// The types and operators of the headers are those of the table, and run as such.
#include "tests/api/Launcher.h"

#include "ir/SmallFloat.h"
#include "ir/Vocabulary.h"

#include <complex>
#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

#define COLLDSL_TYPE(Name, ...)                                                                    \
  static_assert(COLLDSL_##Name == static_cast<colldsl_type>(ElementType::Name));
#include "ir/Vocabulary.def"

constexpr colldsl_op kOperators[] = {COLLDSL_SUM,  COLLDSL_PROD, COLLDSL_MIN,  COLLDSL_MAX,
                                     COLLDSL_LAND, COLLDSL_LOR,  COLLDSL_LXOR, COLLDSL_BAND,
                                     COLLDSL_BOR,  COLLDSL_BXOR};
constexpr Reduction kReductionsOfCallers[] = {
#define COLLDSL_REDUCTION(Name, ...) Reduction::Name,
#define COLLDSL_STAND_IN(...)
#include "ir/Vocabulary.def"
};
static_assert(std::size(kOperators) == std::size(kReductionsOfCallers));

// The C++ type of a row is the type of elements of memory, unless it is colldsl's own.
template <typename T> constexpr bool isMapped(colldsl_type type) {
  if constexpr (isSmallFloat<T>)
    return true;
  else
    return coll::typeOf<T>() == type;
}
#define COLLDSL_TYPE(Name, spelling, CppType, ...) static_assert(isMapped<CppType>(COLLDSL_##Name));
#include "ir/Vocabulary.def"

static_assert(!coll::Element<bool> && !coll::Element<long double> && !coll::Element<char *> &&
              !coll::Element<std::complex<long double>>);
#ifdef __FLT16_MAX__
static_assert(coll::elementType<coll::detail::Float16> == COLLDSL_F16);
#endif

struct OwnFormat {
  uint16_t bits;
};

} // namespace
} // namespace colldsl::test

template <>
inline constexpr colldsl_type coll::elementType<colldsl::test::OwnFormat> = COLLDSL_BF16;

namespace colldsl::test {
namespace {

TEST(ElementTypes, operatorsAreNumberedAsInTheTable) {
  for (size_t i = 0; i < std::size(kOperators); ++i)
    EXPECT_EQ(static_cast<unsigned>(kOperators[i]), static_cast<unsigned>(kReductionsOfCallers[i]));
}

/// The sum of 1, 2 and 3 in a type that has these numbers.
template <typename T> std::string sumOf(coll::Communicator &comm, colldsl_type type) {
  std::vector<T> in(100, T(static_cast<float>(comm.rank() + 1))), out(100), sum(100, T(6.0f));
  coll::Plan plan(comm, "allreduce");
  coll::check(colldsl_plan_set_type(plan.get(), type));
  plan.count(100);
  coll::check(colldsl_plan_bind_const(plan.get(), "x", in.data(), in.size() * sizeof(T)));
  coll::check(colldsl_plan_bind(plan.get(), "y", out.data(), out.size() * sizeof(T)));
  plan.commit().run(20);
  bool isRight = std::memcmp(out.data(), sum.data(), sum.size() * sizeof(T)) == 0;
  return isRight ? "" : "another sum of type " + std::to_string(type) + "; ";
}

std::string sumsOfAll(coll::Communicator &comm) {
  std::string said;
#define COLLDSL_TYPE(Name, spelling, CppType, ...) said += sumOf<CppType>(comm, COLLDSL_##Name);
#include "ir/Vocabulary.def"
  return said;
}

TEST(ElementTypes, allOfThemRun) { EXPECT_EQ(runRanks(3, sumsOfAll), ""); }

TEST(ElementTypes, aTypeOfTheProgramsOwn) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<OwnFormat> in(10, OwnFormat{0x3f80}), out(10); // 1
                       coll::Plan plan(comm, "allreduce");
                       plan.count(10).input("x", in).bind("y", out).commit().run(20);
                       return out[9].bits == 0x4000 ? "" : "not 2";
                     }),
            "");
}

TEST(ElementTypes, theStandInIsNoOperatorOfCallers) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan plan(comm, "allreduce");
                       auto standIn = static_cast<colldsl_op>(std::size(kOperators));
                       if (colldsl_plan_set_op(plan.get(), "op", standIn) != COLLDSL_ERROR_ARGUMENT)
                         return "taken";
                       return colldsl_last_error();
                     }),
            "rank 0: there is no operator 10\n");
}

} // namespace
} // namespace colldsl::test
