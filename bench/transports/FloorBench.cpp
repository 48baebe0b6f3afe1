// The floor of exchanges between two processes of this machine, without any protocol: a table of
// colldsl's times stands on it. Both send and receive at once, data that each has just written.
// Prints a line per row: name, bytes, and the median of the nanoseconds per exchange.
//
//   flag     each stores a word and waits for the other's
//   message  each copies its bytes into shared memory, piece by piece with a flag, and copies the
//            other's out
//   copy     each copies the bytes out of memory that the other one shares; a flag before, one
//            behind
//   cma      as copy, by the kernel, process_vm_readv, out of the other's own memory
//
//   bench-floor [CALLS]
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "transports/Processor.h"

#include <memory>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace colldsl::bench {
namespace {

constexpr size_t kMostBytes = 1 << 20, kLine = 64;

struct alignas(kLine) Flag {
  std::atomic<uint64_t> value{0};
};

constexpr uint32_t kMostCalls = 100'000;
constexpr size_t kPieceBytes = 16 << 10, kPieces = 4;

/// The memory that a process shares with the other one.
struct Side {
  Flag flag, done;
  Flag filled[kPieces], drained[kPieces];
  pid_t pid = 0;
  std::byte *own = nullptr; ///< in its own memory
  double ns[kMostCalls];    ///< of each call of a row
  alignas(kLine) std::byte piece[kPieces][kPieceBytes];
  alignas(kLine) std::byte shared[kMostBytes];
};

/// One of the two processes.
class Exchange {
public:
  Exchange(Side *sides, uint32_t rank)
      : mine_(sides[rank]), other_(sides[1 - rank]), own_(kMostBytes), got_(kMostBytes) {
    mine_.pid = getpid();
    mine_.own = own_.data();
    flag();
  }

  void write(size_t bytes) {
    std::memset(own_.data(), static_cast<int>(turn_), bytes);
    std::memset(mine_.shared, static_cast<int>(turn_), bytes);
    flag();
  }

  void flag() {
    mine_.flag.value.store(++turn_, std::memory_order_release);
    await(other_.flag, turn_);
  }

  void message(size_t bytes) {
    size_t in = 0, out = 0; // bytes that were copied in, and out of the other's
    while (out < bytes) {
      if (in < bytes && in - out < kPieces * kPieceBytes) {
        size_t n = std::min(bytes - in, kPieceBytes), at = pieceIn_ % kPieces;
        await(other_.drained[at], pieceIn_ / kPieces);
        std::memcpy(mine_.piece[at], own_.data() + in, n);
        mine_.filled[at].value.store(pieceIn_++ / kPieces + 1, std::memory_order_release);
        in += n;
      }
      size_t n = std::min(bytes - out, kPieceBytes), at = pieceOut_ % kPieces;
      await(other_.filled[at], pieceOut_ / kPieces + 1);
      std::memcpy(got_.data() + out, other_.piece[at], n);
      mine_.drained[at].value.store(pieceOut_++ / kPieces + 1, std::memory_order_release);
      out += n;
    }
  }

  void copy(size_t bytes) {
    flag();
    std::memcpy(got_.data(), other_.shared, bytes);
    finish();
  }

  void cma(size_t bytes) {
    flag();
    iovec local{got_.data(), bytes}, remote{other_.own, bytes};
    isRead_ &=
        process_vm_readv(other_.pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
    finish();
  }

  bool isRead() const { return isRead_; }

private:
  void finish() {
    mine_.done.value.store(turn_, std::memory_order_release);
    await(other_.done, turn_);
  }
  static void await(const Flag &flag, uint64_t turn) {
    while (flag.value.load(std::memory_order_acquire) < turn)
      pauseCore();
  }

  Side &mine_, &other_;
  std::vector<std::byte> own_, got_;
  uint64_t turn_ = 0, pieceIn_ = 0, pieceOut_ = 0;
  bool isRead_ = true; ///< true if the kernel permits it
};

struct Row {
  const char *what;
  size_t bytes;
  void (*run)(Exchange &, size_t);
};

std::vector<Row> allRows() {
  std::vector<Row> rows{{"flag", 0, [](Exchange &e, size_t) { e.flag(); }}};
  for (size_t bytes : {8, 64, 512, 4096, 32768, 262144, 1048576})
    rows.push_back({"message", bytes, [](Exchange &e, size_t n) { e.message(n); }});
  for (size_t bytes : {4096, 32768, 262144, 1048576}) {
    rows.push_back({"copy", bytes, [](Exchange &e, size_t n) { e.copy(n); }});
    rows.push_back({"cma", bytes, [](Exchange &e, size_t n) { e.cma(n); }});
  }
  return rows;
}

Result<std::vector<std::byte>> measure(Side *sides, uint32_t rank, uint32_t calls) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  Exchange exchange(sides, rank);
  std::string text;
  for (const Row &row : allRows()) {
    for (uint32_t call = 0; call < calls; ++call) {
      exchange.write(row.bytes);
      sides[rank].ns[call] = nsPerCall(1, [&] { row.run(exchange, row.bytes); });
    }
    exchange.flag();
    std::vector<double> times;
    for (uint32_t call = 0; call < calls; ++call)
      times.push_back((sides[0].ns[call] + sides[1].ns[call]) / 2);
    exchange.flag();
    if (exchange.isRead() || std::strcmp(row.what, "cma") != 0)
      text += row.what + std::string(" ") + std::to_string(row.bytes) + " " +
              std::to_string(static_cast<uint64_t>(median(times))) + "\n";
  }
  return pack(std::vector<char>(text.begin(), text.end()));
}

void run(uint32_t calls) {
  void *memory =
      mmap(nullptr, 2 * sizeof(Side), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail(std::string("memory: ") + std::strerror(errno));
  Side *sides = static_cast<Side *>(memory);
  for (size_t i = 0; i < 2; ++i)
    new (&sides[i]) Side();
  ForkOptions options;
  options.numRanks = 2;
  options.bindToCores = true;
  options.timeout = std::chrono::seconds(120);
  auto outcomes = forkRanks(options, [&](Rank r) { return measure(sides, index(r), calls); });
  std::vector<char> text = unpack<char>(require(std::move(outcomes))[0]);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int runWith(int argc, char **argv) {
  int calls = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (calls < 1 || calls > static_cast<int>(kMostCalls)) {
    std::fprintf(stderr, "usage: bench-floor [CALLS], at most %u\n", kMostCalls);
    return 2;
  }
  run(static_cast<uint32_t>(calls));
  return 0;
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) { return colldsl::bench::runWith(argc, argv); }
