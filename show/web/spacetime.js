// Ranks down, time across: ops are bars, messages arrows, the critical path is marked. If bars
// would be thinner than pixels, each pixel shows the shares of sends, receives and local ops.

const MOST_BARS = 12000, MOST_ARROWS = 3000, LEAST_ROW = 3;
const LEFT = 84, RIGHT = 18, TOP = 8, BOTTOM = 42, TITLE = 22;

class SpaceTime {
  constructor(app, runs) {
    this.app = app;
    this.runs = runs;
    this.time = new Axis(0, Math.max(1, ...runs.map(run => run.completion)) * 1.01, 10);
    this.ranks = new Axis(0, Math.max(...runs.map(run => run.schedule.ranks)), 1);
    this.isOverlaid = this.canOverlay() && runs.some(run => run.kind === "measured");
    this.showsPath = true;
    this.arrows = { drawn: 0, inView: 0 };
    this.rasters = new Map(); // of panels, by their first run
    for (const run of runs) {
      run.grid ? sumGrid(run.grid) : layLanes(run);
      run.summary = run.grid || summarize(run);
    }
  }

  get surface() { return this.app.surface; }
  get plotWidth() { return Math.max(10, this.surface.width - LEFT - RIGHT); }
  canOverlay() {
    return this.runs.length > 1 && this.runs.every(run => run.schedule.ranks === this.runs[0].schedule.ranks);
  }

  /// The panels: one per run, below each other on one time axis; or a single one, in which each
  /// rank has a line per run.
  panels() {
    const groups = this.isOverlaid ? [this.runs] : this.runs.map(run => [run]);
    const title = this.runs.length > 1 ? TITLE : 4;
    const height = (this.surface.height - TOP - BOTTOM) / groups.length;
    return groups.map((runs, i) => ({
      runs, title: TOP + i * height, top: TOP + i * height + title, height: Math.max(4, height - title - 4),
    }));
  }

  x(ns) { return LEFT + (ns - this.time.from) / this.time.length * this.plotWidth; }
  timeAt(x) { return this.time.from + (x - LEFT) / this.plotWidth * this.time.length; }
  rowHeight(panel) { return panel.height / this.ranks.length; }

  /// The place of an op's bar.
  barOf(panel, run, rank, op) {
    const row = this.rowHeight(panel);
    const padding = row > 8 ? Math.min(6, row * 0.14) : 0;
    const part = (row - 2 * padding) / panel.runs.length;
    const lane = run.lanes[rank] > 1 && part >= 2 * run.lanes[rank] ? part / run.lanes[rank] : part;
    const top = panel.top + (rank - this.ranks.from) * row + padding + part * panel.runs.indexOf(run);
    const offset = lane < part ? run.lane[op] * lane : 0;
    return { y: top + offset, height: Math.max(1, lane - (lane > 6 ? 1 : 0)) };
  }

  paint() {
    this.surface.begin();
    this.arrows = { drawn: 0, inView: 0 };
    this.isRaster = false;
    for (const panel of this.panels())
      this.paintPanel(panel);
    this.paintTimeAxis();
  }

  paintPanel(panel) {
    const c = this.surface.context;
    this.paintTitle(panel);
    this.labels = []; // painted last, over the path
    c.save();
    c.beginPath();
    c.rect(LEFT, panel.top, this.plotWidth, panel.height);
    c.clip();
    const [from, to] = this.ranksInView(panel.runs[0]);
    const inView = panel.runs.reduce((sum, run) => sum + (run.grid ? MOST_BARS + 1 : countInView(run, from, to, this.time.from, this.time.to)), 0);
    const isRaster = inView > MOST_BARS || this.rowHeight(panel) < LEAST_ROW * panel.runs.length;
    this.isRaster ||= isRaster;
    if (isRaster)
      this.paintPixels(panel);
    else
      this.paintBars(panel, from, to);
    for (const run of panel.runs) {
      if (!isRaster)
        this.paintArrows(panel, run, from, to);
      if (this.showsPath)
        this.paintPath(panel, run);
      if (this.app.selected.run === run)
        this.paintSelection(panel, run, this.app.selected.op);
      this.paintFound(panel, run);
      this.paintCompletion(panel, run);
    }
    for (const label of this.labels)
      this.surface.text(...label);
    c.restore();
    this.surface.frame(LEFT - 0.5, panel.top - 0.5, this.plotWidth + 1, panel.height + 1, "line");
    this.paintRankAxis(panel);
  }

