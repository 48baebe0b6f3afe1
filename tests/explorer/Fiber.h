/// A function with a stack of its own, which it can leave in the middle and come back to.
#pragma once

#include <functional>
#include <memory>
#include <ucontext.h>

namespace colldsl::test {

/// One thread. Its function has returned, or never began, when it is destroyed.
class Fiber {
public:
  Fiber();
  Fiber(const Fiber &) = delete;

  /// Calls the function, until it returns or leaves. Not while another one is under way.
  void begin(std::function<void()> function);
  /// Goes on behind leave().
  void resume();
  /// Within the function.
  void leave();
  bool isUnderWay() const { return isUnderWay_; }

private:
  static void enter(uint32_t low, uint32_t high);

  std::unique_ptr<char[]> stack_;
  ucontext_t inside_, outside_;
  std::function<void()> function_;
  bool isUnderWay_ = false;
};

} // namespace colldsl::test
