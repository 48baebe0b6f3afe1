// The contents of ranks after each round, and the path of the bytes that are clicked.

const PROVENANCE_TOP = 34, MAP_LEFT = 70;

class ProvenanceView {
  constructor(app) {
    this.app = app;
    this.setSchedule(app.doc.schedules.find(s => !s.whyNotTraced));
  }

  setSchedule(schedule) {
    this.schedule = schedule;
    this.tracer = new Tracer(schedule);
    this.round = schedule.rounds;
    this.buffer = this.buffers()[0]?.buffer ?? 0;
    this.ranks = new Axis(0, schedule.ranks, Math.min(schedule.ranks, 2));
    this.chosen = undefined;
    this.parts = undefined;
    this.allBroken = undefined;
  }

  /// The buffers of rank 0, which has all parameters; results first.
  buffers() {
    const { data } = this.schedule, all = [];
    for (let b = 0; b < this.tracer.buffersOf(0); ++b)
      if (data.bufferIsRoot[this.tracer.bufferAt(0, b)] && data.bufferRole[this.tracer.bufferAt(0, b)] <= 2)
        all.push({ buffer: b, name: this.tracer.nameOf(0, b), role: data.bufferRole[this.tracer.bufferAt(0, b)] });
    return all.sort((a, b) => (b.role > 0) - (a.role > 0));
  }

  get surface() { return this.app.surface; }
  get mapWidth() { return (this.surface.width - MAP_LEFT) * (this.chosen ? 0.48 : 1) - 24; }
  get height() { return this.surface.height - PROVENANCE_TOP - 40; }
  get row() { return this.height / this.ranks.length; }
  get bytes() {
    let most = 1;
    for (let r = 0; r < this.schedule.ranks; ++r)
      if (this.buffer < this.tracer.buffersOf(r))
        most = Math.max(most, this.tracer.bytesOf(r, this.buffer));
    return most;
  }

  /// The contents of each rank's buffer after the round.
  contents() {
    const key = `${this.round} ${this.buffer}`;
    if (this.parts?.key !== key) {
      const counts = op => this.schedule.round[op] <= this.round;
      this.parts = { key, ranks: Array.from({ length: this.schedule.ranks }, (_, r) => this.buffer < this.tracer.buffersOf(r)
        ? this.tracer.contents(r, this.buffer, 0, this.tracer.bytesOf(r, this.buffer), Infinity, counts) : []) };
    }
    return this.parts.ranks;
  }

  /// The colour of bytes: a hue per rank of origin, lighter towards the end of its buffer.
  color(origins, begin = 0) {
    const { ranks } = this.schedule;
    if (origins.length === 1) {
      const [{ rank, buffer, shift }] = origins;
      const share = buffer === undefined ? 0.5 : (begin + shift) / Math.max(1, this.tracer.bytesOf(rank, buffer));
      return `hsl(${Math.round(rank * 360 / Math.max(ranks, 2))} 55% ${Math.round(45 + 25 * share)}%)`;
    }
    return this.surface.mix("heat-low", "heat-high", Math.min(1, origins.length / ranks));
  }

  paint() {
    const s = this.surface;
    s.begin();
    const all = this.contents(), width = this.mapWidth, perByte = width / this.bytes;
    s.font(12, "600");
    s.text(`${this.tracer.nameOf(0, this.buffer)} after round ${this.round} of ${this.schedule.rounds}`, MAP_LEFT, 16);
    s.font();
    const first = Math.floor(this.ranks.from), last = Math.min(this.schedule.ranks, Math.ceil(this.ranks.to)) - 1;
    const gap = this.row > 8 ? 2 : 0;
    for (let r = first; r <= last; ++r) {
      const y = PROVENANCE_TOP + (r - this.ranks.from) * this.row;
      for (const part of all[r])
        this.paintPart(part, MAP_LEFT + part.begin * perByte, y + gap / 2, (part.end - part.begin) * perByte, Math.max(1, this.row - gap));
    }
    if (this.round === this.schedule.rounds)
      for (const p of this.broken().filter(one => one.buffer === this.buffer && one.rank >= first && one.rank <= last))
        s.frame(MAP_LEFT + p.begin * perByte + 1, PROVENANCE_TOP + (p.rank - this.ranks.from) * this.row + gap / 2 + 1, Math.max(2, (p.end - p.begin) * perByte - 2), Math.max(2, this.row - gap - 2), "bad", 2);
    if (this.chosen) {
      const { rank, begin, end } = this.chosen;
      s.frame(MAP_LEFT + begin * perByte, PROVENANCE_TOP + (rank - this.ranks.from) * this.row + gap / 2, Math.max(2, (end - begin) * perByte), Math.max(2, this.row - gap), "select", 2.5);
    }
    const every = Math.max(1, Math.ceil(ticks(this.ranks.from, this.ranks.to, this.height, 18).step));
    for (let r = Math.ceil(first / every) * every; r <= last; r += every)
      s.text(`rank ${r}`, MAP_LEFT - 8, PROVENANCE_TOP + (r + 0.5 - this.ranks.from) * this.row, "text", { align: "right" });
    this.paintByteAxis(width, perByte);
    if (this.chosen)
      this.paintHistory(MAP_LEFT + width + 70, s.width - 24);
  }

