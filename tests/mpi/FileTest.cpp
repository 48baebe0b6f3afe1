// Operations on files, of all kinds that go on after a call, while a collective of ours is under
// way.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::mpi::test {
namespace {

constexpr int kInts = 1000;
constexpr int kRounds = 60;

/// A file of all ranks, with a part for each rank, and one for its shared position.
class Files : public ::testing::Test {
protected:
  Files() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int number = static_cast<int>(getpid());
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::string name = ::testing::TempDir() + "colldsl-files." + std::to_string(number);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    EXPECT_EQ(MPI_File_open(MPI_COMM_WORLD, name.c_str(), mode, MPI_INFO_NULL, &file), MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  }
  ~Files() override { MPI_File_close(&file); }

  MPI_Offset place() const { return MPI_Offset{rank} * kInts; }

  void fill(int salt) { std::iota(sent.begin(), sent.end(), salt * 10'000 + rank * 1'000'000); }

  void seek() {
    MPI_File_seek(file, place(), MPI_SEEK_SET);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET); // with a barrier
  }

  static void expectInts(const MPI_Status &status) {
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(count, kInts);
  }

  /// `operate` while a sum is under way, which the next rank starts late.
  void beside(int round, const std::function<void()> &operate) {
    std::vector<int> mine(500, rank + round), sum(500, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    if ((round + rank) % 2 == 0)
      usleep(200);
    MPI_Iallreduce(mine.data(), sum.data(), 500, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    operate();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(sum.back(), ranks * round + ranks * (ranks - 1) / 2);
  }

  int rank = 0, ranks = 1;
  MPI_File file = MPI_FILE_NULL;
  std::vector<int> sent = std::vector<int>(kInts), got = std::vector<int>(kInts);
};

using Start = std::function<int(MPI_Request *)>;

// The test completes one by a wait, the next one by tests.
TEST_F(Files, Requests) {
  int *data = sent.data(), *into = got.data();
  const std::pair<Start, Start> kinds[] = {
      {[&](MPI_Request *r) { return MPI_File_iwrite_at(file, place(), data, kInts, MPI_INT, r); },
       [&](MPI_Request *r) { return MPI_File_iread_at(file, place(), into, kInts, MPI_INT, r); }},
      {[&](MPI_Request *r) { return MPI_File_iwrite(file, data, kInts, MPI_INT, r); },
       [&](MPI_Request *r) { return MPI_File_iread(file, into, kInts, MPI_INT, r); }},
      {[&](MPI_Request *r) { return MPI_File_iwrite_all(file, data, kInts, MPI_INT, r); },
       [&](MPI_Request *r) { return MPI_File_iread_all(file, into, kInts, MPI_INT, r); }},
      {[&](MPI_Request *r) {
         return MPI_File_iwrite_at_all(file, place(), data, kInts, MPI_INT, r);
       },
       [&](MPI_Request *r) {
         return MPI_File_iread_at_all(file, place(), into, kInts, MPI_INT, r);
       }}};
  auto complete = [&](const Start &start, int round) {
    seek();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = {};
    ASSERT_EQ(start(&request), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    int isDone = 0;
    if (round % 2 == 0)
      MPI_Wait(&request, &status);
    else
      while (!isDone)
        MPI_Test(&request, &isDone, &status);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    expectInts(status);
  };
  for (int round = 0; round < kRounds; ++round)
    for (const auto &[writes, reads] : kinds)
      beside(round, [&] {
        fill(round);
        complete(writes, round);
        complete(reads, round);
        EXPECT_EQ(got, sent);
        std::fill(got.begin(), got.end(), -1);
      });
}

TEST_F(Files, Begun) {
  for (int round = 0; round < kRounds; ++round)
    beside(round, [&] {
      MPI_Status status = {};
      fill(round);
      MPI_File_write_at_all_begin(file, place(), sent.data(), kInts, MPI_INT);
      MPI_File_write_at_all_end(file, sent.data(), &status);
      expectInts(status);
      MPI_File_read_at_all_begin(file, place(), got.data(), kInts, MPI_INT);
      MPI_File_read_at_all_end(file, got.data(), &status);
      expectInts(status);
      EXPECT_EQ(got, sent);
      seek();
      fill(round + 1);
      MPI_File_write_all_begin(file, sent.data(), kInts, MPI_INT);
      MPI_File_write_all_end(file, sent.data(), &status);
      seek();
      MPI_File_read_all_begin(file, got.data(), kInts, MPI_INT);
      MPI_File_read_all_end(file, got.data(), &status);
      expectInts(status);
      EXPECT_EQ(got, sent);
    });
}

TEST_F(Files, SharedPositions) {
  for (int round = 0; round < kRounds; ++round)
    beside(round, [&] {
      MPI_Status status = {};
      fill(round);
      seek();
      MPI_File_write_ordered_begin(file, sent.data(), kInts, MPI_INT);
      MPI_File_write_ordered_end(file, sent.data(), &status);
      seek();
      MPI_File_read_ordered_begin(file, got.data(), kInts, MPI_INT);
      MPI_File_read_ordered_end(file, got.data(), &status);
      EXPECT_EQ(got, sent);
      seek();
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_File_iread_shared(file, got.data(), kInts, MPI_INT, &request);
      MPI_Wait(&request, &status);
      expectInts(status);
      EXPECT_EQ(got[1], got[0] + 1); // the part of some rank
      EXPECT_EQ((got[0] - round * 10'000) % 1'000'000, 0);
      MPI_Barrier(MPI_COMM_WORLD);
    });
}

// Collective writes of more than 64 MiB have requests inside, unless this variable of Open MPI says
// otherwise; MPICH does not read it.
TEST_F(Files, LongWritesHaveNoRequests) {
  const char *network = std::getenv("COLLDSL_NETWORK");
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  bool isOverOpenMpi = network && std::string_view(network) == "mpi" &&
                       std::string_view(version).find("Open MPI") != std::string_view::npos;
  const char *asynchronous = std::getenv("OMPI_MCA_fcoll_vulcan_async_io");
  EXPECT_EQ(asynchronous && std::string_view(asynchronous) == "2", isOverOpenMpi);
}

} // namespace
} // namespace colldsl::mpi::test
