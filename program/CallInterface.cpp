#include "program/CallInterface.h"

#include "ir/Concat.h"
#include "program/ContractText.h"
#include "program/Operands.h"

namespace colldsl {
namespace {

std::string promise(const std::string &ensures) {
  return ensures.empty() ? "nothing" : "'" + ensures + "'";
}

} // namespace

CallInterface::CallInterface(const Program &program, const Decl &collective)
    : name_(program.nameOf(collective)) {
  ContractText texts(program, collective);
  std::vector<bool> isInContract = contractParams(program, collective);
  for (size_t p = 0; p < collective.params.size(); ++p) {
    const Param &param = collective.params[p];
    const std::string &name = program.nameOf(param);
    bool hasDefault = param.defaultValue != kNoExpr;
    if (param.isBuffer)
      buffers_[name] = {param.role, texts.buffer(param)};
    else if (isInContract[p])
      contract_[name] = {param.type, hasDefault ? texts.expr(param.defaultValue) : ""};
    if (!param.isBuffer && !hasDefault)
      needed_.insert(name);
  }
  for (const AliasClause &alias : collective.aliases)
    aliases_[program.nameOf(collective.params[alias.param])] = texts.expr(alias.slice);
  ensures_ = texts.ensures();
  isComparable_ = texts.isComparable();
}

std::string CallInterface::Buffer::text() const {
  return concat("'", spelling(role), " ", type, "'");
}

bool CallInterface::Value::suits(const Value &other) const {
  bool bothDefault = !atDefault.empty() && !other.atDefault.empty();
  return type == other.type && (!bothDefault || atDefault == other.atDefault);
}

std::string CallInterface::whyNotBuffersOf(const CallInterface &other) const {
  for (const auto &[name, wanted] : other.buffers_) {
    auto ours = buffers_.find(name);
    if (ours == buffers_.end())
      return concat("it has no buffer '", name, "', as '", other.name_, "' has");
    if (ours->second != wanted)
      return concat("its buffer '", name, "' is ", ours->second.text(), ", that of '", other.name_,
                    "' ", wanted.text());
  }
  for (const auto &[name, ours] : buffers_)
    if (!other.buffers_.contains(name))
      return concat("'", other.name_, "' has no buffer '", name, "'");
  return {};
}

std::string CallInterface::whyNotParametersOf(const CallInterface &other) const {
  for (const auto &[name, wanted] : other.contract_) {
    auto ours = contract_.find(name);
    if (ours == contract_.end())
      return concat("it has no parameter '", name, "' in its contract, as '", other.name_, "' has");
    if (!ours->second.suits(wanted))
      return concat("its parameter '", name, "' has another type or default than that of '",
                    other.name_, "'");
  }
  for (const auto &[name, ours] : contract_)
    if (!other.contract_.contains(name))
      return concat("'", other.name_, "' has no parameter '", name, "' in its contract");
  for (const std::string &name : needed_)
    if (!other.contract_.contains(name))
      return concat("its parameter '", name, "' has no default, and '", other.name_,
                    "' has none of that name");
  return {};
}

std::string CallInterface::whyNotFor(const CallInterface &other) const {
  if (std::string why = whyNotBuffersOf(other); !why.empty())
    return why;
  if (ensures_ != other.ensures_)
    return concat("it promises ", promise(ensures_), ", '", other.name_, "' ",
                  promise(other.ensures_));
  if (!isComparable_ || !other.isComparable_)
    return concat("its contract calls declarations, so it cannot be compared with that of '",
                  other.name_, "'");
  for (const auto &[name, place] : other.aliases_)
    if (auto ours = aliases_.find(name); ours == aliases_.end() || ours->second != place)
      return concat("'", name, "' cannot lie in '", place, "', as in '", other.name_, "'");
  return whyNotParametersOf(other);
}

} // namespace colldsl