  /// The rank of the origin: "3"; for a part of its buffer also the number of the block of that
  /// length, "3.1", or the first byte, "3:100".
  originLabel(part) {
    const [{ rank, buffer, shift }] = part.origins, begin = part.begin + shift, length = part.end - part.begin;
    if (length >= this.tracer.bytesOf(rank, buffer))
      return `${rank}`;
    return begin % length === 0 ? `${rank}.${begin / length}` : `${rank}:${begin}`;
  }

  paintPart(part, x, y, width, height) {
    const s = this.surface, isNew = part.op !== undefined && this.round > 0 && this.schedule.round[part.op] === this.round;
    const gap = width > 4 ? 1 : 0;
    s.rect(x, y, Math.max(0.5, width - gap), height, part.origins.length ? this.color(part.origins, part.begin) : "panel");
    if (isNew && height > 5 && width > 5)
      s.frame(x + 1.5, y + 1.5, width - gap - 3, height - 3, "text", 1.5);
    if (height > 13 && width > 22 && part.origins.length)
      s.text(part.origins.length === 1 ? this.originLabel(part) : width > 60 ? `${part.origins.length} ranks` : `${part.origins.length}x`, x + width / 2, y + height / 2,
             part.origins.length > this.schedule.ranks / 2 ? "page" : "text", { align: "center", most: width - 4 });
  }

  paintByteAxis(width, perByte) {
    const s = this.surface, y = PROVENANCE_TOP + this.height + 6;
    const { all } = ticks(0, this.bytes, width, 110);
    for (const byte of all) {
      s.line(MAP_LEFT + byte * perByte, y - 4, MAP_LEFT + byte * perByte, y, "muted");
      s.text(countText(byte), MAP_LEFT + byte * perByte, y + 10, "text", { align: byte ? "center" : "left" });
    }
    s.text("byte of the buffer", MAP_LEFT + width, y + 24, "muted", { align: "right" });
  }

  /// Draws the history of the chosen bytes: rounds across, and down the ranks that had some of
  /// them.
  paintHistory(left, right) {
    const s = this.surface, edges = [], entries = [], ranks = new Set();
    const visit = (node, depth) => {
      ranks.add(node.rank);
      const round = node.op === undefined ? 0 : this.schedule.round[node.op];
      if (node.op === undefined)
        entries.push(node);
      for (const child of node.children) {
        const from = child.op === undefined ? 0 : this.schedule.round[child.op];
        edges.push({ from, to: round, a: child.rank, b: node.rank, op: node.op });
        visit(child, depth + 1);
      }
    };
    this.chosen.history.forEach(node => visit(node, 0));
    const rows = [...ranks].sort((a, b) => a - b), row = Math.min(34, this.height / rows.length);
    const y = rank => PROVENANCE_TOP + (rows.indexOf(rank) + 0.5) * row;
    const x = round => left + round * (right - left - 10) / Math.max(1, this.schedule.rounds);
    s.font(12, "600");
    s.text(`bytes ${countText(this.chosen.begin)} to ${countText(this.chosen.end)} of rank ${this.chosen.rank}: the way here`, left - 40, 16, "text", { most: right - left + 40 });
    s.font();
    if (row >= 11)
      for (const rank of rows)
        s.text(`rank ${rank}`, left - 12, y(rank), "muted", { align: "right" });
    for (const rank of rows)
      s.line(left, y(rank), right, y(rank), "grid");
    const seen = new Set();
    for (const edge of edges) {
      const key = `${edge.from} ${edge.to} ${edge.a} ${edge.b}`;
      if (seen.has(key))
        continue;
      seen.add(key);
      if (edge.a !== edge.b)
        s.arrow(x(edge.from), y(edge.a), x(edge.to), y(edge.b), "send", 1.5);
      else
        s.line(x(edge.from), y(edge.a), x(edge.to), y(edge.b), "local", 2);
    }
    for (const node of entries)
      s.rect(x(0) - 4, y(node.rank) - 4, 8, 8, this.color([{ rank: node.rank }]));
    s.frame(x(this.chosen.round) - 5, y(this.chosen.rank) - 5, 10, 10, "select", 2);
    const bottom = PROVENANCE_TOP + rows.length * row + 12;
    const every = Math.max(1, Math.ceil(ticks(0, this.schedule.rounds, right - left, 30).step));
    for (let round = 0; round <= this.schedule.rounds; round += every)
      s.text(`${round}`, x(round), bottom, "text", { align: "center" });
    s.text("round", right, bottom + 16, "muted", { align: "right" });
  }

