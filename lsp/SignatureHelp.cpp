// Help for the call at the caret. Its name and the arguments so far come from the tokens before the
// caret, because an unfinished text rarely parses. Its parameters come from the declarations in
// scope (Names.h), or from the tables of the language.
#include "compiler/Scanner.h"
#include "driver/source/DeclText.h"
#include "lsp/Features.h"
#include "lsp/LanguageWords.h"
#include "lsp/Names.h"
#include "lsp/Structure.h"
#include "lsp/SymbolText.h"
#include "lsp/TextPart.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::lsp {
namespace {

struct Signature {
  std::string name;
  std::vector<std::string> parameters;
  std::string documentation;

  bool takesComprehension() const {
    return parameters.size() == 1 && llvm::StringRef(parameters[0]).starts_with("for ");
  }
};

/// The parameter as it is written, without comments and line ends.
std::string parameterText(const Analysis &analysis, const Param &param) {
  std::string text = partAt(analysis, param.loc);
  Result<std::vector<Token>> tokens = scan(text, 0, {});
  return tokens ? oneLine(*tokens) : text;
}

Signature signatureOf(const Analysis &analysis, const Decl &decl) {
  const Program &program = analysis.program();
  Signature signature{program.nameOf(decl), {}, program.strings[decl.doc]};
  for (const Param &param : decl.params)
    signature.parameters.push_back(parameterText(analysis, param));
  signature.documentation += (signature.documentation.empty() ? "" : "\n\n") +
                             driver::kindWord(decl.kind).str() + ", " +
                             driver::placeOf(program, decl);
  return signature;
}

/// The signature of the declaration that hides others of its name, else all that the language has.
std::vector<Signature> signaturesOf(const Analysis *analysis, const Structure::Call &call) {
  if (analysis && !call.isMember)
    for (const Decl &decl : llvm::reverse(analysis->program().decls)) // the innermost come last
      if (analysis->program().nameOf(decl) == call.callee)
        return {signatureOf(*analysis, decl)};
  std::vector<Signature> found;
  for (const LanguageWord &word : languageWords())
    if (word.word == call.callee && !word.call.empty() && word.base.has_value() == call.isMember)
      found.push_back({word.word, parametersOf(word.call), word.summary});
  return found;
}

/// True if the callee is a word of the language before a value in parentheses: `not (`,
/// `send x to (`.
bool takesValue(const Structure::Call &call) {
  using Kind = LanguageWord::Kind;
  return llvm::any_of(languageWords(), [&](const LanguageWord &word) {
    return word.word == call.callee && word.kind != Kind::Function && word.kind != Kind::Member;
  });
}

/// The name of a parameter: "root" of "root: rank = 0", "include" of "include = r".
llvm::StringRef nameOf(llvm::StringRef parameter) {
  llvm::StringRef beforeType = parameter.split(':').first.split('=').first.rtrim();
  return beforeType.rsplit(' ').second.empty() ? beforeType : beforeType.rsplit(' ').second;
}

/// The parameter that the last argument is for: the one that it names, else the next one in order
/// that no argument before it names. The number of parameters: there is none.
size_t activeParameter(const Signature &signature, llvm::ArrayRef<Structure::Argument> arguments) {
  const std::vector<std::string> &parameters = signature.parameters;
  auto isNamedBy = [](const std::string &parameter, const Structure::Argument &argument) {
    return argument.isNamed && nameOf(parameter) == llvm::StringRef(argument.first);
  };
  const Structure::Argument &last = arguments.back();
  auto before = arguments.drop_back();
  size_t inOrder = llvm::count_if(before, [](const auto &argument) { return !argument.isNamed; });
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == "...")
      return i;
    bool isGiven = llvm::any_of(before, [&](const auto &a) { return isNamedBy(parameters[i], a); });
    if (last.isNamed ? isNamedBy(parameters[i], last) : !isGiven && inOrder-- == 0)
      return i;
  }
  return parameters.size();
}

// Offsets in labels count units of UTF-16 in the protocol, whatever the positions count.
json::Value toJson(const Signature &signature, const ClientAbilities &client) {
  auto units = [](const std::string &text) {
    return Lines(text).positionOf(text.size(), Encoding::Utf16).character;
  };
  std::string label = signature.name + "(";
  json::Array parameters;
  for (const std::string &parameter : signature.parameters) {
    label += parameters.empty() ? "" : ", ";
    uint32_t begin = units(label);
    label += parameter;
    if (client.signatureOffsets)
      parameters.push_back(json::Object{{"label", json::Array{begin, units(label)}}});
    else
      parameters.push_back(json::Object{{"label", json::fixUTF8(parameter)}});
  }
  json::Object object{{"label", json::fixUTF8(label + ")")}, {"parameters", std::move(parameters)}};
  if (!signature.documentation.empty())
    object["documentation"] = markup(signature.documentation, client.signatureMarkdown);
  return object;
}

json::Value answerOf(const std::vector<Signature> &signatures, const Structure::Call &call,
                     const ClientAbilities &client) {
  bool hasFor = call.arguments.front().first == "for";
  auto fitting = llvm::find_if(
      signatures, [&](const Signature &s) { return s.takesComprehension() == hasFor; });
  const Signature &active = fitting == signatures.end() ? signatures.front() : *fitting;
  json::Array all;
  for (const Signature &signature : signatures)
    all.push_back(toJson(signature, client));
  return json::Object{{"signatures", std::move(all)},
                      {"activeSignature", &active - signatures.data()},
                      {"activeParameter", activeParameter(active, call.arguments)}};
}

/// The end of the word, or of the `=` that makes it the name of an argument.
size_t endOf(const View::Word &word, llvm::StringRef text) {
  size_t end = word.begin + word.text.size();
  llvm::StringRef rest = text.drop_front(end).ltrim();
  bool isNamed = !word.text.empty() && rest.starts_with("=") && !rest.starts_with("==");
  return isNamed ? text.size() - rest.size() + 1 : end;
}

} // namespace

Answer signatureHelp(const View &view, Position position) {
  const std::string &text = view.document().text;
  size_t caret = view.lines().offsetOf(position, view.encoding());
  TextPart part = textPartAt(text, caret);
  if (part.kind == TextPart::Kind::Comment)
    return json::Value(nullptr);
  View::Word word = view.wordAt(caret);
  bool isString = part.kind == TextPart::Kind::String;
  // Strings and comments behind the caret may have no end, so the text before it is scanned alone.
  size_t begin = isString ? part.begin : word.begin;
  std::string before = text.substr(0, isString ? begin : endOf(word, text));
  std::vector<Structure::Call> calls = Structure(before).callsAround(isString ? begin : caret);
  if (calls.empty())
    return json::Value(nullptr);
  std::shared_ptr<const Analysis> analysis = namesAt(view, begin, caret).analysis;
  for (const Structure::Call &call : calls) {
    if (std::vector<Signature> found = signaturesOf(analysis.get(), call); !found.empty())
      return answerOf(found, call, view.context().client);
    if (!takesValue(call))
      break;
  }
  return json::Value(nullptr);
}

} // namespace colldsl::lsp