  ranksInView(run) {
    return [Math.max(0, Math.floor(this.ranks.from)), Math.min(run.schedule.ranks, Math.ceil(this.ranks.to)) - 1];
  }

  paintTitle(panel) {
    if (this.runs.length === 1)
      return;
    const text = panel.runs.map(run => `${run.schedule.label}, ${run.label}: ${timeText(run.completion)}`).join("  |  ");
    this.surface.font(12, "600");
    this.surface.text(text, LEFT, panel.title + TITLE / 2, "text", { most: this.plotWidth });
    this.surface.font();
  }

  /// Paints a line of pixels per run and row. Pixels begin at multiples of their length in time, so
  /// that after a move in time the picture is the previous one, shifted, and a new strip.
  paintPixels(panel) {
    const { ratio } = this.surface;
    const width = Math.floor(this.plotWidth * ratio), height = Math.max(1, Math.floor(panel.height * ratio));
    const raster = this.rasterOf(panel, width, height);
    const first = Math.round(this.time.from / raster.nsPerPixel), shift = first - raster.first;
    raster.first = first;
    if (Math.abs(shift) < width) {
      raster.pixels.copyWithin(Math.max(0, -shift), Math.max(0, shift));
      this.fillPixels(panel, raster, shift > 0 ? width - shift : 0, Math.abs(shift));
    } else {
      this.fillPixels(panel, raster, 0, width);
    }
    this.surface.context.putImageData(raster.image, Math.round(LEFT * ratio), Math.round(panel.top * ratio));
  }

  /// The raster of the previous picture if its ranks, colours and length of pixels are the same;
  /// else a new one.
  rasterOf(panel, width, height) {
    const { ranks, surface } = this, nsPerPixel = this.time.length / width, [run] = panel.runs;
    const key = [width, height, ranks.from, ranks.to, panel.runs.length, surface.theme].join();
    const old = this.rasters.get(run);
    if (old?.key === key && Math.abs(old.nsPerPixel / nsPerPixel - 1) < 1e-9)
      return old;
    const image = old?.image.width === width && old.image.height === height ? old.image : surface.context.createImageData(width, height);
    const raster = { key, image, pixels: new Uint32Array(image.data.buffer), nsPerPixel, first: -Infinity };
    this.rasters.set(run, raster);
    return raster;
  }

  /// Fills `count` columns of pixels. A row of pixels has one rank or several, a rank one row or
  /// more.
  fillPixels(panel, raster, begin, count) {
    const { pixels, image: { width, height }, nsPerPixel } = raster;
    const shares = new Float32Array(3 * count), perPixel = this.ranks.length / height;
    let last = "";
    for (let y = 0; y < height && count > 0; ++y) {
      const rank = this.ranks.from + y * perPixel;
      const part = this.rowHeight(panel) >= LEAST_ROW ? Math.floor(rank % 1 * panel.runs.length) : y % panel.runs.length;
      const run = panel.runs[part];
      let a = Math.ceil(rank), b = Math.min(Math.ceil(rank + perPixel), run.schedule.ranks) - 1;
      if (b < a)
        a = b = Math.min(Math.floor(rank), run.schedule.ranks - 1);
      const line = pixels.subarray(width * y + begin, width * y + begin + count);
      const key = `${part} ${a} ${b}`;
      if (key === last) {
        line.set(pixels.subarray(width * (y - 1) + begin, width * (y - 1) + begin + count));
        continue;
      }
      last = key;
      shares.fill(0);
      this.addLine(run, a, b, raster.first + begin, nsPerPixel, count, shares);
      colorLine(shares, count, this.surface.shades, line);
    }
  }

  addLine(run, firstRank, lastRank, offset, nsPerPixel, width, shares) {
    const grid = run.grid || (run.summary && nsPerPixel >= run.summary.nsPerColumn ? run.summary : undefined);
    if (!grid) {
      for (let r = firstRank; r <= lastRank; ++r)
        addShares(run, r, offset, nsPerPixel, width, shares, 1 / (lastRank - firstRank + 1));
      return;
    }
    const a = Math.floor(firstRank / grid.ranksPerRow), b = Math.floor(lastRank / grid.ranksPerRow);
    for (let row = a; row <= b; ++row)
      addGridShares(grid, row, offset, nsPerPixel, width, shares, 1 / (b - a + 1));
  }

