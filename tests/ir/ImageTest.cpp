#include "tests/ir/Schedules.h"
#include "tests/ir/Walk.h"

#include "ir/Checksum.h"
#include "ir/Image.h"
#include "ir/ImageLayout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace colldsl {
namespace {

using Bytes = std::vector<std::byte>;

ImageHeader &headerOf(Bytes &image) { return *reinterpret_cast<ImageHeader *>(image.data()); }

ImageTrailer &endOf(Bytes &image) { return const_cast<ImageTrailer &>(trailerOf(image)); }

SectionEntry &entryOf(Bytes &image, Section section) {
  return const_cast<SectionEntry &>(sectionsOf(image)[static_cast<size_t>(section)]);
}

void repair(Bytes &image) { endOf(image).checksum = imageChecksum(image); }

template <typename T> T &record(Bytes &image, Section section, size_t i) {
  return const_cast<T &>(sectionOf<T>(image, section)[i]);
}

/// Of rank 0.
template <typename T> T &record(Bytes &image, Part part, size_t i) {
  const auto &rank = record<ImageRank>(image, Section::Ranks, 0);
  return reinterpret_cast<T *>(image.data() + rank.offset + offsetInPart(rank, part))[i];
}

/// Loads what is left of a sound image after `spoil`, with a checksum that fits.
std::string messageAfter(const std::function<void(Bytes &)> &spoil) {
  Bytes image = encodeImage(everythingSchedule());
  spoil(image);
  repair(image);
  Result<Image> loaded = Image::load(image);
  return loaded ? "" : loaded.message();
}

template <typename T, typename Where>
std::string messageAfter(Where section, size_t i, const std::function<void(T &)> &spoil) {
  return messageAfter([&](Bytes &image) { spoil(record<T>(image, section, i)); });
}

void expectWords(const std::string &message, std::string_view words) {
  EXPECT_NE(message.find(words), std::string::npos) << "'" << message << "'";
}

TEST(Checksum, IsXxh64) {
  auto hash = [](std::string_view text) { return xxh64(std::as_bytes(std::span(text)), 0); };
  EXPECT_EQ(hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

void expectRoundTrip(const Schedule &schedule) {
  auto bytes = encodeImage(schedule);
  EXPECT_EQ(encodeImage(schedule), bytes);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(walk(*image), "");
  Schedule back = image->decode();
  EXPECT_EQ(difference(schedule, back), "");
  EXPECT_EQ(encodeImage(back), bytes);
}

TEST(Image, KeepsEverything) { expectRoundTrip(everythingSchedule()); }
TEST(Image, KeepsRing) { expectRoundTrip(ringSchedule(5)); }
TEST(Image, KeepsNothing) { expectRoundTrip({}); }

TEST(Image, KeepsRandomSchedules) {
  for (uint64_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expectRoundTrip(randomSchedule(seed));
  }
}

// What an executor reads without decoding.
TEST(Image, ShowsARank) {
  Bytes bytes = encodeImage(ringSchedule(3));
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(image->numRanks(), 3u);
  EXPECT_EQ(image->name(), "allgather_ring");
  EXPECT_EQ(image->sizeClass(), (SizeClass{1000, 1, 4000}));
  EXPECT_TRUE(image->hasContract());
  EXPECT_FALSE(image->synchronizes());
  EXPECT_FALSE(image->deterministic());
  EXPECT_EQ(image->fileName(0), "ring.coll");
  EXPECT_EQ(image->fileName(1), "");
  RankView view = image->rank(Rank{1});
  ASSERT_EQ(view.ops.size(), 5u);
  EXPECT_EQ(image->bufferName(view.buffers[1]), "y");
  EXPECT_EQ(view.ops[1].kind, OpKind::Send);
  EXPECT_EQ(view.ops[1].peer, Rank{2});
  EXPECT_EQ(view.ops[1].depCount, 1u);
  EXPECT_EQ(view.ops[0].requireCount, 1u);
  EXPECT_EQ(view.successors[view.ops[0].successorBegin], 1u);
  EXPECT_EQ(view.sources(view.ops[1])[0].beginScale, 1);
  EXPECT_EQ(view.ensures.size(), 3u);
  EXPECT_EQ(view.operands[2].rank, Rank{2});
}

// What starts with another op stands behind what waits for its end.
TEST(Image, SplitsSuccessorsByKind) {
  Schedule s;
  Dag &dag = s.ranks.emplace_back();
  dag.add({}, {}, {}, {});
  Dep started[] = {{OpId{0}, DepKind::IRequires}};
  Dep finished[] = {{OpId{0}, DepKind::Requires}, {OpId{1}, DepKind::IRequires}};
  dag.add({}, {}, {}, started);
  dag.add({}, {}, {}, finished);
  Bytes bytes = encodeImage(s);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  RankView view = image->rank(Rank{0});
  EXPECT_EQ(view.ops[0].requireCount, 1u);
  EXPECT_EQ(view.ops[0].irequireCount, 1u);
  EXPECT_TRUE(std::ranges::equal(view.successors, std::vector<uint32_t>{2, 1, 2}));
  EXPECT_EQ(view.ops[2].depCount, 2u);
}

TEST(Image, LargePlacesAreStoredAsTheLargest) {
  Schedule s = ringSchedule(1);
  s.ranks[0].ops[0].loc = {1u << 30, 5000, 0};
  Bytes bytes = encodeImage(s);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(image->rank(Rank{0}).ops[0].line, (1u << 24) - 1);
  EXPECT_EQ(image->rank(Rank{0}).ops[0].column, 1023u);
}

TEST(Image, PlacesInUnknownFilesAreLeftOut) {
  Schedule s = ringSchedule(1);
  s.ranks[0].ops[0].loc = {3, 4, 1};
  Bytes bytes = encodeImage(s);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(image->rank(Rank{0}).ops[0].line, 0u);
}

TEST(Image, RefusesEveryFlippedByte) {
  Bytes image = encodeImage(ringSchedule(2));
  for (size_t i = 0; i < image.size(); ++i)
    for (std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      image[i] ^= flip;
      EXPECT_FALSE(Image::load(image)) << "byte " << i;
      image[i] ^= flip;
    }
  EXPECT_TRUE(Image::load(image));
}

// With the checksum repaired, an image is refused or safe to use in every way.
TEST(Image, FlippedBytesAreRefusedOrHarmless) {
  Bytes image = encodeImage(everythingSchedule());
  size_t accepted = 0;
  for (size_t i = 0; i < image.size(); ++i)
    for (std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      image[i] ^= flip;
      repair(image);
      if (Result<Image> loaded = Image::load(image)) {
        ++accepted;
        EXPECT_EQ(walk(*loaded), "") << "byte " << i;
      } else {
        EXPECT_NE(loaded.message(), "");
      }
      image[i] ^= flip;
    }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, image.size());
}

TEST(Image, RefusesEveryLength) {
  Bytes image = encodeImage(ringSchedule(2));
  for (size_t size = 0; size < image.size(); ++size)
    EXPECT_FALSE(Image::load(std::span(image).first(size))) << size;
  image.push_back(std::byte{0});
  EXPECT_FALSE(Image::load(image));
}

TEST(Image, RefusesOddAddresses) {
  Bytes image = encodeImage(ringSchedule(2));
  image.insert(image.begin(), std::byte{0});
  Result<Image> loaded = Image::load(std::span(image).subspan(1));
  ASSERT_FALSE(loaded);
  expectWords(loaded.message(), "multiple of 8");
}

TEST(Image, RefusesOtherFiles) {
  expectWords(messageAfter([](Bytes &i) { headerOf(i).magic[0] = 'C'; }), "magic");
  expectWords(messageAfter([](Bytes &i) { headerOf(i).major = 1; }), "format version 1");
  expectWords(messageAfter([](Bytes &i) { endOf(i).sizeBytes = 5; }), "not the size that it says");
  expectWords(messageAfter([](Bytes &i) { endOf(i).flags = 8; }), "unknown flags");
  Bytes image = encodeImage(ringSchedule(2));
  image.back() ^= std::byte{4};
  expectWords(Image::load(image).message(), "checksum");
}

// Nothing would be proved of it.
TEST(Image, RefusesPartsOfAContractWithoutOne) {
  const char *alone = "states 'synchronizes' or 'deterministic' without a contract";
  expectWords(messageAfter([](Bytes &i) { endOf(i).flags = kSynchronizes; }), alone);
  expectWords(messageAfter([](Bytes &i) { endOf(i).flags = kDeterministic; }), alone);
  expectWords(messageAfter([](Bytes &i) { endOf(i).flags = 0; }),
              "rank 0: has 2 promises, and the image no contract");
}

// A newer minor version has flags and sections that this program does not know.
TEST(Image, AcceptsNewerMinorVersions) {
  EXPECT_EQ(messageAfter([](Bytes &i) {
              headerOf(i).minor = 1;
              endOf(i).flags |= 8;
            }),
            "");
}

TEST(Image, RefusesBadSections) {
  auto spoil = [](Section s, auto change) {
    return messageAfter([&](Bytes &i) { change(entryOf(i, s)); });
  };
  expectWords(spoil(Section::StringEnds, [](SectionEntry &e) { e.offset += 64; }),
              "section 1 begins");
  expectWords(spoil(Section::StringEnds, [](SectionEntry &e) { e.offset = UINT64_MAX - 63; }),
              "section 1");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.offset = 0; }), "section 0 begins");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.offset = UINT64_MAX - 63; }),
              "section 0 begins");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.offset += 1; }), "section 0 begins");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.count = UINT64_MAX / 16; }),
              "the file ends before");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.recordBytes = 16; }), "records of 16");
  expectWords(spoil(Section::Ranks, [](SectionEntry &e) { e.count = 0; }), "section 1 begins");
  expectWords(spoil(Section::StringBytes, [](SectionEntry &e) { e.count += 64; }),
              "the table of sections begins");
  expectWords(messageAfter([](Bytes &i) { endOf(i).sectionCount = 2; }), "2 sections");
  expectWords(messageAfter([](Bytes &i) {
                endOf(i).sectionCount = UINT32_MAX;
                headerOf(i).minor = 1;
              }),
              "ends inside its table");
  expectWords(messageAfter([](Bytes &i) { headerOf(i).zeros[51] = 1; }), "not zero");
  expectWords(messageAfter([](Bytes &i) { endOf(i).zeros[2] = 1; }), "not zero");
}

