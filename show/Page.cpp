#include "show/Page.h"

#include <cassert>

namespace colldsl::show {
namespace {

std::string_view textOf(std::string_view name) {
  for (const WebFile &file : webFiles())
    if (file.name == name)
      return file.text;
  assert(false && "not a file of web/");
  return "";
}

/// Escapes '<' in JSON, so that no text, such as the name of a file, ends the script element.
std::string inScript(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  return json;
}

std::string inHtml(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return escaped;
}

} // namespace

void writePage(llvm::json::Object document, const Columns &columns, llvm::raw_ostream &out) {
  std::string title = document.getString("title").value_or("colldsl").str();
  document["columns"] = columns.directory();
  document["isDeflated"] = Columns::isDeflated();
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(document));
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
      << inHtml(title) << "</title>\n<style>\n"
      << textOf("style.css") << "</style>\n</head>\n"
      << textOf("page.html") << "<script type=\"application/json\" id=\"document\">"
      << inScript(std::move(json)) << "</script>\n<script type=\"text/plain\" id=\"columns\">"
      << columns.packed() << "</script>\n<script>\n\"use strict\";\n";
  for (const WebFile &file : webFiles())
    if (llvm::StringRef(file.name).ends_with(".js"))
      out << "// " << file.name << "\n" << file.text;
  out << "</script>\n</html>\n";
}

} // namespace colldsl::show
