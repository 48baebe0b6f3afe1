// The canvas that all drawn views share: pixels of the screen, colours of the theme, text.

const COLOR_NAMES = ["page", "panel", "text", "muted", "line", "grid", "send", "receive", "local", "path",
                     "path-fill", "arrow", "select", "good", "bad", "heat-low", "heat-high"];

class Surface {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.readColors();
    this.resize();
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    this.colors = {};
    this.rgb = {};
    for (const name of COLOR_NAMES) {
      const hex = style.getPropertyValue(`--${name}`).trim();
      this.colors[name] = hex;
      this.rgb[name] = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
    }
    this.theme = Object.values(this.colors).join();
    this.shades = makeShades(this.rgb);
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.ratio = window.devicePixelRatio || 1;
    this.width = Math.max(1, Math.floor(box.width));
    this.height = Math.max(1, Math.floor(box.height));
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
  }

  /// Clears the canvas and sets its units to CSS pixels.
  begin() {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.rect(0, 0, this.width, this.height, "page");
    this.font();
  }

  font(size = 12, weight = "") {
    this.context.font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
    this.context.textBaseline = "middle";
    this.context.textAlign = "left";
  }

  rect(x, y, width, height, color) {
    this.context.fillStyle = this.colors[color] || color;
    this.context.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, color, lineWidth = 1) {
    this.context.strokeStyle = this.colors[color] || color;
    this.context.lineWidth = lineWidth;
    this.context.strokeRect(x, y, width, height);
  }

  circle(x, y, radius, fill, stroke, width) {
    const c = this.context;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.fillStyle = this.colors[fill];
    c.strokeStyle = this.colors[stroke];
    c.lineWidth = width;
    c.fill();
    c.stroke();
  }

  line(x1, y1, x2, y2, color, width = 1, dash = []) {
    const c = this.context;
    c.strokeStyle = this.colors[color] || color;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
    c.setLineDash([]);
  }

  /// Draws an arrow with a head of `size` pixels; `bend`: pixels by which it curves to its right.
  arrow(x1, y1, x2, y2, color, width = 1, { size = 6, bend = 0, dash = [] } = {}) {
    const c = this.context;
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const mx = (x1 + x2) / 2 - (y2 - y1) / length * bend, my = (y1 + y2) / 2 + (x2 - x1) / length * bend;
    const angle = Math.atan2(y2 - my, x2 - mx);
    c.strokeStyle = c.fillStyle = this.colors[color] || color;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x1, y1);
    c.quadraticCurveTo(mx, my, x2, y2);
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    c.moveTo(x2, y2);
    for (const turn of [2.7, -2.7])
      c.lineTo(x2 + size * Math.cos(angle + turn), y2 + size * Math.sin(angle + turn));
    c.fill();
  }

  /// Draws text, cut with an ellipsis if it is wider than `most`. Draws nothing if no character is
  /// left.
  text(text, x, y, color = "text", { align = "left", most = Infinity } = {}) {
    const c = this.context;
    const shown = this.fit(text, most);
    c.fillStyle = this.colors[color] || color;
    c.textAlign = align;
    c.fillText(shown, x, y);
  }

  fit(text, most) {
    const widthOf = t => this.context.measureText(t).width;
    if (most === Infinity || widthOf(text) <= most)
      return text;
    let length = Math.min(text.length, Math.floor(most / 5));
    while (length > 0 && widthOf(text.slice(0, length) + "\u2026") > most)
      --length;
    return length > 0 ? text.slice(0, length) + "\u2026" : "";
  }

  /// A colour between two of the theme.
  mix(from, to, share) {
    const [a, b] = [this.rgb[from], this.rgb[to]];
    return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * share)).join(",")})`;
  }
}

/// The visible interval of one dimension of a view. `from` and `to` bound it, `least` is its least
/// length, which limits zooming in.
class Axis {
  constructor(from, to, least) {
    this.whole = [from, to];
    this.least = least;
    this.from = from;
    this.to = to;
  }
  get length() { return this.to - this.from; }
  show(from, to) {
    const [begin, end] = this.whole;
    const length = Math.min(Math.max(to - from, this.least), end - begin);
    this.from = Math.max(begin, Math.min(from, end - length));
    this.to = this.from + length;
  }
  fit() { this.show(...this.whole); }
  pan(share) { this.show(this.from + share * this.length, this.to + share * this.length); }
  /// `at`: the fixed point.
  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.max(this.length * factor, this.least);
    const share = (at - this.from) / this.length;
    this.show(at - share * length, at - share * length + length);
  }
  isWhole() { return this.from === this.whole[0] && this.to === this.whole[1]; }
}

/// Two dimensions with a common scale, for graphs. Positions on the screen are x * scale + left.
class Plane {
  constructor() { this.scale = 1; this.left = 0; this.top = 0; }
  fit(box, width, height, margin = 30, most = 1.6) {
    const w = Math.max(1, box.right - box.left), h = Math.max(1, box.bottom - box.top);
    this.scale = Math.min(most, (width - 2 * margin) / w, (height - 2 * margin) / h);
    this.left = (width - w * this.scale) / 2 - box.left * this.scale;
    this.top = (height - h * this.scale) / 2 - box.top * this.scale;
  }
  zoom(factor, x, y) {
    const scale = Math.min(8, Math.max(0.01, this.scale * factor));
    this.left = x - (x - this.left) * scale / this.scale;
    this.top = y - (y - this.top) * scale / this.scale;
    this.scale = scale;
  }
  pan(dx, dy) { this.left += dx; this.top += dy; }
  x(value) { return value * this.scale + this.left; }
  y(value) { return value * this.scale + this.top; }
}

/// The base of views that are drawn on a Plane. They define draw(), box() and hit().
class PlaneView {
  constructor(app) {
    this.app = app;
    this.plane = new Plane();
    this.isFitted = false;
  }
  get surface() { return this.app.surface; }
  fit() {
    this.fitPlane();
    this.app.redraw();
  }
  fitPlane() {
    this.plane.fit(this.box(), this.surface.width, this.surface.height);
    this.isFitted = true;
  }
  paint() {
    if (!this.isFitted)
      this.fitPlane();
    this.surface.begin();
    this.draw();
  }
  wheel(event, x, y) { this.plane.zoom(Math.exp(-event.deltaY * 0.0015), x, y); this.app.redraw(); }
  drag(dx, dy) { this.plane.pan(dx, dy); this.app.redraw(); }
  zoom(direction) {
    this.plane.zoom(direction > 0 ? 1.25 : 0.8, this.surface.width / 2, this.surface.height / 2);
    this.app.redraw();
  }
  step(dx, dy) { this.drag(-dx * 80, -dy * 80); }

  /// The node, a box of that size, at a point of the screen.
  boxAt(nodes, x, y, width, height) {
    return nodes.find(n => {
      const dx = (x - this.plane.x(n.x)) / this.plane.scale, dy = (y - this.plane.y(n.y)) / this.plane.scale;
      return dx >= 0 && dy >= 0 && dx < width && dy < height;
    });
  }
}