TEST(Image, RefusesBadParts) {
  auto spoil = [](auto change) { return messageAfter<ImageRank>(Section::Ranks, 1, change); };
  expectWords(spoil([](ImageRank &r) { r.offset += 64; }), "rank 1: its part begins at byte");
  expectWords(spoil([](ImageRank &r) { r.sliceCount = UINT32_MAX; }), "are left");
  expectWords(spoil([](ImageRank &r) { r.opCount += 1; }), "rank 2: its part begins");
  expectWords(messageAfter([](Bytes &i) {
                record<ImageRank>(i, Section::Ranks, 2).opCount = 0;
                record<ImageRank>(i, Section::Ranks, 3).offset -= sizeof(ImageOp);
              }),
              "all ranks together end");
  expectWords(messageAfter([](Bytes &i) {
                auto ranks = sectionOf<ImageRank>(i, Section::Ranks);
                auto isPadded = [](const ImageRank &r) {
                  return partBytes(r) % kImageAlignment != 0;
                };
                auto rank = std::find_if(ranks.begin(), ranks.end(), isPadded);
                ASSERT_NE(rank, ranks.end());
                i[rank->offset + partBytes(*rank)] = std::byte{1};
              }),
              "are not zero");
}

TEST(Image, RefusesBadStrings) {
  expectWords(messageAfter([](Bytes &i) { endOf(i).nameCount = 100; }), "too few for 100 names");
  auto spoil = [](size_t i, uint64_t end) {
    return messageAfter<uint64_t>(Section::StringEnds, i, [&](uint64_t &e) { e = end; });
  };
  expectWords(spoil(0, UINT64_MAX), "string 0 ends outside");
  expectWords(spoil(1, 0), "string 1 ends outside");
  expectWords(spoil(8, 20), "string 8 ends outside");
}

