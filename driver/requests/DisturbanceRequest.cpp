#include "driver/requests/DisturbanceRequest.h"

#include "driver/Lists.h"
#include "driver/files/ReadInput.h"

namespace colldsl::driver {
namespace {

Result<sim::NoiseOptions> parseDetours(llvm::StringRef kind, llvm::StringRef numbers) {
  sim::NoiseOptions noise;
  noise.kind =
      kind == "random" ? sim::NoiseOptions::Kind::Random : sim::NoiseOptions::Kind::Periodic;
  llvm::SmallVector<llvm::StringRef> pieces;
  numbers.split(pieces, ',');
  bool isPeriodic = kind == "periodic";
  if (pieces.size() != 2 && !(isPeriodic && pieces.size() == 3))
    return Status::error(isPeriodic ? "say periodic:PERIOD,LENGTH or periodic:PERIOD,LENGTH,PHASE"
                                    : "say random:MEAN,LENGTH");
  std::vector<uint64_t> times;
  for (llvm::StringRef piece : pieces) {
    Result<uint64_t> time = parseTimeNs(piece);
    if (!time)
      return time.status();
    times.push_back(*time);
  }
  noise.periodNs = times[0];
  noise.lengthNs = times[1];
  if (times.size() == 3)
    noise.phaseNs = times[2];
  return noise;
}

Result<sim::NoiseOptions> parseNoise(llvm::StringRef text) {
  if (text.empty())
    return sim::NoiseOptions();
  auto [kind, rest] = text.split(':');
  if (kind == "periodic" || kind == "random")
    return parseDetours(kind, rest);
  if (kind != "trace")
    return Status::error("'" + text.str() +
                         "' is none of periodic:PERIOD,LENGTH, random:MEAN,LENGTH, trace:FILE");
  Result<std::string> trace = readText(rest.str());
  if (!trace)
    return trace.status();
  Result<sim::NoiseOptions> noise = sim::parseNoiseTrace(*trace);
  if (!noise)
    return wrap("'" + rest.str() + "'", noise.status());
  return noise;
}

} // namespace

void DisturbanceRequest::addTo(Fields &fields) {
  fields.section("what disturbs it");
  fields.addText("--noise", "N",
                 "what takes processors away: periodic:PERIOD,LENGTH[,PHASE]\n"
                 "(a random phase each without PHASE), random:MEAN,LENGTH,\n"
                 "trace:FILE; times are like 250, 10us, 2ms",
                 noiseText_) = completionOf({"periodic:", "random:", "trace:"});
  fields.addParsed("--skew", "T", "ranks start at random times up to this", skewNs_, parseTimeNs,
                   [](uint64_t ns) { return std::to_string(ns); });
  fields.addNumber("--seed", "N",
                   "of noise, skew, and lengths of blocks known at call time only\n(default: 0)",
                   seed_);
  fields.addCheck([this](Sink &) {
    Result<sim::NoiseOptions> noise = parseNoise(noiseText_);
    if (noise)
      noise_ = noise.take();
    return wrap("--noise", noise.status());
  });
}

sim::SimulateOptions DisturbanceRequest::make(const CostModel &cost) const {
  sim::SimulateOptions made;
  made.model = cost.machine;
  made.network = cost.network;
  made.receiveSlots = cost.receiveSlots;
  made.noise = noise_;
  made.skewNs = skewNs_;
  made.seed = seed_;
  return made;
}

} // namespace colldsl::driver
