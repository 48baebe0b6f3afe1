// Places and edits in UTF-16 against a text that is held in UTF-16.
#include "lsp/Positions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"

#include <gtest/gtest.h>

#include <random>

namespace colldsl::lsp {
namespace {

using Units = std::vector<llvm::UTF16>;

Units toUnits(const std::string &text) {
  llvm::SmallVector<llvm::UTF16> units;
  EXPECT_TRUE(llvm::convertUTF8ToUTF16String(text, units));
  return {units.begin(), units.end()};
}

std::string toBytes(const Units &units) {
  std::string text;
  EXPECT_TRUE(llvm::convertUTF16ToUTF8String(llvm::ArrayRef(units), text));
  return text;
}

/// Line by line, unit by unit.
Position positionOf(const Units &units, size_t index) {
  Position position;
  for (size_t i = 0; i < index; ++i) {
    bool ends =
        units[i] == '\n' || (units[i] == '\r' && (i + 1 == units.size() || units[i + 1] != '\n'));
    position.character = ends ? 0 : position.character + 1;
    position.line += ends;
  }
  return position;
}

bool isInside(const Units &units, size_t index) {
  bool isPair = index > 0 && index < units.size() && (units[index] & 0xfc00) == 0xdc00;
  bool isLineEnd =
      index > 0 && index < units.size() && units[index - 1] == '\r' && units[index] == '\n';
  return isPair || isLineEnd;
}

std::string randomText(std::mt19937 &random) {
  static const std::string kPieces[] = {
      "a", "b ", "\n", "\r\n", "\r", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9d\x84\x9e", "\xe2\x80\xa8",
      ""};
  std::string text;
  for (unsigned count = random() % 20; count > 0; --count)
    text += kPieces[random() % std::size(kPieces)];
  return text;
}

TEST(Positions, AreThoseOfATextInUtf16) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text = randomText(random);
    Units units = toUnits(text);
    Lines lines(text);
    for (size_t index = 0; index <= units.size(); ++index) {
      if (isInside(units, index))
        continue;
      size_t offset =
          toBytes(Units(units.begin(), units.begin() + static_cast<ptrdiff_t>(index))).size();
      Position position = positionOf(units, index);
      EXPECT_EQ(lines.offsetOf(position, Encoding::Utf16), offset) << text;
      EXPECT_EQ(lines.positionOf(offset, Encoding::Utf16), position) << text;
    }
  }
}

TEST(Positions, EditsAreThoseOfATextInUtf16) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    std::string text = randomText(random);
    Units units = toUnits(text);
    for (int edit = 0; edit < 20; ++edit) {
      size_t begin = random() % (units.size() + 1), end = random() % (units.size() + 1);
      if (isInside(units, begin) || isInside(units, end))
        continue;
      Range range{positionOf(units, begin), positionOf(units, end)};
      std::string by = randomText(random);
      text = replaced(text, range, by, Encoding::Utf16); // both ends in any order
      auto [first, last] = std::minmax(begin, end);
      Units added = toUnits(by);
      units.erase(units.begin() + static_cast<ptrdiff_t>(first),
                  units.begin() + static_cast<ptrdiff_t>(last));
      units.insert(units.begin() + static_cast<ptrdiff_t>(first), added.begin(), added.end());
      ASSERT_EQ(text, toBytes(units));
    }
  }
}

TEST(Positions, InUtf8CountBytes) {
  std::string text = "a\n\xc3\xa4\xf0\x9d\x84\x9e!";
  Lines lines(text);
  EXPECT_EQ(lines.positionOf(8, Encoding::Utf8), (Position{1, 6}));
  EXPECT_EQ(lines.offsetOf({1, 6}, Encoding::Utf8), 8u);
  EXPECT_EQ(lines.positionOf(8, Encoding::Utf16), (Position{1, 3}));
  EXPECT_EQ(lines.offsetOf({1, 3}, Encoding::Utf16), 8u);
}

TEST(Positions, OutsideAreClamped) {
  Lines lines("ab\r\n\xf0\x9d\x84\x9e"
              "c");
  EXPECT_EQ(lines.offsetOf({0, 99}, Encoding::Utf16), 2u); // before the line's end
  EXPECT_EQ(lines.offsetOf({1, 1}, Encoding::Utf16), 4u);  // within a pair
  EXPECT_EQ(lines.offsetOf({1, 2}, Encoding::Utf8), 4u);   // within a character
  EXPECT_EQ(lines.offsetOf({7, 0}, Encoding::Utf16), 9u);  // behind the last line
  EXPECT_EQ(lines.offsetOf({UINT32_MAX, UINT32_MAX}, Encoding::Utf16), 9u);
  EXPECT_EQ(lines.positionOf(99, Encoding::Utf16), (Position{1, 3}));
  EXPECT_EQ(lines.positionOf(3, Encoding::Utf16), (Position{0, 2})); // within \r\n
}

TEST(Positions, TakeBytesThatAreNoUtf8) {
  Lines lines("\xf0\x9d\x80\xff\n\xc3");
  EXPECT_EQ(lines.positionOf(4, Encoding::Utf8), (Position{0, 4}));
  EXPECT_EQ(lines.offsetOf({1, 5}, Encoding::Utf16), 6u);
}

TEST(Positions, OfTheCompilerEndLinesAtNewlinesAlone) {
  Lines lines("a\rb\r\n\xc3\xa4"
              "c");
  EXPECT_EQ(lines.positionOf(2, Encoding::Utf16), (Position{1, 0}));
  EXPECT_EQ(lines.locOf(2, 5), (SourceLoc{1, 3, 5}));
  EXPECT_EQ(lines.offsetOf(SourceLoc{2, 3, 0}), 7u);
  EXPECT_EQ(lines.locOf(7, 0), (SourceLoc{2, 3, 0}));
  EXPECT_EQ(lines.offsetOf(SourceLoc{1, 99, 0}), 4u);
  EXPECT_EQ(lines.offsetOf(SourceLoc{9, 1, 0}), 8u);
  EXPECT_EQ(lines.offsetOf(SourceLoc{}), 0u);
}

} // namespace
} // namespace colldsl::lsp
