// Every call of libfabric fails once.
#include "tests/transports/FaultSweep.h"
#include "transports/ofi/OfiTransport.h"
#include "transports/ofi/OpenOfi.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

enum class Call { Recv, Send, Read, Write, ReadQueue, Reach, Register };
enum class How {
  Later,     ///< not now: fine the next time
  ForGood,   ///< an error from then on
  Short,     ///< the completion is of a byte less than came
  Late,      ///< nothing comes for a while
  Duplicate, ///< the completion comes again
  Untyped,   ///< data came, and nothing says that it was with a write
};

// The k-th call of a kind goes wrong.
class FaultyCalls : public ofi::Calls {
public:
  FaultyCalls(Call call, How how, uint64_t at) : call_(call), how_(how), at_(at) {}

  uint64_t numCalls() const { return calls_; }
  bool happened() const { return calls_ >= at_; }

  ssize_t recv(fid_ep *ep, void *to, size_t bytes, void *desc, void *context) override {
    ssize_t error = errorOf(Call::Recv);
    return error != 0 ? error : Calls::recv(ep, to, bytes, desc, context);
  }
  ssize_t send(fid_ep *ep, const void *from, size_t bytes, void *desc, fi_addr_t to,
               void *context) override {
    ssize_t error = errorOf(Call::Send);
    return error != 0 ? error : Calls::send(ep, from, bytes, desc, to, context);
  }
  ssize_t read(fid_ep *ep, const fi_msg_rma &message) override {
    ssize_t error = errorOf(Call::Read);
    return error != 0 ? error : Calls::read(ep, message);
  }
  ssize_t write(fid_ep *ep, const fi_msg_rma &message, uint64_t flags) override {
    ssize_t error = errorOf(Call::Write);
    return error != 0 ? error : Calls::write(ep, message, flags);
  }
  int reach(fid_av *book, const void *address, fi_addr_t *handle) override {
    ssize_t error = errorOf(Call::Reach);
    return error != 0 ? static_cast<int>(error) : Calls::reach(book, address, handle);
  }
  int registerMemory(fid_domain *domain, const iovec &memory, uint64_t access, uint64_t key,
                     fid_mr **region) override {
    ssize_t error = errorOf(Call::Register);
    return error != 0 ? static_cast<int>(error)
                      : Calls::registerMemory(domain, memory, access, key, region);
  }
  // Of this call what counts is what it brings, unless it fails itself.
  ssize_t readQueue(fid_cq *queue, fi_cq_data_entry *entries, size_t count) override {
    std::lock_guard lock(mutex_);
    if (call_ == Call::ReadQueue && how_ == How::ForGood && happened())
      return -FI_EIO;
    if (quiet_ > 0 && quiet_-- > 0)
      return -FI_EAGAIN;
    if (again_.op_context && queue == againOn_) {
      entries[0] = std::exchange(again_, {});
      return 1;
    }
    ssize_t found = Calls::readQueue(queue, entries, 1);
    if (found == 1 && call_ == Call::ReadQueue && ++calls_ == at_)
      spoil(queue, entries[0]);
    return found;
  }

private:
  ssize_t errorOf(Call call) {
    std::lock_guard lock(mutex_); // both disconnect at once
    if (call != call_)
      return 0;
    uint64_t now = ++calls_;
    if (how_ == How::ForGood)
      return now >= at_ ? -FI_EIO : 0;
    return now == at_ ? -FI_EAGAIN : 0;
  }
  void spoil(fid_cq *queue, fi_cq_data_entry &entry) {
    if (how_ == How::Short && (entry.flags & FI_RECV) != 0)
      --entry.len;
    if (how_ == How::Untyped && (entry.flags & FI_REMOTE_CQ_DATA) != 0)
      entry.flags = FI_REMOTE_CQ_DATA, entry.op_context = nullptr;
    if (how_ == How::Late)
      quiet_ = 200;
    if (how_ == How::Duplicate)
      again_ = entry, againOn_ = queue;
  }

  std::mutex mutex_;
  Call call_;
  How how_;
  uint64_t at_;
  uint64_t calls_ = 0;
  int quiet_ = 0;
  fi_cq_data_entry again_ = {};
  fid_cq *againOn_ = nullptr;
};

ofi::Options quickOptions() {
  ofi::Options options;
  options.postedReceives = 8;
  options.windowBytes = 3000;
  options.linger = options.lingerAfterFailure = 100ms;
  return options;
}

void sweep(Call call, How how, bool (&isFine)(const std::string &)) {
  Transfer way;
  way.mover = call == Call::Read ? Mover::Reader : Mover::Either;
  auto exchangeAt = [&](uint64_t at) {
    FaultyCalls calls(call, how, at);
    return exchangeWith(
        [&](Rank r) {
          return protocol::NetworkEndpoint::make(r, 2, quickOptions(),
                                                 ofi::OfiTransport::open(quickOptions(), calls));
        },
        [&] { return calls.happened(); }, way);
  };
  test::sweep(exchangeAt, isFine, [](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, quickOptions(),
                                           ofi::OfiTransport::open(quickOptions()));
  });
}

TEST(OfiFaults, refusedOperationsAreOfferedAgain) {
  for (Call call : {Call::Recv, Call::Send, Call::Read, Call::Write})
    sweep(call, How::Later, isNothing);
}

TEST(OfiFaults, receivesThatFailFailThePlan) { sweep(Call::Recv, How::ForGood, isClean); }
TEST(OfiFaults, sendsThatFailFailThePlan) { sweep(Call::Send, How::ForGood, isClean); }
TEST(OfiFaults, readsThatFailFailThePlan) { sweep(Call::Read, How::ForGood, isFailure); }
TEST(OfiFaults, writesThatFailFailThePlan) { sweep(Call::Write, How::ForGood, isFailure); }
TEST(OfiFaults, peersThatCannotBeReachedFailThePlan) {
  sweep(Call::Reach, How::ForGood, isFailure);
}
// Messages travel in parts then.
TEST(OfiFaults, memoryNeedNotBeRegistered) { sweep(Call::Register, How::ForGood, isNothing); }

TEST(OfiFaults, queuesThatFailFailThePlan) { sweep(Call::ReadQueue, How::ForGood, isClean); }
TEST(OfiFaults, shortCompletionsAreFound) { sweep(Call::ReadQueue, How::Short, isClean); }
TEST(OfiFaults, lateCompletionsAreWaitedFor) { sweep(Call::ReadQueue, How::Late, isNothing); }
TEST(OfiFaults, dataAloneTellOfAWrite) { sweep(Call::ReadQueue, How::Untyped, isNothing); }
// A receive that is offered twice may be overwritten: then a frame is missing.
TEST(OfiFaults, completionsThatComeAgainAreFound) {
  sweep(Call::ReadQueue, How::Duplicate, isClean);
}

} // namespace
} // namespace colldsl::test
