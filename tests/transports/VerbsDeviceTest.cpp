// Device memory over an RDMA device. No device in software registers dma-bufs, so memory of the
// host stands for that of a device behind the call.
#include "tests/transports/DeviceExchange.h"
#include "tests/transports/VerbsFixture.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

/// Registers memory of the host in place of a dma-buf.
class HostAsDevice : public verbs::Calls {
public:
  uint32_t registered = 0;
  bool fails = false;
  ibv_mr *registerDmaBuf(ibv_pd *domain, uint64_t, uint64_t bytes, uint64_t address, int file,
                         int access) override {
    errno = EBADF;
    if (file < 0 || fails)
      return nullptr;
    ++registered;
    return Calls::registerMemory(domain, {reinterpret_cast<void *>(address), bytes}, access);
  }
};

TEST_F(Verbs, deviceMemoryIsReadAndWrittenInPlace) {
  if (!verbs::Library::get().reg_dmabuf_mr)
    GTEST_SKIP() << "libibverbs has no dma-bufs";
  int file = memfd_create("dma-buf", MFD_CLOEXEC);
  for (std::array<bool, 2> isOnDevice : {std::array{true, true}, {true, false}, {false, true}}) {
    HostAsDevice calls;
    NetworkPair pair(with({}, calls));
    ASSERT_EQ(pair.trouble, "");
    DeviceExchange exchange{
        .isOnDevice = isOnDevice, .sizes = {100, 200000, 300000}, .pieces = {1, 3}, .dmaBuf = file};
    EXPECT_EQ(exchange.run(pair), "");
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_EQ(exchange.cameToDevice[r], isOnDevice[r] ? 2u : 0u);
    EXPECT_GT(calls.registered, 0u);
  }
  close(file);
}

// A device that refuses dma-bufs, as those in software do, has no such messages.
TEST_F(Verbs, devicesThatRefuseDmaBufsAreKnown) {
  struct Refusing : verbs::Calls {
    ibv_mr *registerDmaBuf(ibv_pd *, uint64_t, uint64_t, uint64_t, int, int) override {
      errno = EOPNOTSUPP;
      return nullptr;
    }
  } refusing;
  auto transport = verbs::VerbsTransport::open(1, {}, refusing);
  ASSERT_TRUE(transport.ok()) << transport.message();
  EXPECT_FALSE((*transport)->capabilities().registersDevice);
  std::vector<std::byte> memory(4096);
  EXPECT_FALSE((*transport)->registerDevice({{memory.data(), memory.size()}, 1, 0, 0, 0}).ok());
}

} // namespace
} // namespace colldsl::test
