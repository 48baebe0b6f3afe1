#include "transports/ofi/RdmEndpoint.h"

#include "transports/ofi/Domains.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/random.h>

namespace colldsl::ofi {
namespace {

constexpr uint32_t kVersion = FI_VERSION(1, 17);
// The bits that travel along with a write.
constexpr size_t kDataBytes = 4;

// The nap of a provider that has no descriptor to wait for.
constexpr std::chrono::nanoseconds kBlindSleep = std::chrono::microseconds(100);

// Deprecated. In 1.17.0 a frame of 8 KiB takes tens of milliseconds and a longer put never ends,
// and libfabric's own fi_pingpong takes 65 ms for a message of any size.
constexpr std::string_view kUnfit = "sockets";

using network::Access;
using network::Region;

uint64_t bitOf(Access access) {
  switch (access) {
  case Access::Send:
    return FI_SEND;
  case Access::Receive:
    return FI_RECV;
  case Access::Read:
    return FI_READ;
  case Access::Write:
    return FI_WRITE;
  case Access::RemoteRead:
    return FI_REMOTE_READ;
  case Access::RemoteWrite:
    return FI_REMOTE_WRITE;
  }
  return 0;
}

struct Known : Region::Registration {
  explicit Known(fid_mr *region) : region_(region) {}
  ~Known() override { fi_close(&region_->fid); }
  Known(const Known &) = delete;

private:
  fid_mr *region_;
};

// The longest frame, header included, that ofi_rxm sends at once. For a longer one it sends a
// request to the receiver, and goes on with other frames meanwhile.
constexpr uint32_t kRxmFrameBytes = 16000;

// The file descriptor of `net` stays readable for good once there were events: no thread can sleep
// on it. For as long as long messages take, a thread yields its core between two polls, because the
// peer may need the core to answer; then it naps.
constexpr uint32_t kMaxVainPolls = 200;

bool isReadable(int file) {
  pollfd one = {file, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

uint64_t randomWord() {
  uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word)
    word = 0;
  return word;
}

// True if messages of the host's memory go by both offers in the same way.
bool areAlike(const fi_info &one, const fi_info &other) {
  auto modeOf = [](const fi_info &offer) { return offer.domain_attr->mr_mode & ~FI_MR_HMEM; };
  return one.tx_attr->inject_size == other.tx_attr->inject_size &&
         one.tx_attr->iov_limit == other.tx_attr->iov_limit &&
         one.rx_attr->comp_order == other.rx_attr->comp_order && modeOf(one) == modeOf(other) &&
         one.domain_attr->cq_data_size == other.domain_attr->cq_data_size &&
         (one.caps & FI_RMA) == (other.caps & FI_RMA);
}

} // namespace

Status ofiError(const std::string &what, ssize_t code) {
  return Status::error("cannot " + what + ": " + textOf(code));
}

RdmEndpoint::Info RdmEndpoint::getInfo(const Options &options, const char *node) {
  bool reachesDevices = options.devices != DeviceMemory::Never;
  Info hints(Library::get().copyInfo(nullptr));
  hints->caps = FI_MSG;
  if (options.usesRma)
    hints->caps |= FI_RMA;
  if (reachesDevices)
    hints->caps |= FI_HMEM;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  if (reachesDevices)
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (!options.provider.empty())
    hints->fabric_attr->prov_name = strdup(options.provider.c_str());
  if (!options.domain.empty())
    hints->domain_attr->name = strdup(options.domain.c_str());
  fi_info *found = nullptr;
  KeptSignals kept;
  int code =
      Library::get().getInfo(kVersion, node, nullptr, node ? FI_SOURCE : 0, hints.get(), &found);
  return only(Info(code == 0 ? found : nullptr), options.domain);
}

// Selects the offer of the domain, because not all providers look at the hint.
RdmEndpoint::Info RdmEndpoint::only(Info offers, const std::string &domain) {
  const fi_info *offer = offers.get();
  while (offer && !domain.empty() && domain != offer->domain_attr->name)
    offer = offer->next;
  return offer == offers.get() ? std::move(offers)
                               : Info(offer ? Library::get().copyInfo(offer) : nullptr);
}

// Refuses a provider that has sockets but is not bound to the address: it would be bound to all.
RdmEndpoint::Info RdmEndpoint::getInfo(const Options &options) {
  if (Info bound = getInfo(options, options.bind.c_str());
      bound && bound->addr_format >= FI_SOCKADDR && bound->addr_format <= FI_SOCKADDR_IN6)
    return bound;
  Info free = getInfo(options, nullptr);
  bool hasSockets =
      free && free->addr_format >= FI_SOCKADDR && free->addr_format <= FI_SOCKADDR_IN6;
  return hasSockets ? nullptr : nearest(std::move(free), options);
}

// The nearest of equal offers. There is only one offer that is bound to an address.
RdmEndpoint::Info RdmEndpoint::nearest(Info offers, const Options &options) {
  if (!offers || !offers->next || !options.boundThreads)
    return offers;
  std::vector<const fi_info *> equal = equalDomains(offers.get());
  std::vector<NicName> names;
  for (const fi_info *offer : equal)
    names.push_back(nicOf(*offer));
  return Info(Library::get().copyInfo(equal[nearestNic(names, *options.boundThreads)]));
}

// Returns the offer of that provider and domain which has the memory of devices, if it may be
// taken; else the offer as it is.
RdmEndpoint::Info RdmEndpoint::withDevices(Info found, Options options) {
  options.provider = found->fabric_attr->prov_name;
  options.domain = found->domain_attr->name;
  Info better = getInfo(options);
  bool isSame = better && options.provider == better->fabric_attr->prov_name &&
                found->addr_format == better->addr_format &&
                (options.devices == DeviceMemory::Always || areAlike(*found, *better));
  return isSame ? std::move(better) : std::move(found);
}

Result<std::unique_ptr<RdmEndpoint>> RdmEndpoint::open(const Options &options, Calls &calls) {
  if (const Status &s = Library::load(); !s)
    return s;
  std::unique_ptr<RdmEndpoint> endpoint(new RdmEndpoint(calls));
  Options wish = options;
  wish.devices = DeviceMemory::Never;
  endpoint->info_ = getInfo(wish);
  if (!endpoint->info_ && options.usesRma) {
    wish.usesRma = false;
    endpoint->info_ = getInfo(wish);
  }
  if (!endpoint->info_)
    return Status::error("libfabric has no provider '" + options.provider +
                         "' for reliable messages in order" +
                         (options.domain.empty() ? "" : " on domain '" + options.domain + "'") +
                         " that can be bound to '" + options.bind + "'");
  if (endpoint->providerName().find(kUnfit) != std::string::npos)
    return Status::error("libfabric's provider 'sockets' stops in the middle of messages of more "
                         "than 8 KiB; its provider 'tcp' (COLLDSL_OFI_PROVIDER=tcp) uses the same "
                         "sockets");
  wish.devices = options.devices;
  if (wish.devices != DeviceMemory::Never && wish.usesRma)
    endpoint->info_ = withDevices(std::move(endpoint->info_), wish);
  endpoint->noteCapabilities(wish);
  if (Status s = endpoint->openObjects(options.bind); !s)
    return s;
  return endpoint;
}

void RdmEndpoint::noteCapabilities(const Options &options) {
  const fi_domain_attr &domain = *info_->domain_attr;
  capabilities_.name = "ofi";
  if (providerName().find("ofi_rxm") != std::string::npos)
    capabilities_.frameBytes = kRxmFrameBytes;
  capabilities_.pieces = static_cast<uint32_t>(
      std::max<size_t>(1, std::min(info_->tx_attr->iov_limit, size_t{network::kMaxPieces})));
  capabilities_.hasRma =
      options.usesRma && (info_->caps & FI_RMA) != 0 && domain.cq_data_size >= kDataBytes;
  capabilities_.registersDevice = capabilities_.hasRma && (info_->caps & FI_HMEM) != 0;
  capabilities_.usesVirtualAddresses = (domain.mr_mode & FI_MR_VIRT_ADDR) != 0;
  capabilities_.needsLocalRegistration = (domain.mr_mode & FI_MR_LOCAL) != 0;
  capabilities_.pinsPages = (domain.mr_mode & FI_MR_ALLOCATED) != 0;
  // Bytes that do not fit into a socket wait, and for those of an injected frame there is no event.
  capabilities_.holdsFrames = !capabilities_.pinsPages;
  capabilities_.injectBytes = capabilities_.holdsFrames ? 0 : info_->tx_attr->inject_size;
  if ((info_->rx_attr->comp_order & FI_ORDER_DATA) != 0)
    capabilities_.inOrderBytes = UINT64_MAX;
}

Status RdmEndpoint::openQueue() {
  fi_cq_attr attributes = {};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq *queue = nullptr;
  int code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (code == 0) {
    cq_.reset(queue);
    if (fi_control(&queue->fid, FI_GETWAIT, &waitFd_) != 0)
      waitFd_ = -1;
    return {};
  }
  attributes.wait_obj = FI_WAIT_NONE;
  code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  cq_.reset(code == 0 ? queue : nullptr);
  return code == 0 ? Status() : ofiError("open a completion queue", code);
}

Status RdmEndpoint::openObjects(const std::string &place) {
  KeptSignals kept;
  fid_fabric *fabric = nullptr;
  if (int code = Library::get().openFabric(info_->fabric_attr, &fabric, nullptr); code != 0)
    return ofiError("open the fabric of " + providerName(), code);
  fabric_.reset(fabric);
  fid_domain *domain = nullptr;
  if (int code = fi_domain(fabric, info_.get(), &domain, nullptr); code != 0)
    return ofiError("open the domain of " + providerName(), code);
  domain_.reset(domain);
  fi_av_attr attributes = {};
  attributes.type = FI_AV_TABLE;
  fid_av *av = nullptr;
  if (int code = fi_av_open(domain, &attributes, &av, nullptr); code != 0)
    return ofiError("open an address vector", code);
  av_.reset(av);
  if (Status s = openQueue(); !s)
    return s;
  fid_ep *endpoint = nullptr;
  if (int code = fi_endpoint(domain, info_.get(), &endpoint, nullptr); code != 0)
    return ofiError("open an endpoint of " + providerName() + " at " + place, code);
  endpoint_.reset(endpoint);
  int code = fi_ep_bind(endpoint, &av->fid, 0);
  if (code == 0)
    code = fi_ep_bind(endpoint, &cq_->fid, FI_TRANSMIT | FI_RECV);
  if (code == 0)
    code = fi_enable(endpoint);
  return code == 0 ? Status()
                   : ofiError("enable an endpoint of " + providerName() + " at " + place, code);
}

void RdmEndpoint::leak() {
  (void)endpoint_.release();
  (void)cq_.release();
  (void)av_.release();
  (void)domain_.release();
  (void)fabric_.release();
}

Result<std::vector<std::byte>> RdmEndpoint::address() const {
  std::vector<std::byte> address(256);
  size_t bytes = address.size();
  if (int code = fi_getname(&endpoint_->fid, address.data(), &bytes); code != 0)
    return ofiError("ask for the address of an endpoint", code);
  address.resize(bytes);
  return address;
}

Result<fi_addr_t> RdmEndpoint::reach(const std::byte *address) {
  fi_addr_t handle = FI_ADDR_UNSPEC;
  int count = calls_.reach(av_.get(), address, &handle);
  if (count != 1 || handle == FI_ADDR_UNSPEC)
    return ofiError("enter an address", count < 0 ? count : -FI_EINVAL);
  return handle;
}

Result<Region> RdmEndpoint::registerMemory(std::span<const iovec> pieces, Access access) {
  const iovec &memory = pieces.front();
  return registerBy(memory, [&](uint64_t key, fid_mr **region) {
    return calls_.registerMemory(domain_.get(), memory, bitOf(access), key, region);
  });
}

Result<Region> RdmEndpoint::registerDevice(const network::DeviceMemory &memory) {
  if (!capabilities_.registersDevice)
    return Status::error("the provider " + providerName() + " reaches no device memory");
  return registerBy(memory.memory, [&](uint64_t key, fid_mr **region) {
    fi_mr_attr attributes = {};
    attributes.mr_iov = &memory.memory;
    attributes.iov_count = 1;
    attributes.access = FI_READ | FI_WRITE | FI_REMOTE_WRITE;
    attributes.requested_key = key;
    attributes.iface = FI_HMEM_CUDA;
    attributes.device.cuda = memory.ordinal;
    return calls_.registerDevice(domain_.get(), attributes, region);
  });
}

// A key that is taken is not an error: the next one is tried.
template <typename Register>
Result<Region> RdmEndpoint::registerBy(const iovec &memory, Register makeRegion) {
  const fi_domain_attr &domain = *info_->domain_attr;
  int code = 0;
  for (int tries = 0; tries < 4; ++tries) {
    uint64_t key = domain.mr_key_size >= sizeof(uint64_t) ? randomWord() : ++nextKey_;
    fid_mr *raw = nullptr;
    code = makeRegion(key, &raw);
    if (code == -FI_ENOKEY)
      continue;
    if (code != 0)
      break;
    auto known = std::make_unique<Known>(raw);
    if ((domain.mr_mode & FI_MR_ENDPOINT) != 0) {
      code = fi_mr_bind(raw, &endpoint_->fid, 0);
      if (code == 0)
        code = fi_mr_enable(raw);
      if (code != 0)
        break;
    }
    known->descriptor = fi_mr_desc(raw);
    known->key = fi_mr_key(raw);
    return Region(std::move(known));
  }
  return ofiError("register " + std::to_string(memory.iov_len) + " bytes of memory", code);
}

std::optional<network::Transport::Wait> RdmEndpoint::ifIdle() {
  if (waitFd_ < 0)
    return network::Transport::Wait{-1, kBlindSleep};
  fid *queue = &cq_->fid;
  if (fi_trywait(fabric_.get(), &queue, 1) != FI_SUCCESS)
    return std::nullopt;
  if (!isReadable(waitFd_))
    return network::Transport::Wait{waitFd_};
  bool naps = ++vainPolls_ > kMaxVainPolls;
  return network::Transport::Wait{-1, naps ? kBlindSleep : std::chrono::nanoseconds::zero()};
}

} // namespace colldsl::ofi
