/// A function with a stack of its own, which it can leave in the middle and come back to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace colldsl::test {

/// One thread. Its function has returned, or never began, or is abandoned, when it is destroyed.
class Fiber {
public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;

  /// Calls the function, until it returns or leaves. Not while another one is under way.
  void begin(std::function<void()> function);
  /// Goes on behind leave().
  void resume();
  /// Within the function.
  void leave();
  /// Ends a function that has left: it does not come back, and what it has on its stack is not
  /// destroyed.
  void abandon();
  /// Whose function calls; null: none.
  static Fiber *current() { return current_; }
  bool isUnderWay() const { return stack_ != nullptr; }

private:
  struct Stack;
  static void enter(uint32_t low, uint32_t high);

  static inline Fiber *current_ = nullptr;
  std::unique_ptr<Stack> stack_; ///< of the function that is under way
};

} // namespace colldsl::test
