// The page as a whole: views, pointer, keys, and `window.colldsl` for programs that inspect it.

const KEYS = [
  ["w s", "zoom in and out in time"], ["a d", "earlier and later"], ["\u2190 \u2192 \u2191 \u2193", "move"],
  ["+ -", "zoom the ranks, or the graph"], ["f", "fit everything"], ["/", "search; Enter: next"],
  ["[ ]", "along the critical path"], ["p", "critical path on and off"], ["o", "lay runs over each other"],
  ["1 to 9", "views"], ["Esc", "nothing selected"], ["?", "these keys"],
];

class App {
  constructor(doc) {
    this.doc = doc;
    this.selected = { run: undefined, op: undefined };
    this.found = { run: undefined, ops: [], at: -1 };
    this.pointer = undefined;
    this.surface = new Surface(byId("canvas"));
    this.details = new Details(this);
    this.frames = 0;
    this.paintMs = 0;
    this.views = makeViews(this);
    this.makeHeader();
    this.listen();
    const wanted = location.hash.slice(1) || doc.view;
    this.open(this.views.some(v => v.id === wanted && !v.whyNot) ? wanted : this.views.find(v => !v.whyNot).id);
    if (this.view.id !== "failure")
      this.details.showOverview();
  }

  get current() { return this.view.object; }

  makeHeader() {
    const { doc } = this;
    byId("title").textContent = doc.title;
    const runs = doc.runs.map(run => `${nameOfRun(doc, run)} ${timeText(run.completion)}`);
    const s = doc.schedules[0];
    byId("facts").textContent = [counted(s.ops, "op"), counted(s.messages, "message"), bytesText(s.volume) + " sent",
                                 s.rounds === undefined ? "" : counted(s.rounds, "round"), ...runs].filter(Boolean).join(" \u00b7 ");
    this.views.forEach((view, i) => {
      view.tab = make("button", { role: "tab", type: "button", disabled: Boolean(view.whyNot), onclick: () => this.open(view.id),
                                  title: view.whyNot || `key ${i + 1}` }, view.title);
      byId("tabs").append(view.tab);
    });
    byId("tabs").append(make("button", { type: "button", id: "show-keys", onclick: () => this.toggleHelp(), title: "key ?" }, "keys"));
    byId("help").append(make("h2", {}, "keys"), make("dl", {}, KEYS.flatMap(([keys, what]) => [
      make("dt", {}, keys.split(" ").map(key => /^[a-z]{2}$/.test(key) ? ` ${key} ` : make("kbd", {}, key))), make("dd", {}, what)])),
      make("p", { class: "muted" }, "Wheel: ranks; with Ctrl: zoom time; with Shift: move in time; with Alt: zoom ranks. Drag to move."));
  }

  open(id) {
    const view = this.views.find(v => v.id === id);
    if (!view || view.whyNot)
      return false;
    this.view = view;
    view.object ||= view.make();
    for (const v of this.views)
      v.tab.setAttribute("aria-selected", v === view);
    const isDrawn = Boolean(view.object.paint);
    byId("drawing").hidden = !isDrawn;
    byId("document-view").hidden = isDrawn;
    this.details.hideTip();
    if (isDrawn)
      this.surface.resize();
    else
      byId("document-view").replaceChildren(view.object.render());
    this.showControls();
    this.current.describe?.();
    this.redraw();
    return true;
  }

  showControls() {
    byId("controls").replaceChildren(...(this.current.controls ? this.current.controls() : this.view.controls?.(this.current) || []));
  }

