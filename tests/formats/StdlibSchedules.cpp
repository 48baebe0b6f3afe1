#include "tests/formats/StdlibSchedules.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"

#include <cstdlib>

namespace colldsl {

Result<Schedule> stdlibSchedule(const std::string &name, StdlibCall call) {
  static const Compilation stdlib = compileFiles({});
  InstantiateRequest request;
  request.collective = stdlib.program().find(name, DeclKind::Collective);
  if (request.collective == kNoDecl)
    std::abort();
  request.ranks = call.ranks;
  request.elements = call.elements;
  request.inPlace = call.inPlace;
  request.contract = true;
  return instantiateAll(stdlib.program(), request);
}

} // namespace colldsl