  hitPart(x, y) {
    const rank = Math.floor(this.ranks.from + (y - PROVENANCE_TOP) / this.row), byte = (x - MAP_LEFT) * this.bytes / this.mapWidth;
    const part = this.contents()[rank]?.find(p => byte >= p.begin && byte < p.end);
    return part && y >= PROVENANCE_TOP ? { rank, part } : undefined;
  }

  hover(x, y) {
    const hit = this.hitPart(x, y);
    if (!hit)
      return this.app.details.hideTip();
    const { part, rank } = hit;
    this.app.details.showTip(x, y, make("strong", {}, `rank ${rank}, bytes ${countText(part.begin)} to ${countText(part.end)}`),
      pairs(["holds", this.originsText(part.origins, part.begin, part.end)],
            ["written by", part.op === undefined ? (part.origins.length ? "the caller, at entry" : "no op") : `${this.schedule.fullName(part.op)}, round ${this.schedule.round[part.op]}`]));
  }

  originsText(origins, begin, end) {
    const one = o => `${this.tracer.nameOf(o.rank, o.buffer)}[${countText(begin + o.shift)}..${countText(end + o.shift)}] of rank ${o.rank}`;
    if (!origins.length)
      return "nothing";
    return origins.slice(0, 8).map(one).join(", ") + (origins.length > 8 ? `, and ${origins.length - 8} more` : "");
  }

  click(x, y) {
    const hit = this.hitPart(x, y);
    hit ? this.choose(hit.rank, hit.part.begin, hit.part.end) : this.choose(undefined);
  }

  choose(rank, begin, end) {
    if (rank === undefined) {
      this.chosen = undefined;
      this.app.details.showOverview();
      return this.app.redraw();
    }
    this.mark({ rank, buffer: this.buffer, begin, end });
    this.describe();
  }

  /// Shows the path of bytes.
  mark({ rank, buffer, begin, end }) {
    this.buffer = buffer;
    const counts = op => this.schedule.round[op] <= this.round;
    this.chosen = { rank, begin, end, round: this.round, history: this.tracer.history(rank, buffer, begin, end, Infinity, counts) };
    this.app.redraw();
  }

  describe() {
    if (!this.chosen)
      return;
    const { rank, begin, end } = this.chosen;
    this.app.details.show(
      make("h2", {}, `rank ${rank}, ${this.tracer.nameOf(rank, this.buffer)}, bytes ${countText(begin)} to ${countText(end)}`), this.ways());
  }

  /// The promises about the chosen bytes, their contents, and the paths of these.
  ways() {
    const { rank, begin, end, history } = this.chosen;
    const promises = this.tracer.promises(rank, this.buffer, begin, end);
    const lines = [], budget = { lines: 300 };
    history.forEach(node => waysOf(this.schedule, this.tracer, node, [], lines, budget));
    return [
      make("h2", {}, "contract"),
      promises.length ? promises.slice(0, 20).map(p => [
        make("p", {}, `bytes ${countText(p.begin)} to ${countText(p.end)} == ${p.isReduction ? "the reduction of " : ""}${this.originsText(p.wanted, p.begin, p.end)}${p.line ? ` (line ${p.line})` : ""}`),
        make("p", { class: p.isKept ? "good" : "bad" }, p.isKept ? "kept: each contribution is there once" : `broken: found ${p.found.map(part => this.originsText(part.origins, part.begin, part.end)).slice(0, 3).join("; ")}`)])
        : make("p", { class: "muted" }, "promises nothing of these bytes"),
      make("h2", {}, `contributions: ${countText(lines.length)}`),
      make("ol", {}, lines.slice(0, 200).map(line => make("li", {}, line))),
      lines.length >= 200 || budget.lines <= 0 ? make("p", { class: "muted" }, "more are not listed; choose fewer bytes") : null];
  }

  setRound(round) {
    this.round = round;
    if (this.chosen)
      this.choose(this.chosen.rank, this.chosen.begin, this.chosen.end);
    byId("round-number").textContent = `${round} of ${this.schedule.rounds}`;
    this.app.redraw();
  }

