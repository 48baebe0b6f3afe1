// Runs a fuzz target without libFuzzer:
//   fuzz-ir-image FILE...                 replays files
//   fuzz-ir-image --runs N [--seed S]     runs the corpus once, then N mutations of it
//                 --corpus FOLDER         of the files there, not the corpus of the target
//                 --verbose               names each seed before its run
//   fuzz-ir-image --write-corpus FOLDER   for libFuzzer to start from
// One seed per mutation, S and those after it: one that fails is told, and is repeated
// alone with --runs 1.

#include "tests/ir/Fuzz.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

// What the sanitizers call before they end the program; null without them.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());

namespace colldsl {
namespace {

constexpr unsigned kMaxSeconds = 60; ///< for one run

volatile uint64_t currentSeed;

void tellSeed() {
  std::fprintf(stderr, "fuzz: that was --seed %llu\n",
               static_cast<unsigned long long>(currentSeed));
}

void onSignal(int signal) {
  std::signal(signal, SIG_DFL);
  if (signal == SIGALRM)
    std::fprintf(stderr, "fuzz: it takes more than %u s\n", kMaxSeconds);
  tellSeed();
  std::raise(signal);
}

void runOne(const FuzzInput &input) {
  alarm(kMaxSeconds);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
}

int runMutations(const std::vector<FuzzInput> &corpus, uint64_t runs, uint64_t seed,
                 bool isVerbose) {
  using Clock = std::chrono::steady_clock;
  for (const FuzzInput &input : corpus)
    runOne(input);
  for (int signal : {SIGABRT, SIGALRM})
    std::signal(signal, onSignal);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(tellSeed);
  Clock::time_point begin = Clock::now(), last = begin;
  Clock::duration slowest{};
  uint64_t slowestSeed = seed;
  for (uint64_t run = 0; run < runs; ++run) {
    currentSeed = seed + run;
    if (isVerbose)
      std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed + run));
    runOne(mutateFuzz(corpus, seed + run));
    Clock::time_point now = Clock::now();
    if (now - last > slowest) {
      slowest = now - last;
      slowestSeed = seed + run;
    }
    last = now;
  }
  auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  std::printf("%zu files of the corpus, %llu mutations from --seed %llu, %.0f s; the slowest took "
              "%.3f s, --seed %llu\n",
              corpus.size(), static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed), seconds(last - begin), seconds(slowest),
              static_cast<unsigned long long>(slowestSeed));
  return 0;
}

int writeCorpus(const std::string &folder) {
  size_t number = 0;
  for (const FuzzInput &input : fuzzCorpus()) {
    std::ofstream file(folder + "/seed" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char *>(input.data()),
               static_cast<std::streamsize>(input.size()));
    if (!file)
      return 1;
  }
  return 0;
}

int replay(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    return 1;
  }
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

int fuzzMain(int argc, char **argv) {
  uint64_t runs = 0;
  uint64_t seed = 1;
  bool isVerbose = false;
  const char *corpus = nullptr;
  for (int i = 1; i < argc; ++i) {
    bool hasValue = i + 1 < argc;
    if (hasValue && std::strcmp(argv[i], "--runs") == 0)
      runs = std::strtoull(argv[++i], nullptr, 10);
    else if (hasValue && std::strcmp(argv[i], "--seed") == 0)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (hasValue && std::strcmp(argv[i], "--corpus") == 0)
      corpus = argv[++i];
    else if (std::strcmp(argv[i], "--verbose") == 0)
      isVerbose = true;
    else if (hasValue && std::strcmp(argv[i], "--write-corpus") == 0)
      return writeCorpus(argv[i + 1]);
    else if (int rc = replay(argv[i]); rc != 0)
      return rc;
  }
  if (runs == 0 && !corpus)
    return 0;
  return runMutations(corpus ? readCorpus(corpus) : fuzzCorpus(), runs, seed, isVerbose);
}

} // namespace
} // namespace colldsl

int main(int argc, char **argv) { return colldsl::fuzzMain(argc, argv); }
