// The dependencies of one rank: ops without dependencies on the left, each other op to the right of
// the last one that it waits for.

const NODE_WIDTH = 150, NODE_HEIGHT = 34, LAYER_WIDTH = 210, SLOT_HEIGHT = 46;

class DagView extends PlaneView {
  constructor(app) {
    super(app);
    this.run = app.selected.run && !app.selected.run.grid ? app.selected.run : undefined;
    this.schedule = this.run ? this.run.schedule : app.doc.schedules.find(s => s.hasOps);
    this.run ||= app.doc.runs.find(run => run.schedule === this.schedule);
    this.setRank(app.selected.op === undefined ? this.slowestRank() : this.schedule.rank[app.selected.op]);
  }

  /// The rank whose last op ends last; 0 if no run has single ops.
  slowestRank() {
    const { run, schedule } = this;
    let last = 0, slowest = 0;
    for (let op = 0; run && !run.grid && op < schedule.size; ++op)
      if (run.begin[op] + run.took[op] > last) {
        last = run.begin[op] + run.took[op];
        slowest = schedule.rank[op];
      }
    return slowest;
  }

  setSchedule(schedule) {
    this.schedule = schedule;
    this.run = this.app.doc.runs.find(run => run.schedule === schedule);
    this.setRank(this.slowestRank());
  }

  setRank(rank) {
    this.rank = rank;
    this.nodes = placeOps(this.schedule, rank);
    this.at = new Map(this.nodes.map(node => [node.op, node]));
    this.isFitted = false;
    this.app.redraw();
  }

  box() {
    return {
      left: 0, top: 0, right: Math.max(1, ...this.nodes.map(n => n.x + NODE_WIDTH)), bottom: Math.max(1, ...this.nodes.map(n => n.y + NODE_HEIGHT)),
    };
  }

  /// Shows the whole graph, or its beginning if the text would be too small to read.
  fitPlane() {
    super.fitPlane();
    if (this.plane.scale < 0.35)
      Object.assign(this.plane, { scale: 0.6, left: 20, top: 30 });
  }

  isInView(node) {
    const x = this.plane.x(node.x), y = this.plane.y(node.y);
    return x < this.surface.width && y < this.surface.height && x + NODE_WIDTH * this.plane.scale > 0 && y + NODE_HEIGHT * this.plane.scale > 0;
  }

  draw() {
    if (!this.nodes.length)
      return this.surface.text(`rank ${this.rank} has no ops`, 30, 40, "muted");
    for (const node of this.nodes)
      for (const dep of this.schedule.depsOf(node.op)) {
        const from = this.at.get(dep.op);
        if (this.isInView(node) || this.isInView(from))
          this.drawEdge(from, node, dep.isStart);
      }
    for (const node of this.nodes)
      if (this.isInView(node))
        this.drawNode(node);
  }

  drawEdge(from, to, isStart) {
    const c = this.surface.context, { plane } = this;
    const x1 = plane.x(from.x + (isStart ? 0 : NODE_WIDTH)), y1 = plane.y(from.y + NODE_HEIGHT / 2);
    const x2 = plane.x(to.x), y2 = plane.y(to.y + NODE_HEIGHT / 2);
    const isMarked = this.app.selected.op === to.op || this.app.selected.op === from.op;
    const isOnPath = this.run?.inPath?.[to.op] && this.run.after[to.op] === from.op;
    c.strokeStyle = c.fillStyle = this.surface.colors[isMarked ? "select" : isOnPath ? "path" : "arrow"];
    c.lineWidth = isMarked || isOnPath ? 2 : 1.2;
    c.setLineDash(isStart ? [4, 3] : []);
    c.beginPath();
    c.moveTo(x1, y1);
    c.bezierCurveTo(x1 + 40 * plane.scale, y1, x2 - 40 * plane.scale, y2, x2 - 5, y2);
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    c.moveTo(x2, y2);
    c.lineTo(x2 - 7, y2 - 3.5);
    c.lineTo(x2 - 7, y2 + 3.5);
    c.fill();
  }

