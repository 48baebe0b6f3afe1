#include "runtime/CollectivePlan.h"

#include "ir/Concat.h"
#include "ir/Ranges.h"
#include "program/CountedSize.h"
#include "program/Operands.h"
#include "runtime/MemoryReserve.h"
#include "runtime/StoredImages.h"
#include "runtime/graph/GatherGraph.h"
#include "select/Chooser.h"

#include <algorithm>
#include <utility>

namespace colldsl {
namespace {

const Param *findParam(const Program &program, const Decl &decl, const std::string &name) {
  for (const Param &param : decl.params)
    if (program.nameOf(param) == name)
      return &param;
  return nullptr;
}

/// The reduction that stands in a schedule for an operator that the schedule does not know.
constexpr Reduction standIn(bool commutes) { return commutes ? Reduction::Sum : Reduction::MatMul; }

} // namespace

Status CollectivePlan::mayDescribe() const {
  return isCommitted() ? Status::error("the plan is committed") : Status();
}

Status CollectivePlan::mayBind() const {
  return isCommitted() && plan_->running() ? Status::error("the plan is running") : Status();
}

// Discards the schedule of tryOut(), because the description changes.
template <typename Change> Status CollectivePlan::describeAnew(Change change) {
  Status s = mayDescribe();
  if (!s)
    return s;
  isMade_ = false;
  change();
  return s;
}

// Names are checked when a schedule is made.
template <typename Change> Status CollectivePlan::bindAnew(std::string_view buffer, Change change) {
  if (Status s = mayBind(); !s)
    return s;
  size_t entry = entryOf(buffer);
  if (entry == bufferNames_.size()) {
    if (isCommitted())
      return unknown(buffer, bufferNames_);
    isMade_ = false;
    bufferNames_.emplace_back(buffer);
    isGiven_.push_back(true);
    binding_.buffers.emplace_back();
    binding_.blocks.emplace_back();
  }
  isGiven_[entry] = true;
  isBound_ = isChecked_ = false;
  change(entry);
  return {};
}

Status CollectivePlan::setType(ElementType type) {
  return describeAnew([&] {
    request_.type = type;
    hasType_ = true;
    combiner_ = {};
  });
}

Status CollectivePlan::setCombiner(const Combiner &combiner, bool commutes) {
  return describeAnew([&] {
    request_.type = ElementType::U8;
    hasType_ = true;
    combiner_ = combiner;
    combinerCommutes_ = commutes;
  });
}

Status CollectivePlan::preferLibrary(Library &preferred,
                                     std::shared_ptr<const PlanCompiler> compiler) {
  return describeAnew([&] {
    preferred_ = &preferred;
    preferredCompiler_ = std::move(compiler);
  });
}

Status CollectivePlan::setCompiler(std::shared_ptr<const PlanCompiler> compiler) {
  return describeAnew([&] { compiler_ = std::move(compiler); });
}

Status CollectivePlan::setInPlace(bool inPlace) {
  return describeAnew([&] { request_.inPlace = inPlace; });
}

Status CollectivePlan::setDeviceOnly(bool isDeviceOnly) {
  return describeAnew([&] { isDeviceOnly_ = isDeviceOnly; });
}

Status CollectivePlan::setDeviceMessages(uint64_t fromBytes) {
  return describeAnew([&] { deviceMessagesFrom_ = fromBytes; });
}

Status CollectivePlan::setNeverCaptured() {
  return describeAnew([&] { mayBeCaptured_ = false; });
}

Status CollectivePlan::setValue(const std::string &parameter, ArgumentValue value,
                                NumberKind kind) {
  return describeAnew([&] {
    values_[parameter] = std::move(value);
    kinds_[parameter] = kind;
  });
}

Status CollectivePlan::setGraph(const std::string &parameter,
                                std::shared_ptr<const OrderedGraph> graph) {
  return describeAnew([&] {
    values_[parameter] = &graph->edges;
    kinds_.erase(parameter);
    graphs_[parameter] = std::move(graph);
  });
}

Status CollectivePlan::forget(const std::string &name) {
  return describeAnew([&] {
    values_.erase(name);
    kinds_.erase(name);
    graphs_.erase(name);
    size_t entry = entryOf(name);
    if (entry == bufferNames_.size())
      return;
    isGiven_[entry] = false;
    binding_.buffers[entry] = {};
    binding_.blocks[entry] = {};
  });
}

Status CollectivePlan::setElements(uint64_t n) {
  if (Status s = mayBind(); !s)
    return s;
  if (isCommitted() && !sizeClass_.contains(n))
    return Status::error(concat("the plan holds for ", rangeWord(sizeClass_.min, sizeClass_.max),
                                " elements, not for ", n, "; make another one"));
  if (isCommitted() && n % unit_ != 0)
    return Status::error(concat("the plan holds for multiples of ", unit_, " elements, not for ", n,
                                "; make another one"));
  isMade_ &= request_.elements == n;
  request_.elements = n;
  isBound_ = isChecked_ = false;
  return {};
}

Status CollectivePlan::bind(std::string_view buffer, BoundBuffer memory) {
  return bindAnew(buffer, [&](size_t entry) { binding_.buffers[entry] = memory; });
}

Status CollectivePlan::setBlocks(std::string_view buffer, const BlockTable &blocks) {
  return bindAnew(buffer, [&](size_t entry) { binding_.blocks[entry] = blocks; });
}

Status CollectivePlan::move(std::string_view buffer, ptrdiff_t by) {
  if (Status s = mayBind(); !s)
    return s;
  auto id = static_cast<uint32_t>(entryOf(buffer));
  if (id == bufferNames_.size() || !isGiven_[id])
    return Status::error(concat("nothing is bound to '", buffer, "'"));
  void *&data = binding_.buffers[id].data;
  data = static_cast<std::byte *>(data) + by;
  if (!isCommitted())
    return {};
  if (areas_[id].begin)
    areas_[id].begin += by;
  isMoved_ = true;
  try {
    isBound_ = isBound_ && plan_->shift(BufferId{id}, by);
  } catch (const std::bad_alloc &) { // the next start binds
    isBound_ = false;
  }
  isChecked_ &= isBound_ && !areas_[id].begin; // areas that moved are compared again
  return {};
}

Status CollectivePlan::replaceCombiner(const Combiner &combiner) {
  if (Status s = mayBind(); !s)
    return s;
  if (combiner_.elementBytes != combiner.elementBytes)
    return Status::error(concat("the plan combines elements of ", combiner_.elementBytes,
                                " bytes, not of ", combiner.elementBytes));
  combiner_ = combiner;
  isBound_ = isChecked_ = false;
  return {};
}

uint64_t CollectivePlan::elementBytes() const {
  return combiner_ ? combiner_.elementBytes : sizeBytes(request_.type);
}

bool CollectivePlan::commutes() const {
  if (combiner_)
    return combinerCommutes_;
  auto op = values_.find("op");
  auto *number = op == values_.end() ? nullptr : std::get_if<int64_t>(&op->second);
  bool isKnown = number && *number < kReductions;
  return colldsl::commutes(isKnown ? std::optional(static_cast<Reduction>(*number)) : std::nullopt);
}

/// n; the mean of the blocks' lengths if these are values of the plan.
uint64_t CollectivePlan::meanElements() const {
  auto counts = values_.find("counts");
  auto *lengths =
      counts == values_.end() ? nullptr : std::get_if<std::vector<int64_t>>(&counts->second);
  if (!lengths || lengths->empty())
    return request_.elements;
  uint64_t sum = 0;
  for (int64_t length : *lengths)
    sum += static_cast<uint64_t>(std::max<int64_t>(length, 0));
  return sum / lengths->size();
}

Situation CollectivePlan::situation() const {
  Situation s =
      Situation::on(communicator_.topology(), communicator_.engine().endpoint().caps().sharesCores);
  s.multicast = communicator_.engine().endpoint().caps().transfers.multicast;
  s.tcp = communicator_.engine().endpoint().caps().tcp;
  s.function = name_;
  s.bytes = meanElements() * elementBytes();
  s.type = request_.type;
  s.commutative = commutes();
  return s;
}

// The collective of that name, else the one that the library's rules behind `last` give for the
// function. False: it has neither.
Result<bool> CollectivePlan::chooseFrom(Library &library, const SelectionRule *last) {
  Result<const Program *> found = library.program();
  if (!found)
    return found.status();
  const Program &program = **found;
  library_ = &library;
  request_.collective = program.find(name_, DeclKind::Collective);
  request_.arguments.clear();
  reason_ = "named";
  rule_ = nullptr;
  if (request_.collective != kNoDecl)
    return true;
  Result<Chooser> chooser = Chooser::of(library);
  if (!chooser)
    return chooser.status();
  rule_ = chooser->choose(situation(), last);
  if (!rule_)
    return false;
  reason_ = chooser->nameOf(*rule_);
  request_.collective = DeclId{rule_->collective};
  request_.arguments = chooser->argumentsOf(*rule_);
  return true;
}

// These depend on n: the rule, the choices of passes, and the validity range.
void CollectivePlan::narrowAlike() {
  SizeClass alike = std::exchange(alike_, {0, 1, 0});
  bool mayBeElsewhere = preferred_ && library_ != preferred_;
  if (image_ || mayBeElsewhere || !graphs_.empty())
    return;
  if (rule_) {
    Result<Chooser> chooser = Chooser::of(*library_);
    if (!chooser || chooser->choose(situation()) != rule_)
      return;
    if (meanElements() == request_.elements) { // lengths that are values stay
      Chooser::Bytes bytes = chooser->alikeAround(situation());
      alike.min =
          std::max(alike.min, bytes.least / elementBytes() + (bytes.least % elementBytes() != 0));
      alike.max = std::min(alike.max, bytes.most / elementBytes());
    }
  }
  alike_ = alike;
}

static std::string_view phraseOf(ValueType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, phrase)                                                       \
  case ValueType::Name:                                                                            \
    return phrase;
#include "program/Types.def"
  }
  return "";
}

