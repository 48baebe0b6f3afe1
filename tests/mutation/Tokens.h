/// Tokens stand for data: what an element held at entry, or two tokens combined. Equal tokens
/// were made in the same way.
#pragma once

#include "ir/Ids.h"
#include "ir/Vocabulary.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace colldsl::mutation {

enum class Token : uint32_t {};
constexpr uint32_t index(Token t) { return static_cast<uint32_t>(t); }
inline constexpr Token kUnwritten{0}; ///< nothing was ever there
inline constexpr Token kTorn{1};      ///< undefined: it is being written

/// A list of operands, by number. Equal lists have equal numbers.
enum class ListId : uint32_t {};
inline constexpr ListId kNoList{0xffffffffu};

/// The elements of a combine: what it does, and to what.
struct Combination {
  Reduction reduction{};
  ElementType type{};
  bool operator==(const Combination &) const = default;
};

/// Not thread safe.
class Tokens {
public:
  /// Reductions of more operands than this are wrong in any case.
  explicit Tokens(size_t mostOperands);

  Token makeEntry();
  Token combine(Combination how, Token left, Token right);

  /// The operands of a token, through combines of that kind alone; sorted if it commutes.
  /// kNoList: there are too many, or one is torn or unwritten.
  ListId operandsOf(Token token, Combination how);
  ListId listOf(std::vector<Token> operands, Combination how);

  /// How the token was made; none: it was there at entry.
  std::optional<Combination> combinationOf(Token token) const;
  /// The operands of a token, as operandsOf(), in their order; none: as kNoList there.
  std::optional<std::vector<Token>> flattened(Token token, Combination how) const;

  /// Forgets combines if they are many. Call when no token is held but those of entry.
  void trim();

private:
  struct Node {
    Combination how;
    bool isCombine = false;
    Token left{};
    Token right{};
    bool operator==(const Node &) const = default;
  };
  struct NodeHash {
    size_t operator()(const Node &node) const;
  };
  struct ListHash {
    size_t operator()(const std::vector<Token> &list) const;
  };
  bool flatten(Token token, Combination how, std::vector<Token> &operands) const;

  size_t mostOperands_;
  std::vector<Node> nodes_; // entries first
  size_t entries_ = 0;
  std::unordered_map<Node, Token, NodeHash> ids_;
  std::unordered_map<uint64_t, ListId> lists_; // of tokens
  std::unordered_map<std::vector<Token>, ListId, ListHash> listIds_;
};

} // namespace colldsl::mutation
