#include "show/SvgViews.h"

#include <algorithm>

namespace colldsl::show {
namespace {

constexpr double kProvenanceLeft = 80, kProvenanceTop = 46, kGapX = 24, kGapY = 52,
                 kProvenanceWidth = kPanelsWidth - kProvenanceLeft;
constexpr uint32_t kMostParts = 60'000; ///< more would take a viewer seconds
constexpr uint32_t kMostAcross = 4;

/// Panels, one per round: ranks down, bytes across.
class ProvenanceSvg {
public:
  ProvenanceSvg(const ShownSchedule &shown, uint32_t buffer, SvgCanvas &svg)
      : shown_(shown), provenance_(shown), buffer_(buffer), svg_(svg) {
    for (uint32_t r = 0; r < shown.ranks; ++r)
      bytes_ = std::max(bytes_, provenance_.bytesOf(r, buffer));
    constexpr double kMostRow = 22, kLeastRow = 2, kHeight = 420;
    row_ = std::clamp(kHeight / shown.ranks, kLeastRow, kMostRow);
  }

  Status draw(const std::vector<uint32_t> &rounds, double top) {
    auto across = std::min<uint32_t>(kMostAcross, static_cast<uint32_t>(rounds.size()));
    width_ =
        across == 1 ? kProvenanceWidth * 0.7 : (kProvenanceWidth - (across - 1) * kGapX) / across;
    height_ = row_ * shown_.ranks;
    size_t parts = 0;
    for (size_t i = 0; i < rounds.size(); ++i) {
      Result<std::vector<std::vector<HeldBytes>>> held = provenance_.held(buffer_, rounds[i]);
      if (!held)
        return held.status();
      for (const std::vector<HeldBytes> &rank : *held)
        parts += rank.size();
      if (parts > kMostParts)
        return Status::error("--view provenance: the rounds up to " + std::to_string(rounds[i]) +
                             " have " + std::to_string(parts) +
                             " parts of buffers, and a picture has " + std::to_string(kMostParts) +
                             " at most; choose one with --round, or fewer ranks");
      left_ = kProvenanceLeft + static_cast<double>(i % across) * (width_ + kGapX);
      top_ = top + static_cast<double>(i / across) * (height_ + kGapY);
      drawPanel(rounds[i], *held, i % across == 0);
    }
    bottom_ = top_ + height_ + 22;
    return {};
  }

  double drawLegend() {
    std::string words =
        "A colour per rank: one contribution, of that rank; 2.1: block 1 of what rank 2 had, "
        "lighter the further on it lies. Shades: how many are combined. "
        "Outlined: written in the round. ";
    words += "Bytes of the buffer across, 0 to " + sizeWords(bytes_) + ".";
    if (numBroken_ > 0)
      words += " Red: " + std::to_string(numBroken_) + " broken promises.";
    return svg_.paragraph(kProvenanceLeft, bottom_ + 8, words, kProvenanceWidth, "muted");
  }

private:
  void drawPanel(uint32_t round, const std::vector<std::vector<HeldBytes>> &held, bool isFirst) {
    svg_.text(left_, top_ - 7,
              round == 0 ? std::string("before the first message")
                         : "round " + std::to_string(round));
    constexpr double kApart = 13;
    auto every = static_cast<uint32_t>(std::max(1.0, stepFor(kApart / row_, 1)));
    for (uint32_t r = 0; r < shown_.ranks; ++r) {
      if (isFirst && r % every == 0)
        svg_.text(left_ - 6, top_ + (r + 0.5) * row_ + 4, "rank " + std::to_string(r), "end");
      for (const HeldBytes &part : held[r])
        drawPart(r, part);
    }
    svg_.rect(left_, top_, width_, height_, "axis");
    if (round < shown_.ops->rounds)
      return;
    std::vector<BrokenPromise> broken = provenance_.broken(buffer_);
    numBroken_ = broken.size();
    for (const BrokenPromise &promise : broken)
      svg_.rect(x(promise.begin) + 1, top_ + promise.rank * row_ + 1,
                x(promise.end) - x(promise.begin) - 2, row_ - 2, "bad");
  }

  void drawPart(uint32_t rank, const HeldBytes &part) {
    double left = x(part.begin), width = x(part.end) - left, y = top_ + rank * row_;
    double gap = row_ > 6 ? 1 : 0;
    svg_.begin(words(rank, part));
    if (part.origins.empty())
      svg_.rect(left, y, width, row_ - gap, "empty");
    else if (part.origins.size() == 1)
      svg_.cell(left, y, width, row_ - gap,
                rankColor(part.origins[0].rank, shown_.ranks, placeOf(part)));
    else
      svg_.rect(left, y, width, row_ - gap, "cell",
                0.15 + 0.85 * std::min(1.0, share(part.origins.size())));
    if (part.isNew && row_ > 7 && width > 4)
      svg_.rect(left + 1, y + 1, width - 2, row_ - gap - 2, "new");
    if (row_ >= 13 && !part.origins.empty()) {
      std::string label =
          part.origins.size() == 1 ? originLabel(part) : std::to_string(part.origins.size()) + "x";
      bool isDark = part.origins.size() > 1 && share(part.origins.size()) > 0.4;
      svg_.text(left + width / 2, y + row_ / 2 + 4, label, "middle", isDark ? "onDark" : "onCell",
                width - 4);
    }
    svg_.end();
  }

