#include "runtime/CallInterface.h"

#include "program/Operands.h"

#include <algorithm>

namespace colldsl {

CallInterface::CallInterface(const Program &program, const Decl &collective) {
  std::vector<bool> isInContract = contractParams(program, collective);
  for (size_t p = 0; p < collective.params.size(); ++p) {
    const Param &param = collective.params[p];
    const std::string &name = program.nameOf(param);
    if (param.isBuffer) {
      Shape &shape = buffers_[name];
      shape.role = param.role;
      for (uint32_t d = 0; d < param.buffer.dims; ++d)
        shape.dims.push_back(param.buffer.dim[d].kind);
    } else if (isInContract[p]) {
      contract_[name] = param.type;
    }
    if (!param.isBuffer && param.defaultValue == kNoExpr)
      needed_.insert(name);
  }
  for (const AliasClause &alias : collective.aliases)
    aliases_.insert(program.nameOf(collective.params[alias.param]));
}

bool CallInterface::takesWhatSuits(const CallInterface &other) const {
  return buffers_ == other.buffers_ && contract_ == other.contract_ &&
         std::includes(aliases_.begin(), aliases_.end(), other.aliases_.begin(),
                       other.aliases_.end()) &&
         std::all_of(needed_.begin(), needed_.end(),
                     [&](const std::string &name) { return other.contract_.contains(name); });
}

} // namespace colldsl
