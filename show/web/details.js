// Details of an op: a few lines beside the pointer, all of them in the panel.

class Details {
  constructor(app) {
    this.app = app;
    this.panel = byId("details");
    this.tip = byId("tip");
  }

  // Beside the pointer

  hideTip() { this.tip.hidden = true; }

  showTip(x, y, ...content) {
    this.tip.replaceChildren(...content);
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect(), stage = this.tip.parentElement.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, stage.width - box.width - 4))}px`;
    this.tip.style.top = `${Math.max(4, y + 18 + box.height > stage.height ? y - box.height - 10 : y + 18)}px`;
  }

  tipOfOp(run, op) {
    const s = run.schedule;
    const deps = s.depsOf(op);
    return [
      make("strong", {}, s.fullName(op)),
      pairs(["bytes", s.payload[op] || activityOf(s.kind[op]) !== LOCAL ? bytesText(s.payload[op]) : ""],
            ["time", timesText(run, op)], ["waited for", waitText(run, op)],
            ["requires", deps.length ? deps.slice(0, 4).map(d => `op ${s.numberInRank(d.op)}`).join(", ") + (deps.length > 4 ? `, ${deps.length - 4} more` : "") : "nothing"],
            ["source", sourceText(s, op)]),
    ];
  }

  tipOfCell(hit) {
    const { grid, schedule } = hit.run;
    const row = Math.floor(hit.rank / grid.ranksPerRow), column = Math.min(grid.columns - 1, Math.floor(hit.time / grid.nsPerColumn));
    const last = Math.min(schedule.ranks, (row + 1) * grid.ranksPerRow) - 1;
    const at = row * grid.columns + column;
    const share = activity => `${Math.round(grid.shares[activity][at] / 2.55)} %`;
    return [
      make("strong", {}, `rank ${rangeText(row * grid.ranksPerRow, last)}, ${timeText(column * grid.nsPerColumn)} to ${timeText((column + 1) * grid.nsPerColumn)}`),
      pairs(["began", counted(grid.begun[at], "op")], ["sending", share(SEND)], ["receiving", share(RECEIVE)], ["local", share(LOCAL)]),
    ];
  }

  // The panel

  show(...content) { this.panel.replaceChildren(...content.flat(Infinity).filter(part => part !== null && part !== undefined)); }

  showOp(run, op) {
    const s = run.schedule, partner = s.partner[op];
    const link = other => make("a", { role: "button", tabindex: "0", onclick: () => this.app.select(run, other) }, s.fullName(other));
    const place = s.placeOf(op);
    const deps = s.depsOf(op);
    this.show(
      make("h2", {}, s.fullName(op)),
      pairs(["run", `${s.label}, ${run.label}`], ["time", timesText(run, op)], ["bytes", bytesText(s.payload[op])],
            ["round", s.round[op] ? `${s.round[op]} of ${s.rounds}` : "before any message"],
            ["critical path", run.inPath[op] ? "on it" : "not on it"]),
      make("h2", {}, "waited for"), make("p", {}, waitText(run, op)),
      run.after[op] !== NONE ? make("p", {}, link(run.after[op])) : null,
      partner !== NONE ? [make("h2", {}, "other end"), make("p", {}, link(partner))] : null,
      make("h2", {}, "requires"),
      deps.length ? make("ul", {}, deps.slice(0, 50).map(d => make("li", {}, link(d.op), d.isStart ? " (its start)" : "")),
                         deps.length > 50 ? make("li", {}, `${deps.length - 50} more`) : null)
                  : make("p", { class: "muted" }, "nothing"),
      place.line ? [make("h2", {}, "source"), make("p", {}, `${place.file}:${place.line}:${place.column}`), place.text ? make("pre", {}, place.text) : null] : null);
  }

  showOverview() {
    const { doc } = this.app;
    this.show(doc.schedules.flatMap((s, i) => [
      make("h2", {}, s.label),
      pairs(["ranks", countText(s.ranks)], ["ops", countText(s.ops)], ["messages", countText(s.messages)],
            ["volume", bytesText(s.volume)], ["rounds", s.rounds === undefined ? "not counted" : countText(s.rounds)],
            ["with one port", s.portRounds === undefined ? "not counted" : countText(s.portRounds)],
            ...doc.runs.filter(run => run.schedule === s).map(run => [`${run.label}`, timeText(run.completion)])),
      s.hasOps ? null : make("p", {}, `${countText(s.ops)} ops and ${countText(s.messages)} messages are more than ${countText(doc.maxEvents)}: the picture shows for each interval of time how long ranks were busy, and no single ops. --max-events raises the limit; the critical path is shown step by step.`),
    ]), doc.runs.map(run => this.pathOf(run)));
  }

  pathOf(run) {
    const steps = [];
    forEachStep(run, step => steps.push(step));
    if (!steps.length)
      return null;
    const shown = steps.slice(0, 200);
    const item = step => make("li", {},
      step.op !== undefined && !run.grid ? make("a", { role: "button", tabindex: "0", onclick: () => this.app.select(run, step.op) }, run.schedule.fullName(step.op)) : stepName(step),
      `, ${timeText(step.begin)} to ${timeText(step.end)}`);
    return [make("h2", {}, `critical path, ${nameOfRun(this.app.doc, run)}: ${counted(steps.length, "step")}`),
            make("ol", {}, shown.map(item)), steps.length > shown.length ? make("p", { class: "muted" }, `${steps.length - shown.length} more steps${run.grid ? "" : ": [ and ] walk along the path"}`) : null];
  }
}

const stepName = step => `rank ${step.rank}: ${step.isMessage ? `message from rank ${step.peer}` : KINDS[step.kind] + (step.kind < 4 ? ` ${step.kind % 2 ? "from" : "to"} rank ${step.peer}` : "")}`;

function timesText(run, op) {
  const end = run.begin[op] + run.took[op];
  return `${timeText(run.begin[op])} to ${timeText(end)}, took ${timeText(run.took[op])}`;
}

function waitText(run, op) {
  const after = run.after[op], cause = CAUSES[run.cause[op]];
  if (after === NONE)
    return "nothing: it began with its rank";
  const other = run.schedule.fullName(after);
  switch (cause) {
  case "dependency": return `what it requires: ${other}`;
  case "processor": return `the processor, which was busy with ${other}`;
  case "gap": return `the network interface, which was busy with ${other}`;
  case "wire": return `its message: ${other}`;
  default: return other;
  }
}

function sourceText(schedule, op) {
  const place = schedule.placeOf(op);
  return place.line ? `${place.file}:${place.line}  ${place.text}` : "";
}