// A reduction and an int are both given as numbers.
Status CollectivePlan::checkKind(const std::string &name, ValueType type, int64_t number) const {
  auto found = kinds_.find(name);
  NumberKind kind = found == kinds_.end() ? NumberKind::Any : found->second;
  bool isReduction = type == ValueType::Reduction;
  if (kind == NumberKind::Any || isReduction == (kind == NumberKind::Reduction))
    return {};
  std::string given = isReduction ? concat("the int ", number)
                                  : concat("the reduction ", spelling(Reduction(number)));
  return Status::error(
      concat("'", name, "' of '", collective_, "' takes ", phraseOf(type), ", not ", given));
}

Status CollectivePlan::describeValue(const Program &program, const std::string &name,
                                     const ArgumentValue &value) {
  const Decl &decl = program.decl(request_.collective);
  auto *number = std::get_if<int64_t>(&value);
  for (size_t i = 0; i < decl.params.size(); ++i)
    if (!decl.params[i].isBuffer && program.nameOf(decl.params[i]) == name) {
      if (Status s = number ? checkKind(name, decl.params[i].type, *number) : Status(); !s)
        return s;
      request_.values[i] = value;
      return {};
    }
  if (name == countedSize(program, decl))
    return Status::error(concat("'", name, "' is the number of elements; set it as the count"));
  bool isSize = std::any_of(decl.sizeNames.begin(), decl.sizeNames.end(),
                            [&](uint32_t size) { return program.strings[size] == name; });
  if (!isSize || !number || *number < 0)
    return Status::error(concat("'", collective_, "' has no parameter '", name, "'",
                                isSize ? " that could take this value" : ""));
  if (Status s = checkKind(name, ValueType::Int, *number); !s)
    return s;
  request_.sizes.push_back({name, static_cast<uint64_t>(*number)});
  return {};
}

