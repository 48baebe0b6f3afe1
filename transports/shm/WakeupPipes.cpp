#include "transports/shm/WakeupPipes.h"

#include <fcntl.h>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace colldsl::shm {

WakeupPipes::WakeupPipes(uint32_t numRanks)
    : numRanks_(numRanks), others_(std::make_unique<std::atomic<int>[]>(numRanks)) {}

WakeupPipes::~WakeupPipes() {
  for (int file : own_)
    if (file >= 0)
      close(file);
  for (uint32_t r = 0; r < numRanks_; ++r)
    if (int file = others_[r]; file > 0)
      close(file);
}

int WakeupPipes::create(RankControl &control) {
  if (pipe2(own_, O_NONBLOCK | O_CLOEXEC) != 0)
    return -1;
  control.wakeupFd.store(own_[0] + 1, std::memory_order_release);
  return own_[0];
}

void WakeupPipes::drain() const {
  char received[64];
  while (read(own_[0], received, sizeof received) == sizeof received) {
  }
}

// The pipe is drained only while no thread sleeps. A later sleeper checks the word, which changes
// before the pipe is written to.
void WakeupPipes::sleep(const std::atomic<uint32_t> &word, uint32_t value, int file,
                        std::chrono::nanoseconds atMost) {
  {
    std::lock_guard lock(mutex_);
    ++sleepers_;
  }
  if (word.load(std::memory_order_seq_cst) == value && atMost > std::chrono::nanoseconds::zero()) {
    pollfd files[] = {{own_[0], POLLIN, 0}, {file, POLLIN, 0}};
    auto seconds = std::chrono::floor<std::chrono::seconds>(atMost);
    timespec timeout = {static_cast<time_t>(seconds.count()),
                        static_cast<long>((atMost - seconds).count())};
    ppoll(files, 2, &timeout, nullptr);
  }
  std::lock_guard lock(mutex_);
  if (--sleepers_ == 0)
    drain();
}

// Open for reading too, so that writing to a FIFO without a reader does not kill the writer.
int WakeupPipes::open(uint32_t place, const RankControl &control) {
  int known = others_[place].load(std::memory_order_acquire);
  int number = control.wakeupFd.load(std::memory_order_acquire) - 1;
  if (known != 0 || number < 0)
    return known;
  std::string path = "/proc/" + std::to_string(control.pid.load(std::memory_order_acquire)) +
                     "/fd/" + std::to_string(number);
  int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file <= 0)
    return 0;
  if (others_[place].compare_exchange_strong(known, file))
    return file;
  close(file);
  return known;
}

void WakeupPipes::wake(uint32_t place, const RankControl &control) {
  if (int file = open(place, control); file > 0)
    (void)!write(file, "", 1);
}

} // namespace colldsl::shm
