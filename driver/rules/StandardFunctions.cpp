#include "driver/rules/StandardFunctions.h"

#include "compiler/Compile.h"
#include "driver/rules/Rules.h"
#include "ir/Concat.h"
#include "program/Operands.h"
#include "stdlib/StdlibFiles.h"

namespace colldsl::driver {

Result<StandardFunctions> StandardFunctions::make() {
  CompileOptions options;
  options.usedBy = wordsOf(selectionRules());
  Compilation compilation = compileFiles({}, options);
  Result<std::vector<SelectionRule>> rules =
      readRules(kStandardRules, selectionRules(), compilation);
  if (!rules)
    return rules.status();
  StandardFunctions made;
  const Program &program = compilation.program();
  for (const SelectionRule &rule : *rules)
    made.models_.try_emplace(rule.function, program, program.decl(DeclId{rule.collective}));
  return made;
}

Status StandardFunctions::check(const SelectionRule &rule, const Program &program) const {
  auto model = models_.find(rule.function);
  if (model == models_.end())
    return {};
  const Decl &decl = program.decl(DeclId{rule.collective});
  auto refuse = [&](const std::string &why) {
    return Status::error(
        concat("'", program.nameOf(decl), "' serves no ", rule.function, ": ", why));
  };
  if (std::string why = CallInterface(program, decl).whyNotFor(model->second); !why.empty())
    return refuse(why);
  std::vector<bool> isCallers = contractParams(program, decl);
  for (uint32_t argument : rule.arguments)
    if (uint32_t param = program.arguments[argument].param; isCallers[param])
      return refuse(concat("'", program.nameOf(decl.params[param]), "' is the caller's to choose"));
  return {};
}

} // namespace colldsl::driver
