// A stack is kept for the next function, and both sides jump, since making and swapping contexts
// are calls of the kernel, and there are many millions. AddressSanitizer does not support such
// jumps.
#undef _FORTIFY_SOURCE // it takes a jump to another stack for an error
#include "tests/explorer/Fiber.h"

#include <csetjmp>
#include <cstdint>
#include <ucontext.h>
#include <utility>
#include <vector>

namespace colldsl::test {
namespace {

constexpr size_t kStackBytes = 256 << 10;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kJumps = false;
#else
constexpr bool kJumps = true;
#endif

} // namespace

struct Fiber::Stack {
  std::unique_ptr<char[]> memory{new char[kStackBytes]};
  ucontext_t inside = {}, outside = {};
  jmp_buf insideJump, outsideJump;
  std::function<void()> function;
  bool hasBegun = false; ///< there is something to jump to
  bool isOver = true;

  void make();
  void resume();
  void leave();
  [[noreturn]] void run();
  static std::vector<std::unique_ptr<Stack>> spare;
};

std::vector<std::unique_ptr<Fiber::Stack>> Fiber::Stack::spare;

void Fiber::Stack::make() {
  getcontext(&inside);
  inside.uc_stack.ss_sp = memory.get();
  inside.uc_stack.ss_size = kStackBytes;
  auto self = reinterpret_cast<uintptr_t>(this); // in two parts: a context passes ints alone
  makecontext(&inside, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<uint32_t>(self),
              static_cast<uint32_t>(self >> 32));
}

void Fiber::Stack::resume() {
  if (!hasBegun || !kJumps) {
    hasBegun = true;
    if (!kJumps || _setjmp(outsideJump) == 0)
      swapcontext(&outside, &inside);
  } else if (_setjmp(outsideJump) == 0) {
    _longjmp(insideJump, 1);
  }
}

void Fiber::Stack::leave() {
  if (!kJumps)
    swapcontext(&inside, &outside);
  else if (_setjmp(insideJump) == 0)
    _longjmp(outsideJump, 1);
}

// One function after the other.
void Fiber::Stack::run() {
  for (;;) {
    function();
    isOver = true;
    leave();
  }
}

void Fiber::enter(uint32_t low, uint32_t high) {
  reinterpret_cast<Stack *>(uintptr_t{low} | uintptr_t{high} << 32)->run();
}

Fiber::Fiber() = default;
Fiber::~Fiber() = default;

void Fiber::begin(std::function<void()> function) {
  if (Stack::spare.empty()) {
    Stack::spare.push_back(std::make_unique<Stack>());
    Stack::spare.back()->make();
  }
  stack_ = std::move(Stack::spare.back());
  Stack::spare.pop_back();
  stack_->function = std::move(function);
  stack_->isOver = false;
  resume();
}

void Fiber::resume() {
  current_ = this;
  stack_->resume();
  current_ = nullptr;
  if (stack_->isOver)
    Stack::spare.push_back(std::move(stack_));
}

void Fiber::abandon() {
  stack_->make();
  stack_->hasBegun = false;
  stack_->isOver = true;
  Stack::spare.push_back(std::move(stack_));
}

void Fiber::leave() { stack_->leave(); }

} // namespace colldsl::test
