#include "mscclpp/OpPlaces.h"

#include <functional>

namespace colldsl::mscclpp {
namespace {

/// Walks over JSON that a parser has accepted. Members that nobody asks for are skipped.
class JsonWalk {
public:
  explicit JsonWalk(std::string_view text) : text_(text) {}

  using Member = std::function<void(std::string_view key)>;
  using Element = std::function<void(size_t index)>;

  /// `visit` is called before the value of each member, and may read it.
  void object(const Member &visit) {
    list('{', '}', [&](size_t) {
      std::string_view key = string();
      skipBlanks();
      take(); // the colon
      skipBlanks();
      size_t before = at_;
      visit(key);
      if (at_ == before)
        skip();
    });
  }
  void array(const Element &visit) {
    list('[', ']', [&](size_t index) {
      size_t before = at_;
      visit(index);
      if (at_ == before)
        skip();
    });
  }
  bool isAt(char c) const { return at_ < text_.size() && text_[at_] == c; }
  SourceLoc place() const {
    size_t column = at_ - lineBegin_ + 1;
    return column <= UINT16_MAX ? SourceLoc{line_, static_cast<uint16_t>(column), 0} : SourceLoc();
  }

private:
  char take() {
    char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c == '\n') {
      ++line_;
      lineBegin_ = at_;
    }
    return c;
  }
  void skipBlanks() {
    while (isAt(' ') || isAt('\n') || isAt('\t') || isAt('\r'))
      take();
  }
  std::string_view string() {
    take(); // the quote
    size_t begin = at_;
    while (at_ < text_.size() && !isAt('"'))
      if (take() == '\\')
        take();
    std::string_view made = text_.substr(begin, at_ - begin);
    take();
    return made;
  }
  template <typename Visit> void list(char open, char close, Visit visit) {
    skipBlanks();
    if (!isAt(open))
      return;
    take();
    skipBlanks();
    for (size_t index = 0; at_ < text_.size() && !isAt(close); ++index) {
      visit(index);
      skipBlanks();
      if (isAt(','))
        take();
      skipBlanks();
    }
    take();
  }
  /// Skips a value, without recursion: plans of others may nest as deep as the parser lets them.
  void skip() {
    size_t depth = 0;
    while (at_ < text_.size()) {
      if (isAt('"')) {
        string();
      } else {
        if (depth == 0 && (isAt(',') || isAt('}') || isAt(']')))
          return;
        char c = take();
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
      }
      if (depth == 0 && (isAt(',') || isAt('}') || isAt(']')))
        return;
    }
  }

  std::string_view text_;
  size_t at_ = 0, lineBegin_ = 0;
  uint32_t line_ = 1;
};

void placeOps(JsonWalk &walk, std::vector<Op> &ops) {
  walk.array([&](size_t index) {
    if (index < ops.size())
      walk.object([&](std::string_view key) {
        if (key == "name")
          ops[index].loc = walk.place();
        else if (key == "ops")
          placeOps(walk, ops[index].members);
      });
  });
}

} // namespace

void setPlaces(Plan &plan, std::string_view json) {
  if (json.starts_with("\xEF\xBB\xBF"))
    json.remove_prefix(3);
  JsonWalk walk(json);
  auto blocks = [&](Gpu &gpu) {
    walk.array([&](size_t block) {
      if (block < gpu.threadBlocks.size())
        walk.object([&](std::string_view key) {
          if (key == "ops")
            placeOps(walk, gpu.threadBlocks[block].ops);
        });
    });
  };
  walk.object([&](std::string_view key) {
    if (key == "gpus")
      walk.array([&](size_t gpu) {
        if (gpu < plan.gpus.size())
          walk.object([&](std::string_view member) {
            if (member == "threadblocks")
              blocks(plan.gpus[gpu]);
          });
      });
  });
}

} // namespace colldsl::mscclpp