  /// The place of the part in the buffer of its first origin, from 0 to 1.
  double placeOf(const HeldBytes &part) const {
    const Origin &o = part.origins[0];
    auto begin = static_cast<double>(static_cast<int64_t>(part.begin) + o.shift);
    return begin /
           static_cast<double>(std::max<uint64_t>(1, provenance_.bytesOf(o.rank, o.buffer)));
  }

  /// The rank of the origin: "3"; for a part of its buffer also the number of the block of that
  /// length, "3.1", or the first byte, "3:100".
  std::string originLabel(const HeldBytes &part) const {
    const Origin &o = part.origins[0];
    uint64_t length = part.end - part.begin;
    auto begin = static_cast<uint64_t>(static_cast<int64_t>(part.begin) + o.shift);
    std::string rank = std::to_string(o.rank);
    if (length >= provenance_.bytesOf(o.rank, o.buffer))
      return rank;
    return begin % length == 0 ? rank + "." + std::to_string(begin / length)
                               : rank + ":" + std::to_string(begin);
  }

  double share(size_t origins) const { return static_cast<double>(origins) / shown_.ranks; }
  double x(uint64_t byte) const {
    return left_ + static_cast<double>(byte) / static_cast<double>(bytes_) * width_;
  }

  std::string words(uint32_t rank, const HeldBytes &part) const {
    std::string text = "rank " + std::to_string(rank) + ", bytes " + std::to_string(part.begin) +
                       " to " + std::to_string(part.end) + ":";
    if (part.origins.empty())
      return text + " nothing";
    constexpr size_t kMostNamed = 8;
    for (size_t i = 0; i < std::min(kMostNamed, part.origins.size()); ++i) {
      const Origin &o = part.origins[i];
      auto begin = static_cast<int64_t>(part.begin) + o.shift;
      const Dag &dag = shown_.schedule->ranks[o.rank];
      text += (i ? ", " : " ") + shown_.schedule->nameOf(dag.buffers[o.buffer]) + "[" +
              std::to_string(begin) + ".." +
              std::to_string(begin + static_cast<int64_t>(part.end - part.begin)) + "] of rank " +
              std::to_string(o.rank);
    }
    if (part.origins.size() > kMostNamed)
      text += ", and " + std::to_string(part.origins.size() - kMostNamed) + " more";
    return text;
  }

  const ShownSchedule &shown_;
  Provenance provenance_;
  uint32_t buffer_;
  SvgCanvas &svg_;
  uint64_t bytes_ = 1;
  size_t numBroken_ = 0;
  double row_ = 0, width_ = 0, height_ = 0, left_ = 0, top_ = 0, bottom_ = 0;
};

Result<Provenance::Parameter> chooseBuffer(const ShownSchedule &shown, const std::string &name) {
  Provenance provenance(shown);
  std::string known;
  for (const Provenance::Parameter &parameter : provenance.parameters()) {
    if (name.empty() || parameter.name == name)
      return parameter;
    known += (known.empty() ? "" : ", ") + parameter.name;
  }
  return Status::error(known.empty() ? "--view provenance: the schedule has no buffers"
                                     : "--buffer " + name + ": the schedule has " + known);
}

/// All rounds, or `most` of them, evenly spread.
std::vector<uint32_t> chooseRounds(uint32_t last, uint32_t most) {
  std::vector<uint32_t> rounds;
  uint32_t count = std::min(last + 1, most);
  for (uint32_t i = 0; i < count; ++i)
    rounds.push_back(count == 1 ? last : static_cast<uint32_t>(uint64_t{i} * last / (count - 1)));
  return rounds;
}

} // namespace

Result<double> drawPanels(const ShownSchedule &shown, const SvgChoice &choice, SvgCanvas &svg,
                          double top) {
  constexpr uint32_t kMostPanels = 12;
  Result<Provenance::Parameter> buffer = chooseBuffer(shown, choice.buffer);
  if (!buffer)
    return buffer.status();
  uint32_t last = shown.ops->rounds;
  if (choice.round && *choice.round > last)
    return Status::error("--round " + std::to_string(*choice.round) +
                         ": the schedule has rounds 0 to " + std::to_string(last));
  std::vector<uint32_t> rounds =
      choice.round ? std::vector<uint32_t>{*choice.round} : chooseRounds(last, kMostPanels);
  std::string title = "what " + buffer->name + " holds";
  if (!choice.round && rounds.size() <= last)
    title += ", after " + std::to_string(rounds.size()) + " of " + std::to_string(last) + " rounds";
  svg.text(kProvenanceLeft, top, title, "start", "muted");
  ProvenanceSvg picture(shown, buffer->buffer, svg);
  if (Status s = picture.draw(rounds, top + 30); !s)
    return s;
  return picture.drawLegend();
}

Status drawProvenance(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out) {
  const ShownSchedule &shown = document.schedules.front();
  SvgCanvas svg(shown.label);
  svg.heading(kProvenanceLeft, shown.label);
  Result<double> bottom = drawPanels(shown, choice, svg, kProvenanceTop - 6);
  if (!bottom)
    return bottom.status();
  svg.finish(kPanelsWidth + 24, *bottom, out);
  return {};
}

} // namespace colldsl::show