Status CollectivePlan::describe(const Program &program) {
  const Decl &decl = program.decl(request_.collective);
  collective_ = program.nameOf(decl);
  if (Status s = checkType(program); !s)
    return s;
  request_.ranks = communicator_.numRanks();
  request_.topology = &communicator_.topology();
  request_.values.assign(decl.params.size(), {});
  request_.elementBytes = combiner_.elementBytes;
  request_.sizes.clear();
  for (const auto &[name, value] : values_)
    if (Status s = describeValue(program, name, value); !s)
      return s;
  if (combiner_)
    if (Status s = describeOperator(program); !s)
      return s;
  std::vector<std::string> names;
  for (const Param &param : decl.params)
    if (param.isBuffer)
      names.push_back(program.nameOf(param));
  if (Status s = nameBuffers(std::move(names)); !s)
    return s;
  if (request_.inPlace && decl.aliases.empty())
    return Status::error(concat("'", collective_, "' has no form in place"));
  return {};
}

// There is no default, because memory of another type might have the same length. A type that was
// given is T's, or else that of some buffer.
Status CollectivePlan::checkType(const Program &program) const {
  bool isMeant = !hasType_ || combiner_, hasBuffers = false;
  for (const Param &param : program.decl(request_.collective).params) {
    if (!hasType_ && param.isBuffer && param.buffer.generic)
      return Status::error(concat("the type of elements is not set: '", program.nameOf(param),
                                  "' of '", collective_, "' has elements of T"));
    hasBuffers |= param.isBuffer;
    isMeant |= param.isBuffer && (param.buffer.generic || param.buffer.type == request_.type);
  }
  return isMeant || !hasBuffers
             ? Status()
             : Status::error(concat("'", collective_, "' has no buffer of type ",
                                    spelling(request_.type), ", and none whose type can be set"));
}

