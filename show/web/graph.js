// The communication of all ranks, as a matrix and as a graph.

/// A choice among several schedules, for views that show one at a time.
function scheduleChoice(app, view, filter = () => true) {
  const all = app.doc.schedules.filter(filter);
  if (all.length < 2)
    return [];
  return [choice("schedule", all.map((s, i) => [i, s.label]), all.indexOf(view.schedule), i => {
    view.setSchedule(all[i]);
    app.redraw();
  })];
}

const groupText = (matrix, cell, ranks) =>
  rangeText(cell * matrix.ranksPerCell, Math.min(ranks, (cell + 1) * matrix.ranksPerCell) - 1);

const MATRIX_MARGIN = 70;

class MatrixView {
  constructor(app) {
    this.app = app;
    this.showsBytes = true;
    this.setSchedule(app.doc.schedules[0]);
  }

  setSchedule(schedule) {
    this.schedule = schedule;
    const { matrix } = schedule;
    this.least = 1 / Math.min(matrix.size, 4);
    this.fit();
  }

  get values() { return this.showsBytes ? this.schedule.matrix.bytes : this.schedule.matrix.messages; }
  fit() {
    const { size } = this.schedule.matrix;
    this.columns = new Axis(0, size, Math.min(size, 4));
    this.rows = new Axis(0, size, Math.min(size, 4));
    this.app.surface && this.app.redraw();
  }

  get side() { return Math.max(50, Math.min(this.app.surface.width - 2 * MATRIX_MARGIN, this.app.surface.height - MATRIX_MARGIN - 50)); }
  get left() { return Math.max(MATRIX_MARGIN, (this.app.surface.width - this.side) / 2); }
  get top() { return 56; }

  paint() {
    const s = this.app.surface, { matrix, ranks } = this.schedule;
    s.begin();
    const most = this.values.reduce((a, b) => Math.max(a, b), 0);
    const cell = this.side / this.columns.length;
    s.rect(this.left, this.top, this.side, this.side, "panel");
    const c = s.context;
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, this.side, this.side);
    c.clip();
    const shades = Array.from({ length: 33 }, (_, i) => s.mix("heat-low", "heat-high", i / 32));
    const gap = cell > 8 ? 1 : 0;
    for (let i = 0; i < matrix.from.length; ++i) {
      const x = this.left + (matrix.to[i] - this.columns.from) * cell, y = this.top + (matrix.from[i] - this.rows.from) * cell;
      const share = most > 0 ? this.values[i] / most : 1;
      s.rect(x, y, Math.max(1, cell - gap), Math.max(1, cell - gap), shades[Math.round(Math.sqrt(share) * 32)]);
      if (cell > 52)
        s.text(this.showsBytes ? bytesText(this.values[i]) : countText(this.values[i]), x + cell / 2, y + cell / 2,
               share > 0.2 ? "page" : "text", { align: "center", most: cell - 6 });
    }
    c.restore();
    s.frame(this.left - 0.5, this.top - 0.5, this.side + 1, this.side + 1, "line");
    this.paintAxes(cell, ranks);
  }

  paintAxes(cell, ranks) {
    const s = this.app.surface, { matrix } = this.schedule;
    const every = Math.max(1, Math.ceil(ticks(0, this.columns.length, this.side, 34).step));
    for (let i = Math.ceil(this.columns.from / every) * every; i < this.columns.to; i += every)
      s.text(`${i * matrix.ranksPerCell}`, this.left + (i + 0.5 - this.columns.from) * cell, this.top - 11, "text", { align: "center" });
    for (let i = Math.ceil(this.rows.from / every) * every; i < this.rows.to; i += every)
      s.text(`${i * matrix.ranksPerCell}`, this.left - 7, this.top + (i + 0.5 - this.rows.from) * cell, "text", { align: "right" });
    s.text("receiver, rank", this.left + this.side / 2, this.top - 34, "muted", { align: "center" });
    s.text("sender, rank", this.left - 7, this.top - 11, "muted", { align: "right" });
    if (matrix.ranksPerCell > 1)
      s.text(`a cell stands for ${matrix.ranksPerCell} x ${matrix.ranksPerCell} of ${countText(ranks)} ranks`, this.left + this.side / 2,
             this.top + this.side + 16, "muted", { align: "center" });
  }

  cellAt(x, y) {
    const cell = this.side / this.columns.length;
    const to = Math.floor(this.columns.from + (x - this.left) / cell), from = Math.floor(this.rows.from + (y - this.top) / cell);
    const { size } = this.schedule.matrix;
    const isInside = x >= this.left && y >= this.top && x < this.left + this.side && y < this.top + this.side;
    return isInside && from < size && to < size ? { from, to } : undefined;
  }

  hover(x, y) {
    const at = this.cellAt(x, y), { matrix, ranks } = this.schedule;
    if (!at)
      return this.app.details.hideTip();
    const i = matrix.from.findIndex((from, k) => from === at.from && matrix.to[k] === at.to);
    this.app.details.showTip(x, y, make("strong", {}, `rank ${groupText(matrix, at.from, ranks)} to rank ${groupText(matrix, at.to, ranks)}`),
      pairs(["messages", i < 0 ? "none" : countText(matrix.messages[i])], ["bytes", i < 0 ? "" : bytesText(matrix.bytes[i])]));
  }

  wheel(event, x, y) {
    const factor = Math.exp(event.deltaY * 0.0015), cell = this.side / this.columns.length;
    this.columns.zoom(factor, this.columns.from + (x - this.left) / cell);
    this.rows.zoom(factor, this.rows.from + (y - this.top) / cell);
    this.app.redraw();
  }
  drag(dx, dy) {
    this.columns.pan(-dx / this.side);
    this.rows.pan(-dy / this.side);
    this.app.redraw();
  }
  zoom(direction) {
    for (const axis of [this.columns, this.rows])
      axis.zoom(direction > 0 ? 0.7 : 1 / 0.7);
    this.app.redraw();
  }
  step(dx, dy) { this.drag(-dx * 60, -dy * 60); }

  controls() {
    return [...scheduleChoice(this.app, this), pressable(this.app, "showsBytes", "bytes, not messages")];
  }
  legend() {
    const most = this.values.reduce((a, b) => Math.max(a, b), 0);
    const text = this.showsBytes ? bytesText : countText;
    return [swatch("heat-low", "few"), swatch("heat-high", `${text(most)}, the most of a cell`), make("span", {}, `the root of the ${this.showsBytes ? "bytes" : "messages"} gives the shade`)];
  }
  state() { return { cells: this.schedule.matrix.from.length, size: this.schedule.matrix.size }; }
}

