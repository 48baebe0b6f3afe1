#include "compiler/Spelling.h"
#include "driver/library/StandardProofs.h"
#include "driver/rules/Rules.h"
#include "driver/source/DeclText.h"
#include "driver/source/Source.h"
#include "stdlib/StdlibFiles.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

/// The declarations of a kind, a function or a file, under its title.
struct Section {
  std::string title;
  std::vector<DeclId> decls;
};

class List {
public:
  List(const Source &source, const std::vector<TextProof> &stamps)
      : source_(source), program_(source.program()), stamps_(stamps) {}

  /// Adds the standard library: collectives by the function that they compute, then their helpers.
  void addLibrary() {
    for (llvm::StringRef function : functionNames())
      sections_.push_back({function.str(), {}});
    numFunctions_ = sections_.size();
    Section others{"other collectives", {}}, trees{"trees", {}}, graphs{"graphs", {}},
        functions{"functions of expressions", {}};
    for (uint32_t i = 0; i < program_.decls.size(); ++i) {
      const Decl &decl = program_.decls[i];
      switch (decl.kind) {
      case DeclKind::Collective: {
        Section *section = functionOf(program_.nameOf(decl));
        (section ? *section : others).decls.push_back(DeclId{i});
        break;
      }
      case DeclKind::Tree:
        trees.decls.push_back(DeclId{i});
        break;
      case DeclKind::Graph:
        graphs.decls.push_back(DeclId{i});
        break;
      case DeclKind::Function:
        if (!program_.strings[decl.doc].empty()) // else a part of the one above
          functions.decls.push_back(DeclId{i});
        break;
      }
    }
    for (Section *section : {&others, &trees, &graphs, &functions})
      sections_.push_back(std::move(*section));
  }

  void addFile(std::string title, const std::vector<DeclId> &decls) {
    sections_.push_back({std::move(title), decls});
  }

  void print() const {
    size_t width = 0;
    for (const Section &section : sections_)
      for (DeclId id : section.decls)
        width = std::max(width, program_.nameOf(program_.decl(id)).size());
    bool isFirst = true;
    for (const Section &section : sections_)
      if (!section.decls.empty()) {
        resultStream() << (isFirst ? "" : "\n");
        isFirst = false;
        printSection(section, width);
      }
  }

  /// Prints a declaration, or a function with its collectives and rules. False, after a message:
  /// there is none.
  bool printNamed(llvm::StringRef name) const {
    bool found = false;
    for (const Section &section : sections_)
      for (DeclId id : section.decls)
        if (program_.nameOf(program_.decl(id)) == name) {
          printDecl(id);
          found = true;
        }
    for (const Section &section : llvm::ArrayRef(sections_).take_front(numFunctions_))
      if (!found && section.title == name) {
        printFunction(section);
        found = true;
      }
    return found || refuse(name);
  }

  llvm::json::Array toJson() const {
    llvm::json::Array all;
    for (const Section &section : sections_)
      for (DeclId id : section.decls) {
        const Decl &decl = program_.decl(id);
        all.push_back(llvm::json::Object{{"name", jsonText(program_.nameOf(decl))},
                                         {"kind", kindWord(decl.kind)},
                                         {"section", jsonText(section.title)},
                                         {"place", jsonText(placeOf(program_, decl))},
                                         {"doc", jsonText(program_.strings[decl.doc])},
                                         {"provedFor", jsonText(domainOf(id))},
                                         {"declaration", jsonText(head(decl))}});
      }
    return all;
  }

private:
  /// The section of the longest function name that is a prefix of the collective's name: bcast_tree
  /// computes bcast.
  Section *functionOf(llvm::StringRef collective) {
    Section *best = nullptr;
    for (Section &section : llvm::MutableArrayRef(sections_).take_front(numFunctions_))
      if ((collective == section.title || collective.starts_with(section.title + "_")) &&
          (!best || best->title.size() < section.title.size()))
        best = &section;
    return best;
  }

  void printSection(const Section &section, size_t width) const {
    resultStream() << section.title << ":\n";
    for (DeclId id : section.decls) {
      const Decl &decl = program_.decl(id);
      llvm::StringRef name = program_.nameOf(decl);
      std::string summary = summaryOf(program_.strings[decl.doc]) + bracketOf(id);
      if (summary.empty())
        resultStream() << "  " << name << "\n";
      else
        resultStream() << "  " << llvm::left_justify(name, static_cast<unsigned>(width)) << "  "
                       << summary << "\n";
    }
  }