  paintBars(panel, from, to) {
    const row = this.rowHeight(panel);
    for (let r = from; r <= to; ++r) {
      const y = panel.top + (r + 1 - this.ranks.from) * row;
      if (row > 10)
        this.surface.line(LEFT, y, LEFT + this.plotWidth, y, "grid");
    }
    for (const run of panel.runs)
      for (let r = from; r <= Math.min(to, run.schedule.ranks - 1); ++r)
        forEachInView(run, r, this.time.from, this.time.to, op => this.paintBar(panel, run, r, op));
  }

  paintBar(panel, run, rank, op) {
    const { y, height } = this.barOf(panel, run, rank, op);
    const left = Math.max(LEFT - 5, this.x(run.begin[op]));
    const right = Math.min(LEFT + this.plotWidth + 5, this.x(run.begin[op] + run.took[op]));
    const width = Math.max(1, right - left);
    const isOnPath = this.showsPath && run.inPath[op];
    const color = ["send", "receive", "local"][activityOf(run.schedule.kind[op])];
    this.surface.rect(left, y, width, height, color);
    if (run.interface[op] > 0 && height > 6)
      this.paintInterface(run, op, y + height);
    if (isOnPath && height > 4)
      this.surface.frame(left + 1, y + 1, Math.max(0.5, width - 2), height - 2, "path-fill", 2);
    if (width < 46 || height < 13)
      return;
    this.paintLabel(run, op, left + 6, y + height / 2, width - 12, color === "receive" ? "text" : "page");
  }

  /// Paints, below the bar of a send, the time during which its message occupies the interface.
  paintInterface(run, op, y) {
    const left = Math.max(LEFT, this.x(run.begin[op])), right = Math.min(LEFT + this.plotWidth, this.x(run.begin[op] + run.interface[op]));
    const c = this.surface.context;
    c.globalAlpha = 0.55;
    this.surface.rect(left, y, Math.max(1, right - left), 3, "send");
    c.globalAlpha = 1;
  }

  /// Paints the longest of several texts that fits.
  paintLabel(run, op, x, y, most, color) {
    const s = run.schedule, name = s.nameOf(op);
    const texts = [`${name}, ${bytesText(s.payload[op])}`, name, name.replace("rank ", ""), name.replace(/^\w+ (from|to) rank/, "$1")];
    const text = texts.find(t => this.surface.context.measureText(t).width <= most);
    if (text)
      this.labels.push([text, x, y, color]);
  }

  /// Paints an arrow per message, from the end of the send's bar to the begin of the receive's. If
  /// there are too many, it only counts them.
  paintArrows(panel, run, from, to) {
    const s = run.schedule, sends = [];
    for (let r = from; r <= Math.min(to, s.ranks - 1); ++r)
      forEachInView(run, r, this.time.from, this.time.to, op => {
        const partner = s.partner[op];
        if (partner === NONE)
          return;
        if (activityOf(s.kind[op]) === SEND)
          sends.push(op);
        else if (s.rank[partner] < from || s.rank[partner] > to || run.begin[partner] + run.took[partner] < this.time.from)
          sends.push(partner);
      });
    this.arrows.inView += sends.length;
    if (sends.length > MOST_ARROWS)
      return;
    this.arrows.drawn += sends.length;
    for (const send of sends)
      if (!(this.showsPath && run.inPath[send] && run.inPath[s.partner[send]]))
        this.paintArrow(panel, run, send, "arrow", 1);
  }

  /// Paints one arrow. A measured receive begins before its message arrives, so the arrow ends at
  /// the receive's end.
  paintArrow(panel, run, send, color, width, dash = []) {
    const s = run.schedule, recv = s.partner[send];
    const a = this.barOf(panel, run, s.rank[send], send), b = this.barOf(panel, run, s.rank[recv], recv);
    const isMeasured = run.kind === "measured";
    const sent = run.begin[send] + (isMeasured ? 0 : run.took[send]);
    const arrived = isMeasured ? run.begin[recv] + run.took[recv] : run.begin[recv];
    const x1 = this.x(Math.min(sent, Math.max(arrived, run.begin[send]))), x2 = this.x(arrived);
    const isDown = s.rank[recv] > s.rank[send];
    this.surface.arrow(x1, a.y + (isDown ? a.height : 0), x2, b.y + (isDown ? 0 : b.height), color, width,
                       { dash, size: Math.min(7, 3 + this.rowHeight(panel) / 8) });
  }