  redraw() {
    if (this.isWaiting)
      return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.paint();
    });
  }

  paint() {
    if (!this.current.paint)
      return this.showLegend();
    const begin = performance.now();
    this.current.paint();
    this.paintMs = performance.now() - begin;
    ++this.frames;
    const label = `${this.view.title} of ${this.doc.title}`;
    if (byId("canvas").getAttribute("aria-label") !== label)
      byId("canvas").setAttribute("aria-label", label);
    this.showLegend();
  }

  /// Replaces the legend only if it has changed, because this lays out the page anew.
  showLegend() {
    const parts = this.view.legend?.(this.current) || [], text = parts.map(part => part.outerHTML).join("");
    if (text === this.legendText)
      return;
    this.legendText = text;
    byId("legend").replaceChildren(...parts);
  }

  select(run, op) {
    this.selected = { run, op };
    if (op === undefined)
      this.details.showOverview();
    else {
      this.details.showOp(run, op);
      this.current.reveal?.(run, op);
    }
    this.redraw();
  }

  /// Selects the next or previous op of the critical path, in the selected op's run or in the first
  /// one.
  walkPath(direction) {
    const run = this.selected.run || this.doc.runs.find(r => !r.grid);
    if (!run || run.grid || !run.pathOps.length)
      return;
    const at = run.pathOps.indexOf(this.selected.op);
    const next = at < 0 ? (direction > 0 ? 0 : run.pathOps.length - 1) : Math.min(run.pathOps.length - 1, Math.max(0, at + direction));
    this.select(run, run.pathOps[next]);
  }

  toggleHelp() { byId("help").hidden = !byId("help").hidden; }

  listen() {
    const canvas = byId("canvas");
    const place = event => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    let pressed, moved = false;
    canvas.addEventListener("pointerdown", event => {
      pressed = place(event);
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const at = this.pointer = place(event);
      if (!pressed)
        return this.current.hover ? this.current.hover(at.x, at.y) : this.hover(at.x, at.y);
      moved ||= Math.hypot(at.x - pressed.x, at.y - pressed.y) > 3;
      if (!moved)
        return;
      this.current.drag?.(at.x - pressed.x, at.y - pressed.y);
      pressed = at;
      this.details.hideTip();
    });
    canvas.addEventListener("pointerup", event => {
      const at = place(event);
      if (pressed && !moved)
        this.current.click ? this.current.click(at.x, at.y) : this.click(at.x, at.y);
      pressed = undefined;
    });
    canvas.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      this.details.hideTip();
    });
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const at = place(event);
      this.current.wheel?.(event, at.x, at.y);
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.current.zoomTime ? this.current.zoomTime(1) : this.current.zoom?.(1));
    window.addEventListener("resize", () => {
      this.surface.resize();
      this.redraw();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.surface.readColors();
      this.redraw();
    });
    window.addEventListener("keydown", event => this.onKey(event));
    byId("query").addEventListener("input", () => this.search(byId("query").value));
    byId("search").addEventListener("submit", event => {
      event.preventDefault();
      this.nextFound();
    });
  }

  hover(x, y) {
    const hit = this.current.hit?.(x, y);
    if (hit?.op !== undefined)
      this.details.showTip(x, y, ...this.details.tipOfOp(hit.run, hit.op));
    else if (hit?.run?.grid)
      this.details.showTip(x, y, ...this.details.tipOfCell(hit));
    else
      this.details.hideTip();
  }

  click(x, y) {
    const hit = this.current.hit?.(x, y);
    this.selected = { run: hit?.op === undefined ? undefined : hit.run, op: hit?.op };
    if (hit?.op === undefined)
      this.details.showOverview();
    else
      this.details.showOp(hit.run, hit.op);
    this.redraw();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.target.tagName === "INPUT" || event.target.tagName === "SELECT") {
      if (event.key === "Escape") {
        event.target.blur();
        this.closeSearch();
      }
      return;
    }
    const view = this.current;
    const actions = {
      w: () => (view.zoomTime || view.zoom)?.call(view, 1), s: () => (view.zoomTime || view.zoom)?.call(view, -1),
      a: () => view.step?.(-1, 0), d: () => view.step?.(1, 0),
      ArrowLeft: () => view.step?.(-1, 0), ArrowRight: () => view.step?.(1, 0),
      ArrowUp: () => view.step?.(0, -1), ArrowDown: () => view.step?.(0, 1),
      "+": () => view.zoom?.(1), "=": () => view.zoom?.(1), "-": () => view.zoom?.(-1),
      f: () => view.fit?.(), "/": () => this.openSearch(), "?": () => this.toggleHelp(),
      "[": () => this.walkPath(-1), "]": () => this.walkPath(1),
      p: () => this.toggle("showsPath"), o: () => view.canOverlay?.() && this.toggle("isOverlaid"),
      Escape: () => {
        byId("help").hidden = true;
        this.closeSearch();
        this.select(undefined, undefined);
      },
    };
    const digit = "123456789".indexOf(event.key);
    if (event.key.length === 1 && digit >= 0 && digit < this.views.length)
      return this.open(this.views[digit].id);
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action)
      return;
    event.preventDefault();
    action();
  }

  toggle(name) {
    if (this.current[name] === undefined)
      return;
    this.current[name] = !this.current[name];
    this.showControls();
    this.redraw();
  }

  openSearch() {
    byId("search").hidden = false;
    byId("query").focus();
    byId("query").select();
  }

  closeSearch() {
    byId("search").hidden = true;
    this.found = { run: undefined, ops: [], at: -1 };
    this.redraw();
  }

  search(text) {
    const run = this.selected.run || this.doc.runs.find(r => !r.grid);
    this.found = { run, ops: run && text.trim() ? searchOps(run, text) : [], at: -1 };
    byId("found").textContent = text.trim() ? (run ? counted(this.found.ops.length, "op") : "no single ops here") : "";
    this.redraw();
    return this.found.ops.length;
  }

  nextFound() {
    const { run, ops } = this.found;
    if (!ops.length)
      return;
    this.found.at = (this.found.at + 1) % ops.length;
    byId("found").textContent = `${this.found.at + 1} of ${countText(ops.length)}`;
    this.select(run, ops[this.found.at]);
  }
}

