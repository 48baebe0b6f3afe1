// Counterexamples: the ops that a failed proof names, with what leads to them, as lines of ranks.

const FAILURE_NODE = 190, FAILURE_COLUMN = 240, FAILURE_ROW = 92;

class FailureView extends PlaneView {
  constructor(app) {
    super(app);
    this.schedule = app.doc.schedules[0];
    this.setFailure(0);
  }

  setFailure(i) {
    this.failure = this.app.doc.failures[i];
    this.index = i;
    this.place();
    this.isFitted = false;
  }

  /// Named ops and, around each, those that it requires and its message's other end; a row per rank, in
  /// the order of the rank's ops.
  place() {
    const s = this.schedule, shown = new Map();
    this.steps = this.failure.steps.filter(step => step.op >= 0 && s?.hasOps).map(step => ({ ...step, at: s.first[step.rank] + step.op }));
    for (const step of this.steps)
      shown.set(step.at, true);
    for (const step of this.steps) {
      for (const dep of s.depsOf(step.at).slice(-3))
        shown.has(dep.op) || shown.set(dep.op, false);
      const partner = s.partner[step.at];
      if (partner !== NONE && !shown.has(partner))
        shown.set(partner, false);
    }
    const ops = [...shown.keys()].sort((a, b) => a - b);
    this.rows = [...new Set(ops.map(op => s.rank[op]))];
    const columns = new Map();
    this.nodes = ops.map(op => {
      const row = this.rows.indexOf(s.rank[op]), column = columns.get(row) || 0;
      columns.set(row, column + 1);
      return { op, isNamed: shown.get(op), x: column * FAILURE_COLUMN, y: row * FAILURE_ROW };
    });
    this.at = new Map(this.nodes.map(node => [node.op, node]));
  }

  /// Of a failure that names no ops: what ranks hold in the end, and the way of the wrong bytes.
  get bytes() {
    if (this.nodes.length || this.schedule.whyNotTraced)
      return undefined;
    if (this.bytesOf !== this.failure) {
      this.bytesOf = this.failure;
      this.bytesView = new ProvenanceView(this.app);
      const ranks = this.failure.steps.map(step => step.rank);
      const wrong = this.bytesView.broken().find(p => ranks.includes(p.rank));
      if (wrong)
        this.bytesView.mark(wrong);
    }
    return this.bytesView;
  }

  paint() { this.bytes ? this.bytes.paint() : super.paint(); }

  box() {
    return { left: -90, top: -20, right: Math.max(200, ...this.nodes.map(n => n.x + FAILURE_NODE)), bottom: Math.max(60, ...this.nodes.map(n => n.y + 50)) };
  }

  draw() {
    if (!this.nodes.length)
      return this.surface.text("This failure names no ops; the panel has what the verifier says.", 30, 40, "muted", { most: this.surface.width - 60 });
    const { plane, schedule: s } = this;
    this.surface.font(Math.max(9, 12 * plane.scale));
    this.rows.forEach((rank, row) => this.surface.text(`rank ${rank}`, plane.x(-80), plane.y(row * FAILURE_ROW + 22), "muted"));
    for (const node of this.nodes) {
      for (const dep of s.depsOf(node.op))
        this.at.has(dep.op) && this.edge(node.op, dep.op, "arrow", dep.isStart ? [4, 3] : []);
      if (activityOf(s.kind[node.op]) === RECEIVE && this.at.has(s.partner[node.op]))
        this.edge(s.partner[node.op], node.op, "receive", [], false);
    }
    if (this.failure.proof === "deadlock")
      this.steps.forEach((step, i) => this.edge(step.at, this.steps[(i + 1) % this.steps.length].at, "bad", [], true, 3));
    if (this.failure.proof === "races" && this.steps.length >= 2)
      this.missingPath(this.steps[0].at, this.steps[1].at);
    this.nodes.forEach(node => this.drawNode(node));
  }

  /// From one op to another: what waits points to what it waits for.
  edge(from, to, color, dash = [], bends = true, width = 1.5) {
    const a = this.at.get(from), b = this.at.get(to), { plane } = this;
    if (!a || !b || a === b)
      return;
    const right = b.x > a.x, sameRow = a.y === b.y;
    const x1 = plane.x(a.x + (sameRow ? (right ? FAILURE_NODE : 0) : FAILURE_NODE / 2)), x2 = plane.x(b.x + (sameRow ? (right ? 0 : FAILURE_NODE) : FAILURE_NODE / 2));
    const down = b.y > a.y, shift = width > 2 ? 14 : 0;
    const y1 = plane.y(a.y + (sameRow ? 22 : down ? 44 : 0)), y2 = plane.y(b.y + (sameRow ? 22 : down ? 0 : 44));
    this.surface.arrow(x1 + shift, y1, x2 + shift, y2, color, width, { dash, bend: sameRow && bends ? 18 : 0, size: 5 + width });
  }

