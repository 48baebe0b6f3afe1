#include "tools/tune/Tuner.h"

#include "driver/Lists.h"
#include "driver/Session.h"
#include "select/Decision.h"
#include "select/Function.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/run/JoinLauncher.h"
#include "tools/tune/MeasuredCosts.h"
#include "topology/Machine.h"
#include "wireup/Allgatherv.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>

namespace colldsl::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr double kSweepShare = 0.7; // of the time; the rest verifies
constexpr auto kBetweenSaves = 5s;

/// True if `a` is a point of the same function, bytes and ranks as `b`.
bool isSamePoint(const TuningPoint &a, const CandidatesOfPoint &b, const Topology &topology) {
  return a.function == b.function && a.bytes == b.bytes && a.ranks == topology.numRanks() &&
         a.nodes == topology.numGroups(Level::Node);
}

/// Packs the points of rank 0's profile, preceded by a line for each: the reason that the point is
/// unusable, or empty.
std::vector<std::byte> pack(const MachineProfile &profile, const std::vector<std::string> &noise) {
  std::string text;
  for (const std::string &line : noise)
    text += line + "\n";
  text += profile.toJson();
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Result<MachineProfile> unpack(std::span<const std::byte> bytes, std::vector<std::string> &noise) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  while (!text.empty() && !text.starts_with("{")) {
    auto [line, rest] = text.split('\n');
    noise.push_back(line.str());
    text = rest;
  }
  return MachineProfile::parse({text.data(), text.size()});
}

/// "2026-11-27"
std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16];
  std::tm parts{};
  return {text, std::strftime(text, sizeof text, "%F", gmtime_r(&now, &parts))};
}

} // namespace

Result<std::vector<uint32_t>> usualRanks() {
  Result<std::vector<Place>> places = discoverNode("");
  if (!places)
    return places.status();
  uint32_t cores = std::max(places->back().core + 1, 2u);
  std::vector<uint32_t> ranks;
  for (uint32_t n = 2; n < cores; n *= 2)
    ranks.push_back(n);
  ranks.push_back(cores);
  return ranks;
}

Tuner::Tuner(const TuneOptions &options, Launcher *launcher, BuiltLibrary library)
    : settings_(options), library_(std::move(library)), path_(profilePath()), begin_(Clock::now()) {
  launch_.launcher = launcher;
}

Status Tuner::run() {
  if (Status s = begin(); !s)
    return s;
  if (Status s = measureAll(); !s)
    return s;
  if (Status s = decide(); !s)
    return s;
  if (!interrupt_.came())
    if (Status s = verify(); !s)
      return s;
  if (Status s = keep(); !s)
    return s;
  report();
  if (interrupt_.came())
    return Status::error("interrupted: what is stored is not verified");
  if (numLeftOut_ > 0 && numMeasured_ == 0)
    return Status::error("the machine is too busy: nothing that was measured now can be used");
  return {};
}

Result<std::string> Tuner::agreed(const std::string &mine) const {
  if (!launch_.launcher)
    return mine;
  auto bytes = std::as_bytes(std::span(mine));
  auto all = allgatherv(launch_.launcher->oob(), isFirst() ? bytes : bytes.subspan(bytes.size()));
  if (!all)
    return all.status();
  return std::string(reinterpret_cast<const char *>(all->front().data()), all->front().size());
}

Result<std::string> Tuner::agreed(const Result<std::string> &mine) const {
  Result<std::string> all = agreed(mine ? "+" + *mine : "-" + mine.message());
  if (!all)
    return all;
  if (all->starts_with("-"))
    return Status::error(all->substr(1));
  return all->substr(1);
}

Status Tuner::begin() {
  Result<MachineFingerprint> machine = fingerprintOfThisMachine();
  if (!machine)
    return machine.status();
  Result<std::string> words = agreed(machine->words());
  if (!words)
    return words.status();
  if (*words != machine->words())
    return Status::error("the ranks are on different machines: " + *words + "; " +
                         machine->words());
  Result<std::string> text = agreed(isFirst() ? known(*machine) : Result<std::string>(""));
  if (!text)
    return text.status();
  Result<MachineProfile> before = MachineProfile::parse(*text);
  if (!before)
    return before.status();
  profile_ = before.take();
  profile_.noiseLimit = settings_.noiseLimit();
  leaveOutNoise();
  if (Status s = keep(); !s) // fails early if the profile cannot be written
    return s;
  return makeGroups();
}

