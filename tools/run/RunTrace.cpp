#include "tools/run/RunTrace.h"

#include "driver/Lists.h"
#include "driver/files/ReadJson.h"
#include "driver/source/RenderInFiles.h"
#include "tools/options/Json.h"
#include "tools/sim/SimulationSummary.h"

#include "ir/ForeignFormat.h"

#include <algorithm>
#include <cmath>

namespace colldsl::tools {

using namespace driver;

namespace {

constexpr llvm::StringLiteral kWriter = "colldsl run";

std::string nameOf(const Op &op) {
  sim::PathStep step;
  step.what = op;
  return stepWord(step);
}

uint64_t firstBegin(const std::vector<RankReport> &reports) {
  uint64_t first = UINT64_MAX;
  for (const RankReport &report : reports)
    for (const OpTimes &times : report.trace)
      first = std::min(first, times.begin);
  return first;
}

class Writer {
public:
  Writer(const Schedule &schedule, const std::vector<Sizes> &sizes,
         const std::vector<RankReport> &reports, llvm::raw_ostream &out)
      : schedule_(schedule), sizes_(sizes), reports_(reports), first_(firstBegin(reports)),
        json_(out) {}

  void write(const std::string &name) {
    json_.object([&] {
      json_.attribute("displayTimeUnit", "ns");
      json_.attributeObject("otherData", [&] {
        json_.attribute("writer", kWriter);
        json_.attribute("schedule", jsonText(name));
      });
      json_.attributeArray("traceEvents", [&] {
        for (uint32_t r = 0; r < reports_.size(); ++r)
          writeRank(r);
      });
    });
  }

private:
  void writeRank(uint32_t rank) {
    json_.object([&] {
      json_.attribute("name", "process_name");
      json_.attribute("ph", "M");
      json_.attribute("pid", rank);
      json_.attributeObject("args",
                            [&] { json_.attribute("name", "rank " + std::to_string(rank)); });
    });
    for (uint32_t op = 0; op < reports_[rank].trace.size(); ++op)
      json_.object([&] { writeOp(rank, op); });
  }

  void writeOp(uint32_t rank, uint32_t number) {
    const Dag &dag = schedule_.ranks[rank];
    const Op &op = dag.ops[number];
    const OpTimes &times = reports_[rank].trace[number];
    json_.attribute("name", nameOf(op));
    json_.attribute("ph", "X");
    json_.attribute("pid", rank);
    json_.attribute("tid", 0);
    time("ts", times.begin - first_);
    time("dur", times.end - times.begin);
    json_.attributeObject("args", [&] {
      json_.attribute("op", number);
      if (isMessage(op.kind))
        json_.attribute("bytes", payloadBytes(dag, op, sizes_[rank]));
      if (std::string place = placeWord(op.loc, schedule_.files); !place.empty())
        json_.attribute("place", jsonText(place));
    });
  }

  void time(const char *key, uint64_t ns) {
    json_.attributeBegin(key);
    json_.rawValue(llvm::formatv("{0}.{1,0+3}", ns / 1000, ns % 1000).str());
    json_.attributeEnd();
  }

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  const std::vector<RankReport> &reports_;
  uint64_t first_;
  llvm::json::OStream json_;
};

class Reader {
public:
  explicit Reader(const Schedule &schedule) : schedule_(schedule) {
    for (const Dag &dag : schedule.ranks) {
      firsts_.push_back(total_);
      total_ += dag.size();
    }
    trace_.begin.assign(total_, 0);
    trace_.end.assign(total_, kMissing);
  }

  Result<RunTrace> read(const llvm::json::Array &events) {
    for (const llvm::json::Value &value : events) {
      const llvm::json::Object *event = value.getAsObject();
      if (!event || event->getString("ph") != llvm::StringRef("X"))
        continue;
      if (Status s = readOp(*event); !s)
        return s;
    }
    auto missing = std::find(trace_.end.begin(), trace_.end.end(), kMissing);
    if (missing == trace_.end.end())
      return std::move(trace_);
    auto rank = std::upper_bound(firsts_.begin(), firsts_.end(), missing - trace_.end.begin());
    return Status::error(
        "it has no times of " +
        opWord(rank - firsts_.begin() - 1, missing - trace_.end.begin() - *std::prev(rank)) +
        " of this schedule: it was run with another one");
  }

private:
  static constexpr uint64_t kMissing = UINT64_MAX;

  static std::string opWord(int64_t rank, int64_t op) {
    return "rank " + std::to_string(rank) + ", op " + std::to_string(op);
  }

  Status readOp(const llvm::json::Object &event) {
    std::optional<int64_t> rank = event.getInteger("pid"), number;
    if (const llvm::json::Object *args = event.getObject("args"))
      number = args->getInteger("op");
    std::optional<double> ts = event.getNumber("ts"), dur = event.getNumber("dur");
    constexpr double kMostUs = 1e12;
    bool isWhole =
        rank && number && ts && dur && *ts >= 0 && *dur >= 0 && *ts < kMostUs && *dur < kMostUs;
    if (!isWhole)
      return Status::error(
          "an event lacks pid, args.op, ts or dur, or has one that is no such number");
    bool exists = *rank >= 0 && *rank < schedule_.numRanks() && *number >= 0 &&
                  *number < schedule_.ranks[*rank].size();
    if (!exists)
      return Status::error("it has " + opWord(*rank, *number) + ", which this schedule of " +
                           counted(schedule_.numRanks(), "rank") + " does not have");
    std::string name = nameOf(schedule_.ranks[*rank].ops[*number]);
    std::string found = event.getString("name").value_or("").str();
    if (found != name)
      return Status::error(opWord(*rank, *number) + " is '" + found + "' in the trace, and '" +
                           name + "' in this schedule");
    uint64_t op = firsts_[*rank] + *number;
    constexpr double kNsPerUs = 1000;
    trace_.begin[op] = static_cast<uint64_t>(std::llround(*ts * kNsPerUs));
    trace_.end[op] = trace_.begin[op] + static_cast<uint64_t>(std::llround(*dur * kNsPerUs));
    return {};
  }

  const Schedule &schedule_;
  std::vector<int64_t> firsts_;
  int64_t total_ = 0;
  RunTrace trace_;
};

} // namespace

void writeRunTrace(const std::string &name, const Schedule &schedule,
                   const std::vector<Sizes> &sizes, const std::vector<RankReport> &reports,
                   llvm::raw_ostream &out) {
  Writer(schedule, sizes, reports, out).write(name);
}

Result<RunTrace> readRunTrace(llvm::StringRef text, const Schedule &schedule) {
  Result<llvm::json::Value> json = readJson(text);
  std::string format = json ? "" : foreignFormat(std::string_view(text), Readable::Text);
  if (!format.empty() && !format.starts_with("JSON"))
    return Status::error("it is no JSON, but " + format);
  if (!json)
    return Status::error("it is no JSON: " + json.message());
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Object *other = object ? object->getObject("otherData") : nullptr;
  const llvm::json::Array *events = object ? object->getArray("traceEvents") : nullptr;
  if (!other || !events || other->getString("writer") != llvm::StringRef(kWriter))
    return Status::error("it is no trace that `colldsl run --trace` wrote");
  return Reader(schedule).read(*events);
}

} // namespace colldsl::tools
