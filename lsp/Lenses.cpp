#include "lsp/Lenses.h"

#include "lsp/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::lsp {
namespace {

constexpr size_t kLongest = 160; ///< characters of a lens

std::string shortened(const std::string &text) {
  if (text.size() <= kLongest)
    return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

/// The lens of a collective. If it was refused, the lens opens the picture of the counterexample,
/// if there is one.
json::Object commandFor(const View &view, const std::string &collective, const Verdict &verdict) {
  if (verdict.kind == Verdict::Kind::Pending)
    return json::Object{{"title", "proofs are on the way"}, {"command", ""}};
  json::Object command{{"title", json::fixUTF8(shortened(verdict.words))}, {"command", ""}};
  if (verdict.refused) {
    command["command"] = kShowCommand;
    command["arguments"] = json::Array{view.document().uri, json::fixUTF8(collective)};
  }
  return command;
}

} // namespace

json::Array codeLenses(const View &view, const Findings *findings) {
  json::Array lenses;
  if (!findings || !view.hasAnalysis())
    return lenses;
  const Analysis &analysis = view.analysis();
  bool isCurrent = findings->analysis == view.document().analysis;
  for (const Decl &decl : analysis.program().decls) {
    const std::string &name = analysis.program().nameOf(decl);
    bool isOurs = decl.kind == DeclKind::Collective && decl.loc.file == analysis.file &&
                  (findings->names.empty() || llvm::is_contained(findings->names, name));
    std::optional<Range> range = isOurs ? view.rangeOf(decl.loc, name.size()) : std::nullopt;
    if (!range)
      continue;
    auto found = findings->verdicts.find(name);
    Verdict verdict = isCurrent && found != findings->verdicts.end() ? found->second : Verdict();
    if (verdict.kind == Verdict::Kind::Pending && !view.isFine())
      continue; // texts with mistakes are not proved
    lenses.push_back(
        json::Object{{"range", toJson(*range)}, {"command", commandFor(view, name, verdict)}});
  }
  return lenses;
}

json::Array proofDiagnostics(Context &context, const Findings &findings) {
  json::Array all;
  const Analysis &analysis = *findings.analysis;
  Lines lines(analysis.text);
  for (const Decl &decl : analysis.program().decls) {
    auto found = findings.verdicts.find(analysis.program().nameOf(decl));
    if (decl.loc.file != analysis.file || found == findings.verdicts.end() ||
        found->second.kind != Verdict::Kind::Refused)
      continue;
    std::vector<Diagnostic> why = found->second.why;
    for (Diagnostic &diagnostic : why)
      if (diagnostic.severity != Severity::Note) {
        std::string words = found->first + ", " + found->second.words;
        bool hasMessage = words.find(diagnostic.message) != std::string::npos;
        diagnostic.message = hasMessage ? words : words + ": " + diagnostic.message;
        all.push_back(toJson(context, analysis, diagnostic, lines.offsetOf(decl.loc)));
        break; // the others are of the same proof
      }
  }
  return all;
}

} // namespace colldsl::lsp
