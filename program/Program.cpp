#include "program/Program.h"

namespace colldsl {

DeclId Program::find(std::string_view name, DeclKind kind) const {
  for (size_t i = decls.size(); i-- > 0;)
    if (decls[i].kind == kind && nameOf(decls[i]) == name)
      return DeclId{static_cast<uint32_t>(i)};
  return kNoDecl;
}

} // namespace colldsl
