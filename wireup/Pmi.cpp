// PMI 1 of MPICH's launchers: lines of words `name=value` over a socket that the process
// inherits. source: P. Balaji et al., "PMI: a scalable parallel process-management interface for
// extreme-scale systems", 2010, and the simple PMI of MPICH.
#include "wireup/Launcher.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "wireup/Environment.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace colldsl {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
// The longest line, and the bytes in it besides the name of the space and the value, a key of 64
// included.
constexpr size_t kLongestLine = 1000, kMaxBesides = 100;

/// The number in a variable of the environment; nothing: it is not set, or no number.
std::optional<uint32_t> numberIn(const char *variable) {
  const char *text = setting(variable);
  return text ? parseWhole<uint32_t>(text) : std::nullopt;
}

std::string inHex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte byte : bytes) {
    text += kDigits[static_cast<unsigned>(byte) >> 4];
    text += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

bool fromHex(const std::string &text, std::span<std::byte> bytes) {
  if (text.size() != 2 * bytes.size())
    return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    unsigned byte = 0;
    const char *digits = &text[2 * i];
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      return false;
    bytes[i] = static_cast<std::byte>(byte);
  }
  return true;
}

class Pmi : public Launcher {
public:
  Pmi(int socket, uint32_t rank, uint32_t numRanks, Limit limit)
      : Launcher(limit), socket_(socket) {
    rank_ = rank;
    numRanks_ = numRanks;
  }
  ~Pmi() override { (void)request("cmd=finalize", "finalize_ack"); }

  Status open() {
    Result<std::string> reply =
        request("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    if (reply && wordOf(*reply, "rc") != "0")
      return Status::error(concat("the launcher refused PMI 1: ", *reply));
    if (reply)
      reply = request("cmd=get_maxes", "maxes");
    if (!reply)
      return reply.status();
    longestValue_ = parseWhole<size_t>(wordOf(*reply, "vallen_max")).value_or(0);
    reply = request("cmd=get_my_kvsname", "my_kvsname");
    if (!reply)
      return reply.status();
    space_ = wordOf(*reply, "kvsname");
    // The line of a put, too, must fit into what Hydra 4.2 keeps for one.
    size_t besides = kMaxBesides + space_.size();
    longestValue_ = std::min(longestValue_, kLongestLine - std::min(kLongestLine, besides));
    return longestValue_ >= 4 && !space_.empty()
               ? Status()
               : Status::error("the launcher has no place for keys and values");
  }

protected:
  // Two digits per byte, and an end.
  size_t longestValue() const override { return (longestValue_ - 1) / 2; }

  Status put(const std::string &key, std::span<const std::byte> value) override {
    return wellDone(request(
        concat("cmd=put kvsname=", space_, " key=", nameOf(rank_, key), " value=", inHex(value)),
        "put_result"));
  }

  Status fence() override {
    Result<std::string> reply = request("cmd=barrier_in", "barrier_out");
    bool isLate = !reply && reply.status().kind() == ErrorKind::TimedOut;
    return reply ? Status() : isLate ? notAllCame() : reply.status();
  }

  Status get(uint32_t rank, const std::string &key, std::span<std::byte> value) override {
    Result<std::string> reply =
        request(concat("cmd=get kvsname=", space_, " key=", nameOf(rank, key)), "get_result");
    if (Status s = wellDone(reply); !s)
      return s;
    return fromHex(wordOf(*reply, "value"), value)
               ? Status()
               : Status::error(concat("rank ", rank, " put something else than ", value.size(),
                                      " bytes over PMI"));
  }

private:
  using Clock = std::chrono::steady_clock;

  static std::string nameOf(uint32_t rank, const std::string &key) {
    return concat(key, "-", rank);
  }

  static Status wellDone(const Result<std::string> &reply) {
    if (!reply)
      return reply.status();
    return wordOf(*reply, "rc") == "0" ? Status()
                                       : Status::error(concat("the launcher answered: ", *reply));
  }

  /// The value of a word in a line.
  static std::string wordOf(const std::string &line, const std::string &name) {
    size_t begin = (" " + line).find(" " + name + "=");
    if (begin == std::string::npos)
      return "";
    begin += name.size() + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }

  /// Sends a question. Returns the launcher's answer.
  Result<std::string> request(const std::string &question, const std::string &answer) {
    std::string line = question + "\n";
    for (size_t sent = 0; sent < line.size();) {
      ssize_t now = send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (now < 0 && errno == EINTR)
        continue;
      if (now < 0)
        return Status::error(concat("cannot reach the launcher: ", std::strerror(errno)));
      sent += static_cast<size_t>(now);
    }
    Result<std::string> reply = receive();
    if (reply && wordOf(*reply, "cmd") != answer)
      return Status::error(
          concat("the launcher was to answer ", answer, ", and answered: ", *reply));
    return reply;
  }

  /// False: the launcher sends nothing for too long.
  bool await(Clock::time_point begin) const {
    pollfd news = {socket_, POLLIN, 0};
    while (true) {
      auto left = limit_
                      ? std::chrono::ceil<std::chrono::milliseconds>(begin + *limit_ - Clock::now())
                      : std::chrono::milliseconds(-1);
      if (limit_ && left.count() <= 0)
        return false;
      auto atMost = std::min<std::chrono::milliseconds>(left, std::chrono::hours(1));
      if (poll(&news, 1, static_cast<int>(atMost.count())) > 0)
        return true;
    }
  }

  Result<std::string> receive() {
    Clock::time_point begin = Clock::now();
    for (size_t end; (end = heard_.find('\n')) == std::string::npos;) {
      char more[4096];
      if (!await(begin))
        return Status::error(ErrorKind::TimedOut,
                             concat("the launcher sent nothing for ", limit_->count(), " s"));
      ssize_t length = recv(socket_, more, sizeof more, 0);
      if (length < 0 && errno == EINTR)
        continue;
      if (length <= 0)
        return Status::error(concat("the launcher is gone: ",
                                    length < 0 ? std::strerror(errno) : "it closed the socket"));
      heard_.append(more, static_cast<size_t>(length));
    }
    size_t end = heard_.find('\n');
    std::string line = heard_.substr(0, end);
    heard_.erase(0, end + 1);
    return line;
  }

  int socket_; ///< the launcher's
  std::string heard_, space_;
  size_t longestValue_ = 0;
};

} // namespace

Result<std::unique_ptr<Launcher>> findPmi(Launcher::Limit limit) {
  std::optional<uint32_t> socket = numberIn("PMI_FD"), rank = numberIn("PMI_RANK"),
                          size = numberIn("PMI_SIZE");
  if (!socket || !rank || !size)
    return std::unique_ptr<Launcher>();
  if (*rank >= *size)
    return Status::error(concat("PMI_RANK is ", *rank, ", PMI_SIZE ", *size));
  auto pmi = std::make_unique<Pmi>(static_cast<int>(*socket), *rank, *size, limit);
  if (Status s = pmi->open(); !s)
    return s;
  return std::unique_ptr<Launcher>(std::move(pmi));
}

} // namespace colldsl
