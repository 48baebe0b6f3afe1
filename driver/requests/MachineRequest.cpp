#include "driver/requests/MachineRequest.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/Session.h"
#include "driver/files/ReadInput.h"
#include "ir/OptionList.h"
#include "topology/KnownModels.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace colldsl::driver {
namespace {

Result<PerByte> parseRate(llvm::StringRef text) {
  double ns = 0;
  if (text.getAsDouble(ns) || !std::isfinite(ns) || ns < 0 ||
      ns > static_cast<double>(PerByte::kMaxNs))
    return Status::error("'" + text.str() + "' is no time per byte, in ns");
  return PerByte::fromNs(ns);
}

template <typename T> Status setTo(T &into, Result<T> given) {
  if (!given)
    return given.status();
  into = *given;
  return {};
}

Status setParameter(LogGop &into, llvm::StringRef name, llvm::StringRef value) {
  if (name == "L")
    return setTo(into.L, parseTimeNs(value));
  if (name == "o")
    return setTo(into.o, parseTimeNs(value));
  if (name == "g")
    return setTo(into.g, parseTimeNs(value));
  if (name == "G")
    return setTo(into.G, parseRate(value));
  if (name == "O")
    return setTo(into.O, parseRate(value));
  if (name == "S")
    return setTo(into.S, parseBytes(value));
  if (name == "notice")
    return setTo(into.notice, parseTimeNs(value));
  return Status::error("'" + name.str() + "' is none of L, o, g, G, O, S, notice");
}

/// "L=1us,o=500"; empty: the usual parameters.
Result<LogGop> parseFlat(llvm::StringRef text) {
  LogGop parameters;
  if (text.empty())
    return parameters;
  for (const OptionEntry &setting : parseOptions(splitList(text, ','))) {
    if (setting.isRepeated)
      return wrap(setting.name,
                  Status::error("given twice, again as '" + std::string(setting.value) + "'"));
    if (Status s = setParameter(parameters, setting.name, setting.value); !s)
      return wrap(setting.name, s);
  }
  return parameters;
}

/// True for a flat model such as "L=1us": letters before '='. Names of files hardly look like this.
bool isFlat(llvm::StringRef text) {
  auto [name, rest] = text.split('=');
  return name.size() < text.size() && llvm::all_of(name, llvm::isAlpha);
}

Completion modelCompletion() {
  Completion completion = completionOfFiles({".json"});
  completion.words = {"profile", "L=", "o=", "g=", "G=", "O=", "S=", "notice="};
  for (std::string_view name : knownModelNames())
    completion.words.emplace_back(name);
  return completion;
}

/// The error for a word that is neither a file nor the name of a model.
Status noModel(llvm::StringRef word, const Status &unread) {
  std::vector<llvm::StringRef> names{"profile"};
  names.insert(names.end(), knownModelNames().begin(), knownModelNames().end());
  if (word.contains('/') || word.contains('.'))
    return unread;
  std::string hint = didYouMean(nearestWord(word, names));
  return Status::error("there is no file and no machine model '" + word.str() + "'; " +
                       (hint.empty() ? "there are " + llvm::join(names, ", ") : hint));
}

} // namespace

void MachineRequest::addTo(Fields &fields, sim::NetworkSizes sizes) {
  fields.section("on which machine");
  fields.addText("--model", "M",
                 "what time costs, to passes that choose and to the simulator: a\n"
                 "machine model or profile, JSON; cluster, ethernet, flat, fugaku,\n"
                 "leonardo, lumi, mare_nostrum or nvlink: a model that comes with colldsl;\n"
                 "profile: what colldsl tune measured on this machine; or flat\n"
                 "parameters,\n"
                 "L=NS,o=NS,g=NS,G=NS,O=NS,S=N,notice=NS or some of them (default:\n"
                 "L=2500,o=1500,g=1000,G=6,O=0,S=65535,notice=0)",
                 model_) = modelCompletion();
  fields.addText("--network", "N",
                 "links between nodes: torus:8x8x8, fattree:16x16 or\n"
                 "dragonfly:4x8x16 (nodes per switch, switches per group, groups),\n"
                 "and behind it hop=NS (per link; default: 100), G=NS (per byte on\n"
                 "a link; default: the model's); for trees and dragonflies taper=N\n"
                 "(thinner upwards; slower between groups) and adaptive (by the\n"
                 "links that are free first); for dragonflies global=N (links\n"
                 "between two groups; default: 1): torus:8x8,hop=50,G=0.1\n"
                 "(default: messages do not meet on their way)",
                 network_) = completionOf({"torus:", "fattree:", "dragonfly:"});
  fields.addNumber("--receive-slots", "N",
                   "messages on their way to one rank at most; the next sender's\n"
                   "interface stalls (default: any number)",
                   cost_.receiveSlots, 1);
  fields.addCheck([this, sizes](Sink &sink) { return load(sink, sizes); });
}

void MachineRequest::addLogGopTo(Fields &fields) {
  fields.section("on which machine");
  auto add = [&](llvm::StringRef name, llvm::StringRef value, llvm::StringRef help) {
    auto set = [this, name](llvm::StringRef text) {
      flat_ += (flat_.empty() ? "" : ",") + (name.drop_front() + "=" + text).str();
      LogGop tried;
      return setParameter(tried, name.drop_front(), text);
    };
    auto values = [this, name] {
      std::vector<std::string> texts;
      for (const OptionEntry &entry : parseOptions(flat_, ','))
        if (name.drop_front() == llvm::StringRef(entry.name))
          texts.emplace_back(entry.value);
      return texts;
    };
    fields.add(name, value, help.str(), set, values);
  };
  add("-L", "NS", "latency (default: 2500)");
  add("-o", "NS", "processor time per message (default: 1500)");
  add("-g", "NS", "gap between messages (default: 1000)");
  add("-G", "NS", "time per byte (default: 6)");
  add("-O", "NS", "processor time per byte (default: 0)");
  add("-S", "N", "longer messages wait for their receive (default: 65535)");
}

Result<MachineModel> MachineRequest::readModel(Sink &sink) const {
  if (!model_.empty() && !flat_.empty())
    return Status::error("--model and -" + flat_.substr(0, flat_.find('=')) +
                         ": parameters come from the model or from "
                         "the command line, not from both");
  if (model_ == "profile")
    return modelOfProfile("", sink);
  if (const MachineModel *known = findKnownModel(model_))
    return *known;
  if (model_.empty() || isFlat(model_)) {
    Result<LogGop> parameters = parseFlat(model_.empty() ? flat_ : model_);
    if (!parameters)
      return wrap("--model", parameters.status());
    return MachineModel::flat(*parameters);
  }
  Result<std::string> text = readText(model_);
  if (!text)
    return wrap("--model", noModel(model_, text.status()));
  if (looksLikeProfile(*text))
    return modelOfProfile(model_, sink);
  Result<MachineModel> model = MachineModel::parse(*text);
  if (!model)
    return wrap("'" + model_ + "'", model.status());
  return model;
}

Status MachineRequest::load(Sink &sink, sim::NetworkSizes sizes) {
  Result<MachineModel> model = readModel(sink);
  if (!model)
    return model.status();
  cost_.machine = model.take();
  if (network_.empty())
    return {};
  Result<sim::NetworkOptions> network =
      sim::parseNetwork(network_, cost_.machine.distances[kOtherNode].G, sizes);
  if (!network)
    return wrap("--network", network.status());
  cost_.network = network.take();
  return {};
}

} // namespace colldsl::driver