Status CollectivePlan::describeOperator(const Program &program) {
  const Decl &decl = program.decl(request_.collective);
  bool found = false;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    if (decl.params[i].isBuffer || decl.params[i].type != ValueType::Reduction)
      continue;
    if (!std::holds_alternative<std::monostate>(request_.values[i]))
      return Status::error(
          concat("'", program.nameOf(decl.params[i]), "' is given, and a combiner"));
    request_.values[i] = static_cast<int64_t>(standIn(combinerCommutes_));
    found = true;
  }
  return found
             ? Status()
             : Status::error(concat("'", collective_, "' has no operator that could be replaced"));
}

// A combiner cannot replace an operator that the program itself names.
Status CollectivePlan::checkOperator() const {
  for (const ImageOp &op : view_.ops)
    if (op.kind == OpKind::Combine && op.reduction != standIn(combinerCommutes_))
      return Status::error(concat("'", collective_, "' combines by ", spelling(op.reduction),
                                  " whatever its parameters say"));
  return {};
}

// All ranks need all edges of global graphs, and of all graphs if each rank makes the schedules of
// all ranks.
Status CollectivePlan::gatherGraphs(const Program &program) {
  const Decl &decl = program.decl(request_.collective);
  gathered_.clear();
  for (const auto &[name, graph] : graphs_) {
    const Param *param = findParam(program, decl, name);
    if (!param || !(param->isGlobal || (compiler() && compiler()->needsAllRanks(isTextProved()))))
      continue;
    Result<GivenGraph> all = gatherGraph(communicator_, graph->edges);
    isGathered_ = all.ok();
    if (!all)
      return all.status();
    gathered_.push_back(std::make_shared<const GivenGraph>(all.take()));
    request_.values[static_cast<size_t>(param - decl.params.data())] = gathered_.back().get();
  }
  return {};
}

// If there are several graphs, the sends are ordered along the first one that the messages go
// along. That is another schedule than the one that is proved.
Status CollectivePlan::compile(const Program &program) {
  static const std::shared_ptr<const PlanCompiler> asWritten = *PlanCompiler::make({.passes = ""});
  const PlanCompiler *given = compiler();
  Result<CompiledSchedule> made =
      (given ? given : asWritten.get())
          ->compile(*library_, request_, communicator_.rank(), isTextProved());
  if (!made) {
    bool isPartly = made.status().kind() == ErrorKind::NotProved && textProof_.leavesOut;
    return Status::error(made.status().kind(),
                         concat("'", collective_, "'",
                                isPartly ? concat(" is ", textProof_.inWords(), ", but must be ",
                                                  spelling(leastProof()))
                                         : std::string(),
                                ": ", withPlace(program, made.status())));
  }
  bool isOrdered = false;
  for (const auto &[name, graph] : graphs_)
    if (!isOrdered && leastProof() == ProofLevel::None && !made->hasDagPasses && !made->isProved &&
        !graph->order.round.empty() && isAlong(made->dag, graph->edges.ranks.front())) {
      if (Status s = orderAlong(made->dag, *graph); !s)
        return s;
      isOrdered = true;
    }
  remarks_ = std::move(made->remarks);
  proof_ = isOrdered            ? PlanProof()
           : made->hasDagPasses ? exactProof(request_.ranks)
           : made->isProved     ? withExact(textProof_, request_.ranks)
                                : textProof_;
  schedule_ = RankSchedule(communicator_.rank(), std::move(made->dag), made->sizeClass);
  view_ = schedule_.view();
  sizeClass_ = scheduleSizes_ = schedule_.sizeClass();
  alike_ = {request_.elements, std::max(made->alike.min, sizeClass_.min),
            std::min(made->alike.max, sizeClass_.max)};
  unit_ = 1;
  return combiner_ ? checkOperator() : Status();
}