TEST(Image, RefusesBadSizeClass) {
  expectWords(messageAfter([](Bytes &i) { endOf(i).classMin = 1001; }),
              "n = 1000, outside of its size class 1001..4000");
  expectWords(messageAfter([](Bytes &i) { endOf(i).classMax = 999; }), "outside");
}

TEST(Image, RefusesBadBuffers) {
  auto spoil = [](size_t i, auto change) { return messageAfter<Buffer>(Part::Buffers, i, change); };
  expectWords(spoil(0, [](Buffer &b) { b.role = BufferRole{4}; }),
              "rank 0: buffer 0: has an unknown");
  expectWords(spoil(0, [](Buffer &b) { b.type = ElementType{kElementTypes}; }), "unknown");
  expectWords(spoil(0, [](Buffer &b) { b.layout = Layout{3}; }), "unknown");
  expectWords(spoil(0, [](Buffer &b) { std::memset(&b.significant, 2, 1); }), "unknown");
  expectWords(spoil(0, [](Buffer &b) { b.name = 6; }), "has name 6, the image has 6");
  expectWords(spoil(2, [](Buffer &b) { b.denominator = 0; }), "zero denominator");
  expectWords(spoil(0, [](Buffer &b) { b.endScale = INT64_MAX; }), "too large");
  expectWords(spoil(0, [](Buffer &b) { b.endScale = -1; }), "ends before");
  expectWords(spoil(6, [](Buffer &b) { b.aliasOf = BufferId{7}; }), "aliases buffer 7 of 7");
  expectWords(spoil(6, [](Buffer &b) { b.aliasSlice = 99; }), "aliases slice 99");
  expectWords(spoil(6, [](Buffer &b) { b.aliasOf = BufferId{0}; }), "by a slice of buffer 1");
  expectWords(spoil(1, [](Buffer &b) { b.aliasOf = BufferId{1}; }), "is an alias of itself");
}