/// The label of a run, with its schedule if there are several.
const nameOfRun = (doc, run) => doc.schedules.length > 1 ? `${run.schedule.label}, ${run.label}` : run.label;

const swatch = (color, text, border) =>
  make("span", {}, make("span", { class: "swatch", style: `background: var(--${color});${border ? ` border-color: var(--${border})` : ""}` }), text);

const pressable = (app, name, text, title) =>
  make("button", { type: "button", class: "button", "aria-pressed": String(app.current[name]), title, onclick: () => app.toggle(name) }, text);

function spaceTimeLegend(app, view) {
  const measured = app.doc.runs.some(run => run.kind === "measured");
  const { drawn, inView } = view.arrows;
  return [
    swatch("send", "send"), swatch("receive", measured ? "receive (measured: from its post on)" : "receive"), swatch("local", "copy, combine, calc"),
    !measured && !view.isRaster ? make("span", {}, "thin line: the interface sends") : null,
    view.showsPath ? swatch("path", "critical path") : null,
    view.isRaster ? make("span", {}, "colour: share of the time that ranks are busy; zoom in for single ops and arrows")
                  : inView > drawn ? make("span", {}, `${countText(inView)} messages in view: zoom in for arrows`) : make("span", {}, "arrows: messages"),
    app.selected.op !== undefined ? swatch("select", "selected, and what it waited for (dashed)") : null,
  ].filter(Boolean);
}

/// The tabs: {id, title, make, whyNot, controls, legend}. `make` gives an object with paint() or
/// render().
function makeViews(app) {
  const { doc } = app;
  const views = [];
  if (doc.failures.length)
    views.push({ id: "failure", title: "Counterexample", make: () => new FailureView(app), legend: failureLegend });
  if (doc.runs.length)
    views.push({
      id: "space-time", title: "Space-time", make: () => new SpaceTime(app, doc.runs), legend: view => spaceTimeLegend(app, view),
      controls: view => [
        make("button", { type: "button", class: "button", title: "key f", onclick: () => view.fit() }, "fit"),
        make("button", { type: "button", class: "button", title: "key w", onclick: () => view.zoomTime(1) }, "zoom in"),
        make("button", { type: "button", class: "button", title: "key s", onclick: () => view.zoomTime(-1) }, "zoom out"),
        pressable(app, "showsPath", "critical path", "key p"),
        view.canOverlay() ? pressable(app, "isOverlaid", "lay over each other", "key o") : "",
      ],
    });
  const hasOps = doc.schedules.some(s => s.hasOps);
  views.push({ id: "matrix", title: "Matrix", make: () => new MatrixView(app), legend: view => view.legend() });
  views.push({ id: "graph", title: "Graph", make: () => new GraphView(app), legend: view => view.legend() });
  views.push({ id: "dag", title: "DAG of a rank", make: () => new DagView(app), legend: view => view.legend(),
               whyNot: hasOps ? "" : "the schedule has too many ops to show each" });
  if (doc.network)
    views.push({ id: "links", title: "Links", make: () => new LinksView(app), legend: view => view.legend() });
  views.push({ id: "provenance", title: "Provenance", make: () => new ProvenanceView(app), legend: view => view.legend(),
               whyNot: doc.schedules.some(s => !s.whyNotTraced) ? "" : doc.schedules[0].whyNotTraced });
  if (doc.runs.length > 1)
    views.push({ id: "compare", title: "Comparison", make: () => new CompareView(app) });
  return views;
}

/// Sets `window.colldsl`, for programs that inspect the page; docs/show.md lists its members.
function publish(app, drawnMs) {
  window.colldsl = {
    drawnMs,
    document: app.doc,
    views: () => app.views.map(v => ({ id: v.id, title: v.title, whyNot: v.whyNot || "" })),
    state: () => ({
      view: app.view.id, frames: app.frames, paintMs: app.paintMs,
      selected: app.selected.op === undefined ? null : app.selected.run.schedule.fullName(app.selected.op),
      found: app.found.ops.length, ...(app.current.state?.() || {}),
    }),
    open: id => app.open(id),
    search: text => app.search(text),
    paint: () => app.paint(),
    view: () => app.current,
  };
}

readDocument().then(doc => {
  const app = new App(doc);
  app.paint();
  requestAnimationFrame(() => publish(app, performance.now()));
}).catch(error => {
  byId("facts").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
