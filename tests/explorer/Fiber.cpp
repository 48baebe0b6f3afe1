#include "tests/explorer/Fiber.h"

#include <cstdint>

namespace colldsl::test {
namespace {

constexpr size_t kStackBytes = 256 << 10;

} // namespace

Fiber::Fiber() : stack_(new char[kStackBytes]) {}

void Fiber::begin(std::function<void()> function) {
  function_ = std::move(function);
  isUnderWay_ = true;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = &outside_;
  auto self = reinterpret_cast<uintptr_t>(this); // in two parts: a context passes ints alone
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<uint32_t>(self),
              static_cast<uint32_t>(self >> 32));
  resume();
}

void Fiber::enter(uint32_t low, uint32_t high) {
  auto *self = reinterpret_cast<Fiber *>(uintptr_t{low} | uintptr_t{high} << 32);
  self->function_();
  self->isUnderWay_ = false;
}

void Fiber::resume() { swapcontext(&outside_, &inside_); }
void Fiber::leave() { swapcontext(&inside_, &outside_); }

} // namespace colldsl::test
