#include "driver/library/ImportedSchedules.h"

#include "driver/Lists.h"
#include "driver/Workers.h"
#include "driver/library/ProvedImage.h"
#include "driver/proofs/Counterexample.h"
#include "driver/proofs/Proofs.h"
#include "driver/rules/Rules.h"
#include "ir/Image.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace colldsl::driver {
namespace {

using msccl::Collective;

constexpr CallForm kForms[] = {
    {Collective::Allreduce, "allreduce", "in x: T[n], out y: T[n], op: reduction = sum",
     "x aliases y\n  ensures y == reduce(op, for r in 0..ranks: x@r)"},
    {Collective::Allgather, "allgather", "in x: T[n], out y: T[ranks][n]",
     "x aliases y[rank]\n  ensures for r in 0..ranks: y[r] == x@r"},
    {Collective::ReduceScatter, "reduce_scatter_block",
     "in x: T[ranks][n], out y: T[n], op: reduction = sum",
     "ensures y == reduce(op, for r in 0..ranks: x[rank]@r)"},
    {Collective::Alltoall, "alltoall", "in x: T[ranks][n], out y: T[ranks][n]",
     "ensures for r in 0..ranks: y[r] == x[rank]@r"},
};

std::string nameFor(llvm::StringRef wanted, llvm::ArrayRef<ImportedSchedule> others,
                    const Program &program) {
  std::string name;
  for (char c : wanted)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || !llvm::isAlpha(name[0]))
    name = "imported_" + name;
  auto isElsewhere = [&](const std::string &tried) {
    return llvm::is_contained(functionNames(), tried) ||
           llvm::any_of(program.decls, [&](const Decl &d) { return program.nameOf(d) == tried; });
  };
  auto isOther = [&](const std::string &tried) {
    return llvm::any_of(others, [&](const ImportedSchedule &o) { return o.name == tried; });
  };
  if (isElsewhere(name))
    name += "_imported";
  std::string tried = name;
  for (unsigned i = 2; isElsewhere(tried) || isOther(tried); ++i)
    tried = name + "_" + std::to_string(i);
  return tried;
}

/// The schedule for elements of another type, with the names that calls have for the buffers.
Schedule madeFor(const ImportedSchedule &import, ElementType type) {
  Schedule schedule = *import.target.schedule;
  schedule.name = import.name;
  auto x = static_cast<uint32_t>(schedule.names.size());
  schedule.names.insert(schedule.names.end(), {"x", "y"});
  for (Dag &dag : schedule.ranks) {
    for (Buffer &buffer : dag.buffers)
      buffer.type = type;
    for (Op &op : dag.ops)
      op.type = op.kind == OpKind::Combine ? type : op.type;
    dag.buffers[0].name = x;
    dag.buffers[1].name = x + 1;
  }
  return schedule;
}

struct Made {
  LibraryImage image;
  std::vector<std::byte> bytes;
  std::vector<Diagnostic> why; ///< the failed proof; empty: none failed
};

Made make(const ImportedSchedule &import, ElementType type, const ImportSettings &settings) {
  Made made;
  Schedule schedule = madeFor(import, type);
  LibraryImage &image = made.image;
  if (settings.proves) {
    proof::VerifyReport report =
        proof::verify(schedule, {{schedule.sizeClass.elements, {}, 0}}, settings.verify);
    made.why = report.proved() ? std::vector<Diagnostic>() : counterexample(report);
    image.proof = made.why.empty() ? narrowToProved(schedule, settings.verify) : ImageProof::None;
  }
  image.collective = import.name;
  image.ranks = schedule.numRanks();
  image.elements = schedule.sizeClass.elements;
  image.minElements = schedule.sizeClass.min;
  image.maxElements = schedule.sizeClass.max;
  image.type = type;
  image.inPlace = import.served.inPlace;
  image.topology = "flat";
  made.bytes = encodeImage(schedule);
  return made;
}

} // namespace

llvm::ArrayRef<CallForm> callForms() { return kForms; }

std::string declarationOf(const CallForm &form, llvm::StringRef name) {
  return llvm::formatv("collective {0}({1})\n"
                       "  where false // it was imported: its images alone serve calls\n"
                       "  {2}\n{{\n}\n",
                       name, form.parameters, form.clauses);
}

Result<std::vector<ImportedSchedule>> describeImports(llvm::ArrayRef<Source::Target> targets,
                                                      const Program &program) {
  std::vector<ImportedSchedule> imports;
  for (const Source::Target &target : targets) {
    Result<ServedFunction> served = servedFunction(*target.schedule);
    if (!served)
      return Status::error("'" + target.name + "' serves no function: " + served.message());
    const auto *form = llvm::find_if(
        kForms, [&](const CallForm &f) { return f.collective == served->collective; });
    imports.push_back({target, nameFor(target.name, imports, program), *served, form});
  }
  return imports;
}

std::string declarationsOf(llvm::ArrayRef<ImportedSchedule> imports) {
  std::string text;
  for (const ImportedSchedule &import : imports)
    text += declarationOf(*import.form, import.name);
  return text;
}

bool addImages(const Source &source, const ImportedSchedule &import, const ImportSettings &settings,
               LibraryContent &content, const Watch &watch) {
  size_t count = settings.type ? 1 : kElementTypes;
  std::vector<Made> all(count);
  Steps steps(watch, import.name, count);
  forEachInParallel(count, [&](size_t i) {
    all[i] = make(import, settings.type.value_or(static_cast<ElementType>(i)), settings);
    steps.step();
  });
  for (Made &made : all) {
    if (!made.why.empty()) {
      source.session().sink().take(Severity::Error,
                                   import.target.name + ", " + counted(made.image.ranks, "rank") +
                                       ", " + std::string(spelling(made.image.type)) + ":\n" +
                                       source.render(made.why, import.target));
      return false;
    }
    content.images.push_back(std::move(made.image));
    content.imageBytes.push_back(std::move(made.bytes));
  }
  content.imported.push_back({import.name, import.served.unit});
  return true;
}

DeclId idOf(const ImportedSchedule &import, const Program &program) {
  return program.find(import.name, DeclKind::Collective);
}

SelectionRule ruleFor(const ImportedSchedule &import, const Program &program) {
  SelectionRule rule;
  rule.function = import.form->function.str();
  rule.minRanks = rule.maxRanks = import.target.schedule->numRanks();
  rule.collective = index(idOf(import, program));
  return rule;
}

} // namespace colldsl::driver
