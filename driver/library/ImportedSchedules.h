/// Schedules from files, such as algorithms of MSCCL, as collectives of a library: images alone,
/// with a declaration that is called like those of the standard library.
#pragma once

#include "driver/Watch.h"
#include "driver/source/Source.h"
#include "formats/ServedFunction.h"
#include "verifier/Verifier.h"

namespace colldsl::driver {

/// The declaration of a collective for a function of programs, behind `collective NAME`. Parameters
/// and postconditions are those of the collectives that the standard library's rules name.
struct CallForm {
  msccl::Collective collective;
  llvm::StringLiteral function;
  llvm::StringLiteral parameters;
  llvm::StringLiteral clauses;
};
llvm::ArrayRef<CallForm> callForms();

/// The declaration in source text. Its `where` excludes all calls, so that its body makes no
/// schedule.
std::string declarationOf(const CallForm &form, llvm::StringRef name);

/// A schedule to import into a library.
struct ImportedSchedule {
  Source::Target target; ///< the schedule
  std::string name;      ///< of the declaration
  ServedFunction served;
  const CallForm *form = nullptr;
};

/// All of the targets are schedules. Their new names are unique, also among functions and the
/// program's declarations. An error: one serves no function.
Result<std::vector<ImportedSchedule>> describeImports(llvm::ArrayRef<Source::Target> targets,
                                                      const Program &program);

std::string declarationsOf(llvm::ArrayRef<ImportedSchedule> imports);

struct ImportSettings {
  std::optional<ElementType> type; ///< nothing: all types
  bool proves = true;
  proof::VerifyOptions verify;
};

/// Adds the import and its images, by type. An image that is not proved is reported with its
/// counterexample; false then.
bool addImages(const Source &source, const ImportedSchedule &import, const ImportSettings &settings,
               LibraryContent &content, const Watch &watch);

/// The import's declaration in a program that has declarationsOf() it.
DeclId idOf(const ImportedSchedule &import, const Program &program);

/// The rule by which the import serves its function on its number of ranks.
SelectionRule ruleFor(const ImportedSchedule &import, const Program &program);

} // namespace colldsl::driver
