#include "tests/device/PtxInterpreter.h"

#include "ir/Concat.h"
#include "tests/device/PtxInstructions.h"

#include <charconv>
#include <vector>

namespace colldsl::test {

namespace {

constexpr uint64_t kMeaningless = 0xA5A5A5A5A5A5A5A5;
constexpr uint64_t kMaxSteps = 1 << 22; ///< of one thread

/// An instruction or a branch, with its predicate.
struct Step {
  enum class Kind : uint8_t { Plain, Branch, Return } kind = Kind::Plain;
  bool hasGuard = false, isUnless = false;
  uint32_t guard = 0;
  uint32_t target = 0; ///< of a branch: the index of a step
  PtxInstruction instruction;
};

/// Special registers, which each thread has at these places.
constexpr const char *kSpecial[] = {"%tid.x", "%ctaid.x", "%ctaid.y", "%nctaid.x"};

} // namespace

struct PtxFunction::Code {
  std::string name, parameterName;
  uint64_t parameterBytes = 0;
  uint32_t maxThreads = 0;
  std::vector<Step> steps;
  std::vector<uint64_t> registers; ///< as a thread finds them, with the constants
};

namespace {

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool takePrefix(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text = trimmed(text.substr(prefix.size()));
  return true;
}

/// Parts between commas that are not in braces or brackets.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (parts.size() == 1 && parts[0].empty())
    parts.clear();
  return parts;
}

/// Reads one function, line by line.
class FunctionParser {
public:
  explicit FunctionParser(std::string_view name) : code_(std::make_shared<PtxFunction::Code>()) {
    code_->name = name;
    for (const char *special : kSpecial)
      registerOf(special);
  }

  /// A line within the function.
  Status add(std::string_view line);
  /// All branches have targets now.
  Result<std::shared_ptr<const PtxFunction::Code>> finish();

private:
  Status addDirective(std::string_view line);
  Status addInstruction(std::string_view line);
  Status addOperands(PtxInstruction &instruction, std::string_view name, std::string_view text);
  Status readAddress(std::string_view text, PtxInstruction &instruction);
  Result<uint32_t> operandOf(std::string_view text);
  uint32_t registerOf(std::string_view name) {
    auto [found, isNew] = names_.try_emplace(std::string(name), code_->registers.size());
    if (isNew)
      code_->registers.push_back(kMeaningless);
    return static_cast<uint32_t>(found->second);
  }
  uint32_t constant(uint64_t value) {
    code_->registers.push_back(value);
    return static_cast<uint32_t>(code_->registers.size() - 1);
  }

