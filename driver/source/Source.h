/// The inputs of a request: collectives of programs, and schedules from files.
#pragma once

#include "compiler/Compile.h"
#include "compiler/SymbolIndex.h"
#include "driver/Session.h"
#include "driver/files/FileKind.h"
#include "driver/requests/ScheduleRequest.h"
#include "formats/Msccl.h"
#include "ir/Schedule.h"
#include "program/library/Library.h"
#include "select/Chooser.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <set>

namespace colldsl::driver {

/// Everything that a request reads, files and streams (ReadInput.h). The content of a file tells
/// its kind: source text (`.coll`), the text form or GOAL, an image, GOAL in binary, an algorithm
/// of MSCCL, a schedule library. A library has its own program, so that nothing is compiled.
/// Neither source text nor another library may accompany it.
class Source {
public:
  /// One thing to prove, run or print: a collective, or a whole schedule.
  struct Target {
    std::string name;
    DeclId collective = kNoDecl;        ///< of the program
    const Schedule *schedule = nullptr; ///< or this one
    bool isFunction = false;            ///< or a function of that name, with rules
    /// The arguments of a rule, by the number of the parameter. Given values take precedence.
    std::vector<std::pair<uint32_t, ExprId>> arguments = {};
  };

  /// `session` outlives this object.
  explicit Source(Session &session) : session_(&session) {}

  /// Reads the operands. Each is a file or, if there is no such file, the name of a collective in
  /// scope. With a kind in `form`, each is a file of that kind, whatever its content is. Null after
  /// a mistake, which is reported.
  static std::unique_ptr<Source> read(Session &session, const std::vector<std::string> &operands,
                                      const ScheduleRequest &request, const InputForm &form = {});

  /// Variant of read() for source text that is in memory; messages call it `name`.
  static std::unique_ptr<Source> ofText(Session &session, const std::string &name,
                                        llvm::StringRef text, const ScheduleRequest &request);
  /// A Source with the source texts of this one and one more, and rules for the same functions. Its
  /// declarations have other numbers. Null after a mistake, which is reported.
  std::unique_ptr<Source> withText(const std::string &name, llvm::StringRef text,
                                   ScheduleRequest request) const;
  /// A Source of a program that was compiled without mistakes, with its main file.
  static std::unique_ptr<Source> of(Session &session, Compilation compilation,
                                    std::string mainFile);
  /// A Source of a schedule, which has ranks.
  static std::unique_ptr<Source> of(Session &session, Schedule schedule);

  /// The targets of all operands: a name chooses in the files that have it, else in the standard
  /// library; other files contribute all that they have. --name then selects among these. Empty
  /// after a mistake, which is reported.
  std::vector<Target> choose(const ScheduleRequest &request);

  /// True if each file has one of the targets, has no collective, or declares a name in a --set;
  /// else reports the first that does not.
  bool usesAllFiles(llvm::ArrayRef<Target> targets, const ScheduleRequest &request) const;

  /// All collectives of the standard library.
  std::vector<Target> stdlib() const;

  Target collective(DeclId id) const;
  /// The collective of a rule, with its arguments.
  Target ruled(const SelectionRule &rule) const;

  Session &session() const { return *session_; }
  /// Messages go to that session from now on.
  void moveTo(Session &session) { session_ = &session; }

  /// The operands that are no files, in their order.
  const std::vector<std::string> &names() const { return names_; }
  /// The first file of source text, or the schedule library; empty: there is none.
  const std::string &mainFile() const { return mainFile_; }
  /// Numbers of the files of source text, or of the library's, in Program::files.
  std::set<uint16_t> mainFiles() const;
  /// True if one of the files is of that kind.
  bool hasRead(FileKind kind) const { return kinds_.contains(kind); }
  /// True if source text was compiled, at least the standard library's.
  bool isCompiled() const { return compilation_.has_value() && !library_; }
  /// True if there are declarations, and no schedules from files.
  bool isProgram() const { return compilation_.has_value() && files_.empty(); }

  /// The rules for the chosen functions, of the library or of the standard library.
  const std::vector<SelectionRule> &rules() const { return rules_; }
  /// Adds those for the function. False: there are none.
  bool addRulesFor(const std::string &function);
  /// Replaces rules().
  void setRules(std::vector<SelectionRule> rules) { rules_ = std::move(rules); }
  /// Asks rules(), and before them the decisions of the user's machine profile if these count: they
  /// are for the standard library. A view of this.
  Chooser chooser(bool usesProfile);

