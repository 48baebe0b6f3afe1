// An option and the keyword of the same field mean the same, for all fields of all requests; and
// the text of a request is the command line that makes it.

#include "tools/options/Options.h"
#include "driver/requests/ChoiceRequest.h"
#include "driver/requests/LibraryRequest.h"
#include "driver/requests/PageRequest.h"
#include "driver/requests/ProofRequest.h"
#include "driver/requests/SimulationRequest.h"
#include "tools/input/ErrorMessages.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

struct Row {
  const char *option, *value, *keyword;
};

constexpr Row kOfSchedules[] = {
    {"--name", "ring", "name"},
    {"--set", "root=3", "parameters"},
    {"--op", "max", "op"},
    {"--type", "f64", "type"},
    {"--include", "/", "include"},
    {"--model", "cluster", "model"},
    {"--network", "torus:4x4", "network"},
    {"--receive-slots", "5", "receive_slots"},
    {"--passes", "edge-coloring,fuse", "passes"},
    {"--max-steps", "11", "max_steps"},
    {"--max-ops", "12", "max_ops"},
    {"--max-total-ops", "13", "max_total_ops"},
    {"--max-deps", "14", "max_deps"},
    {"--max-total-deps", "15", "max_total_deps"},
    {"--max-call-depth", "16", "max_call_depth"},
    {"--max-source-bytes", "17KiB", "max_source_bytes"},
    {"--max-line-bytes", "18", "max_line_bytes"},
    {"--max-tokens", "19", "max_tokens"},
    {"--max-nesting", "20", "max_nesting"},
    {"--max-chain", "21", "max_chain"},
    {"--max-files", "22", "max_files"},
    {"--max-errors", "23", "max_errors"},
};
constexpr Row kOfProofs[] = {
    {"--ranks", "1..4,8", "ranks"},
    {"--bytes", "8,64KiB", "bytes"},
    {"--topology", "node:4", "topology"},
    {"--roots", "all", "roots"},
    {"--roots", "0,2", "roots"},
    {"--in-place", nullptr, "in_place"},
    {"--thorough", nullptr, "thorough"},
    {"--channel-slots", "3", "channel_slots"},
    {"--seed", "9", "seed"},
    {"--max-failures", "2", "max_failures"},
    {"--no-warn", nullptr, "no_warn"},
};
constexpr Row kOfSimulations[] = {
    {"-n", "8", "ranks"},
    {"--bytes", "64KiB", "bytes"},
    {"--topology", "node:4", "topology"},
    {"--in-place", nullptr, "in_place"},
    {"-L", "1us", "L"},
    {"-o", "2us", "o"},
    {"-g", "3", "g"},
    {"-G", "0.5", "G"},
    {"-O", "0.25", "O"},
    {"-S", "4KiB", "S"},
    {"--noise", "random:10us,2us", "noise"},
    {"--skew", "3us", "skew"},
    {"--seed", "5", "seed"},
};
constexpr Row kOfChoices[] = {
    {"-n", "8", "ranks"},
    {"--bytes", "64KiB", "bytes"},
    {"--topology", "node:4", "topology"},
    {"--in-place", nullptr, "in_place"},
    {"--op", "max", "op"},
    {"--type", "f64", "type"},
    {"--root", "3", "root"},
    {"--oversubscribed", nullptr, "oversubscribed"},
    {"--multicast", nullptr, "multicast"},
    {"--tcp", nullptr, "tcp"},
    {"--rules", "my.rules", "rules"},
    {"--include", "/", "include"},
    {"--model", "cluster", "model"},
    {"--network", "torus:4x4", "network"},
    {"--receive-slots", "5", "receive_slots"},
};
constexpr Row kOfPages[] = {
    {"--view", "dag", "view"}, {"--max-events", "77", "max_events"}, {"--rank", "2", "rank"},
    {"--round", "3", "round"}, {"--buffer", "y", "buffer"},
};
constexpr Row kOfLibraries[] = {
    {"--stdlib", nullptr, "stdlib"},      {"--rules", "my.rules", "rules"},
    {"--ranks", "2,4", "ranks"},          {"--bytes", "1KiB", "bytes"},
    {"--topology", "node:2", "topology"}, {"--no-verify", nullptr, "no_verify"},
    {"--as", "allreduce", "as"},          {"--no-warn", nullptr, "no_warn"},
};

template <Request T> std::optional<T> ofCommandLine(const std::vector<std::string> &words) {
  T request;
  Options options("test", "", "");
  request.addTo(options);
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  return options.parse({arguments}) ? std::nullopt : std::optional(request);
}

template <Request T> std::optional<T> ofKeyword(const Row &row) {
  T request;
  Fields fields;
  request.addTo(fields);
  bool isFine =
      bool(fields.set(row.keyword, row.value ? row.value : "")) && bool(fields.check(printer()));
  return isFine ? std::optional(request) : std::nullopt;
}

template <Request T> void compare(llvm::ArrayRef<Row> rows) {
  for (const Row &row : rows) {
    std::vector<std::string> words{row.option};
    if (row.value)
      words.push_back(row.value);
    std::optional<T> given = ofCommandLine<T>(words), called = ofKeyword<T>(row);
    ASSERT_TRUE(given && called) << row.option;
    EXPECT_EQ(*given, *called) << row.option;
    std::string text = textOf(*given);
    EXPECT_EQ(text.rfind(row.option, 0), 0u) << row.option << ": " << text;
    auto [name, value] = llvm::StringRef(text).split(' ');
    std::vector<std::string> again{name.str()};
    if (!value.empty())
      again.push_back(value.str());
    std::optional<T> repeated = ofCommandLine<T>(again);
    ASSERT_TRUE(repeated) << text;
    EXPECT_EQ(textOf(*repeated), text);
  }
}

TEST(Options, MeanTheSameAsKeywords) {
  compare<ProofRequest>(kOfProofs);
  compare<ProofRequest>(kOfSchedules);
  compare<SimulationRequest>(kOfSimulations);
  compare<SimulationRequest>(kOfSchedules);
  compare<MakeRequest>({{"--no-verify", nullptr, "no_verify"}});
  compare<MakeRequest>(kOfSchedules);
  compare<ChoiceRequest>(kOfChoices);
  compare<PageRequest>(kOfPages);
  compare<LibraryRequest>(kOfLibraries);
}

TEST(Options, TheTablesOfThisTestHaveAllFields) {
  auto check = [](auto request, std::vector<llvm::ArrayRef<Row>> tables,
                  std::vector<llvm::StringRef> besides) {
    Options options("test", "", "");
    request.addTo(options);
    OptionTable table;
    ASSERT_TRUE(options.parse({{}, &table}));
    for (const OptionTable::Row &option : table.rows) {
      bool isKnown = llvm::is_contained(besides, option.name);
      for (llvm::ArrayRef<Row> rows : tables)
        isKnown |= llvm::any_of(rows, [&](const Row &row) { return row.option == option.name; });
      EXPECT_TRUE(isKnown) << option.name;
    }
  };
  std::vector<llvm::StringRef> ofPasses{"--print-after-all", "--time-passes", "--verify-each"};
  check(ProofRequest(), {kOfSchedules, kOfProofs}, ofPasses);
  check(ChoiceRequest(), {kOfChoices}, {});
  check(PageRequest(), {kOfPages}, {});
  check(LibraryRequest(), {kOfSchedules, kOfLibraries}, ofPasses);
  ofPasses.push_back("--ranks"); // the same as -n
  check(SimulationRequest(), {kOfSchedules, kOfSimulations}, ofPasses);
}

} // namespace
} // namespace colldsl::tools
