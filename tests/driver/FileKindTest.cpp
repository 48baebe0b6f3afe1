#include "driver/files/FileKind.h"

#include "ir/Image.h"

#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

TEST(FileKind, DependsOnTheContent) {
  EXPECT_EQ(fileKind(""), FileKind::Source);
  EXPECT_EQ(fileKind("collective f() {}"), FileKind::Source);
  EXPECT_EQ(fileKind("/// schedule\ncollective f() {}"), FileKind::Source);
  EXPECT_EQ(fileKind("function num_ranks2() = 1;"), FileKind::Source);
  EXPECT_EQ(fileKind("num_ranks2"), FileKind::Source);
  EXPECT_EQ(fileKind("num_ranks 2\nrank 0 {\n}\n"), FileKind::Text);
  EXPECT_EQ(fileKind("\n// x\n/* y\n * z */ \tschedule \"s\"\n"), FileKind::Text);
  EXPECT_EQ(fileKind("rank 0 {"), FileKind::Text);
}

TEST(FileKind, CommentsWithoutEnd) {
  EXPECT_EQ(fileKind("// num_ranks 2"), FileKind::Source);
  EXPECT_EQ(fileKind("/* num_ranks 2"), FileKind::Source);
  EXPECT_EQ(fileKind("/*/ num_ranks 2"), FileKind::Source);
}

TEST(FileKind, KnowsTheFormatsOfOtherTools) {
  EXPECT_EQ(fileKind(llvm::StringRef("\x7f\x10\0\0\0\0\0\0", 8)), FileKind::GoalBinary);
  EXPECT_EQ(fileKind(llvm::StringRef("\x26\x09\0\0\0\0\0\0", 8)), FileKind::GoalBinary) << "used";
  EXPECT_EQ(fileKind(llvm::StringRef("\x7f\x10\0\0\0\0\0\1", 8)), FileKind::Source);
  EXPECT_EQ(fileKind("\n <!-- x --><algo/>"), FileKind::MscclXml);
  EXPECT_EQ(fileKind("\xEF\xBB\xBF<?xml version=\"1.0\"?>"), FileKind::MscclXml);
  EXPECT_EQ(parseForeignKind("goal"), FileKind::Text);
  EXPECT_EQ(parseForeignKind("goal-bin"), FileKind::GoalBinary);
  EXPECT_EQ(parseForeignKind("chakra"), FileKind::Chakra);
  EXPECT_EQ(parseForeignKind("msccl-xml"), FileKind::MscclXml);
  EXPECT_EQ(parseForeignKind("xml"), std::nullopt);
}

TEST(FileKind, KnowsImages) {
  Schedule schedule;
  schedule.ranks.resize(1);
  std::vector<std::byte> image = encodeImage(schedule);
  llvm::StringRef bytes(reinterpret_cast<const char *>(image.data()), image.size());
  EXPECT_EQ(fileKind(bytes), FileKind::Image);
  EXPECT_EQ(fileKind(bytes.take_front(9)), FileKind::Image) << "cut off, but still no text";
}

} // namespace
} // namespace colldsl::driver
