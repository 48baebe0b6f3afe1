#include "mpi/Settings.h"

#include "ir/Numbers.h"
#include "ir/OptionList.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "topology/ProfileFile.h"

#include <cstring>
#include <string>
#include <unistd.h>

namespace colldsl::mpi {
namespace {

constexpr std::string_view kPrefix = "COLLDSL_";

void broadcast(std::string &text) {
  auto length = static_cast<int>(text.size());
  real::Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<size_t>(length));
  if (length > 0)
    real::Bcast(text.data(), length, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void warn(const std::string &text) { printMessage("colldsl: warning: %s\n", text.c_str()); }

} // namespace

Settings Settings::all_;

void Settings::agree() {
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  all_ = {};
  if (rank == 0)
    all_.read();
  uint32_t words[5] = {all_.flags_, all_.off_, all_.ranksPerNode_, all_.firstCalls_,
                       static_cast<uint32_t>(all_.graphPasses_)};
  real::Bcast(words, 5, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  for (std::string *text : {&all_.library_, &all_.passes_, &all_.profile_})
    broadcast(*text);
  all_.flags_ = words[0];
  all_.off_ = words[1];
  all_.ranksPerNode_ = words[2];
  all_.firstCalls_ = words[3];
  all_.graphPasses_ = static_cast<GraphPasses>(words[4]);
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
    if (name == "COLLDSL_VERBOSE")
      readFlag(name.c_str(), equals + 1, kVerbose);
    else if (name == "COLLDSL_SUMMARY")
      readFlag(name.c_str(), equals + 1, kSummary);
    else if (name == "COLLDSL_CHECK")
      readFlag(name.c_str(), equals + 1, kChecks);
    else if (name == "COLLDSL_PROGRESS_THREAD")
      readFlag(name.c_str(), equals + 1, kProgressThread);
    else if (name == "COLLDSL_LIBRARY")
      library_ = equals + 1;
    else if (name == "COLLDSL_PASSES")
      passes_ = equals + 1;
    else if (name == "COLLDSL_PROOF")
      readProof(equals + 1);
    else if (name == "COLLDSL_LEARN")
      readLearn(equals + 1);
    else if (name == "COLLDSL_NETWORK")
      readNetwork(equals + 1);
    else if (name == "COLLDSL_DISABLE")
      readDisabled(equals + 1);
    else if (name == "COLLDSL_RANKS_PER_NODE")
      readNumber(name.c_str(), equals + 1, "ranks", ranksPerNode_);
    else if (name == "COLLDSL_GRAPH_PASSES")
      readGraphPasses(equals + 1);
    else if (name == "COLLDSL_FIRST_CALLS")
      readNumber(name.c_str(), equals + 1, "calls", firstCalls_);
    else if (name != "COLLDSL_PROFILE" &&
             !name.starts_with("COLLDSL_OFI_")) // each rank has its own
      warn(name + " is set, but there is no such variable");
  }
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

void Settings::readFlag(const char *name, const char *value, uint32_t flag) {
  if (std::strcmp(value, "1") == 0)
    flags_ |= flag;
  else if (*value && std::strcmp(value, "0") != 0)
    warn(std::string(name) + " is neither 0 nor 1: '" + value + "'");
}

void Settings::readProof(std::string_view word) {
  if (word == "require")
    flags_ |= kRequiresProof;
  else if (word == "report")
    flags_ |= kReportsProof;
  else if (!word.empty())
    warn("COLLDSL_PROOF is neither report nor require: '" + std::string(word) + "'");
}

void Settings::readLearn(std::string_view word) {
  if (word == "1")
    flags_ |= kLearns;
  else if (word == "always")
    flags_ |= kLearnsAlways;
  else if (!word.empty() && word != "0")
    warn("COLLDSL_LEARN is none of 0, 1 and always: '" + std::string(word) + "'");
}

void Settings::readNetwork(std::string_view name) {
  if (name == "mpi")
    flags_ |= kAvoidsNetwork;
  else if (!name.empty() && name != "ofi")
    warn("COLLDSL_NETWORK is neither ofi nor mpi: '" + std::string(name) + "'");
}

void Settings::readGraphPasses(std::string_view word) {
  if (word == "never")
    graphPasses_ = GraphPasses::Never;
  else if (word == "always")
    graphPasses_ = GraphPasses::Always;
  else if (!word.empty() && word != "model")
    warn("COLLDSL_GRAPH_PASSES is none of never, model and always: '" + std::string(word) + "'");
}

void Settings::readDisabled(const char *names) {
  for (std::string_view rest = names; !rest.empty();)
    disable(takePiece(rest, ','));
}

// A value that is not a number changes nothing.
void Settings::readNumber(const char *name, const char *value, const char *what, uint32_t &number) {
  if (std::optional<uint32_t> given = parseWhole<uint32_t>(value))
    number = *given;
  else if (*value)
    warn(std::string(name) + " is no number of " + what + ": '" + value + "'");
}

void Settings::disable(std::string_view name) {
  if (name == "all") {
    off_ = kAllOff;
    return;
  }
  for (size_t kind = 0; kind < kCallKinds; ++kind)
    if (name == kCallFacts[kind].name) {
      off_ |= 1u << kind;
      return;
    }
  warn("COLLDSL_DISABLE names '" + std::string(name) + "', which is no call that is served");
}

} // namespace colldsl::mpi
