// A network's links, with the bytes over each and its busy time.

class LinksView extends PlaneView {
  constructor(app) {
    super(app);
    this.setRun(app.doc.runs.find(run => run.links.from.length) || app.doc.runs[0]);
    this.place();
  }

  setRun(run) {
    this.run = run;
    this.most = run.links.bytes.reduce((a, b) => Math.max(a, b), 0);
  }

  get network() { return this.app.doc.network; }

  /// Places a torus as a grid, the first dimension across, the others down; a tree in a row per
  /// level; the switches of a dragonfly in a circle, group by group, with the nodes outside.
  place() {
    const { dims, kind, nodes } = this.network;
    this.nodes = [];
    if (kind === "torus") {
      for (let i = 0; i < nodes; ++i)
        this.nodes.push({ x: i % dims[0] * 110, y: Math.floor(i / dims[0]) * 90, name: `${i}` });
      return;
    }
    if (kind === "dragonfly")
      return this.placeDragonfly();
    let below = 1;
    for (let level = 0; level <= dims.length; ++level) {
      const count = nodes / below;
      for (let i = 0; i < count; ++i)
        this.nodes.push({ x: (i + 0.5) * below * 46, y: (dims.length - level) * 120, name: level ? `s${level}.${i}` : `${i}` });
      below *= dims[level] || 1;
    }
  }

  /// Between two groups there is room for a node.
  placeDragonfly() {
    const { dims: [perSwitch, switches, groups], nodes } = this.network;
    const perGroup = perSwitch * switches, room = (perGroup + 1) * groups;
    const inner = Math.max(70, room * 40 / (2 * Math.PI) - 80);
    const place = (node, radius, name) => {
      const angle = 2 * Math.PI * (node + Math.floor(node / perGroup)) / room;
      this.nodes.push({ x: radius * Math.sin(angle), y: -radius * Math.cos(angle), name });
    };
    for (let i = 0; i < nodes; ++i)
      place(i, inner + 80, `${i}`);
    for (let i = 0; i < switches * groups; ++i)
      place(i * perSwitch + (perSwitch - 1) / 2, inner, `s${Math.floor(i / switches)}.${i % switches}`);
  }

  box() {
    const xs = this.nodes.map(n => n.x), ys = this.nodes.map(n => n.y);
    return { left: Math.min(...xs) - 60, right: Math.max(...xs) + 60, top: Math.min(...ys) - 50, bottom: Math.max(...ys) + 50 };
  }

  /// The lines of a link: two stubs if it wraps around a torus, else one line.
  ends(i) {
    const { from, to } = this.run.links, a = this.nodes[from[i]], b = this.nodes[to[i]];
    const isAround = this.network.kind === "torus" && (Math.abs(a.x - b.x) > 110 || Math.abs(a.y - b.y) > 90 * this.rowsPerStep(a, b));
    if (!isAround)
      return [[a.x, a.y, b.x, b.y]];
    const dx = Math.sign(a.x - b.x) * 44, dy = Math.sign(a.y - b.y) * 38;
    return [[a.x, a.y, a.x + dx, a.y + dy], [b.x - dx, b.y - dy, b.x, b.y]];
  }
  /// The rows between neighbours: 1 in the second dimension, more in further ones.
  rowsPerStep(a, b) {
    const rows = Math.abs(a.y - b.y) / 90;
    let stride = 1;
    for (const dim of this.network.dims.slice(1)) {
      if (rows === stride)
        return rows;
      if (rows === stride * (dim - 1))
        return 0;
      stride *= dim;
    }
    return rows;
  }

  draw() {
    const { links } = this.run, s = this.surface;
    for (let i = 0; i < links.from.length; ++i)
      for (const [x1, y1, x2, y2] of this.ends(i))
        this.drawLink(i, x1, y1, x2, y2);
    const r = Math.max(2, Math.min(14, 13 * this.plane.scale));
    s.font(Math.max(8, 10 * Math.min(1.2, this.plane.scale)));
    for (const node of this.nodes) {
      const x = this.plane.x(node.x), y = this.plane.y(node.y);
      s.circle(x, y, r, "panel", "muted", 1.2);
      if (r > 8)
        s.text(node.name, x, y, "text", { align: "center", most: 2 * r });
    }
    s.font();
  }

  /// Draws one direction of a link, beside the other one.
  drawLink(i, x1, y1, x2, y2) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, share = this.most ? this.run.links.bytes[i] / this.most : 0;
    const ox = -(y2 - y1) / length * 4, oy = (x2 - x1) / length * 4, end = 15;
    const p = this.plane;
    this.surface.arrow(p.x(x1 + ox + (x2 - x1) / length * end), p.y(y1 + oy + (y2 - y1) / length * end),
                       p.x(x2 + ox - (x2 - x1) / length * end), p.y(y2 + oy - (y2 - y1) / length * end),
                       this.surface.mix("heat-low", "heat-high", 0.15 + 0.85 * share), 1 + 4 * share, { size: 4 + 4 * share });
  }

  hover(x, y) {
    const { links } = this.run, i = this.linkAt(x, y);
    if (i === undefined)
      return this.app.details.hideTip();
    const name = k => this.nodes[k].name.startsWith("s") ? `switch ${this.nodes[k].name.slice(1)}` : `node ${k}`;
    this.app.details.showTip(x, y, make("strong", {}, `${name(links.from[i])} to ${name(links.to[i])}`),
      pairs(["bytes", bytesText(links.bytes[i])], ["messages", countText(links.messages[i])],
            ["busy", `${timeText(links.busy[i])}, ${Math.round(100 * links.busy[i] / Math.max(1, this.run.completion))} % of the run`]));
  }
  click() {}

  linkAt(x, y) {
    let best = 8, found;
    for (let i = 0; i < this.run.links.from.length; ++i)
      for (const [x1, y1, x2, y2] of this.ends(i)) {
        const length = Math.hypot(x2 - x1, y2 - y1) || 1, p = this.plane;
        const ox = -(y2 - y1) / length * 4, oy = (x2 - x1) / length * 4;
        const away = distanceToLine(x, y, p.x(x1 + ox), p.y(y1 + oy), p.x(x2 + ox), p.y(y2 + oy));
        if (away < best) {
          best = away;
          found = i;
        }
      }
    return found;
  }

  controls() {
    const runs = this.app.doc.runs.filter(run => run.links.from.length);
    if (runs.length < 2)
      return [];
    return [choice("run", runs.map((run, i) => [i, `${run.schedule.label}, ${run.label}`]), runs.indexOf(this.run), i => {
      this.setRun(runs[i]);
      this.app.redraw();
    })];
  }
  legend() {
    const { dims, kind } = this.network;
    if (!this.run.links.from.length)
      return [make("span", {}, "no message goes over a link")];
    return [make("span", {}, `${kind === "fattree" ? "fat tree" : kind}, ${dims.join(" x ")}`), swatch("heat-low", "few bytes"),
            swatch("heat-high", `${bytesText(this.most)}, the most of a link`), make("span", {}, "one arrow each way"),
            kind === "torus" ? make("span", {}, "stubs lead around the edge") : null].filter(Boolean);
  }
  state() { return { links: this.run.links.from.length, nodes: this.nodes.length }; }
}

function distanceToLine(x, y, x1, y1, x2, y2) {
  const dx = x2 - x1, dy = y2 - y1;
  const t = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - t * dx, y - y1 - t * dy);
}
