// Functions of programs that schedules from files serve, by their contracts.

#include "formats/ServedFunction.h"
#include "ir/TextForm.h"
#include "tests/ir/DescribeErrors.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using msccl::Collective;

constexpr const char *kBuffers = "in x: i32[n]\nout y: i32[n]\n";

/// Two ranks with these buffers and promises, and without ops; rank 1 has the others, if any.
Schedule pairOf(const std::string &promise, const std::string &buffers = kBuffers,
                const std::string &other = "", const std::string &head = "contract",
                const std::string &otherBuffers = "") {
  std::string text = "schedule \"pair\" " + head + "\nnum_ranks 2\nsize n = 12 in 0..\n";
  for (int r = 0; r < 2; ++r)
    text += "rank " + std::to_string(r) + " {\n" +
            (r == 0 || otherBuffers.empty() ? buffers : otherBuffers) +
            (r == 0 || other.empty() ? promise : other) + "\n}\n";
  ParsedText parsed = parseText(text, "test");
  EXPECT_EQ(describeErrors(parsed.errors, "test"), "");
  return parsed.schedule;
}

/// "allreduce, in place, 4": the function and its unit.
std::string functionOf(const Schedule &schedule) {
  Result<ServedFunction> served = servedFunction(schedule);
  if (!served)
    return served.message();
  return std::string(spelling(served->collective)) + (served->inPlace ? ", in place, " : ", ") +
         std::to_string(served->unit);
}

constexpr const char *kSums = "ensures y == sum(x@0, x@1)";

TEST(ServedFunction, IsThatOfTheContract) {
  EXPECT_EQ(functionOf(pairOf(kSums)), "allreduce, 1");
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[n] aliases y\nout y: i32[n]\n")),
            "allreduce, in place, 1");
  EXPECT_EQ(functionOf(pairOf("ensures y[0..n] == x@0\nensures y[n..2n] == x@1",
                              "in x: i32[n]\nout y: i32[2n]\n")),
            "allgather, 1");
  std::string larger = "in x: i32[2n]\nout y: i32[n]\n";
  EXPECT_EQ(functionOf(pairOf("ensures y == sum(x[0..n]@0, x[0..n]@1)", larger,
                              "ensures y == sum(x[n..2n]@0, x[n..2n]@1)")),
            "reduce_scatter, 1");
  EXPECT_EQ(functionOf(pairOf("ensures y[0..n] == x[0..n]@0\nensures y[n..2n] == x[0..n]@1",
                              "in x: i32[2n]\nout y: i32[2n]\n",
                              "ensures y[0..n] == x[n..2n]@0\nensures y[n..2n] == x[n..2n]@1")),
            "alltoall, 1");
}

// n counts the elements of a chunk in algorithms of MSCCL, and those of a block in calls.
TEST(ServedFunction, CountsInUnits) {
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[6n]\nout y: i32[6n]\n")), "allreduce, 6");
  EXPECT_EQ(functionOf(pairOf("ensures y[0..3n] == x@0\nensures y[3n..6n] == x@1",
                              "in x: i32[3n]\nout y: i32[6n]\n")),
            "allgather, 3");
  EXPECT_EQ(functionOf(pairOf("ensures y == sum(x[0..2n]@0, x[0..2n]@1)",
                              "in x: i32[4n]\nout y: i32[2n]\n",
                              "ensures y == sum(x[2n..4n]@0, x[2n..4n]@1)")),
            "reduce_scatter, 2");
  EXPECT_EQ(functionOf(pairOf("ensures y[0..2n] == x[0..2n]@0\nensures y[2n..4n] == x[0..2n]@1",
                              "in x: i32[4n]\nout y: i32[4n]\n",
                              "ensures y[0..2n] == x[2n..4n]@0\nensures y[2n..4n] == x[2n..4n]@1")),
            "alltoall, 2");
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[n/2]\nout y: i32[n/2]\n")),
            "'x' has no multiple of n elements");
}

TEST(ServedFunction, IsNoneOfOtherContracts) {
  EXPECT_EQ(functionOf(pairOf("", kBuffers, "", "")), "it has no contract");
  std::string other =
      "; calls are served by allreduce and reduce_scatter, with sums, allgather and "
      "alltoall";
  EXPECT_EQ(functionOf(pairOf("ensures y == max(x@0, x@1)")),
            "its contract is that of a custom collective" + other);
  EXPECT_EQ(functionOf(pairOf("ensures y == x@0")),
            "its contract is that of a broadcast collective" + other);
  EXPECT_EQ(functionOf(pairOf("ensures y[0..n/2] == sum(x[0..n/2]@0, x[0..n/2]@1)")),
            "its contract is that of a custom collective" + other);
  EXPECT_EQ(functionOf(pairOf("ensures y == sum(x[0..n]@0, x[0..n]@1)",
                              "inout x: i32[2n]\nout y: i32[n] aliases x[0..n]\n",
                              "ensures y == sum(x[n..2n]@0, x[n..2n]@1)")),
            "rank 0: 'x' is an input that the schedule writes, and calls keep theirs");
}

TEST(ServedFunction, HasItsInputWhereCallsInPlaceHaveIt) {
  std::string gathers = "ensures y[0..n] == x@0\nensures y[n..2n] == x@1";
  auto buffersOf = [](const std::string &part) {
    return "in x: i32[n] aliases y[" + part + "]\nout y: i32[2n]\n";
  };
  std::string own = buffersOf("0..n"), other = buffersOf("n..2n");
  EXPECT_EQ(functionOf(pairOf(gathers, own, gathers, "contract", other)), "allgather, in place, 1");
  EXPECT_EQ(functionOf(pairOf(gathers, own)),
            "rank 1: 'x' does not lie in 'y' as it does in calls in place");
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[n]\nout y: i32[n] aliases x\n")),
            "rank 0: 'x' does not lie in 'y' as it does in calls in place");
}

// Promises of fixed positions are those of the function at one n alone.
TEST(ServedFunction, IsThatForEachSize) {
  EXPECT_EQ(functionOf(pairOf("ensures y[0..12] == sum(x[0..12]@0, x[0..12]@1)")),
            "some of its positions are no fractions of n");
}

TEST(ServedFunction, NeedsOneInputAndOneOutputOfOneType) {
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[n]\nin z: i32[n]\nout y: i32[n]\n")),
            "rank 0 has not one input and one output");
  EXPECT_EQ(functionOf(pairOf("ensures y == sum(x@0, x@1)", "out y: i32[n]\nin x: i32[n]\n")),
            "rank 0 has not one input and one output");
  EXPECT_EQ(functionOf(pairOf("ensures x == sum(x@0, x@1)", "inout x: i32[n]\n")),
            "rank 0 has not one input and one output");
  EXPECT_EQ(functionOf(pairOf(kSums, std::string(kBuffers) + "temp t: u8[4n]\n")),
            "rank 0: 't' has elements of u8, the input of rank 0 has i32");
  EXPECT_EQ(functionOf(pairOf(kSums, "in x: i32[n] insignificant\nout y: i32[n]\n")),
            "rank 0: 'x' has blocks of their own lengths, or is of no significance");
}

} // namespace
} // namespace colldsl
