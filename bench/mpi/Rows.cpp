#include "bench/mpi/Rows.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <new>
#include <sched.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench {

const char kHelp[] =
    R"(  --form FORM      blocking (by default), nonblocking or, where there is such a form, persistent
  --operations A,B,...  these alone, as the rows name them
  --topologies A,B,...  these alone, as the rows name them, and some that are measured on request
  --sizes N,N,...  bytes
  --data WHEN      rewritten (by default): before each call what is sent is written, after it what is
                   received is read; unread: the same, but not read; unchanged: written before the
                   first call, read after the last
  --alloc-mem      buffers of MPI_Alloc_mem
  --by-hand        where a program has them, rows of messages written by hand, too
  --places N       each call has other buffers than the one before, N in turns, 1 by default; those
                   of persistent calls stay
  --calls N        at most so many calls per row, 200 by default
  --least-calls N  though they take longer than a row may, 5 by default
  --row-ms MS      at most about so long per row, 200 by default
  --slowest        the time of a call is from the begin of its first rank to the end of its last one,
                   where ranks begin together, not the mean over the ranks
  --percentile P   of the calls of a row, 50 by default
  --board FILE     ranks agree by this file, where the MPI does not know that they share a machine
  --timeout S      ends the program after so many seconds, 300 by default
)";

namespace {

std::vector<std::string> split(const char *list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    words.push_back(word);
  return words;
}

// All ranks share a machine, and so a clock.
double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The word is in memory that processes share.
void sleepWhile(const std::atomic<uint32_t> &word, uint32_t value, long mostNs) {
  timespec most = {0, mostNs};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &most, nullptr, 0);
}

void wakeAll(const std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::vector<long> numbers(const char *list) {
  std::vector<long> all;
  for (const std::string &word : split(list))
    all.push_back(std::atol(word.c_str()));
  return all;
}

void setData(Options &o, const std::string &word) {
  if (word == "rewritten")
    o.data = Data::Rewritten;
  else if (word == "unread")
    o.data = Data::Unread;
  else if (word == "unchanged")
    o.data = Data::Unchanged;
  else
    o.wrong = true;
}

void set(Options &o, int option, const char *value) {
  long number = value ? std::atol(value) : 0;
  if (option == 'f')
    o.form = value;
  else if (option == 'd')
    setData(o, value);
  else if (option == 'o')
    o.operations = split(value);
  else if (option == 'g')
    o.topologies = split(value);
  else if (option == 's')
    o.sizes = numbers(value);
  else if (option == 'a')
    o.allocMem = true;
  else if (option == 'h')
    o.byHand = true;
  else if (option == 'w')
    o.slowest = true;
  else if (option == 'p')
    o.places = number;
  else if (option == 'c')
    o.calls = number;
  else if (option == 'l')
    o.leastCalls = number;
  else if (option == 'r')
    o.rowMs = number;
  else if (option == 'q')
    o.percentile = number;
  else if (option == 'b')
    o.board = value;
  else if (option == 't')
    o.timeoutSeconds = number;
  else
    o.wrong = true;
}

} // namespace

bool Options::wants(const std::string &operation) const {
  return operations.empty() || std::count(operations.begin(), operations.end(), operation);
}

bool Options::wantsTopology(const std::string &name) const {
  return topologies.empty() || std::count(topologies.begin(), topologies.end(), name);
}

Options parse(int argc, char **argv, const std::vector<std::string> &forms,
              const std::vector<long> &sizes) {
  static const option known[] = {{"form", required_argument, nullptr, 'f'},
                                 {"operations", required_argument, nullptr, 'o'},
                                 {"data", required_argument, nullptr, 'd'},
                                 {"sizes", required_argument, nullptr, 's'},
                                 {"alloc-mem", no_argument, nullptr, 'a'},
                                 {"by-hand", no_argument, nullptr, 'h'},
                                 {"calls", required_argument, nullptr, 'c'},
                                 {"least-calls", required_argument, nullptr, 'l'},
                                 {"row-ms", required_argument, nullptr, 'r'},
                                 {"percentile", required_argument, nullptr, 'q'},
                                 {"slowest", no_argument, nullptr, 'w'},
                                 {"timeout", required_argument, nullptr, 't'},
                                 {"board", required_argument, nullptr, 'b'},
                                 {"places", required_argument, nullptr, 'p'},
                                 {"topologies", required_argument, nullptr, 'g'},
                                 {}};
  Options o;
  o.sizes = sizes;
  for (int found; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;)
    set(o, found, optarg);
  o.wrong |= !std::count(forms.begin(), forms.end(), o.form);
  o.wrong |= optind != argc || o.calls < 1 || o.leastCalls < 1 || o.rowMs < 1 || o.places < 1 ||
             o.timeoutSeconds < 1;
  o.wrong |= o.percentile < 0 || o.percentile > 99;
  for (long size : o.sizes)
    o.wrong |= size < 1 || size > 1 << 30;
  return o;
}

Buffer::Buffer(size_t size, bool fromMpi) : fromMpi_(fromMpi) {
  if (fromMpi)
    MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &data_);
  else
    data_ = static_cast<unsigned char *>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096));
  std::memset(data_, 0, size);
}

Buffer::~Buffer() {
  if (fromMpi_)
    MPI_Free_mem(data_);
  else
    std::free(data_);
}

Bench::Bench(const Options &options) : options_(options) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  size_t lines = sizeof(double) * static_cast<size_t>(ranks_ * (1 + options.calls));
  board_ = static_cast<Board *>(share(sizeof(Board) + lines));
  if (rank_ == 0)
    new (board_) Board{};
  MPI_Barrier(MPI_COMM_WORLD);
}

