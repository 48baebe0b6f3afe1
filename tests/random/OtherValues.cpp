#include "tests/random/OtherValues.h"

#include "ir/Image.h"
#include "tests/random/Chains.h"
#include "tests/random/Execute.h"
#include "tests/random/Interpret.h"
#include "tests/random/Lengths.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

constexpr Trials kTrials{3, 2};  ///< orders at each of the values
constexpr int64_t kMaxSize = 12; ///< of those that are tried

using Choice = LengthClasses::Choice;
constexpr std::array kChoices{Choice::Full, Choice::Empty, Choice::OneEmpty, Choice::OneFull,
                              Choice::Random};

Verdict unsound(std::string why, std::string details) {
  return {Outcome::Unsound, std::move(why), std::move(details)};
}

class Trial {
public:
  Trial(const Program &program, const Schedule &proved, bool anyLengths, uint64_t seed)
      : program_(program), anyLengths_(anyLengths), random_(~seed), seed_(seed),
        bytes_(encodeImage(proved)), image_(Image::load(bytes_)) {
    if (image_)
      loaded_ = image_->decode();
    if (image_ && loaded_.sizeClass != proved.sizeClass)
      image_ = Status::error("the sizes for which it is proved are lost");
  }

  std::optional<Verdict> run() {
    if (!image_)
      return unsound("is not loaded: " + classOf(image_.message()), image_.message());
    if (std::optional<Verdict> fault = at(program_, "at the same values"))
      return fault;
    if (!program_.hasBlocks())
      return atSize(someSize());
    return anyLengths_ ? withBlocks() : std::nullopt;
  }

private:
  /// At the size that it was made at, then at another one.
  std::optional<Verdict> withBlocks() {
    for (Choice choice : kChoices)
      if (std::optional<Verdict> fault = withLengths(program_, choice, "at other lengths"))
        return fault;
    Program other = program_;
    other.sizes[static_cast<size_t>(program_.mainSize())] = someSize();
    return withLengths(other, random_.chance(50) ? Choice::Full : Choice::Random,
                       "at another size");
  }

  std::optional<Verdict> withLengths(const Program &program, Choice choice, const char *where) {
    Result<LengthClasses> classes = LengthClasses::of(program);
    if (!classes)
      return std::nullopt;
    Program other = program;
    other.lengths = classes->choose(choice, random_);
    return at(other, where);
  }

  std::optional<Verdict> atSize(int64_t size) {
    Program other = program_;
    other.sizes[static_cast<size_t>(program_.mainSize())] = size;
    return at(other, "at another size");
  }

  /// For which it is said to be proved: mostly one of the ends.
  int64_t someSize() {
    const SizeClass &claimed = loaded_.sizeClass;
    auto least = static_cast<int64_t>(claimed.min);
    auto most = std::max(least, static_cast<int64_t>(std::min<uint64_t>(claimed.max, kMaxSize)));
    auto kind = random_.below(3);
    return kind == 0 ? least : kind == 1 ? most : random_.between(least, most);
  }

  std::optional<Verdict> at(const Program &program, const std::string &where) {
    Result<Schedule> meaning = interpret(program);
    std::string values = "made for n in " + std::to_string(loaded_.sizeClass.min) + ".." +
                         std::to_string(loaded_.sizeClass.max) + "; with " + valuesOf(program) +
                         ": ";
    auto wrong = [&](const std::string &how, const std::string &fault) {
      return unsound(where + how + classOf(fault), values + fault);
    };
    if (!meaning)
      return wrong(" it has no meaning: ", meaning.message());
    if (std::string fault = faultOf(*meaning, program, kTrials, seed_); !fault.empty())
      return wrong(" as the language says: ", fault);
    Schedule judged = withContractOf(*meaning, loaded_);
    if (std::string fault = faultOf(judged, program, kTrials, seed_); !fault.empty())
      return wrong(" as instantiated: ", fault);
    if (std::string fault = executed(*image_, program, *meaning, seed_); !fault.empty())
      return wrong(" as executed: ", fault);
    return std::nullopt;
  }

  const Program &program_;
  bool anyLengths_;
  Random random_;
  uint64_t seed_;
  std::vector<std::byte> bytes_;
  Result<Image> image_;
  Schedule loaded_;
};

} // namespace

std::optional<Verdict> faultAtOtherValues(const Program &program, const Schedule &proved,
                                          bool anyLengths, uint64_t seed) {
  return Trial(program, proved, anyLengths, seed).run();
}

} // namespace colldsl::generated