  void printFunction(const Section &section) const {
    size_t width = 0;
    for (DeclId id : section.decls)
      width = std::max(width, program_.nameOf(program_.decl(id)).size());
    printSection(section, width);
    resultStream() << "\nrules, of which the first that fits is taken:\n";
    llvm::SmallVector<llvm::StringRef> lines;
    std::string rules = linesOfFunction(selectionRules(), section.title);
    llvm::StringRef(rules).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines)
      resultStream() << "  " << line.trim() << "\n";
  }

  void printDecl(DeclId id) const {
    const Decl &decl = program_.decl(id);
    resultStream() << program_.nameOf(decl) << ": " << kindWord(decl.kind) << ", "
                   << placeOf(program_, decl) << "\n\n";
    if (const std::string &doc = program_.strings[decl.doc]; !doc.empty())
      resultStream() << doc << "\n\n";
    resultStream() << head(decl) << "\n";
    if (const TextProof *stamp = stampOf(id)) {
      resultStream() << "\nproved for " << domainInWords(*stamp) << "\n";
      if (stamp->allRanks && !stamp->structures.empty())
        resultStream() << "that each of these is a tree or a graph is checked when it is made: "
                       << llvm::join(stamp->structures, ", ") << "\n";
    }
  }

  const TextProof *stampOf(DeclId id) const {
    auto stamp =
        llvm::find_if(stamps_, [&](const TextProof &s) { return s.collective == index(id); });
    return stamp == stamps_.end() ? nullptr : &*stamp;
  }

  std::string domainOf(DeclId id) const {
    const TextProof *stamp = stampOf(id);
    return stamp ? domainInWords(*stamp) : "";
  }

  /// " [all P]", " [1 to 64 ranks]"; empty: the text is not proved, as far as the list knows.
  std::string bracketOf(DeclId id) const {
    const TextProof *stamp = stampOf(id);
    if (!stamp || domainInWords(*stamp).empty())
      return "";
    return stamp->allRanks ? " [all P]" : " [1 to " + std::to_string(stamp->mostRanks) + " ranks]";
  }

  std::string head(const Decl &decl) const {
    return headOf(source_.compilation().sourceText(decl.loc.file), decl);
  }

  bool refuse(llvm::StringRef name) const {
    std::vector<llvm::StringRef> known;
    for (const Section &section : sections_)
      for (DeclId id : section.decls)
        known.push_back(program_.nameOf(program_.decl(id)));
    for (const Section &section : llvm::ArrayRef(sections_).take_front(numFunctions_))
      known.push_back(section.title);
    std::string hint = didYouMean(nearestWord(name, known));
    return printError("there is nothing called '" + name + "'; " +
                      (hint.empty() ? "`colldsl list` lists what there is" : hint));
  }

  const Source &source_;
  const Program &program_;
  const std::vector<TextProof> &stamps_;
  std::vector<Section> sections_; // the functions first
  size_t numFunctions_ = 0;
};

/// The stamps of a library, or those of the standard library's texts.
Result<std::vector<TextProof>> stampsOf(const Source &source) {
  if (!source.library())
    return standardProofs(source.program());
  Result<const std::vector<TextProof> *> stored = source.library()->textProofs();
  if (!stored)
    return stored.status();
  return **stored;
}

/// Prints the operands; without operands, everything.
bool list(const Source &source, bool json) {
  Result<std::vector<TextProof>> stamps = stampsOf(source);
  if (!stamps)
    return printError(stamps.message());
  List all(source, *stamps);
  if (source.mainFile().empty())
    all.addLibrary();
  else
    all.addFile(source.mainFile(), source.compilation().mainDecls());
  if (json)
    printJson(llvm::json::Object{{"declarations", all.toJson()}});
  else if (source.names().empty())
    all.print();
  bool fine = true;
  for (const std::string &name : source.names()) {
    if (&name != source.names().data())
      resultStream() << "\n";
    fine &= all.printNamed(name);
  }
  return fine;
}

} // namespace

Exit listCommand(Arguments arguments) {
  bool json = false;
  Options options(
      "list", "[FILE] [NAME]... [OPTION...]",
      "Lists the standard library: the collectives by the function that they compute,\n"
      "then trees, graphs and functions. A NAME of one of them: its documentation,\n"
      "parameters and contract; that of a function such as bcast: its collectives, and\n"
      "the rules that choose among them. A FILE of source text, or a schedule library:\n"
      "what it declares. In brackets: for which numbers of ranks a collective's text is\n"
      "proved, by the stamps of the standard library, or of the library that is named.");
  options.completeOperands(completionOfSchedules(Completion::Names::Declarations));
  options.addFlag("--json", "print one JSON object, of all", json);
  ScheduleRequest schedule;
  schedule.addInclude(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  std::unique_ptr<Source> source = Source::read(session(), options.operands(), schedule);
  if (!source)
    return Exit::Failure;
  if (json && !source->names().empty())
    return options.refuse("--json is for all declarations: name none");
  if (!source->isProgram()) {
    printError("a schedule declares nothing; `colldsl opt` writes it as text");
    return Exit::Failure;
  }
  return list(*source, json) ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
