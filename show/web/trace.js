// The origins of bytes. A Tracer follows writes back: a receive to the bytes that its send read, a
// copy to its sources, a combine to both operands, until bytes that a rank had at entry. In a
// schedule without races, a read gets the value of the last op before it, in the order of the
// rank's ops, that wrote the byte.

const ENTRY_ROLES = [0, 2]; // in, inout: they have a content at entry

class Tracer {
  constructor(schedule) {
    this.schedule = schedule;
    this.data = schedule.data;
    this.writes = new Map(); // of rank and buffer: [{op, begin, end, offset}] in the order of ops
    this.known = new Map();  // of op and bytes: segments
    const { targets } = this.data;
    for (let op = 0; op < schedule.size; ++op) {
      let offset = 0;
      for (let i = areaBegin(targets, op); i < targets.end[op]; ++i) {
        if (targets.length[i] > 0)
          this.writesOf(schedule.rank[op], targets.buffer[i]).push({ op, begin: targets.begin[i], end: targets.begin[i] + targets.length[i], offset });
        offset += targets.length[i];
      }
    }
  }

  writesOf(rank, buffer) {
    const key = rank * 4096 + buffer;
    if (!this.writes.has(key))
      this.writes.set(key, []);
    return this.writes.get(key);
  }

  bufferAt(rank, buffer) { return (rank ? this.data.bufferEnd[rank - 1] : 0) + buffer; }
  nameOf(rank, buffer) { return this.schedule.names[this.data.bufferName[this.bufferAt(rank, buffer)]]; }
  bytesOf(rank, buffer) { return this.data.bufferBytes[this.bufferAt(rank, buffer)]; }
  buffersOf(rank) { return this.data.bufferEnd[rank] - (rank ? this.data.bufferEnd[rank - 1] : 0); }

  /// The last writes of [begin, end) by ops of the rank that are before `before` and for which
  /// `counts` holds: [{begin, end, write}], in the order of bytes; write: undefined where there is
  /// none.
  lastWrites(rank, buffer, begin, end, before, counts = () => true) {
    let open = [[begin, end]];
    const found = [];
    const all = this.writesOf(rank, buffer);
    for (let i = all.length; i-- > 0 && open.length;) {
      const write = all[i];
      if (write.op >= before || write.end <= begin || write.begin >= end || !counts(write.op))
        continue;
      const rest = [];
      for (const [a, b] of open) {
        const from = Math.max(a, write.begin), to = Math.min(b, write.end);
        if (from >= to) {
          rest.push([a, b]);
          continue;
        }
        found.push({ begin: from, end: to, write });
        if (a < from)
          rest.push([a, from]);
        if (to < b)
          rest.push([to, b]);
      }
      open = rest;
    }
    for (const [a, b] of open)
      found.push({ begin: a, end: b, write: undefined });
    return found.sort((a, b) => a.begin - b.begin);
  }

  /// The bytes that an op read for a part of its payload: [{rank, buffer, begin, end, before, at}];
  /// at: their offset in the payload. For a combine only the operand that is not the target.
  readsOf(op, offset, length) {
    const s = this.schedule, isReceive = activityOf(s.kind[op]) === RECEIVE;
    const reader = isReceive ? s.partner[op] : op;
    if (reader === NONE)
      return [];
    const { sources } = this.data, reads = [];
    let at = 0;
    for (let i = areaBegin(sources, reader); i < sources.end[reader]; ++i) {
      const from = Math.max(offset, at), to = Math.min(offset + length, at + sources.length[i]);
      if (from < to)
        reads.push({ rank: s.rank[reader], buffer: sources.buffer[i], begin: sources.begin[i] + from - at, end: sources.begin[i] + to - at, before: reader, at: from });
      at += sources.length[i];
    }
    return reads;
  }

  /// The contents of bytes: segments {begin, end, origins, op}. An origin is {rank, buffer, shift}:
  /// the bytes that the rank had at entry `shift` further on. origins: [] if nothing was written.
  contents(rank, buffer, begin, end, before = Infinity, counts = undefined) {
    const segments = [];
    for (const piece of this.lastWrites(rank, buffer, begin, end, before, counts))
      segments.push(...(piece.write ? this.written(piece.write, piece.begin, piece.end) : [this.atEntry(rank, buffer, piece.begin, piece.end)]));
    return segments;
  }

