// Counterexamples: the ops that a failed proof names and those that lead to them, a lane per rank.

const FAILURE_NODE = 190, FAILURE_COLUMN = 240, FAILURE_ROW = 92;
// As FailureGraph::Way of the program.
const FAILURE_WAYS = [
  { color: "arrow", dash: [], width: 1.5 }, { color: "arrow", dash: [4, 3], width: 1.5 }, { color: "receive", dash: [], width: 1.5 },
  { color: "bad", dash: [], width: 3 }, { color: "bad", dash: [6, 5], width: 2.5, isMissing: true },
];

class FailureView extends PlaneView {
  constructor(app) {
    super(app);
    this.schedule = app.doc.schedules[0];
    this.setFailure(0);
  }

  setFailure(i) {
    this.failure = this.app.doc.failures[i];
    this.index = i;
    this.showsOps = this.failure.proof !== "contract"; // for a wrong value, bytes tell more
    this.place();
    this.isFitted = false;
  }

  /// Takes the places of the ops from the program: rows of ranks; for a race, columns in the order
  /// of happens-before.
  place() {
    const s = this.schedule, { graph } = this.failure;
    this.steps = this.failure.steps.filter(step => step.op >= 0 && s.hasOps).map(step => ({ ...step, at: s.first[step.rank] + step.op }));
    this.lanes = graph.lanes;
    this.nodes = graph.nodes.map(node => ({ ...node, x: node.column * FAILURE_COLUMN, y: node.row * FAILURE_ROW }));
    this.edges = graph.edges.map(([from, to, way]) => ({ a: this.nodes[from], b: this.nodes[to], ...FAILURE_WAYS[way] }));
  }

  /// The view of the contents in the end and of the path of the wrong bytes, for a wrong value and
  /// for a failure that names no ops; else undefined.
  get bytes() { return this.showsOps && this.nodes.length ? undefined : this.tracedBytes(); }

  /// undefined: no bytes can be traced, or none are wrong.
  tracedBytes() {
    if (this.schedule.whyNotTraced)
      return undefined;
    if (this.bytesOf !== this.failure) {
      this.bytesOf = this.failure;
      this.bytesView = new ProvenanceView(this.app);
      const ranks = this.failure.steps.map(step => step.rank);
      const wrong = this.bytesView.broken().find(p => ranks.includes(p.rank));
      if (wrong)
        this.bytesView.mark(wrong);
    }
    return this.bytesView.chosen || !this.nodes.length ? this.bytesView : undefined;
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
    for (const lane of this.lanes)
      this.surface.text(`rank ${lane.rank}`, plane.x(-80), plane.y(lane.firstRow * FAILURE_ROW + 22), "muted");
    for (const edge of this.edges)
      this.drawEdge(edge);
    for (const node of this.nodes)
      this.drawNode(node);
  }

  drawEdge({ a, b, color, dash, width, isMissing }) {
    const { plane } = this, right = b.x > a.x, down = b.y > a.y;
    const x = (node, share) => plane.x(node.x + FAILURE_NODE * share), y = (node, share) => plane.y(node.y + 44 * share);
    const arrow = (x1, y1, x2, y2, bend = 0) => this.surface.arrow(x1, y1, x2, y2, color, width, { dash, bend, size: 5 + width });
    if (isMissing)
      return this.drawMissing(right ? a : b, right ? b : a, x, y);
    if (a.y === b.y && Math.abs(a.x - b.x) > FAILURE_COLUMN)
      return arrow(x(a, 0.5), y(a, 0), x(b, 0.5), y(b, 0), right ? -60 : 60);
    if (a.x !== b.x)
      return arrow(x(a, right ? 1 : 0), y(a, 0.5), x(b, right ? 0 : 1), y(b, 0.5));
    if (Math.abs(a.y - b.y) > FAILURE_ROW)
      return arrow(x(a, 1), y(a, 0.5), x(b, 1), y(b, 0.5), down ? -50 : 50);
    arrow(x(a, 0.5), y(a, down ? 1 : 0), x(b, 0.5), y(b, down ? 0 : 1));
  }

