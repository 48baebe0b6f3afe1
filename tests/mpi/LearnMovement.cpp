// With COLLDSL_LEARN=always: whatever serves a call, its result is right. All functions, random
// lengths, roots and forms, as often as all candidates had their turns and one was decided on.
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace colldsl::mpi::test {
namespace {

/// What a rank sends to another one, or to all.
int valueOf(int from, int to, int at, int salt) {
  return from * 1'000'003 + to * 7919 + at * 31 + salt;
}

/// Random, but the same on all ranks.
class Calls : public ::testing::Test {
protected:
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    if (!Settings::all().learnsAlways())
      GTEST_SKIP() << "with COLLDSL_LEARN=always";
  }
  void TearDown() override { MPI_Comm_free(&comm_); }

  /// Until it is decided what serves them, and some more.
  template <typename Call> void repeat(CallKind kind, Call call) {
    constexpr int kMost = 1200, kMore = 20;
    int more = kMore;
    for (int i = 0; i < kMost && more > 0 && !HasFailure(); ++i) {
      salt_ = i;
      call();
      auto learned = KnownComms::of(comm_)->learner()->find({kind, 0, 0, false});
      more -= !learned || learned->trials.isOver();
      if (i > kMore && !learned)
        break; // a rank alone
    }
    EXPECT_TRUE(ranks_ == 1 || more == 0) << "nothing was decided";
    auto learned = KnownComms::of(comm_)->learner()->find({kind, 0, 0, false});
    EXPECT_TRUE(!learned || learned->trials.isDecided()) << "a call failed";
  }

  int random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  /// Of a block: mostly short, now and then longer than what goes eager.
  int length() { return random(8) == 0 ? 5000 + random(10'000) : random(300); }
  std::vector<int> lengths() {
    std::vector<int> all(static_cast<size_t>(ranks_));
    for (int &one : all)
      one = random(4) == 0 ? 0 : length();
    return all;
  }
  static std::vector<int> placesOf(const std::vector<int> &lengths) {
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    return places;
  }
  std::vector<int> fromMe(int length, int to) const {
    std::vector<int> data(static_cast<size_t>(length));
    for (int i = 0; i < length; ++i)
      data[static_cast<size_t>(i)] = valueOf(rank_, to, i, salt_);
    return data;
  }
  /// Blocks for all ranks, one behind the other.
  std::vector<int> toAll(int length) const {
    std::vector<int> data;
    for (int to = 0; to < ranks_; ++to) {
      std::vector<int> block = fromMe(length, to);
      data.insert(data.end(), block.begin(), block.end());
    }
    return data;
  }
  void expectFrom(int from, int to, const int *data, int length) {
    for (int i = 0; i < length; ++i)
      ASSERT_EQ(data[i], valueOf(from, to, i, salt_)) << "from " << from << ", at " << i;
  }
  /// Of sums over the first ranks.
  void expectSum(const std::vector<int> &data, int ranks, int first = 0) {
    for (size_t i = 0; i < data.size(); ++i) {
      int sum = 0;
      for (int from = 0; from < ranks; ++from)
        sum += valueOf(from, 0, first + static_cast<int>(i), salt_) % 1000;
      ASSERT_EQ(data[i], sum) << "at " << i;
    }
  }
  std::vector<int> summand(int length) const {
    std::vector<int> data = fromMe(length, 0);
    for (int &one : data)
      one %= 1000;
    return data;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1, salt_ = 0;
  std::minstd_rand random_;
};

TEST_F(Calls, Barrier) {
  repeat(CallKind::Barrier, [&] { ASSERT_EQ(MPI_Barrier(comm_), MPI_SUCCESS); });
}

TEST_F(Calls, Bcast) {
  repeat(CallKind::Bcast, [&] {
    int count = length(), root = random(ranks_);
    std::vector<int> data = rank_ == root ? fromMe(count, 0) : std::vector<int>(size_t(count), -1);
    ASSERT_EQ(MPI_Bcast(data.data(), count, MPI_INT, root, comm_), MPI_SUCCESS);
    expectFrom(root, 0, data.data(), count);
  });
}

TEST_F(Calls, Gather) {
  repeat(CallKind::Gather, [&] {
    int count = length(), root = random(ranks_);
    std::vector<int> mine = fromMe(count, root), all(size_t(count) * size_t(ranks_), -1);
    ASSERT_EQ(MPI_Gather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, root, comm_),
              MPI_SUCCESS);
    for (int from = 0; rank_ == root && from < ranks_; ++from)
      expectFrom(from, root, all.data() + from * count, count);
  });
}

TEST_F(Calls, Scatter) {
  repeat(CallKind::Scatter, [&] {
    int count = length(), root = random(ranks_);
    std::vector<int> all = toAll(count), mine(size_t(count), -1);
    ASSERT_EQ(MPI_Scatter(all.data(), count, MPI_INT, mine.data(), count, MPI_INT, root, comm_),
              MPI_SUCCESS);
    expectFrom(root, rank_, mine.data(), count);
  });
}

TEST_F(Calls, Allgather) {
  repeat(CallKind::Allgather, [&] {
    int count = length();
    bool isInPlace = random(2) == 0;
    std::vector<int> mine = fromMe(count, 0), all(size_t(count) * size_t(ranks_), -1);
    if (isInPlace)
      std::copy(mine.begin(), mine.end(), all.begin() + rank_ * count);
    ASSERT_EQ(MPI_Allgather(isInPlace ? MPI_IN_PLACE : mine.data(), count, MPI_INT, all.data(),
                            count, MPI_INT, comm_),
              MPI_SUCCESS);
    for (int from = 0; from < ranks_; ++from)
      expectFrom(from, 0, all.data() + from * count, count);
  });
}

TEST_F(Calls, Alltoall) {
  repeat(CallKind::Alltoall, [&] {
    int count = length();
    std::vector<int> sent = toAll(count), got(sent.size(), -1);
    ASSERT_EQ(MPI_Alltoall(sent.data(), count, MPI_INT, got.data(), count, MPI_INT, comm_),
              MPI_SUCCESS);
    for (int from = 0; from < ranks_; ++from)
      expectFrom(from, rank_, got.data() + from * count, count);
  });
}

TEST_F(Calls, Gatherv) {
  repeat(CallKind::Gatherv, [&] {
    std::vector<int> counts = lengths(), places = placesOf(counts);
    int root = random(ranks_), mine = counts[size_t(rank_)];
    std::vector<int> sent = fromMe(mine, root), got(size_t(places.back() + counts.back()), -1);
    ASSERT_EQ(MPI_Gatherv(sent.data(), mine, MPI_INT, got.data(), counts.data(), places.data(),
                          MPI_INT, root, comm_),
              MPI_SUCCESS);
    for (int from = 0; rank_ == root && from < ranks_; ++from)
      expectFrom(from, root, got.data() + places[size_t(from)], counts[size_t(from)]);
  });
}

TEST_F(Calls, Scatterv) {
  repeat(CallKind::Scatterv, [&] {
    std::vector<int> counts = lengths(), places = placesOf(counts), sent;
    for (int to = 0; to < ranks_; ++to) {
      std::vector<int> block = fromMe(counts[size_t(to)], to);
      sent.insert(sent.end(), block.begin(), block.end());
    }
    int root = random(ranks_), mine = counts[size_t(rank_)];
    std::vector<int> got(size_t(mine), -1);
    ASSERT_EQ(MPI_Scatterv(sent.data(), counts.data(), places.data(), MPI_INT, got.data(), mine,
                           MPI_INT, root, comm_),
              MPI_SUCCESS);
    expectFrom(root, rank_, got.data(), mine);
  });
}

TEST_F(Calls, Allgatherv) {
  repeat(CallKind::Allgatherv, [&] {
    std::vector<int> counts = lengths(), places = placesOf(counts);
    int mine = counts[size_t(rank_)];
    std::vector<int> sent = fromMe(mine, 0), got(size_t(places.back() + counts.back()), -1);
    ASSERT_EQ(MPI_Allgatherv(sent.data(), mine, MPI_INT, got.data(), counts.data(), places.data(),
                             MPI_INT, comm_),
              MPI_SUCCESS);
    for (int from = 0; from < ranks_; ++from)
      expectFrom(from, 0, got.data() + places[size_t(from)], counts[size_t(from)]);
  });
}

/// Lengths that differ from pair to pair, from a table that all ranks have.
TEST_F(Calls, Alltoallv) {
  repeat(CallKind::Alltoallv, [&] {
    std::vector<std::vector<int>> table;
    for (int from = 0; from < ranks_; ++from)
      table.push_back(lengths());
    std::vector<int> sends = table[size_t(rank_)], receives, sent;
    for (int from = 0; from < ranks_; ++from)
      receives.push_back(table[size_t(from)][size_t(rank_)]);
    for (int to = 0; to < ranks_; ++to) {
      std::vector<int> block = fromMe(sends[size_t(to)], to);
      sent.insert(sent.end(), block.begin(), block.end());
    }
    std::vector<int> sendPlaces = placesOf(sends), receivePlaces = placesOf(receives);
    std::vector<int> got(size_t(receivePlaces.back() + receives.back()), -1);
    ASSERT_EQ(MPI_Alltoallv(sent.data(), sends.data(), sendPlaces.data(), MPI_INT, got.data(),
                            receives.data(), receivePlaces.data(), MPI_INT, comm_),
              MPI_SUCCESS);
    for (int from = 0; from < ranks_; ++from)
      expectFrom(from, rank_, got.data() + receivePlaces[size_t(from)], receives[size_t(from)]);
  });
}

TEST_F(Calls, Alltoallw) {
  repeat(CallKind::Alltoallw, [&] {
    int count = length();
    std::vector<int> sent = toAll(count), got(sent.size(), -1), counts(size_t(ranks_), count);
    std::vector<int> places = placesOf(counts);
    for (int &place : places)
      place *= static_cast<int>(sizeof(int));
    std::vector<MPI_Datatype> types(size_t(ranks_), MPI_INT);
    ASSERT_EQ(MPI_Alltoallw(sent.data(), counts.data(), places.data(), types.data(), got.data(),
                            counts.data(), places.data(), types.data(), comm_),
              MPI_SUCCESS);
    for (int from = 0; from < ranks_; ++from)
      expectFrom(from, rank_, got.data() + from * count, count);
  });
}

TEST_F(Calls, Allreduce) {
  repeat(CallKind::Allreduce, [&] {
    int count = length();
    bool isInPlace = random(2) == 0;
    std::vector<int> mine = summand(count), all = isInPlace ? mine : std::vector<int>(mine.size());
    ASSERT_EQ(MPI_Allreduce(isInPlace ? MPI_IN_PLACE : mine.data(), all.data(), count, MPI_INT,
                            MPI_SUM, comm_),
              MPI_SUCCESS);
    expectSum(all, ranks_);
  });
}

TEST_F(Calls, Reduce) {
  repeat(CallKind::Reduce, [&] {
    int count = length(), root = random(ranks_);
    std::vector<int> mine = summand(count), all(mine.size());
    ASSERT_EQ(MPI_Reduce(mine.data(), all.data(), count, MPI_INT, MPI_SUM, root, comm_),
              MPI_SUCCESS);
    if (rank_ == root)
      expectSum(all, ranks_);
  });
}

// Each rank may be in place for itself.
TEST_F(Calls, Scan) {
  repeat(CallKind::Scan, [&] {
    int count = length();
    bool isInPlace = (random(4) + rank_) % 2 == 0;
    std::vector<int> mine = summand(count), all = isInPlace ? mine : std::vector<int>(mine.size());
    ASSERT_EQ(MPI_Scan(isInPlace ? MPI_IN_PLACE : mine.data(), all.data(), count, MPI_INT, MPI_SUM,
                       comm_),
              MPI_SUCCESS);
    expectSum(all, rank_ + 1);
  });
}

TEST_F(Calls, Exscan) {
  repeat(CallKind::Exscan, [&] {
    int count = length();
    std::vector<int> mine = summand(count), all(mine.size());
    ASSERT_EQ(MPI_Exscan(mine.data(), all.data(), count, MPI_INT, MPI_SUM, comm_), MPI_SUCCESS);
    if (rank_ > 0)
      expectSum(all, rank_);
  });
}

TEST_F(Calls, ReduceScatterBlock) {
  repeat(CallKind::ReduceScatterBlock, [&] {
    int count = length();
    std::vector<int> mine = summand(count * ranks_), part(size_t(count), -1);
    ASSERT_EQ(MPI_Reduce_scatter_block(mine.data(), part.data(), count, MPI_INT, MPI_SUM, comm_),
              MPI_SUCCESS);
    expectSum(part, ranks_, rank_ * count);
  });
}

TEST_F(Calls, ReduceScatter) {
  repeat(CallKind::ReduceScatter, [&] {
    std::vector<int> counts = lengths(), places = placesOf(counts);
    std::vector<int> mine = summand(places.back() + counts.back());
    std::vector<int> part(size_t(counts[size_t(rank_)]), -1);
    ASSERT_EQ(MPI_Reduce_scatter(mine.data(), part.data(), counts.data(), MPI_INT, MPI_SUM, comm_),
              MPI_SUCCESS);
    expectSum(part, ranks_, places[size_t(rank_)]);
  });
}

} // namespace
} // namespace colldsl::mpi::test
