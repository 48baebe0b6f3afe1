#include "tools/sim/ModelOptions.h"

#include "tools/options/Lists.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

namespace colldsl::tools {
namespace {

Status wrap(llvm::StringRef where, const Status &status) {
  return Status::error((where + ": " + status.message()).str());
}

Result<std::string> readText(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return Status::error(("cannot read '" + file + "': " + buffer.getError().message()).str());
  return (*buffer)->getBuffer().str();
}

Result<PerByte> parseRate(llvm::StringRef text) {
  double ns = 0;
  if (text.getAsDouble(ns) || !std::isfinite(ns) || ns < 0 ||
      ns > static_cast<double>(PerByte::kMaxNs))
    return Status::error("'" + text.str() + "' is no time per byte, in ns");
  return PerByte::fromNs(ns);
}

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
  Result<std::string> trace = readText(rest);
  if (!trace)
    return trace.status();
  Result<sim::NoiseOptions> noise = sim::parseNoiseTrace(*trace);
  if (!noise)
    return wrap("'" + rest.str() + "'", noise.status());
  return noise;
}

} // namespace

Result<uint64_t> parseTimeNs(llvm::StringRef text) {
  constexpr uint64_t kMostNs = uint64_t{1} << 50; // 13 days
  llvm::StringRef digits = text.trim().take_while([](char c) { return c >= '0' && c <= '9'; });
  llvm::StringRef unit = text.trim().drop_front(digits.size());
  uint64_t scale = llvm::StringSwitch<uint64_t>(unit)
                       .Cases("", "ns", 1)
                       .Case("us", 1'000)
                       .Case("ms", 1'000'000)
                       .Case("s", 1'000'000'000)
                       .Default(0);
  uint64_t number = 0;
  if (scale == 0 || digits.getAsInteger(10, number))
    return Status::error("'" + text.str() + "' is no time; times are like 250, 10us, 2ms");
  if (number > kMostNs / scale)
    return Status::error(text.str() + " is more than 2^50 ns");
  return number * scale;
}

template <typename T, typename Parse>
void ModelOptions::addParameter(Options &options, llvm::StringRef name, llvm::StringRef value,
                                llvm::StringRef help, T LogGop::*member, Parse parse) {
  options.add(name, value, help, [this, name, member, parse](llvm::StringRef text) -> Status {
    Result<T> parsed = parse(text);
    if (!parsed)
      return parsed.status();
    if (firstFlat_.empty())
      firstFlat_ = name.str();
    flat_.*member = *parsed;
    return {};
  });
}

void ModelOptions::addTo(Options &options) {
  options.section("on which machine");
  options.addText("--model", "FILE", "a machine model, JSON (default: flat, from what follows)",
                  modelFile_);
  addParameter(options, "-L", "NS", "latency (default: 2500)", &LogGop::L, parseTimeNs);
  addParameter(options, "-o", "NS", "processor time per message (default: 1500)", &LogGop::o,
               parseTimeNs);
  addParameter(options, "-g", "NS", "gap between messages (default: 1000)", &LogGop::g,
               parseTimeNs);
  addParameter(options, "-G", "NS", "time per byte (default: 6)", &LogGop::G, parseRate);
  addParameter(options, "-O", "NS", "processor time per byte (default: 0)", &LogGop::O, parseRate);
  addParameter(options, "-S", "N", "longer messages wait for their receive (default: 65535)",
               &LogGop::S, parseBytes);
  options.addText("--network", "N",
                  "links between nodes: torus:8x8x8 or fattree:16x16, and behind\n"
                  "it hop=NS (per link; default: 100), G=NS (per byte on a link;\n"
                  "default: the model's), taper=N: torus:8x8,hop=50,G=0.1\n"
                  "(default: messages do not meet on their way)",
                  network_);
  options.addNumber("--receive-slots", "N",
                    "messages on their way to one rank at most; the next sender's\n"
                    "interface stalls (default: any number)",
                    receiveSlots_, 1);
  options.section("what disturbs it");
  options.addText("--noise", "N",
                  "what takes processors away: periodic:PERIOD,LENGTH[,PHASE]\n"
                  "(a random phase each without PHASE), random:MEAN,LENGTH,\n"
                  "trace:FILE; times are like 250, 10us, 2ms",
                  noise_);
  options.add("--skew", "T", "ranks start at random times up to this",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> time = parseTimeNs(text);
                if (!time)
                  return time.status();
                skewNs_ = *time;
                return {};
              });
  options.addNumber("--seed", "N",
                    "of noise, skew, and lengths of blocks known at call time only\n(default: 0)",
                    seed_);
}

Result<sim::SimulateOptions> ModelOptions::make() const {
  sim::SimulateOptions made;
  made.model = MachineModel::flat(flat_);
  if (!modelFile_.empty() && !firstFlat_.empty())
    return Status::error("--model and " + firstFlat_ +
                         ": parameters come from the model or from "
                         "the command line, not from both");
  if (!modelFile_.empty()) {
    Result<std::string> text = readText(modelFile_);
    if (!text)
      return wrap("--model", text.status());
    Result<MachineModel> model = MachineModel::parse(*text);
    if (!model)
      return wrap("'" + modelFile_ + "'", model.status());
    made.model = model.take();
  }
  Result<sim::NoiseOptions> noise = parseNoise(noise_);
  if (!noise)
    return wrap("--noise", noise.status());
  made.noise = noise.take();
  if (!network_.empty()) {
    Result<sim::NetworkOptions> network =
        sim::parseNetwork(network_, made.model.distances[kMaxDistance].G);
    if (!network)
      return wrap("--network", network.status());
    made.network = network.take();
  }
  made.skewNs = skewNs_;
  made.receiveSlots = receiveSlots_;
  made.seed = seed_;
  return made;
}

} // namespace colldsl::tools
