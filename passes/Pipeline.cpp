#include "passes/Pipeline.h"

#include "ir/OptionList.h"

#include <algorithm>
#include <chrono>

namespace colldsl {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Status unknown(const std::string &what, std::string_view given, const std::string &of,
               const std::vector<std::string_view> &words, const NearestName &nearest) {
  std::string list;
  for (std::string_view word : words)
    list += " " + std::string(word);
  std::string near = nearest(given, words);
  return Status(Diagnostic::error({}, "there is no " + what + " '" + std::string(given) + "'" + of +
                                          "; there are" + (list.empty() ? " none" : list) +
                                          (near.empty() ? "" : "; did you mean '" + near + "'?")));
}

Status setOptions(const PassInfo &info, Pass &pass, std::string_view text,
                  const NearestName &nearest) {
  PassOptions options = pass.options();
  std::string name(info.name);
  for (const OptionEntry &setting : parseOptions(text, ';', Braces::Nest)) {
    std::string word(setting.name);
    const PassOptions::Option *option = options.find(word);
    if (!option) {
      std::vector<std::string_view> words;
      for (const PassOptions::Option &known : options.all())
        words.push_back(known.name);
      return unknown("option", word, " of " + name, words, nearest);
    }
    if (!setting.hasValue)
      return Status::error(name + ": " + word + " needs a value: " + word + "=" +
                           std::string(option->values));
    if (setting.isRepeated)
      return Status::error(name + ": " + word + " is given twice, again as '" +
                           std::string(setting.value) + "'");
    if (Status s = option->take(setting.value); !s)
      return Status::error(name + ": " + word + ": " + s.message());
  }
  return {};
}

} // namespace

Result<Pipeline> Pipeline::parse(std::string_view text, const NearestName &nearest) {
  Pipeline pipeline;
  pipeline.text_ = text;
  while (!text.empty()) {
    std::string_view word = takePiece(text, ',', Braces::Nest);
    size_t brace = word.find('{');
    std::string_view name = word.substr(0, brace);
    if (word == "default") {
      for (std::string_view part : {"tune", "choose"})
        pipeline.passes_.push_back({findPass(part), findPass(part)->make(), true});
      continue;
    }
    if (name == "default")
      return Status::error("'" + std::string(word) +
                           "': default has no options; it is tune and choose, which have some");
    if (word.empty())
      return Status::error("between two commas of '" + pipeline.text_ + "' there is no pass");
    const PassInfo *info = findPass(name);
    if (!info) {
      std::vector<std::string_view> names;
      for (const PassInfo &known : allPasses())
        names.push_back(known.name);
      names.push_back("default");
      return unknown("pass", name, "", names, nearest);
    }
    std::unique_ptr<Pass> pass = info->make();
    if (brace != word.npos) {
      if (word.back() != '}')
        return Status::error("'" + std::string(word) + "' has a brace that is not closed");
      std::string_view options = word.substr(brace + 1, word.size() - brace - 2);
      if (Status s = setOptions(*info, *pass, options, nearest); !s)
        return s;
    }
    pipeline.passes_.push_back({info, std::move(pass)});
  }
  return pipeline;
}

bool Pipeline::needsCollective() const {
  for (const Step &step : passes_)
    if (step.info->kind == PassKind::Program && !step.isDefault)
      return true;
  return false;
}

bool Pipeline::has(PassKind kind) const {
  for (const Step &step : passes_)
    if (step.info->kind == kind)
      return true;
  return false;
}

Result<BindOutcome> Pipeline::bind(const BindContext &context, PassObserver *observer) const {
  BindOutcome all{{}, nullptr, "", false};
  InstantiateRequest request = context.request;
  for (const Step &step : passes_) {
    if (step.info->kind != PassKind::Program)
      continue;
    Clock::time_point begin = Clock::now();
    Result<BindOutcome> one = step.pass->bind({context.program, request, context.cost});
    if (!one)
      return Status::error(std::string(step.info->name) + ": " + one.message());
    if (observer)
      if (Status s = observer->bound(step.info->name, *one, secondsSince(begin)); !s)
        return s;
    for (const ParameterBinding &binding : one->bindings)
      bindTo(binding, request);
    all.bindings.insert(all.bindings.end(), one->bindings.begin(), one->bindings.end());
    all.dependsOnSize |= one->dependsOnSize;
    if (one->leaders) {
      all.leaders = one->leaders;
      request.leaders = all.leaders.get();
    }
  }
  return all;
}

Result<Schedule> Pipeline::run(Schedule schedule, const DagContext &context,
                               PassObserver *observer) const {
  for (const Step &step : passes_) {
    if (step.info->kind != PassKind::Dag)
      continue;
    Clock::time_point begin = Clock::now();
    Result<DagOutcome> one = step.pass->run(std::move(schedule), context);
    if (!one)
      return Status::error(std::string(step.info->name) + ": " + one.message());
    if (observer)
      if (Status s = observer->ran(step.info->name, *one, secondsSince(begin)); !s)
        return s;
    schedule = std::move(one->schedule);
    schedule.costs.clear(); // bounds of the text, which a pass trades for time
  }
  return schedule;
}

} // namespace colldsl
