#include "tests/mutation/Tokens.h"

#include <algorithm>

namespace colldsl::mutation {
namespace {

constexpr size_t kMaxCombines = 1 << 20;

size_t mix(size_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15u ^ (hash >> 29);
}

} // namespace

Tokens::Tokens(size_t mostOperands) : mostOperands_(mostOperands), nodes_(2), entries_(2) {}

size_t Tokens::NodeHash::operator()(const Node &node) const {
  size_t hash =
      mix(static_cast<size_t>(node.how.reduction) << 8 | static_cast<size_t>(node.how.type),
          index(node.left));
  return mix(hash, index(node.right));
}

size_t Tokens::ListHash::operator()(const std::vector<Token> &list) const {
  size_t hash = list.size();
  for (Token token : list)
    hash = mix(hash, index(token));
  return hash;
}

Token Tokens::makeEntry() {
  nodes_.emplace_back();
  entries_ = nodes_.size();
  return Token{static_cast<uint32_t>(nodes_.size() - 1)};
}

Token Tokens::combine(Combination how, Token left, Token right) {
  if (left <= kTorn || right <= kTorn)
    return kTorn;
  Node node{how, true, left, right};
  auto [place, isNew] = ids_.try_emplace(node, Token{static_cast<uint32_t>(nodes_.size())});
  if (isNew)
    nodes_.push_back(node);
  return place->second;
}

bool Tokens::flatten(Token token, Combination how, std::vector<Token> &operands) const {
  std::vector<Token> open{token};
  while (!open.empty()) {
    Token next = open.back();
    open.pop_back();
    const Node &node = nodes_[index(next)];
    if (node.isCombine && node.how == how) {
      open.push_back(node.right);
      open.push_back(node.left);
    } else {
      operands.push_back(next);
    }
    if (next <= kTorn || operands.size() + open.size() > mostOperands_)
      return false;
  }
  return true;
}

std::optional<Combination> Tokens::combinationOf(Token token) const {
  const Node &node = nodes_[index(token)];
  return node.isCombine ? std::optional(node.how) : std::nullopt;
}

std::optional<std::vector<Token>> Tokens::flattened(Token token, Combination how) const {
  std::vector<Token> operands;
  if (!flatten(token, how, operands))
    return std::nullopt;
  return operands;
}

ListId Tokens::operandsOf(Token token, Combination how) {
  uint64_t key = uint64_t{index(token)} << 16 | static_cast<uint64_t>(how.reduction) << 8 |
                 static_cast<uint64_t>(how.type);
  auto known = lists_.find(key);
  if (known != lists_.end())
    return known->second;
  std::vector<Token> operands;
  ListId list = flatten(token, how, operands) ? listOf(std::move(operands), how) : kNoList;
  lists_[key] = list;
  return list;
}

ListId Tokens::listOf(std::vector<Token> operands, Combination how) {
  if (isCommutative(how.reduction))
    std::sort(operands.begin(), operands.end());
  return listIds_.try_emplace(std::move(operands), ListId{static_cast<uint32_t>(listIds_.size())})
      .first->second;
}

void Tokens::trim() {
  if (nodes_.size() < entries_ + kMaxCombines)
    return;
  nodes_.resize(entries_);
  ids_.clear();
  lists_.clear();
  // listIds_ stays. It may name combines that are no more, but no promise does.
}

} // namespace colldsl::mutation