  paintPath(panel, run) {
    const c = this.surface.context, row = this.rowHeight(panel);
    c.strokeStyle = this.surface.colors.path;
    c.lineWidth = 2;
    c.beginPath();
    const bottom = row > 14 && !this.isRaster ? 1 - Math.min(6, row * 0.14) / row : 0.5; // below the bars' texts
    forEachStep(run, step => {
      const y = panel.top + (step.rank + bottom - this.ranks.from) * row;
      c.lineTo(this.x(step.begin), y);
      c.lineTo(this.x(step.end), y);
    });
    c.stroke();
  }

  /// Marks the selected op, its dependencies, its message, and the op that it waited for last.
  paintSelection(panel, run, op) {
    if (op === undefined || run.grid)
      return;
    const s = run.schedule, rank = s.rank[op];
    const { y, height } = this.barOf(panel, run, rank, op);
    const left = this.x(run.begin[op]), width = Math.max(2, this.x(run.begin[op] + run.took[op]) - left);
    for (const dep of s.depsOf(op)) {
      const bar = this.barOf(panel, run, rank, dep.op);
      this.surface.frame(this.x(run.begin[dep.op]) - 1, bar.y - 1, Math.max(3, this.x(run.begin[dep.op] + run.took[dep.op]) - this.x(run.begin[dep.op]) + 2), bar.height + 2, "muted", 2);
    }
    if (s.partner[op] !== NONE)
      this.paintArrow(panel, run, activityOf(s.kind[op]) === SEND ? op : s.partner[op], "select", 2);
    const after = run.after[op];
    if (after !== NONE) {
      const bar = this.barOf(panel, run, s.rank[after], after);
      this.surface.arrow(this.x(run.begin[after] + run.took[after]), bar.y + bar.height / 2, left, y + height / 2, "select", 1.5,
                         { dash: [4, 3] });
    }
    this.surface.frame(left - 1.5, y - 1.5, width + 3, height + 3, "select", 2.5);
  }

  paintFound(panel, run) {
    const found = this.app.found;
    if (run.grid || found.run !== run || found.ops.length > 2000)
      return;
    for (const op of found.ops) {
      const { y, height } = this.barOf(panel, run, run.schedule.rank[op], op);
      const left = this.x(run.begin[op]);
      this.surface.frame(left - 1, y - 1, Math.max(3, this.x(run.begin[op] + run.took[op]) - left + 2), height + 2, "good", 2);
    }
  }

  paintCompletion(panel, run) {
    const x = this.x(run.completion);
    this.surface.line(x, panel.top, x, panel.top + panel.height, "muted", 1, [2, 3]);
  }

  paintRankAxis(panel) {
    const row = this.rowHeight(panel), s = this.surface;
    const { step } = ticks(this.ranks.from, this.ranks.to, panel.height, 20);
    const every = Math.max(1, Math.ceil(step));
    for (let r = Math.ceil(Math.max(0, this.ranks.from) / every) * every; r < this.ranks.to && r < panel.runs[0].schedule.ranks; r += every) {
      const y = panel.top + (r + 0.5 - this.ranks.from) * row;
      if (y >= panel.top + 5 && y <= panel.top + panel.height - 5)
        s.text(`rank ${r}`, LEFT - 8, y, "text", { align: "right", most: LEFT - 10 });
    }
  }

  paintTimeAxis() {
    const s = this.surface, y = s.height - BOTTOM + 4;
    const [unit, name] = this.time.to < 2000 ? [1, "ns"] : this.time.to < 2e6 ? [1e3, "us"] : this.time.to < 2e9 ? [1e6, "ms"] : [1e9, "s"];
    const { step, all } = ticks(this.time.from / unit, this.time.to / unit, this.plotWidth, 90);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (const value of all) {
      const x = this.x(value * unit);
      s.line(x, y - 6, x, y - 1, "muted");
      s.text(value.toFixed(decimals), x, y + 7, "text", { align: "center" });
    }
    s.text(`time, ${name}`, LEFT + this.plotWidth, y + 24, "muted", { align: "right" });
    s.text("ranks", 8, y + 24, "muted");
  }

