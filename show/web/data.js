// Decodes the data in the page into arrays; docs/show.md describes the format.

async function readDocument() {
  const all = JSON.parse(byId("document").textContent);
  const bytes = await unpack(byId("columns").textContent.trim(), all.isDeflated);
  byId("columns").remove();
  const column = name => readColumn(all.columns[name], bytes);
  all.schedules = all.schedules.map((schedule, i) => new Schedule(schedule, name => column(`s${i}.${name}`)));
  all.runs = all.runs.map((run, i) => new Run(run, all.schedules[run.schedule], name => column(`r${i}.${name}`)));
  return all;
}

async function unpack(base64, isDeflated) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64)
                                       : Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  if (!isDeflated)
    return packed;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readColumn(entry, bytes) {
  if (!entry)
    return undefined;
  if (entry.type === "u8")
    return bytes.subarray(entry.at, entry.at + entry.count);
  const at = bytes.byteOffset + entry.at;
  const words = new Uint32Array(bytes.buffer, at, entry.count);
  if (entry.type === "steps") {
    for (let i = 1; i < words.length; ++i)
      words[i] += words[i - 1];
    return words;
  }
  if (entry.type === "u32")
    return words;
  const high = new Uint32Array(bytes.buffer, at + 4 * entry.count, entry.count);
  return Float64Array.from(words, (low, i) => high[i] * 0x100000000 + low);
}

/// Ops of all ranks are numbered consecutively; rank r has those in [first[r], first[r + 1]).
class Schedule {
  constructor(meta, column) {
    Object.assign(this, meta);
    this.matrix = {
      ranksPerCell: meta.ranksPerCell, size: Math.ceil(meta.ranks / meta.ranksPerCell),
      from: column("matrixFrom"), to: column("matrixTo"),
      messages: column("matrixMessages"), bytes: column("matrixBytes"),
    };
    this.levels = (meta.levels || []).map(level => ({ ...level, groupOf: column(`level${level.name}`) }));
    if (!meta.hasOps)
      return;
    for (const name of ["first", "kind", "peer", "place", "depEnd", "depBack", "depKind", "partner", "round"])
      this[name] = column(name);
    this.payload = column("bytes");
    this.cpu = column("cpu");
    this.size = this.kind.length;
    this.rank = new Uint32Array(this.size);
    for (let r = 0; r < this.ranks; ++r)
      this.rank.fill(r, this.first[r], this.first[r + 1]);
    if (!meta.whyNotTraced)
      this.data = readBytes(column);
  }

  numberInRank(op) { return op - this.first[this.rank[op]]; }
  placeOf(op) { return this.places[this.place[op]]; }

  /// The dependencies of `op`: [{op, isStart}]; isStart: it waits for the start alone.
  depsOf(op) {
    const all = [];
    for (let i = op === 0 ? 0 : this.depEnd[op - 1]; i < this.depEnd[op]; ++i)
      all.push({ op: op - this.depBack[i], isStart: this.depKind[i] === 1 });
    return all;
  }

  nameOf(op) {
    const kind = this.kind[op], peer = this.peer[op];
    const other = peer === NONE ? "any rank" : `rank ${peer}`;
    const activity = activityOf(kind);
    return KINDS[kind] + (activity === SEND ? ` to ${other}` : activity === RECEIVE ? ` from ${other}` : "");
  }
  fullName(op) { return `rank ${this.rank[op]}${this.cpu ? `, processor ${this.cpu[op]}` : ""}, op ${this.numberInRank(op)}: ${this.nameOf(op)}`; }
}

/// The data for provenance; areas of op i are those in [end[i - 1], end[i]).
function readBytes(column) {
  const areas = name => ({
    end: column(`${name}End`), buffer: column(`${name}Buffer`),
    begin: column(`${name}Begin`), length: column(`${name}Length`),
  });
  return {
    sources: areas("source"), targets: areas("target"),
    ensures: areas("ensure"), operands: areas("operand"),
    operandRank: column("operandRank"), ensureLine: column("ensureLine"),
    ensureReduction: column("ensureReduction"),
    bufferEnd: column("bufferEnd"), bufferName: column("bufferName"), bufferRole: column("bufferRole"),
    bufferIsRoot: column("bufferIsRoot"), bufferBytes: column("bufferBytes"),
  };
}

class Run {
  constructor(meta, schedule, column) {
    Object.assign(this, meta);
    this.schedule = schedule;
    this.links = {
      from: column("linkFrom"), to: column("linkTo"), messages: column("linkMessages"),
      bytes: column("linkBytes"), busy: column("linkBusy"),
    };
    if (meta.grid) {
      this.grid = {
        ...meta.grid, begun: column("gridBegun"),
        shares: [column("gridSend"), column("gridReceive"), column("gridLocal")],
      };
      return;
    }
    for (const name of ["begin", "took", "interface", "order", "cause"])
      this[name] = column(name);
    this.after = column("after");
    for (let op = 0; op < this.after.length; ++op)
      this.after[op] = this.after[op] === 0 ? NONE : op - this.after[op];
    this.pathOps = column("path");
    this.inPath = new Uint8Array(schedule.size);
    for (const op of this.pathOps)
      this.inPath[op] = 1;
    this.longest = longestPerRank(this);
  }
}

/// The duration of each rank's longest op: an op that runs at time t begins after t minus this.
function longestPerRank(run) {
  const { first, ranks } = run.schedule;
  const longest = new Float64Array(ranks);
  for (let r = 0; r < ranks; ++r)
    for (let op = first[r]; op < first[r + 1]; ++op)
      if (run.took[op] > longest[r])
        longest[r] = run.took[op];
  return longest;
}
