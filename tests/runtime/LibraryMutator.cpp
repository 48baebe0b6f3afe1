// Mutations of libraries that know their parts: most change one field of one record, or a
// few bytes of one section, and put the file together again, so that the change is met by
// the check that is there for it and not by the first one of all.

#include "tests/ir/ByteMutator.h"

#include "program/Fields.h"
#include "program/library/LibraryLayout.h"

#include <algorithm>
#include <optional>

namespace colldsl {
namespace {

struct FieldCounter {
  uint64_t count = 0;

  template <Plain T> void operator()(T &) { ++count; }
  void operator()(SourceLoc &) { ++count; }
  void operator()(std::string &) { ++count; }
  template <typename T> void operator()(std::vector<T> &items) {
    ++count;
    for (T &item : items)
      (*this)(item);
  }
  template <typename T>
  requires(!Plain<T>) void operator()(T &record) { eachField(*this, record); }
};

/// Changes one field, the one of a number.
class FieldChanger {
public:
  FieldChanger(ByteMutator &random, uint64_t target) : random_(random), left_(target) {}

  template <Plain T> void operator()(T &value) {
    if (isIt())
      change(value);
  }
  void operator()(SourceLoc &loc) {
    if (isIt())
      change(loc.file);
  }
  void operator()(std::string &text) {
    if (!isIt())
      return;
    FuzzInput bytes(text.begin(), text.end());
    random_.change(bytes, {bytes});
    text.assign(bytes.begin(), bytes.end());
  }
  template <typename T> void operator()(std::vector<T> &items) {
    if (isIt())
      return changeList(random_, items);
    for (T &item : items)
      (*this)(item);
  }
  template <typename T>
  requires(!Plain<T>) void operator()(T &record) { eachField(*this, record); }

  template <typename T> static void changeList(ByteMutator &random, std::vector<T> &items) {
    if (items.empty())
      return items.resize(random.below(3));
    size_t at = random.below(items.size()), other = random.below(items.size());
    switch (random.below(4)) {
    case 0:
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      items.push_back(T(items[at]));
      return;
    case 2:
      return std::swap(items[at], items[other]);
    case 3:
      items[at] = items[other];
      return;
    }
  }

private:
  bool isIt() { return left_-- == 0; }

  template <typename T> void change(T &value) {
    constexpr unsigned values = numValues<T>;
    auto old = static_cast<uint64_t>(value);
    if constexpr (values != 0)
      value = static_cast<T>(random_.below(values));
    else
      value = static_cast<T>(number(old));
  }

  uint64_t number(uint64_t old) {
    switch (random_.below(8)) {
    case 0:
      return random_.edge();
    case 1:
      return old + 1;
    case 2:
      return old - 1;
    case 3:
      return old ^ uint64_t { 1 } << random_.below(64);
    default:
      return random_.below(uint64_t{1} << random_.below(12)); // most indices are small
    }
  }

  ByteMutator &random_;
  uint64_t left_;
};

template <typename T> void changeRecord(ByteMutator &random, T &record) {
  FieldCounter counter;
  counter(record);
  FieldChanger change(random, random.below(counter.count));
  change(record);
}

template <typename T> void changeTable(ByteMutator &random, std::vector<T> &items) {
  if (items.empty() || random.below(16) == 0)
    return FieldChanger::changeList(random, items);
  changeRecord(random, items[random.below(items.size())]);
}

void changeProgram(ByteMutator &random, Program &p) {
  switch (random.below(16)) {
  case 0:
  case 1:
    return changeTable(random, p.decls);
  case 2:
  case 3:
  case 4:
  case 5:
    return changeTable(random, p.exprs);
  case 6:
  case 7:
  case 8:
    return changeTable(random, p.stmts);
  case 9:
    return changeTable(random, p.operands);
  case 10:
    return changeTable(random, p.labels);
  case 11:
    return changeTable(random, p.temps);
  case 12:
  case 13:
    return changeTable(random, p.ensures);
  case 14:
    return changeTable(random, p.arguments);
  case 15:
    return random.below(2) ? changeTable(random, p.strings) : changeTable(random, p.files);
  }
}

/// A file of the corpus, taken to pieces.
class Pieces {
public:
  explicit Pieces(const FuzzInput &file) : file_(file) {
    LibraryHeader header;
    if (file.size() < sizeof header)
      return;
    std::memcpy(&header, file.data(), sizeof header);
    std::memcpy(head_, file.data(), sizeof head_);
    uint64_t room = (file.size() - sizeof header) / sizeof(LibrarySection);
    for (uint64_t i = 0; i < std::min<uint64_t>({header.sectionCount, room, 16}); ++i) {
      LibrarySection entry;
      std::memcpy(&entry, file.data() + sizeof header + i * sizeof entry, sizeof entry);
      if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset)
        continue;
      auto begin = file.begin() + static_cast<std::ptrdiff_t>(entry.offset);
      sections_.push_back(
          {entry.kind, FuzzInput(begin, begin + static_cast<std::ptrdiff_t>(entry.bytes))});
    }
    for (size_t i = 0; i < sections_.size() && !program_; ++i)
      if (sections_[i].kind == kProgramSection) {
        program_ = decode<Program>(sections_[i].bytes);
        programAt_ = i;
      }
  }

