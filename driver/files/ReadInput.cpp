#include "driver/files/ReadInput.h"

#include "ir/Numbers.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/Errno.h"

#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace colldsl::driver {
namespace {

constexpr auto kAlignment = llvm::Align::Constant<64>(); // of Library::view()
constexpr uint64_t kMaxStreamBytes = uint64_t{4} << 30;
constexpr std::chrono::seconds kMaxWaitForWriter{5};

class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0)
      close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator int() const { return fd_; }

private:
  int fd_;
};

Status failed() { return Status::error(llvm::sys::StrError()); }

bool isNullDevice(const struct stat &info) { return info.st_rdev == makedev(1, 3); }

/// True for a FIFO, a socket, a terminal and /dev/null: input of unknown length.
bool isStream(int fd, const struct stat &info) {
  return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) ||
         (S_ISCHR(info.st_mode) && (isatty(fd) || isNullDevice(info)));
}

/// Variant of read() that waits for data on non-blocking descriptors, too.
Result<size_t> readSome(int fd, char *to, size_t bytes) {
  for (;;) {
    ssize_t n = ::read(fd, to, bytes);
    if (n >= 0)
      return static_cast<size_t>(n);
    if (errno == EAGAIN) {
      pollfd wait{fd, POLLIN, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return failed();
    }
  }
}

Result<std::string> readStream(int fd, std::string text) {
  constexpr size_t kChunk = 1 << 16;
  for (;;) {
    size_t size = text.size();
    text.resize(size + kChunk);
    Result<size_t> n = readSome(fd, text.data() + size, kChunk);
    if (!n)
      return n.status();
    text.resize(size + *n);
    if (*n == 0)
      return text;
    if (text.size() > kMaxStreamBytes)
      return Status::error("a stream of more than 4 GiB; write it to a file");
  }
}

/// Waits for a writer of a FIFO that is open with O_NONBLOCK, and returns the first byte, if any.
/// read() returns 0 while no writer has opened the FIFO, and EAGAIN once one has.
Result<std::string> awaitWriter(int fd) {
  auto end = std::chrono::steady_clock::now() + kMaxWaitForWriter;
  do {
    char first = 0;
    ssize_t n = ::read(fd, &first, 1);
    if (n > 0)
      return std::string(1, first);
    if (n < 0 && errno == EAGAIN)
      return std::string();
    if (n < 0 && errno != EINTR)
      return failed();
    pollfd wait{fd, POLLIN, 0};
    poll(&wait, 1, 20);
    if (wait.revents & POLLHUP) // a writer came and went; its data is in the FIFO
      return std::string();
  } while (std::chrono::steady_clock::now() < end);
  return Status::error("no process has opened the FIFO for writing");
}

/// Null if there is not enough memory.
std::unique_ptr<llvm::MemoryBuffer> aligned(const std::string &text, const std::string &name) {
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), name, kAlignment);
  if (buffer)
    std::copy(text.begin(), text.end(), buffer->getBufferStart());
  return buffer;
}

Result<std::unique_ptr<llvm::MemoryBuffer>> readOpen(int fd, bool isOwn, const std::string &name) {
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0)
    return failed();
  if (S_ISREG(info.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
    auto buffer = llvm::MemoryBuffer::getOpenFile(fd, name, static_cast<uint64_t>(info.st_size),
                                                  /*RequiresNullTerminator=*/false,
                                                  /*IsVolatile=*/false, kAlignment);
    if (!buffer)
      return Status::error(buffer.getError().message());
    return std::move(*buffer);
  }
  if (!S_ISREG(info.st_mode) && !isStream(fd, info))
    return Status::error("it is not an ordinary file");
  Result<std::string> first = S_ISFIFO(info.st_mode) && !isOwn ? awaitWriter(fd) : std::string();
  Result<std::string> text = first ? readStream(fd, first.take()) : first.status();
  if (!text)
    return text.status();
  if (auto buffer = aligned(*text, name))
    return buffer;
  return Status::error("there is not enough memory");
}

} // namespace

int descriptorNamed(llvm::StringRef name) {
  if (name == "-" || name == "/dev/stdin")
    return STDIN_FILENO;
  bool isOwn = name.consume_front("/dev/fd/") || name.consume_front("/proc/self/fd/");
  return isOwn ? std::max(parseWhole<int>(name).value_or(-1), -1) : -1;
}

std::string shownName(llvm::StringRef name) { return name == "-" ? "<stdin>" : name.str(); }

Result<std::unique_ptr<llvm::MemoryBuffer>> readInput(const std::string &name) {
  int own = descriptorNamed(name);
  // A descriptor is duplicated: opening a pipe again, whose writer may be gone, would wait for
  // another.
  Descriptor fd(own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                         : ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  auto buffer = readOpen(fd, own >= 0, shownName(name));
  if (!buffer)
    return Status::error("cannot read '" + shownName(name) + "': " + buffer.message());
  return buffer;
}

Result<std::string> readText(const std::string &name) {
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(name);
  if (!input)
    return input.status();
  return (*input)->getBuffer().str();
}

} // namespace colldsl::driver
