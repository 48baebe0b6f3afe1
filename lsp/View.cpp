#include "lsp/View.h"

#include "driver/files/StandardFiles.h"
#include "lsp/TextPart.h"
#include "lsp/Uri.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace colldsl::lsp {
namespace {

std::shared_ptr<const Analysis> newestOf(Workspace &workspace, Document &document) {
  workspace.analyse(document);
  return document.named;
}

std::string_view textOf(const std::shared_ptr<const Analysis> &analysis) {
  return analysis ? std::string_view(analysis->text) : std::string_view();
}

} // namespace

View::View(Context &context, Document &document)
    : context_(context), document_(document), analysis_(newestOf(context.workspace, document)),
      lines_(document.text), analysed_(textOf(analysis_)),
      shift_(textOf(analysis_), document.text) {}

bool View::isFine() const {
  return document_.analysis == analysis_ && analysis_ && analysis_->compilation.ok();
}

View::Word View::wordAt(size_t offset) const {
  std::string_view text = document_.text;
  size_t begin = std::min(offset, text.size()), end = begin;
  while (begin > 0 && isWordSign(text[begin - 1]))
    --begin;
  while (end < text.size() && isWordSign(text[end]))
    ++end;
  return {begin, text.substr(begin, end - begin)};
}

View::Word View::wordAt(Position position) const {
  return wordAt(lines_.offsetOf(position, encoding()));
}

std::optional<SourceLoc> View::placeOf(const Word &word) const {
  if (!analysis_ || word.text.empty())
    return std::nullopt;
  std::optional<size_t> begin = shift_.back(word.begin);
  if (!begin || analysed_.text().substr(*begin, word.text.size()) != word.text)
    return std::nullopt;
  return analysed_.locOf(*begin, analysis_->file);
}

const SymbolIndex::Symbol *View::symbolOf(const Word &word) const {
  std::optional<SourceLoc> place = placeOf(word);
  return place ? analysis_->symbols.at(*place) : nullptr;
}

std::optional<Range> View::rangeOf(SourceLoc loc, size_t bytes) const {
  size_t offset = analysed_.offsetOf(loc);
  std::optional<size_t> begin = shift_.forward(offset);
  bool isThere =
      begin && lines_.text().substr(*begin, bytes) == analysed_.text().substr(offset, bytes);
  if (!isThere)
    return std::nullopt;
  return lines_.rangeOf(*begin, *begin + bytes, encoding());
}

std::optional<json::Value> View::locationOf(SourceLoc loc, size_t bytes) const {
  std::optional<Range> range;
  if (loc.file == analysis_->file) {
    range = rangeOf(loc, bytes);
  } else {
    Lines lines(analysis_->compilation.sourceText(loc.file));
    size_t begin = lines.offsetOf(loc);
    range = lines.rangeOf(begin, begin + bytes, encoding());
  }
  std::string uri = uriOfFile(context_, *analysis_, loc.file);
  if (!range || uri.empty())
    return std::nullopt;
  return json::Object{{"uri", uri}, {"range", toJson(*range)}};
}

std::string uriOfFile(Context &context, const Analysis &analysis, uint16_t file) {
  const std::string &name = analysis.program().files[file];
  if (driver::isStandard(file, name)) {
    Result<std::string> path = context.folder.libraryFile(name);
    return path ? uriOf(*path) : std::string();
  }
  if (const Document *open = context.workspace.findPath(realPathOf(name)))
    return open->uri;
  llvm::SmallString<256> absolute(name);
  llvm::sys::fs::make_absolute(absolute);
  return uriOf(absolute.str().str());
}

} // namespace colldsl::lsp