  drawNode(node) {
    const s = this.surface, { plane, schedule } = this, { op } = node;
    const x = plane.x(node.x), y = plane.y(node.y), w = NODE_WIDTH * plane.scale, h = NODE_HEIGHT * plane.scale;
    s.rect(x, y, w, h, "panel");
    s.rect(x, y, Math.max(3, 6 * plane.scale), h, ["send", "receive", "local"][activityOf(schedule.kind[op])]);
    const color = this.app.selected.op === op && this.app.selected.run === this.run ? "select" : this.run?.inPath?.[op] ? "path" : "line";
    s.frame(x + 0.5, y + 0.5, w, h, color, color === "line" ? 1 : 2);
    if (h < 15)
      return;
    s.font(Math.min(13, 12 * Math.max(0.75, plane.scale)));
    s.text(`${schedule.numberInRank(op)}: ${schedule.nameOf(op)}`, x + 12 * plane.scale, y + h * (h > 26 ? 0.32 : 0.5), "text", { most: w - 16 * plane.scale });
    if (h > 26)
      s.text([schedule.payload[op] ? bytesText(schedule.payload[op]) : "", schedule.placeOf(op).line ? `line ${schedule.placeOf(op).line}` : ""].filter(Boolean).join(", "),
             x + 12 * plane.scale, y + h * 0.72, "muted", { most: w - 16 * plane.scale });
    s.font();
  }

  hit(x, y) {
    const node = this.boxAt(this.nodes, x, y, NODE_WIDTH, NODE_HEIGHT);
    return node && this.run && !this.run.grid ? { run: this.run, op: node.op } : undefined;
  }

  reveal(run, op) {
    if (run.schedule !== this.schedule)
      this.setSchedule(run.schedule);
    if (this.schedule.rank[op] !== this.rank) {
      this.setRank(this.schedule.rank[op]);
      this.app.showControls();
    }
    const node = this.at.get(op);
    if (!this.isFitted || this.isInView(node))
      return;
    this.plane.left = this.surface.width / 2 - node.x * this.plane.scale;
    this.plane.top = this.surface.height / 2 - node.y * this.plane.scale;
  }

  controls() {
    return [
      ...scheduleChoice(this.app, this, s => s.hasOps),
      make("label", {}, "rank ", make("input", {
        type: "number", min: 0, max: this.schedule.ranks - 1, value: this.rank, "aria-label": "rank",
        onchange: event => this.setRank(Math.max(0, Math.min(this.schedule.ranks - 1, Math.floor(Number(event.target.value)) || 0))),
      })),
      make("button", { type: "button", class: "button", title: "key f", onclick: () => this.fit() }, "fit"),
    ];
  }
  legend() {
    return [swatch("send", "send"), swatch("receive", "receive"), swatch("local", "copy, combine, calc"), swatch("panel", "on the critical path", "path"),
            make("span", {}, "line: starts after the other finished; dashed: after it started")];
  }
  state() { return { rank: this.rank, nodes: this.nodes.length }; }
}

/// Places ops in layers by the longest chain of dependencies, and within a layer by the mean place
/// of their dependencies.
function placeOps(schedule, rank) {
  const first = schedule.first[rank], count = schedule.first[rank + 1] - first;
  const layer = new Uint32Array(count), layers = [];
  for (let i = 0; i < count; ++i) {
    for (const dep of schedule.depsOf(first + i))
      layer[i] = Math.max(layer[i], layer[dep.op - first] + 1);
    (layers[layer[i]] ||= []).push(i);
  }
  const slot = new Float64Array(count), nodes = [];
  layers.forEach((ops, depth) => {
    const wanted = new Map(ops.map((i, at) => {
      const deps = schedule.depsOf(first + i);
      return [i, deps.length ? deps.reduce((sum, dep) => sum + slot[dep.op - first], 0) / deps.length : at];
    }));
    ops.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    ops.forEach((i, at) => {
      slot[i] = at;
      nodes.push({ op: first + i, x: depth * LAYER_WIDTH, y: at * SLOT_HEIGHT });
    });
  });
  return nodes;
}
