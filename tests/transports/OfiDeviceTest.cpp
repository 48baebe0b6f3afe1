// Device memory over libfabric: the provider shm has the capability FI_HMEM without a device, for
// memory of the host that is registered as such.
#include "tests/transports/DeviceExchange.h"
#include "transports/ofi/Libfabric.h"
#include "transports/ofi/OfiTransport.h"
#include "transports/ofi/OpenOfi.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

/// Registers memory of the host as that of a device.
class HostAsDevice : public ofi::Calls {
public:
  uint32_t registered = 0;
  int registerDevice(fid_domain *domain, const fi_mr_attr &memory, fid_mr **region) override {
    EXPECT_EQ(memory.iface, FI_HMEM_CUDA);
    EXPECT_EQ(memory.iov_count, 1u);
    fi_mr_attr ofHost = memory;
    ofHost.iface = FI_HMEM_SYSTEM;
    ++registered;
    return Calls::registerDevice(domain, ofHost, region);
  }
};

class OfiDevice : public testing::Test {
protected:
  void SetUp() override {
    options_.provider = "shm";
    options_.devices = ofi::DeviceMemory::Always; // its offer differs in what it injects
    auto transport = ofi::OfiTransport::open(options_);
    if (!transport)
      GTEST_SKIP() << transport.message();
    if (!(*transport)->capabilities().registersDevice)
      GTEST_SKIP() << "the provider shm of this libfabric lacks FI_HMEM";
  }
  NetworkPair::Make make() {
    return [this](Rank r) {
      return protocol::NetworkEndpoint::make(r, 2, options_,
                                             ofi::OfiTransport::open(options_, calls_));
    };
  }
  ofi::Options options_;
  HostAsDevice calls_;
};

TEST_F(OfiDevice, memoryIsReadAndWrittenInPlace) {
  for (std::array<bool, 2> isOnDevice : {std::array{true, true}, {true, false}, {false, true}}) {
    NetworkPair pair(make());
    ASSERT_EQ(pair.trouble, "");
    DeviceExchange exchange{.isOnDevice = isOnDevice, .sizes = {100, 8192, 8193, 300000}};
    EXPECT_EQ(exchange.run(pair), "");
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_EQ(exchange.cameToDevice[r], isOnDevice[r] ? 2u : 0u);
    EXPECT_EQ(exchange.heldSends, (std::array<uint32_t, 2>{}));
  }
  EXPECT_EQ(calls_.registered, 4 * 4u);
}

// A receiver reads memory of the host into its device memory. Device memory of senders is written
// to the receiver nevertheless.
TEST_F(OfiDevice, receiversMayBeTheReaders) {
  for (std::array<bool, 2> isOnDevice : {std::array{true, true}, {true, false}, {false, true}}) {
    NetworkPair pair(make());
    ASSERT_EQ(pair.trouble, "");
    DeviceExchange exchange{.isOnDevice = isOnDevice, .sizes = {100, 300000, 20000}};
    exchange.way.mover = Mover::Reader;
    EXPECT_EQ(exchange.run(pair), "");
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_EQ(exchange.cameToDevice[r], isOnDevice[r] ? 2u : 0u);
    EXPECT_EQ(exchange.heldSends, (std::array<uint32_t, 2>{}));
  }
}

// The provider writes into one piece of memory: a message to several comes in fragments.
TEST_F(OfiDevice, aSendGoesByTheHostIfItsReceiverWantsFragments) {
  NetworkPair pair(make());
  ASSERT_EQ(pair.trouble, "");
  DeviceExchange exchange{.sizes = {100000}, .pieces = {1, 3}};
  EXPECT_EQ(exchange.run(pair), "");
  EXPECT_EQ(exchange.cameToDevice, (std::array<uint32_t, 2>{1, 0}));
  EXPECT_EQ(exchange.heldSends, (std::array<uint32_t, 2>{1, 0}));
}

// libfabric was built without CUDA, or there is no device.
TEST_F(OfiDevice, memoryOfADeviceThatIsMissingIsNotRegistered) {
  auto transport = ofi::OfiTransport::open(options_);
  ASSERT_TRUE(transport.ok()) << transport.message();
  std::vector<std::byte> memory(4096);
  auto region = (*transport)->registerDevice({{memory.data(), memory.size()}, 1, 0, -1, 0});
  ASSERT_FALSE(region.ok());
  EXPECT_NE(region.message().find("cannot register 4096 bytes of memory"), std::string::npos);
}

// The provider is the one that there is without device memory.
TEST(Ofi, deviceMemoryIsAWish) {
  for (const char *provider : {"tcp", "shm"}) {
    ofi::Options with, without;
    with.provider = without.provider = provider;
    with.devices = ofi::DeviceMemory::Always;
    without.devices = ofi::DeviceMemory::Never;
    auto one = ofi::OfiTransport::open(with), other = ofi::OfiTransport::open(without);
    ASSERT_EQ(one.ok(), other.ok()) << provider;
    if (!one)
      continue;
    EXPECT_FALSE((*other)->capabilities().registersDevice);
    EXPECT_EQ((*one)->capabilities().hasRma, (*other)->capabilities().hasRma);
    EXPECT_EQ((*one)->address()->size(), (*other)->address()->size());
  }
}

/// The length of frames that the provider shm injects, if it is asked for this capability, too.
size_t injectedBytesOfShm(uint64_t capability) {
  const ofi::Library &library = ofi::Library::get();
  fi_info *hints = library.copyInfo(nullptr), *found = nullptr;
  hints->caps = FI_MSG | FI_RMA | capability;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_HMEM;
  hints->fabric_attr->prov_name = strdup("shm");
  library.getInfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &found);
  size_t bytes = found ? found->tx_attr->inject_size : 0;
  library.freeInfo(hints);
  if (found)
    library.freeInfo(found);
  return bytes;
}

// With device memory the provider shm injects no frames.
TEST(Ofi, anOfferThatServesTheHostLessWellIsLeft) {
  auto registersDevice = [](ofi::DeviceMemory devices) {
    ofi::Options options;
    options.provider = "shm";
    options.devices = devices;
    auto transport = ofi::OfiTransport::open(options);
    return transport && (*transport)->capabilities().registersDevice;
  };
  if (!registersDevice(ofi::DeviceMemory::Always))
    GTEST_SKIP() << "the provider shm of this libfabric lacks FI_HMEM";
  if (injectedBytesOfShm(0) == injectedBytesOfShm(FI_HMEM))
    GTEST_SKIP() << "the provider shm of this libfabric has alike offers";
  EXPECT_FALSE(registersDevice(ofi::DeviceMemory::IfAlike));
}

TEST(Ofi, anOptionChoosesWhetherDeviceMemoryIsReached) {
  auto read = [](const char *given) {
    NetworkSettings settings("ofi", given, NetworkSettings::From::TextAlone);
    return ofi::readOptions(settings);
  };
  EXPECT_EQ(read("devices=0")->devices, ofi::DeviceMemory::Never);
  EXPECT_EQ(read("devices=1")->devices, ofi::DeviceMemory::Always);
  EXPECT_EQ(read("")->devices,
            ofi::hasCudaDriver() ? ofi::DeviceMemory::IfAlike : ofi::DeviceMemory::Never);
  EXPECT_EQ(read("devices=2").message(),
            "the option 'devices' of the network ofi is '2', which is neither 0 nor 1");
}

} // namespace
} // namespace colldsl::test