TEST(Image, RefusesBadSlices) {
  auto spoil = [](auto change) { return messageAfter<Slice>(Part::Slices, 1, change); };
  expectWords(spoil([](Slice &s) { s.buffer = BufferId{7}; }), "slice 1: is of buffer 7 of 7");
  expectWords(spoil([](Slice &s) { s.denominator = 0; }), "zero denominator");
  expectWords(spoil([](Slice &s) { s.block = 0; }), "without blocks");
  expectWords(spoil([](Slice &s) { s.reserved = 1; }), "reserved");
  expectWords(spoil([](Slice &s) { s.endOffset = 1; }), "covers elements 0..4001");
}

TEST(Image, RefusesBadOps) {
  auto spoil = [](size_t i, auto change) { return messageAfter<ImageOp>(Part::Ops, i, change); };
  expectWords(spoil(0, [](ImageOp &o) { o.kind = OpKind{7}; }), "rank 0: op 0: has unknown kind 7");
  expectWords(spoil(0, [](ImageOp &o) { o.peer = Rank{4}; }), "peer 4 is not one of the 4 ranks");
  expectWords(spoil(0, [](ImageOp &o) { o.peer = kNoRank; }), "is not one of the 4 ranks");
  expectWords(spoil(0, [](ImageOp &o) { o.detail = 12; }), "side");
  expectWords(spoil(2, [](ImageOp &o) { o.reduction = Reduction{11}; }), "reduction");
  expectWords(spoil(2, [](ImageOp &o) { o.type = ElementType{kElementTypes}; }), "type");
  expectWords(spoil(2, [](ImageOp &o) { o.detail = 2; }), "side");
  expectWords(spoil(3, [](ImageOp &o) { o.peer = Rank{0}; }), "a copy with a peer");
  expectWords(spoil(0, [](ImageOp &o) { o.amount = 1; }), "1 bytes of its own");
  expectWords(spoil(4, [](ImageOp &o) { o.amount = 1; }), "1 bytes of its own");
  expectWords(spoil(0, [](ImageOp &o) { o.sourceCount = UINT32_MAX; }), "lie outside");
  expectWords(spoil(0, [](ImageOp &o) { o.sourceBegin = UINT32_MAX; }), "lie outside");
  expectWords(spoil(0, [](ImageOp &o) { o.targetCount = 1; }), "slices that it cannot have");
  expectWords(spoil(4, [](ImageOp &o) { o.sourceCount = 1; }), "slices that it cannot have");
  expectWords(spoil(2, [](ImageOp &o) { o.file = 2; }), "place is in file 2, the image names 2");
  expectWords(spoil(0, [](ImageOp &o) { o.column = 2; }), "place");
}