Result<std::string> Tuner::known(const MachineFingerprint &machine) const {
  if (path_.empty())
    return Status::error("there is no place for the profile: COLLDSL_PROFILE is empty, or there "
                         "is no home");
  MachineProfile fresh;
  fresh.tool = "colldsl " COLLDSL_VERSION;
  fresh.machine = machine;
  fresh.libraryHash = library_.library->programHash();
  if (settings_.fresh)
    return fresh.toJson();
  Result<std::optional<MachineProfile>> read = readProfile(path_);
  if (!read)
    return Status::error(read.message() + "; --fresh replaces it");
  if (!*read)
    return fresh.toJson();
  if (!((*read)->machine == machine))
    return Status::error("'" + path_ + "' is of another machine (" + (*read)->machine.words() +
                         "); --fresh replaces it, COLLDSL_PROFILE names another file");
  if ((*read)->libraryHash == fresh.libraryHash)
    return (*read)->toJson();
  errorStream() << "colldsl: the profile is of another standard library: measuring anew\n";
  return fresh.toJson();
}

Status Tuner::makeGroups() {
  std::vector<uint32_t> ranks = settings_.ranks;
  std::string place = "local";
  if (launch_.launcher) {
    ranks = {launch_.launcher->numRanks()};
    Result<std::optional<std::string>> nodes = nodesOf(*launch_.launcher, launch_.network);
    if (!nodes)
      return nodes.status();
    place = nodes->value_or(place);
  } else if (ranks.empty()) {
    Result<std::vector<uint32_t>> usual = usualRanks();
    if (!usual)
      return usual.status();
    ranks = usual.take();
  }
  for (uint32_t n : ranks) {
    Result<Topology> topology = Topology::make(place, n);
    if (!topology)
      return topology.status();
    groups_.push_back({topology.take(), {}});
  }
  return {};
}

Result<std::vector<std::string>> Tuner::functions() const {
  std::vector<std::string> all = functionsOf(**library_.library->rules());
  for (const std::string &name : settings_.functions)
    if (!llvm::is_contained(all, name))
      return Status::error("there is no function '" + name + "'");
  return settings_.functions.empty() ? all : settings_.functions;
}

Status Tuner::choosePoints() {
  Result<std::vector<std::string>> names = functions();
  if (!names)
    return names.status();
  CostModel cost;
  cost.machine = profile_.model;
  const Program &program = **library_.library->program();
  const std::vector<SelectionRule> &rules = **library_.library->rules();
  for (Group &group : groups_) {
    CandidateFinder maker(program, rules, cost, group.topology);
    for (const std::string &name : *names) {
      const Decl &model = program.decl(modelOf(rules, name));
      bool hasBuffers = llvm::any_of(model.params, [](const Param &p) { return p.isBuffer; });
      for (uint64_t bytes : hasBuffers ? settings_.bytes : std::vector<uint64_t>{0}) {
        CandidatesOfPoint point{name, bytes, {}};
        ++numPoints_;
        if (llvm::none_of(profile_.points, [&](const TuningPoint &p) {
              return !p.isLearned && isSamePoint(p, point, group.topology);
            }))
          group.points.push_back(maker.make(name, bytes, {}));
      }
    }
    numNew_ += group.points.size();
  }
  return {};
}

Status Tuner::measureAll() {
  if (profile_.model == MachineModel()) {
    note("measuring what messages and copies cost");
    auto most = std::max_element(groups_.begin(), groups_.end(), [](auto &a, auto &b) {
      return a.topology.numRanks() < b.topology.numRanks();
    });
    if (Status s = measureCosts(most->topology, launch_, settings_.noiseLimit(), profile_); !s)
      return s;
  }
  if (Status s = choosePoints(); !s)
    return s;
  note(llvm::formatv("{0} of {1} points are to be measured", numNew_, numPoints_).str());
  auto left = std::max<std::chrono::nanoseconds>(settings_.time - (Clock::now() - begin_), 0ns);
  for (Group &group : groups_) {
    if (interrupt_.came() || group.points.empty())
      continue;
    double share = static_cast<double>(group.points.size()) / static_cast<double>(numNew_);
    auto time = std::chrono::nanoseconds(
        static_cast<int64_t>(static_cast<double>(left.count()) * share * kSweepShare));
    if (Status s = measure(group, time); !s)
      return s;
  }
  return keep();
}

