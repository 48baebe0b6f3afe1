#include "wireup/NetworkSettings.h"

#include "ir/Concat.h"
#include "ir/OptionList.h"
#include "wireup/Interfaces.h"

#include <algorithm>

namespace colldsl {

NetworkSettings::NetworkSettings(std::string_view network, std::string_view given, From from)
    : network_(network), given_(given), prefix_("COLLDSL_"), from_(from) {
  for (char letter : concat(network, "_"))
    prefix_ += 'a' <= letter && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

std::optional<NetworkSettings::Value> NetworkSettings::find(std::string_view variable) {
  std::string option;
  for (char letter : variable.substr(prefix_.size()))
    option += letter == '_' ? '-' : static_cast<char>(letter - 'A' + 'a');
  if (std::find(known_.begin(), known_.end(), option) == known_.end())
    known_.push_back(option);
  for (const OptionEntry &entry : parseOptions(given_, ','))
    if (entry.name == option)
      return Value{std::string(entry.value),
                   concat("the option '", option, "' of the network ", network_)};
  std::string name(variable);
  const char *value = from_ == From::TextAndEnvironment ? setting(name.c_str()) : nullptr;
  return value ? std::optional(Value{value, name}) : std::nullopt;
}

void NetworkSettings::read(std::string_view variable, std::string &text) {
  if (std::optional<Value> value = find(variable))
    text = value->text;
}

Status NetworkSettings::readFlag(std::string_view variable, bool &flag) {
  std::optional<Value> value = find(variable);
  if (!value)
    return {};
  if (value->text != "0" && value->text != "1")
    return Status::error(concat(value->place, " is '", value->text, "', which is neither 0 nor 1"));
  flag = value->text == "1";
  return {};
}

Status NetworkSettings::readBind(std::string_view variable, std::string &bind) {
  std::optional<Value> value = find(variable);
  if (!value)
    return {};
  if (Status s = checkBind(value->text); !s)
    return Status::error(concat(value->place, " is '", value->text, "', which is ", s.message()));
  bind = value->text;
  return {};
}

Status NetworkSettings::checkGiven() const {
  std::string names;
  for (const std::string &known : known_)
    names += concat(names.empty() ? "" : ", ", known);
  for (const OptionEntry &entry : parseOptions(given_, ',')) {
    if (std::find(known_.begin(), known_.end(), entry.name) == known_.end())
      return Status::error(
          concat("the network ", network_, " has no option '", entry.name, "'; it has ", names));
    if (entry.value.empty())
      return Status::error(
          concat("the option '", entry.name, "' of the network ", network_, " has no value"));
    if (entry.isRepeated)
      return Status::error(
          concat("the option '", entry.name, "' of the network ", network_, " is given twice"));
  }
  return {};
}

} // namespace colldsl