/// True if the first buffers of the image have the names of the collective's buffers.
bool CollectivePlan::hasOurBuffers(const Image &image, const RankView &view) const {
  if (view.buffers.size() < bufferNames_.size())
    return false;
  for (size_t b = 0; b < bufferNames_.size(); ++b)
    if (image.bufferName(view.buffers[b]) != bufferNames_[b])
      return false;
  return true;
}

// An operator of the caller's replaces the one in the image, as it does in a schedule that is
// instantiated.
Result<bool> CollectivePlan::takeImage(uint32_t unit) {
  image_ = nullptr;
  Result<const LibraryImage *> found = findImage(*library_, request_, unit);
  if (!found)
    return found.status();
  if (!*found || proofOfImage(**found, textProof_).level < leastProof())
    return false;
  Result<const Image *> image = library_->image(**found);
  if (!image)
    return image.status();
  RankView view = (*image)->rank(communicator_.rank());
  if (!hasOurBuffers(**image, view))
    return Status::error(concat("the library's image of '", collective_, "' for ", (*found)->ranks,
                                " ranks has other buffers than the collective"));
  image_ = *found;
  proof_ = proofOfImage(*image_, textProof_);
  remarks_.clear();
  view_ = view;
  unit_ = unit;
  scheduleSizes_ = (*image)->sizeClass();
  sizeClass_ = inUnits(scheduleSizes_, unit_);
  if (Status s = combiner_ ? checkOperator() : Status(); !s)
    return s;
  return true;
}

std::string CollectivePlan::withPlace(const Program &program, const Status &status) const {
  auto textOf = [&](const Diagnostic &d) {
    bool known = d.loc.known() && d.loc.file < program.files.size();
    return known ? concat(program.files[d.loc.file], ":", d.loc.line, ": ", d.message) : d.message;
  };
  std::string text = textOf(status.diagnostic());
  for (const Diagnostic &note : status.diagnostic().notes)
    text += "; " + textOf(note);
  return text;
}

/// "3 ranks, n = 0.. in multiples of 4, i32, in place; ...".
std::string CollectivePlan::servedByImages(uint32_t unit) const {
  std::string all;
  for (const LibraryImage &image : **library_->images())
    if (image.collective == collective_)
      all += concat(all.empty() ? "" : "; ", image.ranks, " ranks, n = ", sizesInWords(image, unit),
                    ", ", spelling(image.type), image.inPlace ? ", in place" : "");
  return all;
}

// Takes an image of an imported collective. False: a rule chose it, and the next rule is to be
// tried; notServed_ says why.
Result<bool> CollectivePlan::takeImported(uint32_t unit) {
  textProof_ = {};
  Status why = describe(**library_->program());
  if (why) {
    Result<bool> isTaken = takeImage(unit);
    if (!isTaken || *isTaken)
      return isTaken;
    Result<const LibraryImage *> found = findImage(*library_, request_, unit);
    if (Status s = found && *found ? checkProof(PlanProof()) : found.status(); !s)
      return s;
    why =
        Status::error(concat("'", collective_, "' was imported; it serves ", servedByImages(unit)));
  }
  if (!rule_)
    return why;
  notServed_ = std::move(why);
  return false;
}

// False: the library has neither such a collective nor a rule.
Result<bool> CollectivePlan::makeFrom(Library &library) {
  for (const SelectionRule *last = nullptr;; last = rule_) {
    Result<bool> isThere = chooseFrom(library, last);
    if (isThere && !*isThere && !notServed_ && notServed_.kind() == ErrorKind::NotProved)
      return notServed_;
    if (!isThere || !*isThere)
      return isThere;
    Result<std::optional<uint32_t>> unit = unitOf(library, request_);
    if (!unit)
      return unit.status();
    Result<bool> isMade = *unit ? takeImported(**unit) : makeChosen();
    if (!isMade || *isMade)
      return isMade;
  }
}

// False: as takeImported().
Result<bool> CollectivePlan::makeChosen() {
  const Program &program = **library_->program();
  if (Status s = describe(program); !s)
    return s;
  Result<PlanProof> ofText = proofOfText(*library_, request_, commutes());
  if (!ofText)
    return ofText.status();
  textProof_ = ofText.take();
  if (Status s = gatherGraphs(program); !s)
    return s;
  Result<bool> isStored = takeImage(1);
  if (!isStored || *isStored)
    return isStored;
  Status s = leastProof() == ProofLevel::Exact ? Status() : checkProof(textProof_);
  if (s)
    s = compile(program);
  if (s)
    return true;
  if (!rule_ || s.kind() != ErrorKind::NotProved)
    return s;
  notServed_ = s;
  return false;
}

