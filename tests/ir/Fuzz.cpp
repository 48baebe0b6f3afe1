#include "tests/ir/Fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace colldsl {

std::vector<FuzzInput> readCorpus(const std::string &folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.is_regular_file() && entry.path().extension() != ".md")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  if (paths.empty())
    failFuzz("no corpus in '" + folder + "'");
  std::vector<FuzzInput> corpus;
  for (const auto &path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

void failFuzz(const std::string &what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

} // namespace colldsl