  /// The program's compilation. There must be a collective among the targets.
  Compilation &compilation() { return *compilation_; }
  /// The program; empty if only schedules were read.
  const Program &program() const;

  /// The library that the program is from; null: it was compiled.
  Library *library() const { return library_.get(); }

  /// Bytes of one element of the size symbol n.
  uint64_t elementBytes(const Target &target, ElementType typeVariable) const;

  const Compilation &compilation() const { return *compilation_; }

  /// The text of the diagnostics, with lines of the source if they can be read. One thread at a
  /// time.
  std::string render(llvm::ArrayRef<Diagnostic> diagnostics, const Target &target) const;

  /// Reports the text of render(). Returns false.
  bool report(llvm::ArrayRef<Diagnostic> diagnostics, const Target &target) const;

  /// The other collective that an algorithm of MSCCL does, as hintOfOther() says it; empty: there
  /// is none, or the target is no such algorithm. Takes proofs.
  std::string otherCollective(const Target &target) const;

  /// The line of the source that a target's op names, trimmed; "" if the text is not available.
  std::string lineAt(const SourceLoc &loc, const Target &target) const;

private:
  struct File {
    std::string name;
    Schedule schedule;
    std::shared_ptr<const msccl::Algorithm> algorithm = nullptr; ///< it was read as
  };

  bool readFiles(const std::vector<std::string> &operands, const ScheduleRequest &request,
                 const InputForm &form);
  bool readFile(const std::string &name, const ScheduleRequest &request, const InputForm &form);
  bool readText(const std::string &name, llvm::StringRef text, const TextLimits &limits);
  bool readImage(const std::string &name, llvm::StringRef bytes);
  bool readGoalBinary(const std::string &name, llvm::StringRef bytes, const TextLimits &limits);
  bool readMscclXml(const std::string &name, llvm::StringRef xml, const ScheduleRequest &request,
                    const InputForm &form);
  bool readChakra(const std::string &operand, const TextLimits &limits);
  bool readPlan(const std::string &name, llvm::StringRef json, const InputForm &form);
  /// False, after a message: the schedule has no ranks.
  bool add(const std::string &name, Schedule schedule);
  bool keep(const std::string &name, Result<Schedule> schedule);
  bool readLibrary(const std::string &name, llvm::StringRef bytes);
  std::string renderInInputs(const Diagnostic &d, const std::vector<std::string> &files) const;
  bool needsCompiler(const ScheduleRequest &request) const;
  bool compile(const ScheduleRequest &request);
  void warnOfUnusedNames(const SymbolIndex &symbols) const;
  const File *findFile(const std::string &name) const;
  bool chooseNamed(const std::string &name, std::vector<Target> &targets);
  Result<std::vector<SelectionRule>> standardRules(const std::string &function);
  std::vector<SelectionRule> readDecisions();
  bool refuseName(const std::string &name) const;
  std::vector<Target> all() const;
  static Target whole(const File &file);
  const std::string &nameOfFile(const Target &target) const;
  std::vector<Target> allOf(const std::string &file) const;
  bool hasAnyOf(const std::string &file, llvm::ArrayRef<Target> targets) const;
  bool isNamedBySettings(const std::string &file, const ScheduleRequest &request) const;

  /// Reports a mistake. Returns false.
  bool fail(const llvm::Twine &message) const { return session_->sink().error(message); }
  bool fail(const Status &status) const { return session_->sink().error(status.diagnostic()); }

  Session *session_;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> sourceFiles_;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> inputs_; ///< the other files, by shownName()
  std::string mainFile_;
  std::vector<std::string> names_; ///< among the operands
  std::set<FileKind> kinds_;
  std::vector<std::string> read_; ///< the others: files and streams, as messages show them
  std::vector<std::unique_ptr<File>> files_;
  std::unique_ptr<Library> library_; ///< a view of one of inputs_
  std::optional<Compilation> compilation_;
  const Program none_; ///< program() without a compilation
  std::vector<SelectionRule> rules_;
  std::optional<std::vector<SelectionRule>> decisions_; ///< empty: nobody asked for them
};

} // namespace colldsl::driver