Status CollectivePlan::make() {
  notServed_ = {};
  if (preferred_)
    if (Result<bool> made = makeFrom(*preferred_); !made || *made)
      return made ? Status() : made.status();
  Result<bool> made = makeFrom(given_);
  if (!made)
    return made.status();
  if (*made)
    return {};
  Situation s = situation();
  return Status::error(concat("the library has no collective '", name_, "', and no rule for ",
                              s.ranks, " ranks and ", s.bytes, " bytes of it",
                              notServed_ ? "" : ": " + notServed_.message()));
}

ProofLevel CollectivePlan::leastProof() const {
  return compiler() ? compiler()->settings().leastProof : ProofLevel::None;
}

/// True if the text is proved for all P, with all its promises.
bool CollectivePlan::isTextProved() const {
  return textProof_.level == ProofLevel::AllRanks && !textProof_.leavesOut;
}

Status CollectivePlan::checkProof(const PlanProof &proof) const {
  if (proof.level >= leastProof())
    return {};
  return Status::error(ErrorKind::NotProved, concat("'", collective_, "' is ", proof.inWords(),
                                                    ", but must be ", spelling(leastProof())));
}

Status CollectivePlan::tryOut() {
  if (Status s = mayDescribe(); !s)
    return s;
  if (!graphs_.empty())
    return Status::error("a plan with graphs needs all ranks");
  if (Status s = make(); !s)
    return s;
  isMade_ = true;
  if (Status s = checkProof(proof_); !s)
    return s;
  return checkBinding();
}

// All ranks get the error of this one: none waits for a rank that failed.
Status CollectivePlan::commit() {
  if (Status s = mayDescribe(); !s)
    return s;
  Engine &engine = communicator_.engine();
  auto refuse = [&](const Status &why) {
    engine.endpoint().refuse(why.message());
    return why;
  };
  isGathered_ = true;
  Status made =
      unlessMemoryIsShort([this] { return std::exchange(isMade_, false) ? Status() : make(); });
  if (!made) // else all ranks know
    return isGathered_ && made.kind() != ErrorKind::NotProved ? refuse(made) : made;
  if (Status s = checkProof(proof_); !s)
    return s;
  std::string words;
  Status bound = unlessMemoryIsShort([&] {
    words = terms();
    narrowAlike();
    return checkBinding();
  });
  if (!bound)
    return refuse(bound);
  auto plan = Plan::open(engine, view_, scheduleSizes_, binding_, words, transferPolicy_);
  if (!plan)
    return Status::error(plan.status().kind(), concat("'", collective_, "': ", plan.message()));
  plan_ = plan.take();
  isBound_ = true;
  return {};
}

const std::string &CollectivePlan::passes() const {
  static const std::string none;
  return image_ ? image_->passes : compiler() ? compiler()->settings().passes : none;
}

TunedCollective CollectivePlan::chosen() const {
  TunedCollective what{collective_, {}};
  const Program &program = **library_->program();
  const Decl &decl = program.decl(request_.collective);
  std::vector<bool> isInContract = contractParams(program, decl);
  for (size_t p = 0; p < decl.params.size(); ++p) {
    std::optional<int64_t> number = numberOf(program, request_, p);
    if (number && !isInContract[p])
      what.values.push_back({program.nameOf(decl.params[p]), *number});
  }
  return what;
}

std::string CollectivePlan::argumentsInWords() const {
  if (image_)
    return image_->parameters;
  const Program &program = **library_->program();
  const Decl &decl = program.decl(request_.collective);
  std::string words;
  for (size_t p = 0; p < decl.params.size(); ++p) {
    const ArgumentValue *given = p < request_.values.size() ? &request_.values[p] : nullptr;
    bool isGiven = given && given->index() != 0;
    ExprId written = p < request_.arguments.size() ? request_.arguments[p] : kNoExpr;
    if (!isGiven && written == kNoExpr)
      continue;
    std::optional<int64_t> number = numberOf(program, request_, p);
    words += concat(words.empty() ? "" : ", ", program.nameOf(decl.params[p]), "=");
    words += !number ? "..."
             : decl.params[p].type == ValueType::Reduction
                 ? std::string(spelling(static_cast<Reduction>(*number)))
                 : std::to_string(*number);
  }
  return words;
}

} // namespace colldsl