  play() {
    let round = 0;
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      if (this.app.current !== this || round > this.schedule.rounds)
        return clearInterval(this.timer);
      byId("round-slider").value = round;
      this.setRound(round++);
    }, Math.max(60, Math.min(700, 8000 / (this.schedule.rounds + 1))));
  }

  controls() {
    const slider = make("input", { type: "range", id: "round-slider", min: 0, max: this.schedule.rounds, value: this.round, "aria-label": "round",
                                   oninput: event => this.setRound(Number(event.target.value)) });
    const buffers = choice("buffer", this.buffers().map(b => [b.buffer, b.name]), this.buffer, buffer => {
      this.buffer = buffer;
      this.choose(undefined);
    });
    const field = (name, text) => make("input", { type: "number", min: 0, style: "width: 105px", "aria-label": text, placeholder: text, id: name });
    const trace = () => {
      const [rank, begin, end] = ["trace-rank", "trace-from", "trace-to"].map(id => Math.max(0, Math.floor(Number(byId(id).value))));
      if (rank < this.schedule.ranks && begin < end)
        this.choose(rank, begin, Math.min(end, this.tracer.bytesOf(rank, this.buffer)));
    };
    return [
      ...scheduleChoice(this.app, this, s => !s.whyNotTraced),
      buffers, make("label", {}, "round ", slider), make("span", { id: "round-number" }, `${this.round} of ${this.schedule.rounds}`),
      make("button", { type: "button", class: "button", onclick: () => this.play() }, "play"),
      field("trace-rank", "rank"), field("trace-from", "from byte"), field("trace-to", "to byte"),
      make("button", { type: "button", class: "button", onclick: trace }, "trace"),
    ];
  }

  legend() {
    return [make("span", {}, "a colour per rank: one contribution, of that rank; 2.1: block 1 of what rank 2 had, lighter the further on it lies"), swatch("heat-high", "contributions of all ranks"), swatch("panel", "nothing yet", "line"),
            this.broken().length ? swatch("page", `${counted(this.broken().length, "promise")} broken in the end`, "bad") : make("span", {}, "all promises are kept"),
            make("span", {}, "framed: written in this round"), make("span", {}, "round: the longest chain of messages so far; click bytes for their way")];
  }

  wheel(event, x, y) {
    if (event.ctrlKey || event.altKey)
      this.ranks.zoom(Math.exp(event.deltaY * 0.0015), this.ranks.from + (y - PROVENANCE_TOP) / this.row);
    else
      this.ranks.pan(event.deltaY / this.height);
    this.app.redraw();
  }
  drag(dx, dy) { this.ranks.pan(-dy / this.height); this.app.redraw(); }
  zoom(direction) { this.ranks.zoom(direction > 0 ? 0.7 : 1 / 0.7); this.app.redraw(); }
  fit() { this.ranks.fit(); this.app.redraw(); }
  step(dx, dy) {
    if (dx) {
      const round = Math.max(0, Math.min(this.schedule.rounds, this.round + dx));
      byId("round-slider").value = round;
      this.setRound(round);
    }
    this.ranks.pan(dy * 0.15);
    this.app.redraw();
  }

  state() {
    const { chosen } = this;
    return { round: this.round, rounds: this.schedule.rounds, buffer: this.tracer.nameOf(0, this.buffer),
             chosen: chosen ? { rank: chosen.rank, begin: chosen.begin, end: chosen.end } : null,
             brokenPromises: this.broken().length };
  }

  /// The promises of all ranks that are broken in the end.
  broken() {
    if (this.allBroken)
      return this.allBroken;
    this.allBroken = [];
    for (let rank = 0; rank < this.schedule.ranks; ++rank)
      for (let buffer = 0; buffer < this.tracer.buffersOf(rank); ++buffer)
        for (const p of this.tracer.promises(rank, buffer, 0, Infinity))
          p.isKept || this.allBroken.push({ rank, buffer, begin: p.begin, end: p.end });
    return this.allBroken;
  }
}

/// Each contribution with its path: "x[0..4] of rank 2: sent to rank 3 in round 1, combined".
function waysOf(schedule, tracer, node, after, lines, budget) {
  if (budget.lines <= 0)
    return;
  if (node.op === undefined || node.isCut) {
    --budget.lines;
    const isHeld = ENTRY_ROLES.includes(schedule.data.bufferRole[tracer.bufferAt(node.rank, node.buffer)]);
    const begin = node.isCut ? "a longer way" : isHeld ? `${tracer.nameOf(node.rank, node.buffer)}[${countText(node.begin)}..${countText(node.end)}] of rank ${node.rank}` : `nothing was written to ${tracer.nameOf(node.rank, node.buffer)} of rank ${node.rank}`;
    lines.push(`${begin}${after.length ? ": " : ""}${[...after].reverse().join(", ")}`);
    return;
  }
  const kind = activityOf(schedule.kind[node.op]);
  const step = kind === RECEIVE ? `to rank ${node.rank} in round ${schedule.round[node.op]}` : KINDS[schedule.kind[node.op]] === "combine" ? `combined on rank ${node.rank}` : `copied on rank ${node.rank}`;
  for (const child of node.children)
    waysOf(schedule, tracer, child, [...after, step], lines, budget);
}