Status Tuner::measure(Group &group, std::chrono::nanoseconds time) {
  auto body = [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    bool shows = endpoint.rank() == Rank{0};
    std::optional<Progress> progress;
    if (shows)
      progress.emplace();
    MachineProfile soFar = profile_;
    Clock::time_point saved = Clock::now();
    SweepOptions options;
    options.limit = time;
    options.stop = interrupt_.count();
    options.noiseLimit = settings_.noiseLimit();
    options.quietNs = quietBarrierNs(group.topology);
    options.progress = [&](size_t done, const SweptPoint &swept) {
      const TuningPoint &point = swept.point;
      progress->watch().progress({"tuning " + counted(group.topology.numRanks(), "rank"), done,
                                  group.points.size(),
                                  " points, " + point.function + " " + bytesWord(point.bytes)});
      if (isSteady(swept.noise, options.noiseLimit))
        soFar.points.push_back(point);
      if (Clock::now() - saved < kBetweenSaves)
        return;
      saved = Clock::now();
      (void)writeProfile(path_, soFar); // keep() reports errors in the end
    };
    Result<std::vector<SweptPoint>> points =
        sweep(endpoint, group.topology, *library_.library, group.points, options);
    if (!points)
      return points.status();
    MachineProfile measured = profile_;
    measured.points.clear();
    std::vector<std::string> noise;
    for (SweptPoint &swept : *points) {
      bool isUsable = isSteady(swept.noise, options.noiseLimit);
      noise.push_back(isUsable ? "" : noiseWords(swept.noise, options.noiseLimit));
      measured.points.push_back(std::move(swept.point));
    }
    return shows ? pack(measured, noise) : std::vector<std::byte>();
  };
  Result<std::vector<std::vector<std::byte>>> returned =
      onAllRanks(group.topology.numRanks(), launch_, body);
  if (!returned)
    return returned.status();
  std::vector<std::string> noise;
  Result<MachineProfile> measured = unpack(returned->front(), noise);
  if (!measured)
    return measured.status();
  for (size_t i = 0; i < measured->points.size(); ++i) {
    TuningPoint &point = measured->points[i];
    if (!noise[i].empty()) {
      leaveOut(point, noise[i]);
      continue;
    }
    // better evidence than what jobs learned
    std::erase_if(profile_.points,
                  [&](const TuningPoint &p) { return p.isLearned && p.isAt(point); });
    profile_.points.push_back(std::move(point));
    profile_.measured = today();
    ++numMeasured_;
  }
  return {};
}

void Tuner::leaveOut(const TuningPoint &point, const std::string &why) {
  ++numLeftOut_;
  note(llvm::formatv("{0} {1} on {2}: {3}: left out", point.function, bytesWord(point.bytes),
                     counted(point.ranks, "rank"), why)
           .str());
}

/// Removes points and decisions that an earlier command kept under another noise limit.
void Tuner::leaveOutNoise() {
  std::erase_if(profile_.points, [&](const TuningPoint &p) {
    return std::max(p.spread, p.drift) > profile_.noiseLimit;
  });
  std::erase_if(profile_.decisions,
                [&](const Decision &d) { return d.noise > profile_.noiseLimit; });
}

/// The estimated time of a barrier on a quiet machine: per round of a dissemination, a message to
/// the farthest rank and back.
double Tuner::quietBarrierNs(const Topology &topology) const {
  uint64_t farthest = 0;
  for (uint32_t r = 1; r < topology.numRanks(); ++r) {
    unsigned distance = std::max(topology.distance(Rank{0}, Rank{r}), 1u);
    farthest = std::max(farthest, profile_.model.distances[distance].endToEndNs(1));
  }
  return 2 * static_cast<double>(farthest) * std::ceil(std::log2(topology.numRanks() + 1));
}

Status Tuner::verify() {
  std::vector<size_t> noisy; // points
  for (Group &group : groups_) {
    std::vector<size_t> which;
    group.points.clear();
    for (size_t i = 0; i < profile_.points.size(); ++i) {
      const TuningPoint &p = profile_.points[i];
      CandidatesOfPoint point{p.function, p.bytes, {}};
      if (!p.isVerified && isSamePoint(p, point, group.topology) &&
          llvm::any_of(profile_.decisions, [&](const Decision &d) { return isFor(d, p); })) {
        which.push_back(i);
        group.points.push_back(std::move(point));
      }
    }
    if (group.points.empty() || interrupt_.came())
      continue;
    note(llvm::formatv("verifying {0} points of {1}", group.points.size(),
                       counted(group.topology.numRanks(), "rank"))
             .str());
    Result<std::vector<ComparedRow>> rows = compare(group);
    if (!rows)
      return rows.status();
    for (const ComparedRow &row : *rows) {
      TuningPoint &point = profile_.points[which[row.point]];
      if (isSteady(row.noise, profile_.noiseLimit)) {
        take(row, point);
        continue;
      }
      leaveOut(point, noiseWords(row.noise, profile_.noiseLimit));
      noisy.push_back(which[row.point]);
    }
  }
  llvm::sort(noisy, std::greater<>());
  for (size_t point : noisy)
    profile_.points.erase(profile_.points.begin() + static_cast<ptrdiff_t>(point));
  numMeasured_ -= std::min(numMeasured_, noisy.size());
  if (Status s = decide(); !s)
    return s;
  for (Decision &decision : profile_.decisions)
    decision.isVerified = llvm::all_of(
        profile_.points, [&](const TuningPoint &p) { return !isFor(decision, p) || p.isVerified; });
  return {};
}

