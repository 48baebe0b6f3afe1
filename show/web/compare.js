// Runs side by side, in numbers: completion, volume, rounds, and their differences.

class CompareView {
  constructor(app) { this.app = app; }

  render() {
    const { runs } = this.app.doc;
    const least = Math.min(...runs.map(run => run.completion)) || 1, most = Math.max(...runs.map(run => run.completion)) || 1;
    const ratio = run => run.completion === least ? "fastest" : `${(run.completion / least).toFixed(2)} times`;
    const steps = run => run.grid ? run.path.length : run.pathOps.length;
    const rows = runs.map(run => {
      const s = run.schedule;
      return make("tr", {}, [s.label, run.label, timeText(run.completion), ratio(run), s.rounds === undefined ? "not counted" : countText(s.rounds),
                             s.portRounds === undefined ? "not counted" : countText(s.portRounds),
                             countText(s.messages), bytesText(s.volume), countText(s.ops), countText(steps(run))].map(text => make("td", {}, text)));
    });
    const heads = ["schedule", "run", "completion", "compared", "rounds", "with one port", "messages", "volume", "ops", "steps of the critical path"];
    return make("div", {},
      make("h2", {}, "completion"), this.bars(runs, most),
      make("table", {}, make("thead", {}, make("tr", {}, heads.map(head => make("th", { scope: "col" }, head)))), make("tbody", {}, rows)),
      make("p", { class: "muted" }, "rounds: the longest chain of messages that follow each other; with one port: rounds in which a rank sends at most one message and receives at most one. volume: bytes of all messages. The space-time view shows the runs on one time axis."));
  }

  bars(runs, most) {
    return make("div", { role: "img", "aria-label": "completion as bars" }, runs.map(run => make("div", { style: "margin: 4px 0 8px" },
      make("div", {}, `${run.schedule.label}, ${run.label}: ${timeText(run.completion)}`),
      make("div", { style: `height: 14px; border-radius: 3px; width: ${Math.max(0.3, 90 * run.completion / most)}%; background: var(--${run.kind === "measured" ? "local" : "send"})` }))));
  }

  state() { return { rows: this.app.doc.runs.length }; }
}
