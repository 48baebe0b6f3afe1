#include "ir/Dag.h"
#include "ir/Index32.h"
#include "ir/Vocabulary.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <set>

namespace colldsl {
namespace {

TEST(Index32, RefusesWhat32BitsDoNotHold) {
  EXPECT_EQ(index32(0), 0u);
  EXPECT_EQ(index32(UINT32_MAX), UINT32_MAX);
  EXPECT_THROW(index32(size_t{UINT32_MAX} + 1), std::length_error);
  EXPECT_THROW(index32(SIZE_MAX), std::length_error);
}

Slice elements(BufferId buffer, int64_t begin, int64_t end) {
  return {0, begin, 0, end, 1, buffer, kNoBlock, 0};
}

TEST(Dag, AddKeepsListsPerOp) {
  Dag dag;
  Buffer buffer;
  buffer.endOffset = 100;
  BufferId b = dag.addBuffer(buffer);
  Slice read[] = {elements(b, 0, 10), elements(b, 20, 25)};
  Slice written = elements(b, 50, 65);
  Op copy;
  copy.kind = OpKind::Copy;
  copy.sourceBegin = 77; // is ignored
  copy.depCount = 5;
  OpId first = dag.add(copy, read, {&written, 1}, {});
  Dep deps[] = {{first, DepKind::IRequires}, {first, DepKind::Requires}};
  OpId second = dag.add(copy, {&written, 1}, {}, deps);

  EXPECT_EQ(dag.size(), 2u);
  EXPECT_EQ(index(second), 1u);
  EXPECT_TRUE(std::ranges::equal(dag.sources(dag.op(first)), read));
  EXPECT_EQ(dag.targets(dag.op(first))[0], written);
  EXPECT_TRUE(dag.depsOf(dag.op(first)).empty());
  EXPECT_EQ(dag.sources(dag.op(second))[0], written);
  EXPECT_TRUE(dag.targets(dag.op(second)).empty());
  EXPECT_TRUE(std::ranges::equal(dag.depsOf(dag.op(second)), deps));
  EXPECT_EQ(&dag.bufferOf(written), &dag.buffers[0]);
}

#ifndef NDEBUG
TEST(DagDeathTest, AddTakesOlderOpsOnly) {
  Dag dag;
  Dep self[] = {{OpId{0}}};
  EXPECT_DEATH(dag.add(Op(), {}, {}, self), "older op");
}
#endif

TEST(Dag, PayloadIsTheBytesThatTravel) {
  Dag dag;
  Buffer buffer;
  buffer.endScale = 4;
  buffer.type = ElementType::F64;
  BufferId b = dag.addBuffer(buffer);
  Slice list[] = {elements(b, 0, 3), {1, 0, 2, 0, 1, b, kNoBlock, 0}};
  Sizes sizes;
  sizes.elements = 10;
  auto bytes = [&](OpKind kind, std::span<const Slice> sources, std::span<const Slice> targets) {
    Op op;
    op.kind = kind;
    op.amount = 1234;
    return payloadBytes(dag, dag.op(dag.add(op, sources, targets, {})), sizes);
  };
  EXPECT_EQ(bytes(OpKind::Send, list, {}), 13u * 8);
  EXPECT_EQ(bytes(OpKind::Recv, {}, list), 13u * 8);
  EXPECT_EQ(bytes(OpKind::Combine, {}, list), 13u * 8);
  EXPECT_EQ(bytes(OpKind::Send, {}, {}), 1234u);
  EXPECT_EQ(bytes(OpKind::Calc, {}, {}), 0u);
  EXPECT_EQ(bytes(OpKind::Signal, {}, {}), 0u);
  EXPECT_EQ(bytes(OpKind::Wait, {}, {}), 0u);
}

TEST(Dag, ClearEmptiesAll) {
  Dag dag;
  dag.addBuffer({});
  OpId op = dag.add({}, {}, {}, {});
  Dep dep[] = {{op}};
  Slice slice = elements(BufferId{0}, 0, 0);
  dag.add({}, {&slice, 1}, {}, dep);
  dag.contract.ensures.resize(1);
  dag.contract.operands.resize(1);
  dag.clear();
  EXPECT_EQ(dag.size(), 0u);
  EXPECT_TRUE(dag.deps.empty() && dag.slices.empty() && dag.buffers.empty());
  EXPECT_EQ(dag.contract, Contract());
}

template <typename Enum, typename Parse> void expectRoundTrips(unsigned count, Parse parse) {
  std::set<std::string_view> words;
  for (unsigned i = 0; i < count; ++i) {
    auto word = spelling(static_cast<Enum>(i));
    EXPECT_EQ(parse(word), static_cast<Enum>(i)) << word;
    EXPECT_TRUE(words.insert(word).second) << word << " means two things";
  }
  EXPECT_EQ(parse("no such word"), std::nullopt);
  EXPECT_EQ(parse(""), std::nullopt);
}

TEST(Vocabulary, EveryWordReadsBack) {
  expectRoundTrips<OpKind>(kOpKinds, parseOpKind);
  expectRoundTrips<Reduction>(kReductions, parseReduction);
  expectRoundTrips<ElementType>(kElementTypes, parseElementType);
  expectRoundTrips<BufferRole>(4, parseBufferRole);
}

TEST(Vocabulary, KnowsItsWords) {
  EXPECT_EQ(sizeBytes(ElementType::I8), 1u);
  EXPECT_EQ(sizeBytes(ElementType::U16), 2u);
  EXPECT_EQ(sizeBytes(ElementType::F32), 4u);
  EXPECT_EQ(sizeBytes(ElementType::F64), 8u);
  EXPECT_EQ(sizeBytes(ElementType::C128), 16u);
  EXPECT_EQ(findType(Arithmetic::Complex, 8), ElementType::C64);
  EXPECT_EQ(findType(Arithmetic::Real, 2), std::nullopt);
  EXPECT_TRUE(isOfCallers(Reduction::Bxor));
  EXPECT_FALSE(isOfCallers(Reduction::MatMul));
  EXPECT_TRUE(isCommutative(Reduction::Sum));
  EXPECT_FALSE(isCommutative(Reduction::MatMul));
  EXPECT_FALSE(summary(OpKind::Combine).empty());
  EXPECT_EQ(spelling(Side::Before), "before");
  EXPECT_EQ(spelling(Side::After), "after");
}

} // namespace
} // namespace colldsl
