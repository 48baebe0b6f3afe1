/// Objects that all users of a context share, by the driver and the context. Thread safe.
#pragma once

#include "device/CudaDriver.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace colldsl::device {

template <typename Object> class PerContext {
public:
  /// The object of the context, which the first caller makes, and which ends with its last user.
  /// The driver and the context outlive it. `make` returns a std::shared_ptr of it.
  template <typename Make>
  std::shared_ptr<Object> get(const CudaDriver &driver, CuContext context, Make make) {
    std::lock_guard guard(mutex_);
    std::weak_ptr<Object> &known = all_[{&driver, context}];
    std::shared_ptr<Object> object = known.lock();
    if (!object) {
      object = make();
      known = object;
    }
    return object;
  }

private:
  std::mutex mutex_;
  std::map<std::pair<const CudaDriver *, CuContext>, std::weak_ptr<Object>> all_;
};

} // namespace colldsl::device
