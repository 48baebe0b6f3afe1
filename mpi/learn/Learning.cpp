#include "mpi/learn/Learning.h"

#include "ir/Checksum.h"
#include "ir/Concat.h"
#include "mpi/Job.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/WorldCollectives.h"
#include "select/Decision.h"
#include "topology/ProfileFile.h"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <sstream>

namespace colldsl::mpi {
namespace {

constexpr std::string_view kNone = "-"; // in place of words

std::string inWord(const TunedCollective &what) {
  std::string words = what.words();
  std::replace(words.begin(), words.end(), ' ', ',');
  return words.empty() ? std::string(kNone) : words;
}

TunedCollective fromWord(std::string word) {
  std::replace(word.begin(), word.end(), ',', ' ');
  Result<TunedCollective> what = TunedCollective::parse(word);
  return what && word != kNone ? what.take() : TunedCollective();
}

/// A row as a line: words and numbers separated by spaces, without times of candidates other than
/// the best.
std::string lineOf(const LearnedRow &row) {
  const TuningPoint &p = row.point;
  std::ostringstream line;
  line << p.function << ' ' << p.ranks << ' ' << p.nodes << ' ' << p.bytes << ' '
       << inWord(p.shipped) << ' ' << p.shippedNs << ' ' << p.margin << ' ' << p.least << ' '
       << row.isOver << ' ' << row.hasBytes << ' ' << row.calls << ' ' << row.trialCalls << ' '
       << row.communicationNs << ' ' << row.spentNs << ' ' << p.entries.size();
  for (const TuningPoint::Entry &entry : p.entries)
    line << ' ' << inWord(entry.what) << ' ' << entry.ns;
  line << '\n';
  return line.str();
}

std::optional<LearnedRow> parseLine(const std::string &text) {
  std::istringstream line(text);
  LearnedRow row;
  TuningPoint &p = row.point;
  std::string shipped;
  size_t entries = 0;
  line >> p.function >> p.ranks >> p.nodes >> p.bytes >> shipped >> p.shippedNs >> p.margin >>
      p.least >> row.isOver >> row.hasBytes >> row.calls >> row.trialCalls >> row.communicationNs >>
      row.spentNs >> entries;
  p.shipped = fromWord(shipped);
  for (size_t i = 0; line && i < entries; ++i) {
    std::string word;
    double ns = 0;
    line >> word >> ns;
    p.entries.push_back({fromWord(word), ns});
  }
  p.isLearned = true;
  return line ? std::optional(row) : std::nullopt;
}

/// Joins rows of the same calls on several communicators: a decided one wins.
void join(std::vector<LearnedRow> &rows, LearnedRow row) {
  auto same = std::find_if(rows.begin(), rows.end(),
                           [&](const LearnedRow &known) { return known.point.isAt(row.point); });
  if (same == rows.end()) {
    rows.push_back(std::move(row));
    return;
  }
  row.calls += same->calls;
  row.trialCalls += same->trialCalls;
  row.communicationNs += same->communicationNs;
  row.spentNs += same->spentNs;
  if (same->isOver) {
    row.isOver = true;
    row.point = same->point;
  }
  *same = std::move(row);
}

/// True if the machines of all ranks are the same.
bool isOneMachine(const Result<MachineFingerprint> &mine) {
  std::string words = mine ? mine->words() : "";
  bool areSame = allHave(xxh64(std::as_bytes(std::span(words)), 0));
  return allAgree(MPI_COMM_WORLD, mine.ok()) && areSame;
}

/// The profile in the file, or an empty one. An error: the file must not be changed.
Result<MachineProfile> profileToExtend(const std::string &path, const MachineFingerprint &machine,
                                       uint64_t libraryHash) {
  if (path.empty())
    return Status::error("there is no place for it");
  Result<std::optional<MachineProfile>> read = readProfile(path);
  if (!read)
    return read.status();
  if (!*read) {
    MachineProfile fresh;
    fresh.tool = "colldsl " COLLDSL_VERSION;
    fresh.machine = machine;
    fresh.libraryHash = libraryHash;
    return fresh;
  }
  if (!((*read)->machine == machine))
    return Status::error(concat("'", path, "' is of another machine"));
  if ((*read)->libraryHash != libraryHash)
    return Status::error(concat("'", path, "' is of another standard library"));
  return std::move(**read);
}

Result<std::string> write(const std::vector<LearnedRow> &rows, const MachineFingerprint &machine,
                          Library &library) {
  std::string path = profilePath();
  Result<MachineProfile> profile = profileToExtend(path, machine, library.programHash());
  if (!profile)
    return profile.status();
  std::vector<TuningPoint> points;
  for (const LearnedRow &row : rows)
    if (row.isOver && row.hasBytes)
      points.push_back(row.point);
  size_t before = profile->decisions.size();
  Result<size_t> added = addLearned(*profile, points, library);
  if (!added)
    return added.status();
  if (*added > 0)
    if (Status s = writeProfile(path, *profile); !s)
      return s;
  return concat(*added, *added == 1 ? " point and " : " points and ",
                profile->decisions.size() - before, " decisions were added to '", path, "'");
}

void print(const LearnedRow &row) {
  const TuningPoint &p = row.point;
  double share = row.communicationNs > 0 ? 100 * row.spentNs / row.communicationNs : 0;
  std::string what = !row.isOver            ? "still learning"
                     : p.entries.empty()    ? concat(p.shipped.words(), " stays")
                     : p.least < kLeastGain ? concat(p.shipped.words(), " stays")
                                            : concat(p.entries.front().what.words(), " instead of ",
                                                     p.shipped.words());
  std::string lengths = row.hasBytes ? concat(p.bytes, " bytes") : "all lengths";
  printMessage("colldsl: learned: %s of %s on %u ranks: %s", p.function.c_str(), lengths.c_str(),
               p.ranks, what.c_str());
  if (row.isOver && p.least >= kLeastGain)
    printMessage(", %.2f times as fast (%.2f at least)", p.margin, p.least);
  printMessage("; %" PRIu64 " calls, %" PRIu64 " trials, %.2f %% of the time in them\n", row.calls,
               row.trialCalls, share);
}

} // namespace

bool Learning::isMeasured(const TuningPoint &point) const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [&](const TuningPoint &known) { return known.isAt(point); });
}

void Learning::add(LearnedRow row) { join(rows_, std::move(row)); }

void Learning::end(Job &job) {
  std::string mine;
  for (const LearnedRow &row : rows_)
    mine += lineOf(row);
  std::istringstream lines(gatherTexts(mine));
  std::vector<LearnedRow> all;
  for (std::string line; std::getline(lines, line);)
    if (std::optional<LearnedRow> row = parseLine(line))
      join(all, std::move(*row));
  bool isSummed = Settings::all().wantsSummary() || Settings::all().isVerbose();
  int isWorth = std::any_of(all.begin(), all.end(),
                            [](const LearnedRow &row) { return row.isOver && row.hasBytes; });
  for (const LearnedRow &row : all)
    if (isSummed)
      print(row);
  real::Bcast(&isWorth, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!isWorth)
    return;
  Result<MachineFingerprint> machine = fingerprintOfThisMachine();
  bool isOne = isOneMachine(machine);
  if (job.worldRank() != 0)
    return;
  Result<std::string> written = isOne ? write(all, *machine, job.library())
                                      : Status::error("the ranks are on unlike machines");
  job.note(written ? concat("learned: ", *written)
                   : concat("what was learned is not written: ", written.message()));
}

} // namespace colldsl::mpi