const MOST_NODES = 128;

/// The graph with at most MOST_NODES nodes: a node is a rank, or a power of two of consecutive
/// ranks, as in SvgGraph.cpp. Links are weighted by bytes.
function communicationGraph(schedule) {
  const { matrix, ranks } = schedule;
  const fold = 2 ** Math.ceil(Math.log2(Math.max(1, matrix.size / MOST_NODES))), perNode = fold * matrix.ranksPerCell;
  const links = new Map();
  for (let i = 0; i < matrix.from.length; ++i) {
    const from = Math.floor(matrix.from[i] / fold), to = Math.floor(matrix.to[i] / fold);
    const link = links.get(from * MOST_NODES + to) || { from, to, messages: 0, bytes: 0 };
    link.messages += matrix.messages[i];
    link.bytes += matrix.bytes[i];
    links.set(from * MOST_NODES + to, link);
  }
  const count = Math.ceil(ranks / perNode);
  const nodes = Array.from({ length: count }, (_, i) => ({ first: i * perNode, last: Math.min(ranks, (i + 1) * perNode) - 1 }));
  return { perNode, nodes, links: [...links.values()].filter(link => link.from !== link.to) };
}

/// The parent of each node if the links form one tree; else undefined.
function parentsOf(graph) {
  const parent = new Array(graph.nodes.length).fill(-1);
  for (const link of graph.links) {
    if (parent[link.to] >= 0)
      return undefined;
    parent[link.to] = link.from;
  }
  const roots = parent.filter(p => p < 0).length;
  const reachesRoot = i => {
    for (let steps = 0; parent[i] >= 0; ++steps, i = parent[i])
      if (steps > parent.length)
        return false;
    return true;
  };
  return roots === 1 && parent.length > 1 && parent.every((_, i) => reachesRoot(i)) ? parent : undefined;
}

class GraphView extends PlaneView {
  constructor(app) {
    super(app);
    this.setSchedule(app.doc.schedules[0]);
  }

  setSchedule(schedule) {
    this.schedule = schedule;
    this.graph = communicationGraph(schedule);
    this.parents = parentsOf(this.graph);
    this.isReversed = false;
    if (!this.parents) {
      const turned = { ...this.graph, links: this.graph.links.map(l => ({ ...l, from: l.to, to: l.from })) };
      this.parents = parentsOf(turned);
      this.isReversed = Boolean(this.parents);
    }
    this.layout = this.parents ? "tree" : "ring";
    this.size = Math.max(11, 3.5 * this.nameOf(this.graph.nodes.at(-1)).length + 3);
    this.place();
  }

  place() {
    this.layout === "tree" ? this.placeTree() : this.placeRing();
    this.isFitted = false;
    this.app.redraw();
  }

