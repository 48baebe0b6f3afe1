#include "topology/JobHosts.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/FileWords.h"
#include "topology/HostList.h"
#include "topology/Machine.h"

namespace colldsl {
namespace {

constexpr std::string_view kSlots = "slots=";

class HostFile {
public:
  HostFile(FileWords &file, std::vector<JobHost> &hosts) : file_(file), hosts_(hosts) {}

  Status add(std::span<const FileWord> line);

private:
  Status count(const FileWord &word, size_t begin, uint64_t &slots) const;

  FileWords &file_;
  std::vector<JobHost> &hosts_;
};

Status HostFile::count(const FileWord &word, size_t begin, uint64_t &slots) const {
  std::string_view text = word.text.substr(begin);
  std::optional<uint64_t> given = parseWhole<uint64_t>(text);
  if (!given || *given == 0)
    return file_.error(word, concat("'", text, "' is no number of ranks of a host"), begin);
  slots = *given;
  return {};
}

Status HostFile::add(std::span<const FileWord> line) {
  uint64_t slots = 1;
  std::string_view names = line.front().text;
  if (size_t colon = names.find(':'); colon != names.npos) {
    if (Status s = count(line.front(), colon + 1, slots); !s)
      return s;
    names = names.substr(0, colon);
  }
  for (const FileWord &word : line.subspan(1)) {
    if (!word.text.starts_with(kSlots))
      return file_.error(word, concat("behind a host may stand slots=N, not '", word.text, "'"));
    if (Status s = count(word, kSlots.size(), slots); !s)
      return s;
  }
  HostList list(kMaxPus);
  if (Status s = list.expand(names); !s)
    return file_.error(line.front(), s.message(), list.column() - 1);
  if (slots > kMaxPus || hosts_.size() + list.names().size() * slots > kMaxPus)
    return file_.error(line.front(), concat("more than ", kMaxPus, " ranks"));
  std::string place = concat(file_.path(), ":", line.front().line, ":", line.front().column);
  for (const std::string &name : list.names())
    hosts_.insert(hosts_.end(), slots, JobHost{name, place});
  return {};
}

} // namespace

Result<std::vector<JobHost>> readHosts(std::string_view given) {
  std::vector<JobHost> hosts;
  if (!given.starts_with('@')) {
    HostList list(kMaxPus);
    if (Status s = list.expand(given); !s)
      return Status::error(concat("topology: hosts, character ", list.column(), ": ", s.message()));
    for (const std::string &name : list.names())
      hosts.push_back({name, "hosts"});
    return hosts;
  }
  std::string path(given.substr(1));
  Result<std::string> text = readText(path);
  if (!text)
    return text.status();
  FileWords file(*text, path);
  HostFile reader(file, hosts);
  std::vector<FileWord> line;
  while (file.next(line))
    if (Status s = reader.add(line); !s)
      return s;
  if (hosts.empty())
    return Status::error(concat("topology: '", path, "' has no hosts"));
  return hosts;
}

} // namespace colldsl
