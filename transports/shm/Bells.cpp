#include "transports/shm/Bells.h"

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace colldsl::shm {

Bells::Bells(uint32_t numRanks)
    : numRanks_(numRanks), others_(std::make_unique<std::atomic<int>[]>(numRanks)) {}

Bells::~Bells() {
  for (int file : own_)
    if (file >= 0)
      close(file);
  for (uint32_t r = 0; r < numRanks_; ++r)
    if (int file = others_[r]; file > 0)
      close(file);
}

int Bells::hang(RankControl &control) {
  if (pipe2(own_, O_NONBLOCK | O_CLOEXEC) != 0)
    return -1;
  control.bell.store(own_[0] + 1, std::memory_order_release);
  return own_[0];
}

void Bells::hush() const {
  char heard[64];
  while (read(own_[0], heard, sizeof heard) == sizeof heard) {
  }
}

// Open for reading too, so that nobody is killed who rings where nobody is any more.
int Bells::open(uint32_t place, const RankControl &control) {
  int known = others_[place].load(std::memory_order_acquire);
  int number = control.bell.load(std::memory_order_acquire) - 1;
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

void Bells::ring(uint32_t place, const RankControl &control) {
  if (int file = open(place, control); file > 0)
    (void)!write(file, "", 1);
}

} // namespace colldsl::shm