  /// Draws the missing edge along the left op's row, which is free to its right, then to the other
  /// op.
  drawMissing(left, right, x, y) {
    const s = this.surface, down = right.y > left.y, isStraight = left.x === right.x;
    const middle = x(right, 0.5), y1 = y(left, isStraight ? (down ? 1 : 0) : 0.5), y2 = y(right, down ? 0 : 1);
    if (!isStraight)
      s.line(x(left, 1), y1, middle, y1, "bad", 2.5, [6, 5]);
    s.line(middle, y1, middle, y2, "bad", 2.5, [6, 5]);
    s.text("no path: nothing orders these two", isStraight ? middle + 8 : x(left, 1) + 12, isStraight ? (y1 + y2) / 2 : y1 - 12, "bad");
  }

  drawNode(node) {
    const s = this.surface, { plane, schedule } = this, x = plane.x(node.x), y = plane.y(node.y);
    const w = FAILURE_NODE * plane.scale, h = 44 * plane.scale;
    s.rect(x, y, w, h, "panel");
    s.frame(x, y, w, h, node.isNamed ? "bad" : ["line", "send", "local", "muted"][node.cones], node.isNamed ? 2 : node.cones ? 1.6 : 1);
    s.font(Math.max(9, 12 * plane.scale), node.isNamed ? "600" : "");
    s.text(`${schedule.numberInRank(node.op)}: ${schedule.nameOf(node.op)}`, x + 8, y + h * (h > 28 ? 0.32 : 0.5), "text", { most: w - 12 });
    s.font(Math.max(9, 11 * plane.scale));
    const place = schedule.placeOf(node.op);
    h > 28 && s.text(place.text || (place.line ? `line ${place.line}` : ""), x + 8, y + h * 0.7, "muted", { most: w - 12 });
    s.font();
  }

  hit(x, y) {
    return this.boxAt(this.nodes, x, y, FAILURE_NODE, 44)?.op;
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
  click(x, y) { this.bytes?.click(x, y); }

  describe() {
    const { failure } = this;
    const place = step => step.place ? make("div", { class: "muted" }, step.place) : null;
    this.app.details.show(
      make("h2", { class: "bad" }, `${failure.proof}: ${failure.message}`),
      make("ol", {}, failure.steps.map(step => make("li", {}, `${step.rank >= 0 ? `rank ${step.rank}${step.op >= 0 ? `, op ${step.op}` : ""}: ` : ""}${step.text}`, place(step)))),
      this.bytes?.chosen ? this.bytes.ways() : null,
      this.brokenPromises(),
      this.app.doc.skipped?.length ? make("p", { class: "muted" }, `not tried, because they rest on this: ${this.app.doc.skipped.join(", ")}`) : null);
  }

  /// Links to the paths of the wrong bytes, for the ranks that the failure names.
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
    const showing = change => value => {
      change(value);
      this.describe();
      this.app.redraw();
    };
    const parts = this.nodes.length && this.tracedBytes()
      ? [choice("shown", [["bytes", "the bytes and their history"], ["ops", "the operations"]], this.showsOps ? "ops" : "bytes", showing(value => this.showsOps = value === "ops"))] : [];
    return failures.length < 2 ? parts
      : [...parts, choice("failure", failures.map((f, i) => [i, `${i + 1}: ${f.proof}: ${f.message.slice(0, 80)}`]), this.index, showing(i => this.setFailure(i)))];
  }

  state() { return { proof: this.failure.proof, steps: this.steps.length, cones: [1, 2, 3].map(cone => this.nodes.filter(node => node.cones === cone).length), marked: this.bytes?.chosen?.rank ?? null, nodes: this.nodes.length, failures: this.app.doc.failures.length }; }
}

function failureLegend(view) {
  if (view.bytes)
    return view.bytes.legend();
  const { graph, proof } = view.failure, more = side => graph.leftOut[side] ? `, and ${countText(graph.leftOut[side])} more` : "";
  const cones = graph.isRace ? [swatch("page", `before the first op${more(0)}`, "send"), swatch("page", `before the second${more(1)}`, "local"),
                                swatch("page", "before both", "muted"), swatch("bad", "the order that is missing")] : [];
  return [swatch("page", "named by the failure", "bad"), ...cones, proof === "deadlock" ? swatch("bad", "waits for, all around the cycle") : null,
          swatch("arrow", graph.isRace ? "comes before" : "requires"), swatch("receive", "message")].filter(Boolean);
}
