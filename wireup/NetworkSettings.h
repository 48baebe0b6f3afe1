/// The settings of a network: options that a text gives, such as "provider=tcp,bind=10.0.0.0/24",
/// and for all others variables of the environment. The option of COLLDSL_OFI_PROVIDER is provider,
/// that of COLLDSL_VERBS_IN_ORDER in-order.
#pragma once

#include "wireup/Environment.h"

#include <string>
#include <vector>

namespace colldsl {

class NetworkSettings {
public:
  enum class From : bool { TextAlone, TextAndEnvironment };
  /// Settings of the network "ofi", say, whose variables begin with COLLDSL_OFI_.
  NetworkSettings(std::string_view network, std::string_view given, From from);

  // Each reads what is named by a variable, and may be given as its option. If neither is set, the
  // value stays. Errors name the place of the setting.

  void read(std::string_view variable, std::string &text);
  /// `what`: a number that Given does not hold is no `what`.
  template <typename Given, typename T>
  Status readNumber(std::string_view variable, T &number, const char *what) {
    std::optional<Value> value = find(variable);
    return value ? parseNumber<Given>(value->place, value->text, number, what) : Status();
  }
  /// The setting is 0 or 1.
  Status readFlag(std::string_view variable, bool &flag);
  /// An address or a network that one interface of a machine may have.
  Status readBind(std::string_view variable, std::string &bind);

  bool has(std::string_view variable) { return find(variable).has_value(); }

  /// The variable of the option bind, which each network has.
  std::string bindVariable() const { return prefix_ + "BIND"; }

  /// Checks the text, after all options of the network were read: an error names an option that was
  /// not among them, has no value or is given twice.
  Status checkGiven() const;

private:
  struct Value {
    std::string text, place;
  };
  std::optional<Value> find(std::string_view variable);

  std::string network_, given_, prefix_;
  From from_;
  std::vector<std::string> known_; ///< options that were read
};

} // namespace colldsl
