#include "mpi/Settings.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "ir/OptionList.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "mpi/comm/WorldCollectives.h"
#include "topology/ProfileFile.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unistd.h>

namespace colldsl::mpi {
namespace {

constexpr std::string_view kPrefix = "COLLDSL_";

void warn(const std::string &text) { printMessage("colldsl: warning: %s\n", text.c_str()); }

/// True for the options of networks, of which each rank has its own.
bool isOfNetwork(std::string_view name) {
  for (const char *prefix : {"COLLDSL_OFI_", "COLLDSL_VERBS_", "COLLDSL_DATAGRAM_", "COLLDSL_TCP_"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

} // namespace

Settings Settings::all_;

void Settings::agree() {
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  all_ = rank == 0 ? ofThisRank() : Settings();
  std::string *const texts[] = {&all_.network_, &all_.library_, &all_.passes_, &all_.profile_};
  struct {
    uint32_t flags, off, ranksPerNode, firstCalls, lengths[std::size(texts)];
  } words = {all_.flags_, all_.off_, all_.ranksPerNode_, all_.firstCalls_, {}};
  for (size_t i = 0; i < std::size(texts); ++i)
    words.lengths[i] = static_cast<uint32_t>(texts[i]->size());
  bcast(&words, sizeof words, MPI_COMM_WORLD);
  all_.flags_ = words.flags;
  all_.off_ = words.off;
  all_.ranksPerNode_ = words.ranksPerNode;
  all_.firstCalls_ = words.firstCalls;
  for (size_t i = 0; i < std::size(texts); ++i) {
    texts[i]->resize(words.lengths[i]);
    if (!texts[i]->empty())
      bcast(texts[i]->data(), static_cast<int>(words.lengths[i]), MPI_COMM_WORLD);
  }
}

Settings Settings::ofThisRank() {
  Settings own;
  own.read();
  return own;
}

void Settings::read() {
  for (char **at = environ; *at; ++at) {
    std::string_view entry = *at;
    if (!entry.starts_with(kPrefix))
      continue;
    const char *equals = std::strchr(*at, '=');
    if (!equals)
      continue;
    std::string name(entry.substr(0, static_cast<size_t>(equals - *at)));
    std::string_view value = equals + 1;
    if (name == "COLLDSL_LIBRARY")
      library_ = value;
    else if (name == "COLLDSL_PASSES")
      passes_ = value;
    else if (name == "COLLDSL_NETWORK")
      readNetwork(value);
    else if (name == "COLLDSL_DISABLE")
      readDisabled(value);
    else if (name == "COLLDSL_RANKS_PER_NODE")
      readNumber(name, value, "ranks", ranksPerNode_);
    else if (name == "COLLDSL_FIRST_CALLS")
      readNumber(name, value, "calls", firstCalls_);
    else if (!readFlag(name, value) && name != "COLLDSL_PROFILE" && !isOfNetwork(name))
      warn(name + " is set, but there is no such variable");
  }
  if (Network::unnamedForMpi().kind == NetworkKind::Ofi)
    flags_ |= kLibfabric;
  if (!isAllOff())
    readProfile();
}

void Settings::readProfile() {
  OwnProfile own = readOwnProfile();
  if (isVerbose())
    profileProblem_ = own.problem;
  if (!own.profile)
    return;
  if (!learns())
    own.profile->points.clear();
  for (TuningPoint &point : own.profile->points)
    point.entries.clear();
  profile_ = own.profile->toJson();
}

bool Settings::readFlag(const std::string &name, std::string_view value) {
  struct Variable {
    std::string_view name, otherwise;
    std::vector<std::pair<std::string_view, uint32_t>> flagOf; ///< by value
  };
  static const Variable kVariables[] = {
      {"COLLDSL_VERBOSE", "neither 0 nor 1", {{"0", 0}, {"1", kVerbose}}},
      {"COLLDSL_SUMMARY", "neither 0 nor 1", {{"0", 0}, {"1", kSummary}}},
      {"COLLDSL_CHECK", "neither 0 nor 1", {{"0", 0}, {"1", kChecks}}},
      {"COLLDSL_PROGRESS_THREAD", "neither 0 nor 1", {{"0", 0}, {"1", kProgressThread}}},
      {"COLLDSL_PROOF",
       "none of report, require and all-ranks",
       {{"report", kReportsProof}, {"require", kRequiresProof}, {"all-ranks", kRequiresAllRanks}}},
      {"COLLDSL_LEARN",
       "none of 0, 1 and always",
       {{"0", 0}, {"1", kLearns}, {"always", kLearnsAlways}}},
      {"COLLDSL_GRAPH_PASSES",
       "none of never, model and always",
       {{"never", kNeverPasses}, {"model", 0}, {"always", kAlwaysPasses}}},
  };
  auto variable = std::find_if(std::begin(kVariables), std::end(kVariables),
                               [&](const Variable &known) { return known.name == name; });
  if (variable == std::end(kVariables))
    return false;
  for (auto [word, flag] : variable->flagOf)
    if (word == value) {
      flags_ |= flag;
      return true;
    }
  if (!value.empty())
    warn(concat(name, " is ", variable->otherwise, ": '", value, "'"));
  return true;
}

// A text that is no network changes nothing.
void Settings::readNetwork(std::string_view value) {
  Status s = value.empty() ? Status() : Network::parseForMpi(value).status();
  if (s)
    network_ = value;
  else
    warn(concat("COLLDSL_NETWORK: ", s.message()));
}

void Settings::readDisabled(std::string_view names) {
  while (!names.empty())
    disable(takePiece(names, ','));
}

// A value that is not a number changes nothing.
void Settings::readNumber(const std::string &name, std::string_view value, const char *what,
                          uint32_t &number) {
  if (std::optional<uint32_t> given = parseWhole<uint32_t>(value))
    number = *given;
  else if (!value.empty())
    warn(concat(name, " is no number of ", what, ": '", value, "'"));
}

void Settings::disable(std::string_view name) {
  if (name == "all") {
    off_ = kAllOff;
    return;
  }
  if (name == "devices") {
    flags_ |= kNoDevices;
    return;
  }
  for (size_t kind = 0; kind < kCallKinds; ++kind)
    if (name == kCallFacts[kind].name) {
      off_ |= 1u << kind;
      return;
    }
  warn(concat("COLLDSL_DISABLE names '", name, "', which is no call that is served"));
}

} // namespace colldsl::mpi
