// The terms that ranks which commit a plan together must have in common: all but their graphs,
// buffers and lengths of blocks.
#include "ir/Concat.h"
#include "program/CountedSize.h"
#include "program/Operands.h"
#include "protocol/open/PlanTerms.h"
#include "runtime/CollectivePlan.h"

#include <cstdio>

namespace colldsl {
namespace {

std::string listWord(const std::vector<int64_t> &list) {
  std::string word = "[";
  for (int64_t element : list)
    word += concat(word.size() == 1 ? "" : ", ", element);
  return word + "]";
}

std::string treeWord(const GivenTree &tree) {
  std::vector<int64_t> parents;
  for (Rank parent : tree.parent)
    parents.push_back(parent == kNoRank ? -1 : static_cast<int64_t>(index(parent)));
  return "parents " + listWord(parents);
}

std::string numberWord(ValueType type, int64_t number) {
  if (type == ValueType::Reduction && number >= 0 && number < int64_t{kReductions})
    return std::string(spelling(static_cast<Reduction>(number)));
  return std::to_string(number);
}

std::string checksumWord(uint64_t checksum) {
  char word[16];
  std::snprintf(word, sizeof word, "%08x", static_cast<unsigned>(checksum ^ checksum >> 32));
  return word;
}

/// The word for a value. Empty: there is none, or it is a graph.
std::string valueWord(ValueType type, const ArgumentValue &value) {
  if (auto *number = std::get_if<int64_t>(&value))
    return numberWord(type, *number);
  if (auto *list = std::get_if<std::vector<int64_t>>(&value))
    return listWord(*list);
  if (auto *tree = std::get_if<std::shared_ptr<const GivenTree>>(&value))
    return treeWord(**tree);
  return "";
}

} // namespace

// A value that equals the parameter's default counts as not given.
void CollectivePlan::addValueTerms(protocol::PlanTerms &terms, bool inContract) const {
  const Program &program = **library_->program();
  const Decl &decl = program.decl(request_.collective);
  std::vector<bool> isInContract = contractParams(program, decl);
  for (size_t p = 0; p < decl.params.size(); ++p) {
    const Param &param = decl.params[p];
    if (param.isBuffer || isInContract[p] != inContract)
      continue;
    std::string word = p < request_.values.size() ? valueWord(param.type, request_.values[p]) : "";
    if (auto usual = literalOf(program, param.defaultValue); word.empty() && usual)
      word = numberWord(param.type, *usual);
    if (!word.empty())
      terms.add(concat("value of '", program.nameOf(param), "'"), word);
  }
}

// The caller's settings come first, as all else follows from them.
std::string CollectivePlan::terms() const {
  const Program &program = **library_->program();
  std::string sizeName = countedSize(program, program.decl(request_.collective));
  protocol::PlanTerms terms;
  terms.add("collective", name_);
  terms.add("type", combiner_ ? concat("elements of ", combiner_.elementBytes, " bytes")
                              : std::string(spelling(request_.type)));
  terms.add(concat("size '", sizeName.empty() ? "n" : sizeName, "'"),
            std::to_string(request_.elements));
  for (const auto &[name, size] : request_.sizes)
    terms.add(concat("size '", name, "'"), std::to_string(size));
  terms.add("form in place", request_.inPlace ? "yes" : "no");
  if (isDeviceOnly_)
    terms.add("memory", "of devices only");
  if (isDeviceOnly_ && deviceMessagesFrom_ != kDeviceMessagesFrom)
    terms.add("messages between devices", concat("from ", deviceMessagesFrom_, " bytes on"));
  addValueTerms(terms, true);
  if (name_ != collective_)
    terms.add("collective that was chosen", collective_);
  addValueTerms(terms, false);
  terms.add("library", checksumWord(library_->checksum()));
  terms.add("image", image_ ? checksumWord(image_->checksum) : "none");
  if (const PlanCompiler *made = compiler())
    terms.add("passes", concat(checksumWord(made->hash()), " ", made->settings().passes));
  return terms.text();
}

} // namespace colldsl
