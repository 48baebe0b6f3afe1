#include "transports/datagram/Packet.h"

#include "transports/datagram/Crc32c.h"

#include <cstring>

namespace colldsl::datagram {
namespace {

constexpr size_t kChecked = sizeof PacketHeader::checksum; // offset of the checked bytes
constexpr uint8_t kAllFlags = kFirst | kFinal | kHasStamp | kHasEcho | kAnswersProbe | kWantsReport;

} // namespace

std::optional<PacketView> parse(std::span<const std::byte> datagram, uint64_t token) {
  PacketView view;
  PacketHeader &header = view.header;
  if (datagram.size() < sizeof header || datagram.size() > kMaxPacketBytes)
    return std::nullopt;
  std::memcpy(&header, datagram.data(), sizeof header);
  view.body = datagram.subspan(sizeof header);
  bool isMeant = header.token == token && header.kind <= PacketKind::Last &&
                 (header.flags & ~kAllFlags) == 0 && header.bodyBytes == view.body.size() &&
                 hasBody(header.kind) == !view.body.empty();
  if (!isMeant || header.checksum != crc32c(datagram.subspan(kChecked)))
    return std::nullopt;
  return view;
}

void seal(PacketHeader &header, std::span<const std::byte> body) {
  iovec piece = {const_cast<std::byte *>(body.data()), body.size()};
  sealPieces(header, {&piece, 1});
}

void sealPieces(PacketHeader &header, std::span<const iovec> body) {
  size_t bytes = 0;
  for (const iovec &piece : body)
    bytes += piece.iov_len;
  header.bodyBytes = static_cast<uint16_t>(bytes);
  uint32_t sum = crc32c(std::as_bytes(std::span(&header, 1)).subspan(kChecked));
  for (const iovec &piece : body)
    sum = crc32c({static_cast<const std::byte *>(piece.iov_base), piece.iov_len}, sum);
  header.checksum = sum;
}

} // namespace colldsl::datagram