Status Tuner::decide() {
  Result<std::vector<Decision>> made = colldsl::decide(profile_.points, *library_.library);
  if (made)
    profile_.decisions = made.take();
  return made ? Status() : made.status();
}

void Tuner::take(const ComparedRow &row, TuningPoint &point) {
  point.isVerified = true;
  point.margin = row.ratio.median;
  point.least = row.ratio.least;
  point.shippedNs = row.shippedNs;
  point.spread = row.noise.spread;
  point.drift = row.noise.drift;
  if (hasWinner(point))
    return;
  ++numDropped_;
  if (row.ratio.most < 1)
    note(llvm::formatv("{0} {1} on {2}: {3:f2} times as fast when measured again: dropped",
                       point.function, bytesWord(point.bytes), counted(point.ranks, "rank"),
                       row.ratio.median)
             .str());
}

Result<std::vector<ComparedRow>> Tuner::compare(Group &group) {
  Result<std::unique_ptr<Library>> tuned = library_.tuned(profile_);
  if (!tuned)
    return tuned.status();
  auto left = std::max<std::chrono::nanoseconds>(settings_.time - (Clock::now() - begin_), 1s);
  auto body = [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    SweepOptions options;
    options.limit = left / static_cast<int64_t>(groups_.size());
    options.stop = interrupt_.count();
    options.noiseLimit = settings_.noiseLimit();
    options.quietNs = quietBarrierNs(group.topology);
    Result<std::vector<ComparedRow>> rows = compareLibraries(
        endpoint, group.topology, *library_.library, **tuned, group.points, options);
    if (!rows)
      return rows.status();
    auto bytes = std::as_bytes(std::span(*rows));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  auto returned = onAllRanks(group.topology.numRanks(), launch_, body);
  if (!returned)
    return returned.status();
  const std::vector<std::byte> &bytes = returned->front();
  std::vector<ComparedRow> rows(bytes.size() / sizeof(ComparedRow));
  if (!rows.empty())
    std::memcpy(rows.data(), bytes.data(), bytes.size());
  return rows;
}

Status Tuner::keep() const {
  Status mine = isFirst() ? writeProfile(path_, profile_) : Status();
  return agreed(mine ? Result<std::string>("") : mine).status();
}

std::string Tuner::verifiedWords() const {
  auto isVerified = [](const Decision &d) { return d.isVerified; };
  auto verified = static_cast<size_t>(llvm::count_if(profile_.decisions, isVerified));
  if (verified == profile_.decisions.size() && !interrupt_.came())
    return "verified";
  return (interrupt_.came() ? "interrupted: " : "") + std::to_string(verified) +
         " of them verified";
}

void Tuner::report() const {
  double changed = 0;
  const TuningPoint *worst = nullptr;
  std::vector<const TuningPoint *> decided = decidedPoints(profile_);
  for (const TuningPoint *p : decided) {
    changed += std::log(p->margin);
    if (!worst || p->margin < worst->margin)
      worst = p;
  }
  size_t numDone = numPoints_ - numNew_ + numMeasured_;
  double all = profile_.points.empty() ? 0 : changed / static_cast<double>(profile_.points.size());
  resultStream() << llvm::formatv("{0}: {1} of {2} points, {3}, {4}\n", path_, numDone, numPoints_,
                                  counted(profile_.decisions.size(), "decision"), verifiedWords());
  if (worst)
    resultStream() << llvm::formatv(
        "tuned against the rules: {0:f2} times as fast at {1} points with decisions, {2:f2} "
        "over all; worst {3:f2} ({4} {5} on {6}); {7} dropped\n",
        std::exp(changed / static_cast<double>(decided.size())), decided.size(), std::exp(all),
        worst->margin, worst->function, bytesWord(worst->bytes), counted(worst->ranks, "rank"),
        numDropped_);
  if (numLeftOut_ > 0)
    resultStream() << counted(numLeftOut_, "point") << " left out, as the machine is busy\n";
  if (numDone < numPoints_)
    resultStream() << "run it again to measure the rest\n";
}

void Tuner::note(const std::string &text) const {
  if (isFirst())
    errorStream() << "colldsl: " << text << "\n";
}

} // namespace colldsl::tools
