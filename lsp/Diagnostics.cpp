#include "lsp/Diagnostics.h"

#include "compiler/Spelling.h"
#include "compiler/UnusedNames.h"
#include "driver/explain/Explanations.h"
#include "lsp/TextPart.h"
#include "lsp/ToJson.h"
#include "lsp/View.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace colldsl::lsp {
namespace {

int severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return 1;
  case Severity::Warning:
    return 2;
  case Severity::Note:
    return 3;
  }
  return 1;
}

size_t endOfSign(std::string_view text, size_t begin) {
  for (std::string_view sign :
       {"..=", "..", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "->", "=>", "+=", "-=", "::"})
    if (text.substr(begin).starts_with(sign))
      return begin + sign.size();
  size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    ++end;
  return end;
}

json::Value rangeIn(Context &context, const Analysis &analysis, SourceLoc loc) {
  Lines lines(loc.file == analysis.file ? std::string_view(analysis.text)
                                        : analysis.compilation.sourceText(loc.file));
  TokenEnds token = tokenAt(lines.text(), lines.offsetOf(loc));
  return toJson(lines.rangeOf(token.begin, token.end, context.client.encoding));
}

bool isInSomeFile(const Analysis &analysis, SourceLoc loc) {
  return loc.known() && loc.file < analysis.program().files.size();
}

json::Value related(Context &context, const Analysis &analysis, SourceLoc loc,
                    const std::string &message) {
  return json::Object{{"location", json::Object{{"uri", uriOfFile(context, analysis, loc.file)},
                                                {"range", rangeIn(context, analysis, loc)}}},
                      {"message", json::fixUTF8(message)}};
}

/// The message, with the hint and the notes without a place on lines of their own.
std::string messageOf(const Analysis &analysis, const Diagnostic &diagnostic) {
  std::string text;
  if (SourceLoc loc = diagnostic.loc; loc.file != analysis.file && isInSomeFile(analysis, loc))
    text = analysis.program().files[loc.file] + ":" + std::to_string(loc.line) + ":" +
           std::to_string(loc.column) + ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty())
    text += "\nhint: " + diagnostic.hint;
  for (const Diagnostic &note : diagnostic.notes)
    if (!isInSomeFile(analysis, note.loc))
      text += "\n" + note.message;
  return text;
}

/// The offset of the import that names the file with the mistake, else of the first import, else 0.
size_t importOf(const Analysis &analysis, SourceLoc loc) {
  std::string_view text = analysis.text;
  std::string file;
  if (isInSomeFile(analysis, loc))
    file = llvm::sys::path::filename(analysis.program().files[loc.file]).str();
  std::optional<size_t> first;
  for (size_t at = 0; (at = text.find("import", at)) != std::string_view::npos; ++at) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (!first)
      first = at;
    if (!file.empty() && line.find(file) != std::string_view::npos)
      return at;
  }
  return first.value_or(0);
}

} // namespace

TokenEnds tokenAt(std::string_view text, size_t offset) {
  size_t begin = std::min(offset, text.size());
  if (begin == text.size() || llvm::isSpace(text[begin]))
    return {begin, begin};
  if (text[begin] == '"') {
    size_t end = endOfString(text, begin);
    return {begin, end + (text.substr(end).starts_with('"') ? 1 : 0)};
  }
  if (!isWordSign(text[begin]))
    return {begin, endOfSign(text, begin)};
  size_t end = begin;
  while (end < text.size() && isWordSign(text[end]))
    ++end;
  return {begin, end};
}

json::Object toJson(Context &context, const Analysis &analysis, const Diagnostic &diagnostic,
                    size_t anchor) {
  bool isHere = isInSomeFile(analysis, diagnostic.loc) && diagnostic.loc.file == analysis.file;
  Lines lines(analysis.text);
  TokenEnds token = tokenAt(analysis.text, isHere ? lines.offsetOf(diagnostic.loc) : anchor);
  json::Object object{
      {"range", toJson(lines.rangeOf(token.begin, token.end, context.client.encoding))},
      {"severity", severityOf(diagnostic.severity)},
      {"source", "colldsl"},
      {"message", json::fixUTF8(messageOf(analysis, diagnostic))}};
  if (const driver::Explanation *found = driver::findExplanation(diagnostic.message))
    object["code"] = found->name;
  if (!context.client.relatedInformation)
    return object;
  json::Array places;
  if (!isHere && isInSomeFile(analysis, diagnostic.loc))
    places.push_back(related(context, analysis, diagnostic.loc, diagnostic.message));
  for (const Diagnostic &note : diagnostic.notes)
    if (isInSomeFile(analysis, note.loc))
      places.push_back(related(context, analysis, note.loc, note.message));
  if (!places.empty())
    object["relatedInformation"] = std::move(places);
  return object;
}

json::Array compilerDiagnostics(Context &context, const Analysis &analysis) {
  json::Array all;
  for (const Diagnostic &diagnostic : analysis.compilation.diagnostics())
    all.push_back(toJson(context, analysis, diagnostic, importOf(analysis, diagnostic.loc)));
  if (analysis.compilation.ok())
    for (const Diagnostic &warning : unusedNames(analysis.symbols, analysis.file)) {
      constexpr int kUnnecessary = 1; // DiagnosticTag: editors fade such text out
      all.push_back(toJson(context, analysis, warning, 0));
      all.back().getAsObject()->try_emplace("tags", json::Array{kUnnecessary});
    }
  return all;
}

json::Array quickFixes(Context &context, const Document &document, const Analysis &analysis,
                       const Range &range) {
  json::Array fixes;
  Lines lines(analysis.text);
  Encoding encoding = context.client.encoding;
  size_t begin = lines.offsetOf(range.start, encoding), end = lines.offsetOf(range.end, encoding);
  for (const Diagnostic &diagnostic : analysis.compilation.diagnostics()) {
    llvm::StringRef meant = meantWord(diagnostic.hint);
    if (meant.empty() || diagnostic.loc.file != analysis.file)
      continue;
    TokenEnds token = tokenAt(analysis.text, lines.offsetOf(diagnostic.loc));
    std::string found = analysis.text.substr(token.begin, token.end - token.begin);
    bool isAboutIt = diagnostic.message.find("'" + found + "'") != std::string::npos;
    if (found.empty() || !isAboutIt || token.end < begin || token.begin > end)
      continue;
    json::Array edits{textEdit(lines.rangeOf(token.begin, token.end, encoding), meant)};
    fixes.push_back(json::Object{
        {"title", json::fixUTF8("replace '" + found + "' with '" + meant.str() + "'")},
        {"kind", "quickfix"},
        {"isPreferred", true},
        {"diagnostics", json::Array{toJson(context, analysis, diagnostic, token.begin)}},
        {"edit", json::Object{{"changes", json::Object{{document.uri, std::move(edits)}}}}}});
  }
  return fixes;
}

} // namespace colldsl::lsp