  atEntry(rank, buffer, begin, end) {
    const isHeld = ENTRY_ROLES.includes(this.data.bufferRole[this.bufferAt(rank, buffer)]);
    return { begin, end, origins: isHeld ? [{ rank, buffer, shift: 0 }] : [], op: undefined };
  }

  written(write, begin, end) {
    const key = `${write.op} ${write.begin} ${begin} ${end}`;
    if (!this.known.has(key))
      this.known.set(key, this.valueOf(write, begin, end));
    return this.known.get(key);
  }

  valueOf(write, begin, end) {
    const { op } = write, offset = write.offset + begin - write.begin;
    const incoming = [];
    for (const read of this.readsOf(op, offset, end - begin)) {
      const away = begin + read.at - offset - read.begin; // from the place of the read to that of the write
      for (const part of this.contents(read.rank, read.buffer, read.begin, read.end, read.before))
        incoming.push({ begin: part.begin + away, end: part.end + away, op,
                        origins: part.origins.map(o => ({ ...o, shift: o.shift - away })) });
    }
    if (KINDS[this.schedule.kind[op]] !== "combine")
      return incoming;
    return merged(incoming, this.contents(this.schedule.rank[op], this.bufferOf(write), begin, end, op), op);
  }

  bufferOf(write) {
    const { targets } = this.data;
    for (let i = areaBegin(targets, write.op); i < targets.end[write.op]; ++i)
      if (targets.begin[i] === write.begin)
        return targets.buffer[i];
    return NONE;
  }

  /// The path of bytes as a tree: {rank, buffer, begin, end, op, children}; op: undefined at entry.
  history(rank, buffer, begin, end, before = Infinity, counts = undefined, budget = { nodes: 4000 }) {
    return this.lastWrites(rank, buffer, begin, end, before, counts).map(piece => {
      const node = { rank, buffer, begin: piece.begin, end: piece.end, op: piece.write?.op, children: [], isCut: false };
      if (!piece.write)
        return node;
      if (--budget.nodes < 0)
        return { ...node, isCut: true };
      const { op } = piece.write;
      for (const read of this.readsOf(op, piece.write.offset + piece.begin - piece.write.begin, piece.end - piece.begin))
        node.children.push(...this.history(read.rank, read.buffer, read.begin, read.end, read.before, undefined, budget));
      if (KINDS[this.schedule.kind[op]] === "combine")
        node.children.push(...this.history(rank, buffer, piece.begin, piece.end, op, undefined, budget));
      return node;
    });
  }

  /// Promises about bytes of a rank: [{begin, end, line, operands, isKept, found}].
  promises(rank, buffer, begin, end) {
    const { ensures, operands, operandRank, ensureLine, ensureReduction } = this.data, all = [];
    for (let i = areaBegin(ensures, rank); i < ensures.end[rank]; ++i) {
      const from = ensures.begin[i], to = from + ensures.length[i];
      if (ensures.buffer[i] !== buffer || Math.max(from, begin) >= Math.min(to, end))
        continue;
      const wanted = [];
      for (let k = areaBegin(operands, i); k < operands.end[i]; ++k)
        wanted.push({ rank: operandRank[k], buffer: operands.buffer[k], shift: operands.begin[k] - from });
      const found = this.contents(rank, buffer, from, to);
      const isKept = found.every(part => sameOrigins(part.origins, wanted));
      all.push({ begin: from, end: to, line: ensureLine[i], wanted, isReduction: ensureReduction[i] > 0, isKept, found });
    }
    return all;
  }
}

const areaBegin = (areas, i) => i === 0 ? 0 : areas.end[i - 1];
const originKey = o => `${o.rank} ${o.buffer} ${o.shift}`;
const sameOrigins = (a, b) => a.length === b.length && a.map(originKey).sort().join() === b.map(originKey).sort().join();

/// Combines two lists of segments, which cover the same bytes with different cuts.
function merged(a, b, op) {
  const cuts = [...new Set([...a, ...b].flatMap(part => [part.begin, part.end]))].sort((x, y) => x - y);
  const at = (parts, byte) => parts.find(part => part.begin <= byte && byte < part.end)?.origins || [];
  return cuts.slice(0, -1).map((begin, i) => ({ begin, end: cuts[i + 1], op, origins: [...at(a, begin), ...at(b, begin)] }));
}
