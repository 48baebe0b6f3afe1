// Collectives of buffers in memory of devices, on all ranks: the library serves them from device to
// device. libcuda.so.1 is the fake device, whose memory the test reads and writes between calls.
#include "device/CudaDriver.h"
#include "mpi/CallSummary.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"
#include "tests/device/FakeCuda.h"

#include <complex>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace colldsl::mpi::test {
namespace {

constexpr int kCount = 6000; // of longs: messages that go from device to device

int rankOf(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int sizeOf(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Numbers in memory of the device.
template <typename T = long> class Numbers {
public:
  explicit Numbers(size_t count, void *(*allocate)(size_t) = fakeCudaMemory)
      : data_(static_cast<T *>(allocate(std::max<size_t>(count, 1) * sizeof(T)))), count_(count) {
    std::fill_n(data_, count, T(-7));
  }
  T *at(size_t i = 0) const { return data_ + i; }
  T &operator[](size_t i) const { return data_[i]; }
  void fill(std::function<T(size_t)> value) const {
    for (size_t i = 0; i < count_; ++i)
      data_[i] = value(i);
  }
  /// Empty, or the first number that is not as it should be.
  std::string differs(std::function<T(size_t)> value) const {
    for (size_t i = 0; i < count_; ++i)
      if (data_[i] != value(i))
        return "number " + std::to_string(i) + " of " + std::to_string(count_) + " is wrong";
    return "";
  }

private:
  T *data_;
  size_t count_;
};

uint64_t passedOn() {
  uint64_t calls = 0;
  for (size_t kind = 0; kind < kCallKinds; ++kind)
    calls += Summary::all().passedOn(static_cast<CallKind>(kind));
  return calls;
}

class OnDevices : public testing::Test {
protected:
  OnDevices() {
    fakeCudaReset(static_cast<uint64_t>(1 + me_));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~OnDevices() override {
    EXPECT_STREQ(fakeCudaMisuse(), "");
    MPI_Comm_free(&comm_);
  }

  /// The value of a rank's number in a run.
  static long valueOf(int rank, size_t i, int run) {
    return 1000000L * (rank + 1) + static_cast<long>(i) + 17L * run;
  }
  std::function<long(size_t)> own(int run) const {
    return [this, run](size_t i) { return valueOf(me_, i, run); };
  }
  long sumTo(int last, size_t i, int run) const {
    long sum = 0;
    for (int r = 0; r <= last; ++r)
      sum += valueOf(r, i, run);
    return sum;
  }

  /// Runs calls of one kind, which must be right, and served here.
  void expectServed(const std::function<std::string(int run)> &call) {
    for (int run = 0; run < 3; ++run) {
      uint64_t before = passedOn();
      EXPECT_EQ(call(run), "") << "run " << run;
      EXPECT_EQ(passedOn(), before);
    }
  }
  void expectPassedOn(const std::function<std::string(int run)> &call) {
    for (int run = 0; run < 2; ++run) {
      uint64_t before = passedOn();
      EXPECT_EQ(call(run), "") << "run " << run;
      EXPECT_EQ(passedOn(), before + 1);
    }
  }

  int me_ = rankOf(MPI_COMM_WORLD), ranks_ = sizeOf(MPI_COMM_WORLD);
  size_t all_ = static_cast<size_t>(ranks_) * kCount;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

TEST_F(OnDevices, allreduce) {
  Numbers in(kCount), out(kCount);
  auto sum = [&](int run) { return [this, run](size_t i) { return sumTo(ranks_ - 1, i, run); }; };
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Allreduce(in.at(), out.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return out.differs(sum(run));
  });
  expectServed([&](int run) {
    out.fill(own(run));
    MPI_Allreduce(MPI_IN_PLACE, out.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return out.differs(sum(run));
  });
}

TEST_F(OnDevices, reductionsRunOnTheDevice) {
  constexpr int kMany = 100000; // parts of it are long messages, too
  Numbers in(kMany), out(kMany);
  in.fill(own(0));
  MPI_Allreduce(in.at(), out.at(), kMany, MPI_LONG, MPI_SUM, comm_);
  EXPECT_EQ(fakeCudaBytesToHost(), 0u);
  EXPECT_EQ(out.differs([&](size_t i) { return sumTo(ranks_ - 1, i, 0); }), "");
}

TEST_F(OnDevices, operatorsAndTypes) {
  Numbers<double> in(kCount), out(kCount);
  in.fill([&](size_t i) { return static_cast<double>((me_ * 7 + static_cast<int>(i)) % 5); });
  auto at = [](int r, size_t i) { return static_cast<double>((r * 7 + static_cast<int>(i)) % 5); };
  auto folded = [&](auto op) {
    return [=, this](size_t i) {
      double value = at(0, i);
      for (int r = 1; r < ranks_; ++r)
        value = op(value, at(r, i));
      return value;
    };
  };
  uint64_t before = passedOn();
  MPI_Allreduce(in.at(), out.at(), kCount, MPI_DOUBLE, MPI_MAX, comm_);
  EXPECT_EQ(out.differs(folded([](double a, double b) { return std::max(a, b); })), "");
  MPI_Allreduce(in.at(), out.at(), kCount, MPI_DOUBLE, MPI_PROD, comm_);
  EXPECT_EQ(out.differs(folded([](double a, double b) { return a * b; })), "");
  Numbers<unsigned char> bits(kCount), ors(kCount);
  bits.fill(
      [&](size_t i) { return static_cast<unsigned char>(1 << (me_ + static_cast<int>(i)) % 8); });
  MPI_Allreduce(bits.at(), ors.at(), kCount, MPI_BYTE, MPI_BOR, comm_);
  EXPECT_EQ(ors.differs([&](size_t i) {
    int all = 0;
    for (int r = 0; r < ranks_; ++r)
      all |= 1 << (r + static_cast<int>(i)) % 8;
    return static_cast<unsigned char>(all);
  }),
            "");
  using Complex = std::complex<float>;
  Numbers<Complex> z(kCount), sums(kCount);
  z.fill([&](size_t i) { return Complex(static_cast<float>(me_), static_cast<float>(i % 100)); });
  MPI_Allreduce(z.at(), sums.at(), kCount, MPI_C_FLOAT_COMPLEX, MPI_SUM, comm_);
  EXPECT_EQ(sums.differs([&](size_t i) {
    return Complex(static_cast<float>(ranks_ * (ranks_ - 1) / 2),
                   static_cast<float>(static_cast<int>(i % 100) * ranks_));
  }),
            "");
  EXPECT_EQ(passedOn(), before);
}

TEST_F(OnDevices, bcast) {
  Numbers at(kCount);
  expectServed([&](int run) {
    int root = run % ranks_;
    at.fill([&](size_t i) { return me_ == root ? valueOf(root, i, run) : -1; });
    MPI_Bcast(at.at(), kCount, MPI_LONG, root, comm_);
    return at.differs([&](size_t i) { return valueOf(root, i, run); });
  });
}

TEST_F(OnDevices, allgather) {
  Numbers in(kCount), out(all_);
  auto gathered = [&](int run) {
    return [=](size_t i) { return valueOf(static_cast<int>(i / kCount), i % kCount, run); };
  };
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Allgather(in.at(), kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
    return out.differs(gathered(run));
  });
  EXPECT_EQ(fakeCudaBytesToHost(), 0u);
  expectServed([&](int run) {
    out.fill([&](size_t i) { return valueOf(me_, i % kCount, run); });
    MPI_Allgather(MPI_IN_PLACE, kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
    return out.differs(gathered(run));
  });
}

TEST_F(OnDevices, allgatherv) {
  std::vector<int> counts, displs;
  int at = 0;
  for (int r = 0; r < ranks_; ++r) {
    counts.push_back(3000 + 100 * r);
    displs.push_back(at);
    at += counts.back() + 5; // with gaps
  }
  Numbers in(static_cast<size_t>(counts[static_cast<size_t>(me_)])), out(static_cast<size_t>(at));
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Allgatherv(in.at(), counts[static_cast<size_t>(me_)], MPI_LONG, out.at(), counts.data(),
                   displs.data(), MPI_LONG, comm_);
    for (int r = 0; r < ranks_; ++r)
      for (int i = 0; i < counts[static_cast<size_t>(r)] + 5; ++i) {
        long is = out[static_cast<size_t>(displs[static_cast<size_t>(r)] + i)];
        bool isGap = i >= counts[static_cast<size_t>(r)];
        if (is != (isGap ? -7 : valueOf(r, static_cast<size_t>(i), run)))
          return "number " + std::to_string(i) + " of rank " + std::to_string(r) + " is wrong";
      }
    return std::string();
  });
}

TEST_F(OnDevices, alltoall) {
  Numbers in(all_), out(all_);
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Alltoall(in.at(), kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
    return out.differs([&](size_t i) {
      return valueOf(static_cast<int>(i / kCount), static_cast<size_t>(me_) * kCount + i % kCount,
                     run);
    });
  });
  expectServed([&](int run) {
    out.fill(own(run));
    MPI_Alltoall(MPI_IN_PLACE, kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
    return out.differs([&](size_t i) {
      return valueOf(static_cast<int>(i / kCount), static_cast<size_t>(me_) * kCount + i % kCount,
                     run);
    });
  });
}

// Each rank sends 2000 + 10 * (its rank + that of the receiver) numbers, in reverse order of ranks.
TEST_F(OnDevices, alltoallv) {
  std::vector<int> counts, displs(static_cast<size_t>(ranks_));
  for (int r = 0; r < ranks_; ++r)
    counts.push_back(2000 + 10 * (me_ + r));
  int at = 0;
  for (int r = ranks_ - 1; r >= 0; --r) {
    displs[static_cast<size_t>(r)] = at;
    at += counts[static_cast<size_t>(r)];
  }
  Numbers in(static_cast<size_t>(at)), out(static_cast<size_t>(at));
  std::vector<MPI_Datatype> types(static_cast<size_t>(ranks_), MPI_LONG);
  std::vector<int> inBytes;
  for (int displ : displs)
    inBytes.push_back(displ * static_cast<int>(sizeof(long)));
  for (bool isW : {false, true})
    expectServed([&](int run) {
      for (int r = 0; r < ranks_; ++r)
        for (int i = 0; i < counts[static_cast<size_t>(r)]; ++i)
          in[static_cast<size_t>(displs[static_cast<size_t>(r)] + i)] =
              valueOf(me_, static_cast<size_t>(i), run) * 10 + r;
      if (isW)
        MPI_Alltoallw(in.at(), counts.data(), inBytes.data(), types.data(), out.at(), counts.data(),
                      inBytes.data(), types.data(), comm_);
      else
        MPI_Alltoallv(in.at(), counts.data(), displs.data(), MPI_LONG, out.at(), counts.data(),
                      displs.data(), MPI_LONG, comm_);
      for (int r = 0; r < ranks_; ++r)
        for (int i = 0; i < counts[static_cast<size_t>(r)]; ++i)
          if (out[static_cast<size_t>(displs[static_cast<size_t>(r)] + i)] !=
              valueOf(r, static_cast<size_t>(i), run) * 10 + me_)
            return "number " + std::to_string(i) + " of rank " + std::to_string(r) + " is wrong";
      return std::string();
    });
}

TEST_F(OnDevices, gatherAndScatter) {
  Numbers one(kCount), many(all_);
  for (bool isInPlace : {false, true}) {
    expectServed([&](int run) {
      int root = run % ranks_;
      bool isRoot = me_ == root, keeps = isRoot && isInPlace;
      one.fill(own(run));
      many.fill([&](size_t i) { return keeps ? valueOf(me_, i % kCount, run) : -1; });
      MPI_Gather(keeps ? MPI_IN_PLACE : one.at(), kCount, MPI_LONG, isRoot ? many.at() : nullptr,
                 kCount, MPI_LONG, root, comm_);
      return many.differs([&](size_t i) {
        return isRoot ? valueOf(static_cast<int>(i / kCount), i % kCount, run) : -1;
      });
    });
    expectServed([&](int run) {
      int root = run % ranks_;
      bool isRoot = me_ == root, keeps = isRoot && isInPlace;
      many.fill(own(run));
      one.fill([](size_t) { return -1; });
      MPI_Scatter(isRoot ? many.at() : nullptr, kCount, MPI_LONG, keeps ? MPI_IN_PLACE : one.at(),
                  kCount, MPI_LONG, root, comm_);
      return one.differs([&](size_t i) {
        return keeps ? -1 : valueOf(root, static_cast<size_t>(me_) * kCount + i, run);
      });
    });
  }
}

TEST_F(OnDevices, reduce) {
  Numbers in(kCount), out(kCount);
  for (bool isInPlace : {false, true})
    expectServed([&](int run) {
      int root = run % ranks_;
      bool isRoot = me_ == root, keeps = isRoot && isInPlace;
      in.fill(own(run));
      out.fill([&](size_t i) { return keeps ? valueOf(me_, i, run) : -1; });
      MPI_Reduce(keeps ? MPI_IN_PLACE : in.at(), isRoot ? out.at() : nullptr, kCount, MPI_LONG,
                 MPI_SUM, root, comm_);
      return out.differs([&](size_t i) { return isRoot ? sumTo(ranks_ - 1, i, run) : -1; });
    });
}

TEST_F(OnDevices, scans) {
  Numbers in(kCount), out(kCount);
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Scan(in.at(), out.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return out.differs([&](size_t i) { return sumTo(me_, i, run); });
  });
  expectServed([&](int run) {
    in.fill(own(run));
    out.fill([](size_t) { return -1; });
    MPI_Exscan(in.at(), out.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return out.differs([&](size_t i) { return me_ == 0 ? -1 : sumTo(me_ - 1, i, run); });
  });
}

TEST_F(OnDevices, reduceScatter) {
  Numbers in(all_), out(kCount);
  std::vector<int> counts(static_cast<size_t>(ranks_), kCount);
  auto part = [&](int run) {
    return [this, run](size_t i) {
      return sumTo(ranks_ - 1, static_cast<size_t>(me_) * kCount + i, run);
    };
  };
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Reduce_scatter_block(in.at(), out.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return out.differs(part(run));
  });
  expectServed([&](int run) {
    in.fill(own(run));
    MPI_Reduce_scatter(in.at(), out.at(), counts.data(), MPI_LONG, MPI_SUM, comm_);
    return out.differs(part(run));
  });
}

// Lengths below and beyond those of messages between devices, which share a plan.
TEST_F(OnDevices, inPlace) {
  Numbers at(all_);
  std::vector<int> counts(static_cast<size_t>(ranks_), kCount);
  auto part = [&](int run) {
    return [this, run](size_t i) {
      return sumTo(ranks_ - 1, static_cast<size_t>(me_) * kCount + i, run);
    };
  };
  auto isPart = [&](int run) {
    for (size_t i = 0; i < kCount; ++i)
      if (at[i] != part(run)(i))
        return std::string("a wrong part");
    return std::string();
  };
  expectServed([&](int run) {
    at.fill(own(run));
    MPI_Reduce_scatter_block(MPI_IN_PLACE, at.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return isPart(run);
  });
  expectServed([&](int run) {
    at.fill(own(run));
    MPI_Reduce_scatter(MPI_IN_PLACE, at.at(), counts.data(), MPI_LONG, MPI_SUM, comm_);
    return isPart(run);
  });
  Numbers sum(kCount);
  expectServed([&](int run) {
    sum.fill(own(run));
    MPI_Scan(MPI_IN_PLACE, sum.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return sum.differs([&](size_t i) { return sumTo(me_, i, run); });
  });
  expectServed([&](int run) {
    sum.fill(own(run));
    MPI_Exscan(MPI_IN_PLACE, sum.at(), kCount, MPI_LONG, MPI_SUM, comm_);
    return sum.differs(
        [&](size_t i) { return me_ == 0 ? valueOf(0, i, run) : sumTo(me_ - 1, i, run); });
  });
}

// A process may use several devices, but for one call.
TEST_F(OnDevices, severalContexts) {
  auto numbers = [](uint32_t context) {
    return static_cast<long *>(fakeCudaMemoryOf(kCount * sizeof(long), context));
  };
  int root = ranks_ - 1;
  for (uint32_t context : {0, 1, 0, 1, 2, 1})
    expectServed([&](int run) {
      long *at = numbers(context);
      for (size_t i = 0; i < kCount; ++i)
        at[i] = valueOf(me_, i, run);
      MPI_Reduce(me_ == root ? MPI_IN_PLACE : at, at, kCount, MPI_LONG, MPI_SUM, root, comm_);
      for (size_t i = 0; i < kCount && me_ == root; ++i)
        if (at[i] != sumTo(ranks_ - 1, i, run))
          return "number " + std::to_string(i) + " in context " + std::to_string(context);
      return std::string();
    });
  long *in = numbers(0), *out = numbers(1);
  expectPassedOn([&](int run) {
    for (size_t i = 0; i < kCount; ++i)
      in[i] = valueOf(me_, i, run);
    MPI_Allreduce(in, out, kCount, MPI_LONG, MPI_SUM, comm_);
    return out[1] == sumTo(ranks_ - 1, 1, run) ? "" : "a wrong sum";
  });
}

TEST_F(OnDevices, otherLengthsAndPlaces) {
  for (int count : {1, 17, 1000, 5000, 3, 70000}) {
    Numbers in(static_cast<size_t>(count) + 3), out(static_cast<size_t>(count) + 3);
    uint64_t before = passedOn();
    for (size_t shift : {0, 1, 3}) {
      in.fill(own(count));
      out.fill([](size_t) { return -1; });
      MPI_Allreduce(in.at(shift), out.at(3 - shift), count, MPI_LONG, MPI_SUM, comm_);
      EXPECT_EQ(out.differs([&](size_t i) {
        bool isInside = i >= 3 - shift && i < 3 - shift + static_cast<size_t>(count);
        return isInside ? sumTo(ranks_ - 1, i - 3 + 2 * shift, count) : -1;
      }),
                "")
          << count << " at " << shift;
    }
    EXPECT_EQ(passedOn(), before);
  }
}

TEST_F(OnDevices, overlappingBuffersAreCopied) {
  Numbers at(kCount + 10);
  expectServed([&](int run) {
    at.fill(own(run));
    MPI_Allreduce(at.at(), at.at(10), kCount, MPI_LONG, MPI_SUM, comm_);
    return at.differs(
        [&](size_t i) { return i < 10 ? valueOf(me_, i, run) : sumTo(ranks_ - 1, i - 10, run); });
  });
}

// The second allocation lies where the first one did: what the other ranks have of it is of no use.
TEST_F(OnDevices, memoryThatWasFreedAndAllocatedAgain) {
  using namespace device;
  const CudaDriver &driver = **cudaDriver();
  fakeCudaContext();
  Numbers out(all_);
  DeviceAddress before = 0;
  expectServed([&](int run) {
    DeviceAddress address = 0;
    driver.memAlloc(&address, kCount * sizeof(long));
    EXPECT_TRUE(before == 0 || address == before);
    before = address;
    auto *in = reinterpret_cast<long *>(address);
    for (size_t i = 0; i < kCount; ++i)
      in[i] = valueOf(me_, i, run);
    MPI_Allgather(in, kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
    driver.memFree(address);
    return out.differs(
        [&](size_t i) { return valueOf(static_cast<int>(i / kCount), i % kCount, run); });
  });
  CuContext popped;
  driver.ctxPopCurrent(&popped);
}

// Several are under way at once, and are started in another order on each rank.
TEST_F(OnDevices, persistentCalls) {
  constexpr int kCalls = 3;
  std::vector<Numbers<>> in, out;
  MPI_Request requests[kCalls];
  uint64_t before = passedOn();
  for (int call = 0; call < kCalls; ++call) {
    in.emplace_back(kCount);
    out.emplace_back(kCount);
    COLLDSL_MPI_PERSISTENT(Allreduce_init)
    (in.back().at(), out.back().at(), kCount, MPI_LONG, MPI_SUM, comm_, MPI_INFO_NULL,
     &requests[call]);
  }
  for (int run = 0; run < 4; ++run) {
    for (int call = 0; call < kCalls; ++call)
      in[static_cast<size_t>(call)].fill(own(run + 100 * call));
    for (int i = 0; i < kCalls; ++i)
      MPI_Start(&requests[(me_ + i) % kCalls]);
    MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
    for (int call = 0; call < kCalls; ++call)
      EXPECT_EQ(out[static_cast<size_t>(call)].differs(
                    [&](size_t i) { return sumTo(ranks_ - 1, i, run + 100 * call); }),
                "");
  }
  for (MPI_Request &request : requests)
    MPI_Request_free(&request);
  EXPECT_EQ(passedOn(), before);
}

// These may not wait for other ranks to agree.
TEST_F(OnDevices, nonblockingCallsAreForTheMpiBelow) {
  Numbers in(kCount), out(kCount);
  expectPassedOn([&](int run) {
    in.fill(own(run));
    MPI_Request request;
    MPI_Iallreduce(in.at(), out.at(), kCount, MPI_LONG, MPI_SUM, comm_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return out.differs([&](size_t i) { return sumTo(ranks_ - 1, i, run); });
  });
}

TEST_F(OnDevices, callsThatAreForTheMpiBelow) {
  Numbers in(kCount), out(kCount);
  std::vector<long> host(kCount);
  auto allreduce = [&](void *to, MPI_Op op) {
    return [&, to, op](int run) {
      in.fill(own(run));
      MPI_Allreduce(in.at(), to, kCount, MPI_LONG, op, comm_);
      auto *sums = static_cast<long *>(to);
      for (size_t i = 0; i < kCount; ++i)
        if (sums[i] != sumTo(ranks_ - 1, i, run))
          return "number " + std::to_string(i) + " is wrong";
      return std::string();
    };
  };
  expectPassedOn(allreduce(host.data(), MPI_SUM)); // both kinds on a rank
  expectPassedOn(allreduce(me_ == 0 ? host.data() : out.at(), MPI_SUM));
  std::vector<long> longHost(all_);
  std::vector<int> counts(static_cast<size_t>(ranks_), kCount);
  Numbers sent(all_);
  for (bool sendsFromHost : {false, true}) {
    expectPassedOn([&](int run) {
      long *from = sendsFromHost ? longHost.data() : sent.at();
      for (size_t i = 0; i < all_; ++i)
        from[i] = valueOf(me_, i, run);
      long *to = sendsFromHost ? out.at() : host.data();
      MPI_Reduce_scatter(from, to, counts.data(), MPI_LONG, MPI_SUM, comm_);
      size_t first = static_cast<size_t>(me_) * kCount;
      return to[1] == sumTo(ranks_ - 1, first + 1, run) ? "" : "a wrong sum";
    });
  }
  Numbers pool(kCount, fakeCudaPoolMemory);
  expectPassedOn(allreduce(pool.at(), MPI_SUM)); // has no handle
  MPI_Op sum;
  MPI_Op_create(
      [](void *from, void *to, int *count, MPI_Datatype *) {
        for (int i = 0; i < *count; ++i)
          static_cast<long *>(to)[i] += static_cast<long *>(from)[i];
      },
      1, &sum);
  expectPassedOn(allreduce(out.at(), sum)); // a function of the host
  MPI_Op_free(&sum);
  MPI_Datatype spaced;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_LONG, &spaced);
  MPI_Type_commit(&spaced);
  expectPassedOn([&](int run) { // gaps
    in.fill([&](size_t i) { return me_ == 0 ? valueOf(0, i, run) : -1; });
    MPI_Bcast(in.at(), 1, spaced, 0, comm_);
    return in.differs([&](size_t i) { return me_ == 0 || i % 2 == 0 ? valueOf(0, i, run) : -1; });
  });
  MPI_Type_free(&spaced);
}

TEST_F(OnDevices, devicesOutOfReachAreForTheMpiBelow) {
  if (ranks_ == 1)
    return;
  fakeCudaResetAlone();
  auto context = static_cast<uint32_t>(me_);
  auto *in = static_cast<long *>(fakeCudaMemoryOf(kCount * sizeof(long), context)),
       *out = static_cast<long *>(fakeCudaMemoryOf(kCount * sizeof(long), context));
  expectPassedOn([&](int run) {
    for (size_t i = 0; i < kCount; ++i)
      in[i] = valueOf(me_, i, run);
    MPI_Allreduce(in, out, kCount, MPI_LONG, MPI_SUM, comm_);
    for (size_t i = 0; i < kCount; ++i)
      if (out[i] != sumTo(ranks_ - 1, i, run))
        return "number " + std::to_string(i) + " is wrong";
    return std::string();
  });
}

TEST_F(OnDevices, areForTheMpiBelowIfTheUserSaysSo) {
  if (Settings::all().servesDevices())
    GTEST_SKIP() << "another entry sets COLLDSL_DISABLE=devices";
  Numbers at(kCount);
  expectPassedOn([&](int run) {
    at.fill([&](size_t i) { return me_ == 0 ? valueOf(0, i, run) : -1; });
    MPI_Bcast(at.at(), kCount, MPI_LONG, 0, comm_);
    return at.differs([&](size_t i) { return valueOf(0, i, run); });
  });
}

// The others learn of it; later calls are as before.
TEST_F(OnDevices, aWrongArgumentOnOneRank) {
  Numbers at(kCount), sum(kCount);
  for (int run = 0; run < 3; ++run) {
    int code = MPI_Bcast(at.at(), kCount, MPI_LONG, me_ == 0 ? -3 : 0, comm_);
    if (me_ == 0) {
      EXPECT_NE(code, MPI_SUCCESS);
    }
    at.fill(own(run));
    ASSERT_EQ(MPI_Allreduce(at.at(), sum.at(), kCount, MPI_LONG, MPI_SUM, comm_), MPI_SUCCESS);
    EXPECT_EQ(sum.differs([&](size_t i) { return sumTo(ranks_ - 1, i, run); }), "");
  }
}

// Each call of the driver fails on one rank, in a call with a copied input. It then ends on all
// ranks, and the job goes on.
TEST_F(OnDevices, callsOfTheDriverThatFail) {
  constexpr const char *kSymbols[] = {
#define COLLDSL_CUDA_CALL(member, symbol, parameters) #symbol,
#include "device/CudaCalls.def"
  };
  auto most = [&](std::string_view symbol) -> uint64_t { // many ranks take their time
    return ranks_ > 4 ? 1 : symbol == "cuEventCreate" ? 40 : 4;
  };
  for (const char *symbol : kSymbols)
    for (uint64_t at = 1; at <= most(symbol); ++at) {
      if (me_ == 0)
        fakeCudaFailCall(symbol, at);
      MPI_Comm comm;
      MPI_Comm_dup(comm_, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      for (int run = 0; run < 2; ++run) {
        Numbers numbers(kCount);
        numbers.fill(own(run));
        int code = MPI_Reduce(me_ == 0 ? MPI_IN_PLACE : numbers.at(), numbers.at(), kCount,
                              MPI_LONG, MPI_SUM, 0, comm);
        if (code == MPI_SUCCESS && me_ == 0) {
          EXPECT_EQ(numbers.differs([&](size_t i) { return sumTo(ranks_ - 1, i, run); }), "")
              << symbol << ' ' << at;
        }
      }
      MPI_Comm_free(&comm);
      long mine = me_, sum = 0;
      ASSERT_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm_), MPI_SUCCESS);
      ASSERT_EQ(sum, ranks_ * (ranks_ - 1) / 2) << symbol << ' ' << at;
    }
  // The memory of a plan that failed goes back while others may yet read it.
  std::string misuse = fakeCudaMisuse();
  EXPECT_TRUE(misuse.empty() || misuse == "work on memory that its owner has freed") << misuse;
  fakeCudaReset(1);
}

// The device of one rank fails: its call does, and no rank waits for ever.
TEST_F(OnDevices, aDeviceThatFails) {
  if (me_ == 0)
    fakeCudaFailStreamAt(1);
  Numbers in(kCount), out(all_);
  in.fill(own(0));
  int code = MPI_Allgather(in.at(), kCount, MPI_LONG, out.at(), kCount, MPI_LONG, comm_);
  if (me_ == 0) {
    EXPECT_NE(code, MPI_SUCCESS);
  }
  std::vector<long> host(kCount, me_);
  long sum = 0, mine = me_;
  EXPECT_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm_), MPI_SUCCESS);
  EXPECT_EQ(sum, ranks_ * (ranks_ - 1) / 2);
}

} // namespace
} // namespace colldsl::mpi::test