  std::shared_ptr<PtxFunction::Code> code_;
  std::map<std::string, size_t, std::less<>> names_; ///< of registers
  std::map<std::string, uint32_t, std::less<>> labels_;
  std::vector<std::pair<size_t, std::string>> branches_; ///< steps and their labels
};

std::optional<uint64_t> numberIn(std::string_view text, int base) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

// Integers; floats are written as their bits.
std::optional<uint64_t> immediate(std::string_view text) {
  if (text.starts_with("0f") || text.starts_with("0d") || text.starts_with("0x"))
    return numberIn(text.substr(2), 16);
  if (!text.starts_with('-'))
    return numberIn(text, 10);
  auto magnitude = numberIn(text.substr(1), 10);
  return magnitude ? std::optional(-*magnitude) : std::nullopt;
}

Status FunctionParser::add(std::string_view line) {
  if (line == "{" || line == "}" || line == ")" || line.empty())
    return {};
  if (line.front() == '.')
    return addDirective(line);
  if (line.back() == ':') {
    labels_[std::string(line.substr(0, line.size() - 1))] =
        static_cast<uint32_t>(code_->steps.size());
    return {};
  }
  // A scope for one register, which nothing reads.
  if (takePrefix(line, "{ .reg ")) {
    line.remove_suffix(1);
    line = trimmed(line.substr(line.find(';') + 1));
  }
  return addInstruction(line);
}

Status FunctionParser::addDirective(std::string_view line) {
  if (line.starts_with(".reg ") || line.starts_with(".pragma \"nounroll\""))
    return {};
  if (takePrefix(line, ".param .align 8 .b8 ")) {
    size_t bracket = line.find('[');
    auto bytes = numberIn(line.substr(bracket + 1, line.find(']') - bracket - 1), 10);
    if (!bytes || code_->parameterBytes != 0)
      return Status::error("a function has one parameter, of a number of bytes");
    code_->parameterName = line.substr(0, bracket);
    code_->parameterBytes = *bytes;
    return {};
  }
  if (takePrefix(line, ".maxntid ")) {
    code_->maxThreads =
        static_cast<uint32_t>(numberIn(line.substr(0, line.find(',')), 10).value_or(0));
    return {};
  }
  return Status::error("an unknown directive");
}

Result<uint32_t> FunctionParser::operandOf(std::string_view text) {
  if (text == code_->parameterName)
    return constant(0);
  if (auto value = immediate(text))
    return constant(*value);
  bool isSpecial = text.find('.') != text.npos;
  if (isSpecial && !names_.count(text))
    return Status::error(concat("an unknown special register '", text, "'"));
  return registerOf(text);
}

// [register+offset]
Status FunctionParser::readAddress(std::string_view text, PtxInstruction &instruction) {
  text = text.substr(1, text.size() - 2);
  size_t plus = text.find('+');
  Result<uint32_t> base = operandOf(text.substr(0, plus));
  if (!base)
    return base.status();
  instruction.from[0] = *base;
  instruction.fromCount = 1;
  if (plus == text.npos)
    return {};
  auto offset = immediate(text.substr(plus + 1));
  if (!offset)
    return Status::error("an unknown offset");
  instruction.offset = static_cast<int64_t>(*offset);
  return {};
}

// The first operand is the result, but of a store; operands in braces are several ones.
Status FunctionParser::addOperands(PtxInstruction &instruction, std::string_view name,
                                   std::string_view text) {
  bool isResult = !name.starts_with("st.");
  for (std::string_view operand : split(text)) {
    if (operand.starts_with('[')) {
      if (Status s = readAddress(operand, instruction); !s)
        return s;
      continue;
    }
    if (operand.starts_with('{'))
      operand = operand.substr(1, operand.size() - 2);
    for (std::string_view one : split(operand)) {
      Result<uint32_t> number = operandOf(one);
      if (!number)
        return number.status();
      uint8_t &count = isResult ? instruction.toCount : instruction.fromCount;
      if (count == PtxInstruction::kMostOperands)
        return Status::error("too many operands");
      (isResult ? instruction.to : instruction.from)[count++] = *number;
    }
    isResult = false;
  }
  return {};
}

Status FunctionParser::addInstruction(std::string_view line) {
  Step step;
  if (line.empty() || line.back() != ';')
    return Status::error("an instruction that does not end in this line");
  line.remove_suffix(1);
  if (takePrefix(line, "@")) {
    step.hasGuard = true;
    step.isUnless = takePrefix(line, "!");
    size_t space = line.find_first_of(" \t");
    step.guard = registerOf(line.substr(0, space));
    line = trimmed(line.substr(space));
  }
  std::string_view name = line.substr(0, line.find_first_of(" \t"));
  std::string_view operands = trimmed(line.substr(name.size()));
  if (name == "ret") {
    step.kind = Step::Kind::Return;
  } else if (name == "bra" || name == "bra.uni") {
    step.kind = Step::Kind::Branch;
    branches_.emplace_back(code_->steps.size(), operands);
  } else {
    step.instruction.run = findPtxInstruction(name);
    if (!step.instruction.run)
      return Status::error(
          concat("the instruction '", name, "' is not one that this interpreter knows"));
    if (Status s = addOperands(step.instruction, name, operands); !s)
      return s;
  }
  code_->steps.push_back(step);
  return {};
}

Result<std::shared_ptr<const PtxFunction::Code>> FunctionParser::finish() {
  for (auto &[step, label] : branches_) {
    auto found = labels_.find(label);
    if (found == labels_.end() || found->second >= code_->steps.size())
      return Status::error(concat("a branch to '", label, "', which is not in the function"));
    code_->steps[step].target = found->second;
  }
  if (code_->steps.empty() || code_->steps.back().kind != Step::Kind::Return)
    return Status::error("a function that does not end with ret");
  return std::shared_ptr<const PtxFunction::Code>(code_);
}

// False: it failed, or it did too many steps.
bool runThread(const std::vector<Step> &steps, PtxThread &thread) {
  uint32_t at = 0;
  for (uint64_t count = 0; count < kMaxSteps; ++count) {
    const Step &step = steps[at++];
    if (step.hasGuard && ((thread.registers[step.guard] & 1) != 0) == step.isUnless)
      continue;
    switch (step.kind) {
    case Step::Kind::Return:
      return true;
    case Step::Kind::Branch:
      at = step.target;
      break;
    case Step::Kind::Plain:
      if (!step.instruction.run(thread, step.instruction))
        return false;
    }
  }
  thread.fault = "it does not end";
  return false;
}

} // namespace

uint64_t PtxFunction::parameterBytes() const { return code_->parameterBytes; }

Status PtxFunction::run(const Grid &grid, std::span<const std::byte> parameter,
                        PtxMemory &memory) const {
  for (uint32_t y = 0; y < grid.blocksY; ++y)
    for (uint32_t x = 0; x < grid.blocksX; ++x)
      if (Status s = runBlock(grid, x, y, parameter, memory); !s)
        return s;
  return {};
}

Status PtxFunction::runBlock(const Grid &grid, uint32_t x, uint32_t y,
                             std::span<const std::byte> parameter, PtxMemory &memory) const {
  if (grid.threadsPerBlock > code_->maxThreads)
    return Status::error(concat("the kernel ", code_->name, " allows ", code_->maxThreads,
                                " threads per block, not ", grid.threadsPerBlock));
  std::vector<uint64_t> registers = code_->registers;
  PtxThread thread{registers.data(), parameter, &memory, {}};
  for (uint32_t i = 0; i < grid.threadsPerBlock; ++i) {
    const uint64_t special[] = {i, x, y, grid.blocksX};
    std::copy(std::begin(special), std::end(special), registers.begin());
    if (!runThread(code_->steps, thread))
      return Status::error(concat("the kernel ", code_->name, ", thread ", i, " of block ", x, ",",
                                  y, ": ", thread.fault));
  }
  return {};
}

Result<PtxModule> PtxModule::parse(std::string_view text) {
  PtxModule module;
  std::optional<FunctionParser> function;
  std::string_view name;
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find("//")));
    auto error = [&](std::string_view why) {
      return Status::error(concat("line ", number, ": ", why, ": ", line));
    };
    if (takePrefix(line, ".visible .entry ")) {
      name = line.substr(0, line.find('('));
      function.emplace(name);
    } else if (function) {
      if (Status s = function->add(line); !s)
        return error(s.message());
      if (line != "}")
        continue;
      auto code = function->finish();
      if (!code)
        return error(code.message());
      module.functions_.emplace(std::string(name), PtxFunction(*code));
      function.reset();
    } else if (!line.empty() && !line.starts_with(".version ") && !line.starts_with(".target ") &&
               !line.starts_with(".address_size ")) {
      return error("an unknown directive");
    }
  }
  if (function)
    return Status::error("the text ends within a function");
  return module;
}

} // namespace colldsl::test