  FuzzInput mutate(ByteMutator &random, const std::vector<FuzzInput> &corpus) const {
    if (sections_.empty() || random.below(16) == 0)
      return random.mutate({file_, corpus[random.below(corpus.size())]});
    if (random.below(16) == 0) {
      FuzzInput result = file_;
      for (uint64_t left = 1 + random.below(3); left > 0; --left)
        random.changeInPlace(result, 0, std::min<size_t>(result.size(), 256)); // the table
      return result;
    }
    size_t section = random.below(sections_.size());
    if (program_ && random.below(2) == 0)
      section = programAt_;
    return together(section, changed(random, sections_[section]));
  }

private:
  struct Section {
    uint32_t kind;
    FuzzInput bytes;
  };

  template <typename T> static std::optional<T> decode(const FuzzInput &bytes) {
    RecordReader reader(std::as_bytes(std::span(bytes)));
    std::optional<T> value(std::in_place);
    reader(*value);
    if (reader.failed())
      value.reset();
    return value;
  }

  template <typename T> static FuzzInput encode(const T &value) {
    RecordWriter writer;
    writer(value);
    auto begin = reinterpret_cast<const uint8_t *>(writer.bytes.data());
    return FuzzInput(begin, begin + writer.bytes.size());
  }

  FuzzInput changed(ByteMutator &random, const Section &section) const {
    uint64_t times = 1 + random.below(3);
    if (random.below(4) != 0)
      switch (section.kind) {
      case kIdentitySection:
        return changedAs<LibraryIdentity>(random, section, times);
      case kProgramSection:
        return program_ ? changedProgram(random, times) : section.bytes;
      case kSourcesSection:
        return changedAs<std::vector<LibrarySource>>(random, section, times);
      case kImagesSection:
        return changedAs<std::vector<LibraryImage>>(random, section, times);
      case kRulesSection:
        return changedAs<std::vector<SelectionRule>>(random, section, times);
      case kImportedSection:
        return changedAs<std::vector<ImportedCollective>>(random, section, times);
      case kImageBytesSection: {
        FuzzInput bytes = section.bytes; // whose records are aligned, and of fixed numbers
        for (; times > 0; --times)
          random.changeInPlace(bytes, 0, bytes.size());
        return bytes;
      }
      }
    FuzzInput bytes = section.bytes;
    for (; times > 0; --times)
      random.change(bytes, {section.bytes});
    return bytes;
  }

  FuzzInput changedProgram(ByteMutator &random, uint64_t times) const {
    Program program = *program_;
    for (; times > 0; --times)
      changeProgram(random, program);
    return encode(program);
  }

  template <typename T>
  static FuzzInput changedAs(ByteMutator &random, const Section &section, uint64_t times) {
    std::optional<T> value = decode<T>(section.bytes);
    for (; value && times > 0; --times)
      changeRecord(random, *value);
    return value ? encode(*value) : section.bytes;
  }

  /// The file with other bytes in one section.
  FuzzInput together(size_t changed, const FuzzInput &bytes) const {
    FuzzInput file;
    file.reserve(file_.size() + bytes.size());
    file.resize(sizeof(LibraryHeader) + sections_.size() * sizeof(LibrarySection));
    std::memcpy(file.data(), head_, sizeof head_);
    auto count = static_cast<uint32_t>(sections_.size());
    std::memcpy(file.data() + offsetof(LibraryHeader, sectionCount), &count, sizeof count);
    uint64_t at = sizeof(LibraryHeader);
    for (size_t i = 0; i < sections_.size(); ++i) {
      const FuzzInput &content = i == changed ? bytes : sections_[i].bytes;
      file.resize((file.size() + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment);
      LibrarySection entry{sections_[i].kind, 0, file.size(), content.size(), 0};
      std::memcpy(file.data() + at, &entry, sizeof entry);
      at += sizeof entry;
      file.insert(file.end(), content.begin(), content.end());
    }
    return file;
  }

  FuzzInput file_;
  uint8_t head_[sizeof(LibraryHeader)] = {};
  std::vector<Section> sections_;
  std::optional<Program> program_; ///< of section programAt_
  size_t programAt_ = 0;
};

} // namespace

FuzzInput mutateFuzz(const std::vector<FuzzInput> &corpus, uint64_t seed) {
  static const std::vector<Pieces> pieces(corpus.begin(), corpus.end());
  ByteMutator random(seed);
  return pieces[random.below(pieces.size())].mutate(random, corpus);
}

} // namespace colldsl