  placeRing() {
    const count = this.graph.nodes.length, radius = Math.max(120, count * (2 * this.size + 14) / (2 * Math.PI));
    this.radius = radius;
    this.graph.nodes.forEach((node, i) => {
      node.angle = 2 * Math.PI * i / count - Math.PI / 2;
      node.x = radius * Math.cos(node.angle);
      node.y = radius * Math.sin(node.angle);
    });
  }

  /// Places leaves side by side, parents above the middle of their children.
  placeTree() {
    const children = this.graph.nodes.map(() => []);
    this.parents.forEach((parent, i) => parent >= 0 && children[parent].push(i));
    let leaf = 0;
    const visit = (i, depth) => {
      const node = this.graph.nodes[i];
      node.y = depth * 90;
      children[i].forEach(child => visit(child, depth + 1));
      node.x = children[i].length ? (this.graph.nodes[children[i][0]].x + this.graph.nodes[children[i].at(-1)].x) / 2 : (2 * this.size + 20) * leaf++;
    };
    visit(this.parents.indexOf(-1), 0);
  }

  box() {
    const grow = this.size + (this.layout === "ring" ? 29 + 18 * this.schedule.levels.length : 12);
    const xs = this.graph.nodes.map(n => n.x), ys = this.graph.nodes.map(n => n.y);
    return { left: Math.min(...xs) - grow, right: Math.max(...xs) + grow, top: Math.min(...ys) - grow, bottom: Math.max(...ys) + grow };
  }

  draw() {
    const most = Math.max(1, ...this.graph.links.map(link => link.bytes));
    const isDense = this.graph.links.length > 600;
    for (const link of this.graph.links)
      if (this.marked === undefined || (link.from !== this.marked && link.to !== this.marked))
        this.drawLink(link, most, isDense, this.marked !== undefined);
    for (const link of this.graph.links)
      if (this.marked !== undefined && (link.from === this.marked || link.to === this.marked))
        this.drawLink(link, most, false, false);
    if (this.layout === "ring")
      this.drawLevels();
    this.graph.nodes.forEach((node, i) => this.drawNode(node, i));
  }

  drawLink(link, most, isDense, isFaint) {
    const s = this.surface, a = this.graph.nodes[link.from], b = this.graph.nodes[link.to];
    const x1 = this.plane.x(a.x), y1 = this.plane.y(a.y), x2 = this.plane.x(b.x), y2 = this.plane.y(b.y);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, away = this.nodeRadius() + 1;
    const ux = (x2 - x1) / length * away, uy = (y2 - y1) / length * away;
    const gap = length - 2 * away, width = Math.min(0.8 + 4 * link.bytes / most, Math.max(0.8, gap / 4));
    s.context.globalAlpha = isFaint ? 0.12 : isDense ? 0.25 : 0.8;
    const touches = this.marked === link.from ? "send" : this.marked === link.to ? "receive" : "arrow";
    if (isDense)
      s.line(x1 + ux, y1 + uy, x2 - ux, y2 - uy, touches, width);
    else
      s.arrow(x1 + ux, y1 + uy, x2 - ux, y2 - uy, touches, width, { size: Math.min(5 + width, Math.max(3, gap)), bend: this.layout === "ring" ? Math.min(24, gap / 8) : 0 });
    s.context.globalAlpha = 1;
  }

  /// The label in a node's circle: "12", or "96+" for several ranks.
  nameOf(node) { return node.first === node.last ? `${node.first}` : `${node.first}+`; }

  /// The radius of a node, which shrinks with the scale, so that neighbours never touch.
  nodeRadius() { return Math.min(this.size, this.size * this.plane.scale); }

  drawNode(node, i) {
    const s = this.surface, x = this.plane.x(node.x), y = this.plane.y(node.y), r = this.nodeRadius();
    s.circle(x, y, r, i === this.marked ? "path-fill" : "panel", i === this.marked ? "path" : "muted", 1.5);
    const name = this.nameOf(node);
    if (this.namesFit(r))
      s.text(name, x, y, "text", { align: "center" });
    else if (this.layout === "ring")
      this.nameBeside(node, name, x, y, r);
  }

  /// True if the labels of all nodes fit into their circles.
  namesFit(radius) {
    return this.surface.context.measureText(this.nameOf(this.graph.nodes.at(-1))).width <= 2 * radius - 2;
  }

