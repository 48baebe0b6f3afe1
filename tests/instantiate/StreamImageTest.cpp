// Images written as ranks are made: the same schedule as of all ranks together.
#include "instantiate/StreamImage.h"
#include "compiler/Compile.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace colldsl {
namespace {

using Bytes = std::vector<std::byte>;

const Program &stdlib() {
  static const Compilation compilation = compileFiles({});
  return compilation.program();
}

InstantiateRequest request(const char *name, uint32_t ranks) {
  InstantiateRequest r;
  r.collective = stdlib().find(name, DeclKind::Collective);
  r.ranks = ranks;
  r.elements = 1000;
  r.contract = true;
  return r;
}

Bytes stream(const InstantiateRequest &request, unsigned threads) {
  Bytes image;
  Status s = streamImage(
      stdlib(), request,
      [&](std::span<const std::byte> piece) -> Status {
        image.insert(image.end(), piece.begin(), piece.end());
        return {};
      },
      threads);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.message());
  return image;
}

// Small tags instead of hashes make it the image of all ranks, byte by byte.
TEST(StreamImage, IsTheImageOfAllRanks) {
  for (const char *name : {"allreduce_ring", "allreduce_recursive_doubling", "bcast_binomial",
                           "barrier_dissemination", "alltoall_pairwise"})
    for (uint32_t ranks : {1u, 2u, 5u, 16u, 150u}) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(ranks));
      Bytes bytes = stream(request(name, ranks), 1);
      Result<Image> image = Image::load(bytes);
      ASSERT_TRUE(image.ok()) << image.message();
      Schedule schedule = image->decode();
      EXPECT_EQ(encodeImage(schedule), bytes);
      Result<Schedule> all = instantiateAll(stdlib(), request(name, ranks));
      ASSERT_TRUE(all.ok()) << all.message();
      renumberMessages(schedule);
      EXPECT_EQ(encodeImage(schedule), encodeImage(*all));
    }
}

// Checking a tree works out trees that its body makes.
TEST(StreamImage, TreesOfTrees) {
  Compilation compilation = compileFiles({COLLDSL_PROGRAM_INPUTS "/trees-of-trees.coll"});
  for (const char *name : {"bcast_again", "bcast_through", "bcast_deeper"}) {
    InstantiateRequest r = request("bcast_binomial", 7);
    r.collective = compilation.program().find(name, DeclKind::Collective);
    size_t bytes = 0;
    Status s = streamImage(
        compilation.program(), r,
        [&](std::span<const std::byte> piece) -> Status {
          bytes += piece.size();
          return {};
        },
        2);
    EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.message());
    EXPECT_NE(bytes, 0u);
  }
}

TEST(StreamImage, ThreadsMakeTheSameBytes) {
  InstantiateRequest r = request("allreduce_ring", 70);
  Bytes bytes = stream(r, 1);
  for (unsigned threads : {2u, 5u})
    EXPECT_EQ(stream(r, threads), bytes) << threads;
}

TEST(StreamImage, HasAContractOnlyOnRequest) {
  InstantiateRequest r = request("allreduce_ring", 3);
  r.contract = false;
  Bytes bytes = stream(r, 1);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image.ok()) << image.message();
  EXPECT_FALSE(image->hasContract());
  EXPECT_TRUE(image->rank(Rank{0}).ensures.empty());
}

TEST(StreamImage, AFileOfItLoads) {
  std::string path = testing::TempDir() + "/colldsl-stream-" + std::to_string(getpid());
  std::ofstream out(path, std::ios::binary);
  Status written = streamImage(
      stdlib(), request("allreduce_ring", 6),
      [&](std::span<const std::byte> piece) -> Status {
        out.write(reinterpret_cast<const char *>(piece.data()),
                  static_cast<std::streamsize>(piece.size()));
        return out ? Status() : Status::error("cannot write");
      },
      2);
  ASSERT_TRUE(written.ok()) << written.message();
  out.close();
  Bytes bytes(std::filesystem::file_size(path));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::filesystem::remove(path);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image.ok()) << image.message();
  EXPECT_EQ(image->numRanks(), 6u);
  EXPECT_EQ(image->name(), "allreduce_ring");
}

TEST(StreamImage, EndsWithTheFirstErrorOfTheSink) {
  for (unsigned threads : {1u, 3u}) {
    unsigned pieces = 0;
    Status s = streamImage(
        stdlib(), request("allreduce_ring", 100),
        [&](std::span<const std::byte>) {
          return ++pieces < 4 ? Status() : Status::error("disk is full");
        },
        threads);
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.message(), "disk is full");
    EXPECT_EQ(pieces, 4u);
  }
}

TEST(StreamImage, LimitsHold) {
  auto discard = [](std::span<const std::byte>) { return Status(); };
  InstantiateRequest r = request("allreduce_ring", 20);
  r.limits.maxTotalOps = 100;
  Status ops = streamImage(stdlib(), r, discard, 2);
  ASSERT_FALSE(ops.ok());
  EXPECT_NE(ops.message().find("of 20 ranks of 'allreduce_ring' have"), std::string::npos);
  EXPECT_NE(ops.message().find(" ops, the limit for all is 100"), std::string::npos);
  EXPECT_EQ(ops.diagnostic().hint, "raise the limit with --max-total-ops");
  r.limits.maxTotalOps = 1'000'000;
  r.limits.maxTotalDeps = 100;
  Status deps = streamImage(stdlib(), r, discard, 2);
  ASSERT_FALSE(deps.ok());
  EXPECT_NE(deps.message().find(" dependencies, the limit for all is 100"), std::string::npos);
  r.limits.maxTotalDeps = 1'000'000;
  r.limits.maxRanks = 10;
  EXPECT_FALSE(streamImage(stdlib(), r, discard, 2).ok());
}

} // namespace
} // namespace colldsl