  /// The target under the pointer: {run, rank, time, op}; op: undefined if there is none.
  hit(x, y) {
    const panel = this.panels().find(p => y >= p.top && y < p.top + p.height);
    if (!panel || x < LEFT || x > LEFT + this.plotWidth)
      return undefined;
    const row = this.rowHeight(panel), exact = this.ranks.from + (y - panel.top) / row;
    const rank = Math.floor(exact);
    const run = panel.runs[Math.min(panel.runs.length - 1, Math.floor(exact % 1 * panel.runs.length))];
    if (rank < 0 || rank >= run.schedule.ranks)
      return undefined;
    const time = this.timeAt(x), near = 3 * this.time.length / this.plotWidth;
    const found = { panel, run, rank, time, op: undefined };
    if (run.grid)
      return found;
    let best = Infinity;
    forEachInView(run, rank, time - near, time + near, op => {
      const bar = this.barOf(panel, run, rank, op);
      const isBeside = row > 8 && (y < bar.y - 2 || y > bar.y + bar.height + 2);
      const away = Math.max(0, run.begin[op] - time, time - run.begin[op] - run.took[op]);
      const cost = away * 1e6 + run.took[op] + (isBeside ? 1e15 : 0);
      if (cost < best) {
        best = cost;
        found.op = op;
      }
    });
    return found;
  }

  state() {
    return {
      time: [this.time.from, this.time.to], ranks: [this.ranks.from, this.ranks.to], isRaster: this.isRaster,
      isOverlaid: this.isOverlaid, showsPath: this.showsPath, arrows: this.arrows, panels: this.panels().length,
    };
  }

  // Actions of pointer and keys

  wheel(event, x, y) {
    const factor = Math.exp(event.deltaY * 0.0015);
    const panel = this.panels().find(p => y < p.top + p.height) || this.panels()[0];
    if (event.ctrlKey || event.metaKey)
      this.time.zoom(factor, this.timeAt(x));
    else if (event.altKey)
      this.ranks.zoom(factor, this.ranks.from + (y - panel.top) / this.rowHeight(panel));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.time.pan((event.deltaX || event.deltaY) / this.plotWidth);
    else
      this.ranks.pan(event.deltaY / panel.height);
    this.app.redraw();
  }

  drag(dx, dy) {
    this.time.pan(-dx / this.plotWidth);
    this.ranks.pan(-dy / this.panels()[0].height);
    this.app.redraw();
  }

  /// direction > 0: closer.
  zoomTime(direction) {
    const at = this.app.pointer ? this.timeAt(Math.max(LEFT, this.app.pointer.x)) : undefined;
    this.time.zoom(direction > 0 ? 0.7 : 1 / 0.7, at);
    this.app.redraw();
  }
  zoom(direction) {
    this.ranks.zoom(direction > 0 ? 0.7 : 1 / 0.7);
    this.app.redraw();
  }
  step(dx, dy) {
    this.time.pan(dx * 0.15);
    this.ranks.pan(dy * 0.15);
    this.app.redraw();
  }
  fit() {
    this.time.fit();
    this.ranks.fit();
    this.app.redraw();
  }

  /// Pans, and zooms in if necessary, to make the op visible.
  reveal(run, op) {
    const rank = run.schedule.rank[op], begin = run.begin[op], end = begin + run.took[op];
    if (begin < this.time.from || end > this.time.to || (end - begin) / this.time.length * this.plotWidth < 8) {
      const length = Math.max(this.time.least, Math.min(this.time.length, Math.max(end - begin, 10) * 20));
      this.time.show((begin + end - length) / 2, (begin + end + length) / 2);
    }
    const rows = Math.min(this.ranks.length, 24);
    if (rank < this.ranks.from || rank + 1 > this.ranks.to || this.rowHeight(this.panels()[0]) < 8)
      this.ranks.show(rank + 0.5 - rows / 2, rank + 0.5 + rows / 2);
    this.app.redraw();
  }
}

/// Calls see() for each step of a run's critical path, for runs with ops and for grids.
function forEachStep(run, see) {
  if (run.grid)
    return run.path.forEach(see);
  for (const op of run.pathOps) {
    // A measured receive begins when it is posted. Its part of the path begins with its send.
    const from = run.kind === "measured" && run.after[op] !== NONE ? Math.max(run.begin[op], run.begin[run.after[op]]) : run.begin[op];
    see({ rank: run.schedule.rank[op], begin: from, end: run.begin[op] + run.took[op], op });
  }
}