  /// Draws a label outside of the ring, or inside if arcs of levels are outside. Draws none if
  /// neighbours leave no room.
  nameBeside(node, name, x, y, radius) {
    const LINE = 12, apart = 2 * Math.PI * this.radius * this.plane.scale / this.graph.nodes.length;
    const width = this.surface.context.measureText(name).width;
    const reach = radius + 4 + (Math.abs(Math.cos(node.angle)) * width + Math.abs(Math.sin(node.angle)) * LINE) / 2;
    const away = this.schedule.levels.length ? -reach : reach;
    if (apart > LINE && apart > Math.abs(Math.sin(node.angle)) * (width + 3))
      this.surface.text(name, x + away * Math.cos(node.angle), y + away * Math.sin(node.angle), "text", { align: "center" });
  }

  /// Draws groups of the machine as arcs around the ring; the innermost arcs are the smallest
  /// groups.
  drawLevels() {
    const c = this.surface.context, s = this.surface, { nodes, perNode } = this.graph;
    const cx = this.plane.x(0), cy = this.plane.y(0), half = Math.PI / nodes.length;
    [...this.schedule.levels].reverse().forEach((level, depth) => {
      const radius = (this.radius + this.size + 19 + 18 * depth) * this.plane.scale;
      for (let i = 0; i < nodes.length;) {
        let end = i;
        const group = level.groupOf[i * perNode];
        while (end + 1 < nodes.length && level.groupOf[(end + 1) * perNode] === group)
          ++end;
        c.beginPath();
        c.arc(cx, cy, radius, nodes[i].angle - half * 0.8, nodes[end].angle + half * 0.8);
        c.strokeStyle = s.colors[group % 2 ? "local" : "send"];
        c.lineWidth = Math.max(1.5, 4 * this.plane.scale);
        c.stroke();
        const angle = (nodes[i].angle + nodes[end].angle) / 2;
        const label = `${level.name} ${group}`;
        if ((nodes[end].angle - nodes[i].angle + 2 * half) * radius > 70 && depth === this.schedule.levels.length - 1)
          s.text(label, cx + (radius + 30) * Math.cos(angle), cy + (radius + 14) * Math.sin(angle), "muted", { align: "center" });
        i = end + 1;
      }
    });
  }

  nodeAt(x, y) {
    const reach = this.nodeRadius() + 3;
    const i = this.graph.nodes.findIndex(n => Math.hypot(this.plane.x(n.x) - x, this.plane.y(n.y) - y) <= reach);
    return i < 0 ? undefined : i;
  }

  hover(x, y) {
    const i = this.nodeAt(x, y);
    if (i === undefined)
      return this.app.details.hideTip();
    const node = this.graph.nodes[i], sum = (filter, what) => this.graph.links.filter(filter).reduce((n, link) => n + link[what], 0);
    const side = filter => `${counted(sum(filter, "messages"), "message")}, ${bytesText(sum(filter, "bytes"))}`;
    this.app.details.showTip(x, y, make("strong", {}, `rank ${rangeText(node.first, node.last)}`),
      pairs(["sends", side(l => l.from === i)], ["receives", side(l => l.to === i)],
            ...this.schedule.levels.map(level => [level.name, `${level.groupOf[node.first]}`])));
  }

  click(x, y) {
    const i = this.nodeAt(x, y);
    this.marked = i === this.marked ? undefined : i;
    this.app.redraw();
  }

  controls() {
    const choose = layout => () => {
      this.layout = layout;
      this.place();
      this.app.showControls();
    };
    const button = (layout, text) => make("button", { type: "button", class: "button", "aria-pressed": String(this.layout === layout), onclick: choose(layout) }, text);
    return [...scheduleChoice(this.app, this), ...(this.parents ? [button("tree", "tree"), button("ring", "ring")] : [])];
  }
  legend() {
    const { perNode } = this.graph;
    return [
      make("span", {}, perNode > 1 ? `a node stands for ${perNode} ranks; messages among them are left out` : "nodes: ranks"),
      make("span", {}, "width of an arrow: bytes"),
      this.isReversed && this.layout === "tree" ? make("span", {}, "all messages lead to the root") : null,
      this.layout === "ring" && this.schedule.levels.length ? make("span", {}, `arcs, from inside: ${[...this.schedule.levels].reverse().map(l => l.name).join(", ")}`) : null,
      make("span", {}, "click a node for its messages alone"),
      this.marked !== undefined ? swatch("send", "sent by it") : null, this.marked !== undefined ? swatch("receive", "received by it") : null,
    ].filter(Boolean);
  }
  state() { return { nodes: this.graph.nodes.length, links: this.graph.links.length, layout: this.layout, marked: this.marked ?? null,
                     gap: this.gap() }; }

  /// The least distance in pixels between two circles.
  gap() {
    const nodes = this.graph.nodes;
    const least = nodes.flatMap((a, i) => nodes.slice(0, i).map(b => Math.hypot(a.x - b.x, a.y - b.y)));
    return Math.min(...least) * this.plane.scale - 2 * this.nodeRadius();
  }
}
