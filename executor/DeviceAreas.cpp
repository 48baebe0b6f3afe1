#include "executor/DeviceAreas.h"

#include "device/RdmaMemory.h"
#include "ir/Concat.h"
#include "transports/network/RegisteredMemory.h"

#include <algorithm>
#include <functional>
#include <sys/mman.h>

namespace colldsl {
namespace {

// Stages are whole pages, and one lies between any two of them: no address is in two stages.
constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t wholePages(uint64_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

} // namespace

Status LockedMemory::reserve(uint64_t bytes) {
  if (bytes <= bytes_)
    return {};
  free();
  void *memory = bytes > UINT64_MAX / 2 ? MAP_FAILED
                                        : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::error(ErrorKind::NoMemory,
                         concat("no memory for ", bytes, " bytes beside device memory"));
  data_ = static_cast<std::byte *>(memory);
  bytes_ = bytes;
  return {};
}

Status LockedMemory::lock() {
  if (isLocked_ || !data_)
    return {};
  device::CurrentContext current(driver_, context_);
  Status s =
      device::checkCuda(driver_, driver_.memHostRegister(data_, bytes_, device::kRegisterPortable),
                        "cuMemHostRegister");
  if (!s)
    return Status::error(
        concat("cannot lock ", bytes_, " bytes beside device memory: ", s.message()));
  isLocked_ = true;
  return {};
}

void LockedMemory::free() {
  if (!data_)
    return;
  device::CurrentContext current(driver_, context_);
  if (std::exchange(isLocked_, false) && current)
    driver_.memHostUnregister(data_);
  munmap(std::exchange(data_, nullptr), std::exchange(bytes_, 0));
}

void LockedMemory::abandon() {
  data_ = nullptr;
  bytes_ = 0;
  isLocked_ = false;
}

bool DeviceBlock::reserve(const device::CudaDriver &driver, device::CuContext context,
                          uint64_t bytes) {
  if (&driver == driver_ && context == context_ && bytes <= bytes_)
    return true;
  free();
  device::CurrentContext current(driver, context);
  if (!current || driver.memAlloc(&address_, bytes) != device::kCudaSuccess) {
    address_ = 0;
    return false;
  }
  driver_ = &driver;
  context_ = context;
  bytes_ = bytes;
  return true;
}

void DeviceBlock::free() {
  if (address_ == 0)
    return;
  device::CurrentContext current(*driver_, context_);
  if (current)
    driver_->memFree(address_);
  address_ = bytes_ = 0;
}

bool DeviceAreas::areNeeded(const Binding &binding) {
  return std::any_of(binding.buffers.begin(), binding.buffers.end(),
                     [](const BoundBuffer &buffer) { return buffer.driver && buffer.data; });
}

Status DeviceAreas::bind(const Binding &binding) {
  if (Status s = findContext(binding); !s)
    return s;
  oldRegistrations_.insert(oldRegistrations_.end(), registrations_.begin(), registrations_.end());
  registrations_.clear();
  return placeStages(binding);
}

Status DeviceAreas::findContext(const Binding &binding) {
  std::optional<uint32_t> first;
  const device::CudaDriver *driver = nullptr;
  device::CuContext context = nullptr;
  for (uint32_t b = 0; b < binding.buffers.size(); ++b) {
    const BoundBuffer &buffer = binding.buffers[b];
    if (!buffer.driver || !buffer.data)
      continue;
    Result<device::CuContext> own = device::contextOf(*buffer.driver, buffer.data, buffer.bytes);
    if (!own)
      return Status::error(concat(bufferInWords(binding.names, b), ": ", own.message()));
    if (first && (*own != context || buffer.driver != driver))
      return Status::error(concat(bufferInWords(binding.names, *first), " and ",
                                  bufferInWords(binding.names, b),
                                  " are memory of different devices or contexts"));
    context = *own;
    driver = buffer.driver;
    first = b;
  }
  if (driver == driver_ && context == context_)
    return {};
  freeMirror();
  driver_ = driver;
  context_ = context;
  stages_ = std::make_unique<LockedMemory>(*driver, context);
  temporaries_ = std::make_unique<LockedMemory>(*driver, context);
  return {};
}

Status DeviceAreas::placeStages(const Binding &binding) {
  areas_.clear();
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < binding.buffers.size(); ++b) {
    const BoundBuffer &buffer = binding.buffers[b];
    if (!buffer.driver || !buffer.data)
      continue;
    if (buffer.bytes > UINT64_MAX / 4 - bytes)
      return Status::error(ErrorKind::NoMemory, concat("no memory for ", buffer.bytes, " bytes"));
    areas_.push_back(
        {nullptr, buffer.bytes, reinterpret_cast<device::DeviceAddress>(buffer.data), b, true});
    offsets.push_back(bytes);
    bytes += wholePages(buffer.bytes) + kPageBytes;
  }
  if (Status s = stages_->reserve(bytes); !s)
    return s;
  binding_ = binding;
  binding_.temporaries = this;
  for (size_t a = 0; a < areas_.size(); ++a) {
    areas_[a].host = stages_->data() + offsets[a];
    binding_.buffers[areas_[a].buffer].data = areas_[a].host;
  }
  return {};
}

std::byte *DeviceAreas::reserve(uint64_t bytes) {
  if (!temporaries_->reserve(wholePages(bytes) + kPageBytes))
    return nullptr;
  Area area{temporaries_->data(), bytes, bytes <= mirror_.bytes() ? mirror_.address() : 0, 0,
            false};
  std::less<const std::byte *> before;
  auto at = std::upper_bound(areas_.begin(), areas_.end(), area,
                             [&](const Area &a, const Area &b) { return before(a.host, b.host); });
  areas_.insert(at, area);
  return area.host;
}

const DeviceAreas::Area *DeviceAreas::areaOf(const std::byte *address) const {
  std::less<const std::byte *> before;
  auto behind = std::upper_bound(
      areas_.begin(), areas_.end(), address,
      [&](const std::byte *wanted, const Area &area) { return before(wanted, area.host); });
  if (behind == areas_.begin())
    return nullptr;
  const Area &area = *--behind;
  return before(address, area.host + area.bytes) ? &area : nullptr;
}

Status DeviceAreas::lock() {
  Status s = stages_->lock();
  return s ? temporaries_->lock() : s;
}

bool DeviceAreas::mirrorTemporaries() {
  auto own =
      std::find_if(areas_.begin(), areas_.end(), [](const Area &area) { return !area.isCallers; });
  if (own == areas_.end() || own->device != 0)
    return own != areas_.end();
  freeMirror();
  if (!mirror_.reserve(*driver_, context_, own->bytes))
    return false;
  own->device = mirror_.address();
  return true;
}

void DeviceAreas::freeMirror() {
  mirrorRegistration_.reset();
  mirror_.free();
}

network::DeviceRegistration *DeviceAreas::registerArea(Endpoint &endpoint, const Area &area) {
  if (network::DeviceRegistration *known = registrationOf(area))
    return known;
  Registration made = makeRegistration(endpoint, area);
  if (made && area.isCallers)
    registrations_.push_back(made);
  else if (made)
    mirrorRegistration_ = made;
  return made.get();
}

// A network's library may call the driver itself, in the context of this thread, when memory is
// registered and when that ends. The attribute of the memory is for good, so it comes last.
DeviceAreas::Registration DeviceAreas::makeRegistration(Endpoint &endpoint, const Area &area) {
  device::CurrentContext current(*driver_, context_);
  const auto *address = reinterpret_cast<const void *>(area.device);
  auto allocation = device::allocationOf(*driver_, address, 0);
  if (!current || !allocation)
    return nullptr;
  for (const Registration &known : oldRegistrations_)
    if (known->id == allocation->id)
      return known;
  auto memory = device::exportForRdma(*driver_, address);
  if (!memory)
    return nullptr;
  const device::Allocation &whole = memory->allocation;
  Registration shared =
      endpoint.registerDevice({{reinterpret_cast<void *>(whole.begin), whole.bytes},
                               whole.id,
                               memory->ordinal,
                               memory->dmaBuf.file(),
                               memory->offset});
  if (!shared || !device::synchronizeCopies(*driver_, whole))
    return nullptr;
  auto end = [shared, driver = driver_, context = context_](auto *) mutable {
    device::CurrentContext currentAtEnd(*driver, context);
    shared.reset();
  };
  return {shared.get(), end};
}

network::DeviceRegistration *DeviceAreas::registrationOf(const Area &area) const {
  if (!area.isCallers)
    return mirrorRegistration_.get();
  for (const Registration &known : registrations_) {
    auto begin = reinterpret_cast<device::DeviceAddress>(known->of.iov_base);
    if (area.device >= begin && area.device < begin + known->of.iov_len)
      return known.get();
  }
  return nullptr;
}

void DeviceAreas::endRegistrations() {
  mirrorRegistration_.reset();
  registrations_.clear();
  oldRegistrations_.clear();
}

device::DeviceAddress DeviceAreas::callersAddress() const {
  return std::find_if(areas_.begin(), areas_.end(), [](const Area &area) { return area.isCallers; })
      ->device;
}

std::string DeviceAreas::inWords(const Area &area) const {
  return area.isCallers ? bufferInWords(binding_.names, area.buffer) : "the temporaries";
}

void DeviceAreas::abandon() {
  stages_->abandon();
  temporaries_->abandon();
  mirror_.abandon();
}

} // namespace colldsl