Bench::~Bench() {
  if (window_ != MPI_WIN_NULL)
    MPI_Win_free(&window_);
}

void *Bench::share(size_t bytes) {
  if (!options_.board.empty()) {
    int file = open(options_.board.c_str(), O_RDWR | O_CREAT, 0600);
    bool isFine = file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0;
    void *memory =
        isFine ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
      std::perror(options_.board.c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    return memory;
  }
  void *own, *first;
  MPI_Win_allocate_shared(rank_ == 0 ? static_cast<MPI_Aint>(bytes) : 0, 1, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &own, &window_);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(window_, 0, &size, &unit, &first);
  return first;
}

double *Bench::lineOf(int rank) const {
  return reinterpret_cast<double *>(board_ + 1) + rank * (1 + options_.calls);
}

// Ranks that wait for long let others run, at once if ranks have no cores of their own: they yield,
// or sleep where they are on several hosts that share the cores of this machine. Between, the MPI
// does work that it left for later.
void Bench::barrier() const {
  static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int spinBudget = ranks_ <= cores ? 20000 : 0;
  constexpr int kYieldsPerProbe = 16;
  constexpr long kShortestNapNs = 100'000, kLongestNapNs = 2'000'000;
  uint32_t generation = board_->generation.load(std::memory_order_acquire);
  if (board_->arrived.fetch_add(1) + 1 == static_cast<uint32_t>(ranks_)) {
    board_->arrived.store(0);
    board_->begin = now();
    board_->generation.store(generation + 1, std::memory_order_release);
    wakeAll(board_->generation);
    return;
  }
  auto isOver = [&] { return board_->generation.load(std::memory_order_acquire) != generation; };
  bool sleeps = !options_.board.empty() && ranks_ > cores;
  long nap = kShortestNapNs;
  for (int spins = 0; !isOver(); ++spins)
    if (spins > spinBudget) {
      int flag;
      if (sleeps || spins % kYieldsPerProbe == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      if (!sleeps) {
        sched_yield();
      } else {
        sleepWhile(board_->generation, generation, nap);
        nap = std::min(2 * nap, kLongestNapNs);
      }
    }
}

double Bench::once(Operation &operation, bool &right) {
  if (writesEach())
    operation.write(++call_);
  if (operation.isSynchronized())
    barrier();
  double begin = options_.slowest && operation.isSynchronized() ? board_->begin : now();
  operation.call();
  double seconds = now() - begin;
  if (operation.isSynchronized())
    barrier();
  if (readsEach())
    right &= operation.check(call_);
  return seconds;
}

long Bench::agreeOnCalls(double seconds, long least, long most) const {
  if (rank_ == 0)
    board_->calls =
        std::clamp(static_cast<long>(options_.rowMs / 1e3 / seconds), std::min(least, most), most);
  barrier();
  return board_->calls;
}

double Bench::warmUp(Operation &operation, bool &right) {
  once(operation, right); // makes connections
  double begin = now();
  once(operation, right);
  long calls = agreeOnCalls(now() - begin, 1, 4);
  for (long i = 1; i < calls; ++i)
    once(operation, right);
  begin = now();
  for (long i = 0; i < calls; ++i)
    once(operation, right);
  return (now() - begin) / static_cast<double>(calls);
}

double Bench::percentileNs(long calls) const {
  std::vector<double> times(calls, 0);
  for (int rank = 0; rank < ranks_; ++rank)
    for (long i = 0; i < calls; ++i) {
      double seconds = lineOf(rank)[1 + i];
      times[i] = options_.slowest ? std::max(times[i], seconds) : times[i] + seconds / ranks_;
    }
  long nth = calls * options_.percentile / 100;
  std::nth_element(times.begin(), times.begin() + nth, times.end());
  return times[nth] * 1e9;
}

void Bench::row(const std::string &name, Operation &operation) {
  bool right = true;
  barrier();
  if (!writesEach())
    operation.write(++call_);
  double seconds = warmUp(operation, right);
  barrier();
  long calls = agreeOnCalls(seconds, options_.leastCalls, options_.calls);
  double *line = lineOf(rank_);
  for (long i = 0; i < calls; ++i)
    line[1 + i] = once(operation, right);
  if (!readsEach()) {
    if (writesEach())
      once(operation, right);
    right &= operation.check(call_);
  }
  line[0] = right;
  barrier();
  if (rank_ == 0) {
    for (int rank = 0; rank < ranks_; ++rank)
      right &= lineOf(rank)[0] != 0;
    std::printf("%s %.0f %s\n", name.c_str(), percentileNs(calls), right ? "right" : "wrong");
    std::fflush(stdout);
  }
  barrier();
}

void leaveInTime() {
  std::fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  std::signal(SIGALRM, [](int) { _exit(0); });
  constexpr unsigned kSeconds = 2;
  alarm(kSeconds);
}

int benchMain(int argc, char **argv, const char *name, const std::vector<std::string> &forms,
              const std::vector<long> &sizes, const std::function<void(Bench &)> &measure) {
  Options options = parse(argc, argv, forms, sizes);
  if (options.wrong) {
    std::fprintf(stderr, "usage: mpirun -n N %s [OPTION...]\n\n%s", name, kHelp);
    return 2;
  }
  alarm(static_cast<unsigned>(options.timeoutSeconds));
  MPI_Init(&argc, &argv);
  {
    Bench bench(options);
    measure(bench);
  }
  if (!options.board.empty())
    leaveInTime();
  MPI_Finalize();
  return 0;
}

} // namespace bench