  missingPath(a, b) {
    this.edge(a, b, "bad", [6, 5], true, 2.5);
    const from = this.at.get(a), to = this.at.get(b), { plane } = this;
    if (!from || !to)
      return;
    this.surface.text("no path: nothing orders these two", (plane.x(from.x) + plane.x(to.x + FAILURE_NODE)) / 2, plane.y(Math.min(from.y, to.y)) - 12, "bad", { align: "center" });
  }

  drawNode(node) {
    const s = this.surface, { plane, schedule } = this, x = plane.x(node.x), y = plane.y(node.y);
    const w = FAILURE_NODE * plane.scale, h = 44 * plane.scale;
    s.rect(x, y, w, h, "panel");
    s.frame(x, y, w, h, node.isNamed ? "bad" : "line", node.isNamed ? 2 : 1);
    s.font(Math.max(9, 12 * plane.scale), node.isNamed ? "600" : "");
    s.text(`${schedule.numberInRank(node.op)}: ${schedule.nameOf(node.op)}`, x + 8, y + h * 0.32, "text", { most: w - 12 });
    s.font(Math.max(9, 11 * plane.scale));
    const place = schedule.placeOf(node.op);
    s.text(place.text || (place.line ? `line ${place.line}` : ""), x + 8, y + h * 0.7, "muted", { most: w - 12 });
    s.font();
  }

  hit(x, y) {
    const node = this.nodes.find(n => {
      const dx = (x - this.plane.x(n.x)) / this.plane.scale, dy = (y - this.plane.y(n.y)) / this.plane.scale;
      return dx >= 0 && dy >= 0 && dx < FAILURE_NODE && dy < 44;
    });
    return node?.op;
  }

  hover(x, y) {
    if (this.bytes)
      return this.bytes.hover(x, y);
    const op = this.hit(x, y);
    if (op === undefined)
      return this.app.details.hideTip();
    const step = this.steps.find(one => one.at === op);
    this.app.details.showTip(x, y, make("strong", {}, this.schedule.fullName(op)),
      pairs(["here", step?.text], ["bytes", bytesText(this.schedule.payload[op])], ["source", sourceText(this.schedule, op)]));
  }
  click() {}

  describe() {
    const { failure } = this;
    const place = step => step.place ? make("div", { class: "muted" }, step.place) : null;
    this.app.details.show(
      make("h2", { class: "bad" }, `${failure.proof}: ${failure.message}`),
      make("ol", {}, failure.steps.map(step => make("li", {}, `${step.rank >= 0 ? `rank ${step.rank}${step.op >= 0 ? `, op ${step.op}` : ""}: ` : ""}${step.text}`, place(step)))),
      this.brokenPromises(),
      this.app.doc.skipped?.length ? make("p", { class: "muted" }, `not tried, because they rest on this: ${this.app.doc.skipped.join(", ")}`) : null);
  }

  /// Of the ranks that the failure names: links to the way of the bytes.
  brokenPromises() {
    if (!this.schedule || this.schedule.whyNotTraced)
      return null;
    const tracer = new Tracer(this.schedule), items = [];
    for (const rank of new Set(this.failure.steps.map(step => step.rank).filter(r => r >= 0)))
      for (let buffer = 0; buffer < tracer.buffersOf(rank); ++buffer)
        for (const p of tracer.promises(rank, buffer, 0, Infinity).filter(one => !one.isKept))
          items.push(make("li", {}, make("a", { role: "button", tabindex: "0", onclick: () => {
            this.app.open("provenance");
            this.app.current.mark({ rank, buffer, begin: p.begin, end: p.end });
            this.app.current.describe();
          } }, `rank ${rank}, ${tracer.nameOf(rank, buffer)}, bytes ${countText(p.begin)} to ${countText(p.end)}`)));
    return items.length ? [make("h2", {}, "broken promises, and the history of their bytes"), make("ul", {}, items.slice(0, 40)),
                           items.length > 40 ? make("p", { class: "muted" }, `${items.length - 40} more`) : null] : null;
  }

  controls() {
    const { failures } = this.app.doc;
    return failures.length < 2 ? [] : [make("label", {}, "failure ", make("select", { "aria-label": "failure", onchange: event => {
      this.setFailure(Number(event.target.value));
      this.describe();
      this.app.redraw();
    } }, failures.map((f, i) => make("option", { value: i, selected: i === this.index }, `${i + 1}: ${f.proof}: ${f.message.slice(0, 80)}`))))];
  }

  state() { return { proof: this.failure.proof, steps: this.steps.length, marked: this.bytes?.chosen?.rank ?? null, nodes: this.nodes.length, failures: this.app.doc.failures.length }; }
}

function failureLegend(view) {
  if (view.bytes)
    return view.bytes.legend();
  const red = { deadlock: "waits for, all around the cycle", races: "the order that is missing" }[view.failure.proof];
  return [swatch("page", "named by the failure", "bad"), red ? swatch("bad", red) : null, swatch("arrow", "requires"), swatch("receive", "message")].filter(Boolean);
}