TEST(Image, RefusesBadDependencies) {
  auto op = [](size_t i, auto change) { return messageAfter<ImageOp>(Part::Ops, i, change); };
  expectWords(op(2, [](ImageOp &o) { o.depCount = 3; }), "waits for 3 ops, 2 release it");
  expectWords(op(0, [](ImageOp &o) { o.depCount = 1; }), "waits for 1 ops, 0 release it");
  expectWords(op(1, [](ImageOp &o) { o.successorBegin = 0; }), "successors begin at 0");
  expectWords(op(2, [](ImageOp &o) { o.requireCount = UINT32_MAX; }), "or end behind");
  auto successor = [](size_t i, uint32_t to) {
    return messageAfter<uint32_t>(Part::Successors, i, [&](uint32_t &s) { s = to; });
  };
  expectWords(successor(0, 10), "releases op 10 of 10");
  expectWords(successor(3, 1), "releases op 1 after op 1");
  expectWords(successor(0, 7), "releases op 6 after op 7, the order must ascend");
}

/// Their sum is 0 in 32 bits.
TEST(Image, HoldsNoMoreSuccessorsThan32BitsCount) {
  Schedule schedule;
  schedule.ranks.resize(1);
  for (int i = 0; i < 2; ++i) {
    OpId id = schedule.ranks[0].add(Op(), {}, {}, {});
    schedule.ranks[0].ops[index(id)].depCount = 1u << 31;
  }
  EXPECT_THROW(encodeImage(schedule), std::length_error);
}

TEST(Image, RefusesBadPromises) {
  auto ensure = [](auto change) { return messageAfter<Ensure>(Part::Ensures, 0, change); };
  expectWords(ensure([](Ensure &e) { e.target.buffer = BufferId{7}; }),
              "promise 0: is about buffer 7");
  expectWords(ensure([](Ensure &e) { e.target.denominator = 0; }), "zero denominator");
  expectWords(ensure([](Ensure &e) { e.operandBegin = UINT32_MAX; }), "operands lie outside");
  expectWords(ensure([](Ensure &e) { e.operandCount = 0; }), "has 0 operands");
  expectWords(ensure([](Ensure &e) { e.isReduction = false; }), "unknown reduction");
  expectWords(ensure([](Ensure &e) { e.reduction = Reduction{11}; }), "unknown reduction");
  expectWords(ensure([](Ensure &e) { e.loc.file = 2; }), "place");
  expectWords(ensure([](Ensure &e) { std::memset(&e.isReduction, 3, 1); }), "unknown reduction");
  expectWords(ensure([](Ensure &e) { std::memset(&e.reduction + 1, 1, 1); }), "padding");
  auto operand = [](auto change) { return messageAfter<EntryValue>(Part::Operands, 2, change); };
  expectWords(operand([](EntryValue &v) { v.rank = Rank{4}; }), "operand 2: is of rank 4 of 4");
  expectWords(operand([](EntryValue &v) { v.rank = Rank{1}; }), "rank 1 has 0");
  expectWords(operand([](EntryValue &v) { v.slice.buffer = BufferId{7}; }), "is of buffer 7");
  expectWords(operand([](EntryValue &v) { v.slice.endScale = 5; }), "0..5000");
  expectWords(operand([](EntryValue &v) { std::memset(&v.rank + 1, 1, 1); }), "padding");
}

} // namespace
} // namespace colldsl
