// Runs a fuzz target without libFuzzer:
//   fuzz-ir-image FILE...                 replays files
//   fuzz-ir-image --runs N [--seed S]     mutates the built-in corpus N times
//                 --verbose               names each seed before its run
//   fuzz-ir-image --write-corpus FOLDER   for libFuzzer to start from

#include "tests/ir/Fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace colldsl {
namespace {

constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               7,
                               0x7f,
                               0x80,
                               0xff,
                               0xffff,
                               0x10000,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               uint64_t{1} << 32,
                               INT64_MAX,
                               uint64_t{1} << 63,
                               UINT64_MAX};

constexpr const char *kWords[] = {
    "num_ranks", "rank ", "{",  "}",  "\n", "requires", " tag -1",
    "nth ",      "..",    "[",  "]",  "#2", "/0",       "99999999999999999999",
    "n",         "@1:1",  "\"", "/*", "//", "ensures "};

/// Changes an input a few times.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : engine_(seed) {}

  FuzzInput mutate(const std::vector<FuzzInput> &corpus) {
    FuzzInput input = corpus[below(corpus.size())];
    for (uint64_t left = 1 + below(6); left > 0; --left)
      change(input, corpus);
    return input;
  }

private:
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : engine_() % limit; }

  void change(FuzzInput &input, const std::vector<FuzzInput> &corpus) {
    switch (below(7)) {
    case 0:
      if (!input.empty())
        input[below(input.size())] ^= static_cast<uint8_t>(1u << below(8));
      return;
    case 1:
      return overwrite(input, kEdges[below(std::size(kEdges))], size_t{1} << below(4));
    case 2:
      return overwrite(input, engine_(), size_t{1} << below(4));
    case 3:
      return insertWord(input);
    case 4:
      return copyInside(input);
    case 5:
      return splice(input, corpus[below(corpus.size())]);
    case 6:
      return erase(input);
    }
  }

  // Fields of an image are aligned, so mostly write there.
  void overwrite(FuzzInput &input, uint64_t value, size_t width) {
    if (input.size() < width)
      return;
    uint64_t at = below(input.size() - width + 1);
    if (below(4) != 0)
      at = at / width * width;
    std::memcpy(input.data() + at, &value, width);
  }

  void insertWord(FuzzInput &input) {
    const char *word = kWords[below(std::size(kWords))];
    auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
    input.insert(input.begin() + at, word, word + std::strlen(word));
  }

  void copyInside(FuzzInput &input) {
    uint64_t size = 1 + below(64);
    if (input.size() <= size)
      return;
    uint64_t from = below(input.size() - size);
    uint64_t to = below(input.size() - size);
    std::memmove(input.data() + to, input.data() + from, size);
  }

  void splice(FuzzInput &input, const FuzzInput &other) {
    uint64_t at = below(std::min(input.size(), other.size()) + 1);
    auto cut = static_cast<std::ptrdiff_t>(at);
    input.erase(input.begin() + cut, input.end());
    input.insert(input.end(), other.begin() + cut, other.end());
  }

  void erase(FuzzInput &input) {
    uint64_t begin = below(input.size() + 1);
    uint64_t size = std::min<uint64_t>(input.size() - begin, below(32));
    auto at = input.begin() + static_cast<std::ptrdiff_t>(begin);
    input.erase(at, at + static_cast<std::ptrdiff_t>(size));
  }

  std::mt19937_64 engine_;
};

int runMutations(uint64_t runs, uint64_t seed, bool isVerbose) {
  std::vector<FuzzInput> corpus = fuzzCorpus();
  for (const FuzzInput &input : corpus)
    LLVMFuzzerTestOneInput(input.data(), input.size());
  // One seed per run: a failing run can be repeated alone, with --seed and --runs 1.
  for (uint64_t run = 0; run < runs; ++run) {
    if (isVerbose)
      std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed + run));
    FuzzInput input = Mutator(seed + run).mutate(corpus);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%llu mutations\n", static_cast<unsigned long long>(runs));
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
  for (int i = 1; i < argc; ++i) {
    bool hasValue = i + 1 < argc;
    if (hasValue && std::strcmp(argv[i], "--runs") == 0)
      runs = std::strtoull(argv[++i], nullptr, 10);
    else if (hasValue && std::strcmp(argv[i], "--seed") == 0)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--verbose") == 0)
      isVerbose = true;
    else if (hasValue && std::strcmp(argv[i], "--write-corpus") == 0)
      return writeCorpus(argv[i + 1]);
    else if (int rc = replay(argv[i]); rc != 0)
      return rc;
  }
  return runs == 0 ? 0 : runMutations(runs, seed, isVerbose);
}

} // namespace
} // namespace colldsl

int main(int argc, char **argv) { return colldsl::fuzzMain(argc, argv); }
