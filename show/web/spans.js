// Ops as bars: those in view, their lanes, and the pixels that they fill.

const MOST_LANES = 6;

/// Puts simultaneous ops of a rank into lanes above each other, those of a processor into one lane
/// if ranks have several. Fills run.lane and run.lanes (per rank).
function layLanes(run) {
  const { first, ranks, cpu } = run.schedule;
  run.lane = cpu || new Uint8Array(run.schedule.size);
  run.lanes = new Uint16Array(ranks).fill(1);
  if (cpu) {
    for (let r = 0; r < ranks; ++r)
      for (let op = first[r]; op < first[r + 1]; ++op)
        run.lanes[r] = Math.max(run.lanes[r], cpu[op] + 1);
    return;
  }
  const ends = new Float64Array(MOST_LANES);
  for (let r = 0; r < ranks; ++r) {
    ends.fill(-1);
    for (let i = first[r]; i < first[r + 1]; ++i) {
      const op = run.order[i];
      let lane = 0;
      while (lane + 1 < MOST_LANES && ends[lane] > run.begin[op])
        ++lane;
      run.lane[op] = lane;
      ends[lane] = Math.max(ends[lane], run.begin[op] + run.took[op]);
      if (lane >= run.lanes[r])
        run.lanes[r] = lane + 1;
    }
  }
}

/// The index in run.order of the first op of the rank that may be running at `from`.
function firstInView(run, rank, from) {
  const { first } = run.schedule;
  const earliest = from - run.longest[rank];
  let low = first[rank], high = first[rank + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.begin[run.order[middle]] < earliest)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Calls see(op) for the ops of a rank that run between two times, in the order of their begin.
function forEachInView(run, rank, from, to, see) {
  const end = run.schedule.first[rank + 1];
  for (let i = firstInView(run, rank, from); i < end; ++i) {
    const op = run.order[i];
    if (run.begin[op] > to)
      return;
    if (run.begin[op] + run.took[op] >= from)
      see(op);
  }
}

/// An upper bound of the number of ops in view.
function countInView(run, firstRank, lastRank, from, to) {
  let count = 0;
  for (let r = firstRank; r <= lastRank; ++r)
    count += firstInView(run, r, to + run.longest[r]) - firstInView(run, r, from);
  return count;
}

/// Adds the share of each pixel that the ops of one rank fill to `shares`: three lines of `width`
/// numbers, for send, receive and local. Pixel i is at the time (offset + i) * nsPerPixel, so that
/// its share does not depend on the offset.
function addShares(run, rank, offset, nsPerPixel, width, shares, weight) {
  const { begin, took, order, schedule } = run;
  const { kind } = schedule;
  const scale = 1 / nsPerPixel, end = schedule.first[rank + 1];
  for (let i = firstInView(run, rank, offset * nsPerPixel); i < end; ++i) {
    const op = order[i];
    const left = begin[op] * scale - offset, right = (begin[op] + took[op]) * scale - offset;
    if (left >= width)
      return;
    if (right < 0)
      continue;
    const base = activityOf(kind[op]) * width;
    const a = left < 0 ? 0 : left | 0, b = right >= width ? width : right | 0;
    if (left >= 0 && a === b) {
      shares[base + a] += Math.max(right - left, 0.1) * weight;
      continue;
    }
    shares[base + a] += (left >= 0 ? a + 1 - left : b > 0 ? 1 : right) * weight;
    for (let x = a + 1; x < b; ++x)
      shares[base + x] += weight;
    if (b > a && b < width)
      shares[base + b] += (right - b) * weight;
  }
}

const SUMMED_OPS = 100000, SUMMED_COLUMNS = 2048;

/// A grid with a row per rank, for so many ops that summing them takes longer than a frame;
/// undefined for fewer ops. It serves if a pixel is as long as a column.
function summarize(run) {
  const { ranks, size } = run.schedule;
  if (size < SUMMED_OPS)
    return undefined;
  const columns = SUMMED_COLUMNS, end = Math.max(1, run.completion);
  const grid = { rows: ranks, columns, ranksPerRow: 1, nsPerColumn: end / columns };
  grid.shares = [0, 1, 2].map(() => new Float32Array(ranks * columns));
  const line = new Float32Array(3 * columns);
  for (let r = 0; r < ranks; ++r) {
    line.fill(0);
    addShares(run, r, 0, grid.nsPerColumn, columns, line, 255);
    for (let activity = 0; activity < 3; ++activity)
      grid.shares[activity].set(line.subarray(activity * columns, (activity + 1) * columns), r * columns);
  }
  sumGrid(grid);
  grid.shares = undefined;
  return grid;
}

/// Prefix sums over the columns, per activity and row: columns + 1 numbers per row.
function sumGrid(grid) {
  grid.sums = grid.shares.map(shares => {
    const sums = new Float32Array(grid.rows * (grid.columns + 1));
    for (let row = 0; row < grid.rows; ++row)
      for (let column = 0, at = row * (grid.columns + 1), sum = 0; column < grid.columns; ++column)
        sums[at + column + 1] = sum += shares[row * grid.columns + column];
    return sums;
  });
}

/// As addShares(), for a row of a grid.
function addGridShares(grid, row, offset, nsPerPixel, width, shares, weight) {
  const perPixel = nsPerPixel / grid.nsPerColumn, begin = row * (grid.columns + 1), last = grid.columns;
  const [sends, receives, locals] = grid.sums;
  for (let x = 0; x < width; ++x) {
    const at = (offset + x) * perPixel;
    let a = at | 0, b = at + perPixel + 0.999999 | 0;
    a = a < last ? a : last - 1;
    b = b > last ? last : b > a ? b : a + 1;
    const scale = weight / (255 * (b - a));
    shares[x] += (sends[begin + b] - sends[begin + a]) * scale;
    shares[width + x] += (receives[begin + b] - receives[begin + a]) * scale;
    shares[2 * width + x] += (locals[begin + b] - locals[begin + a]) * scale;
  }
}

const SHADE_BITS = 5, MOST_SHADE = 31;

/// The colour (a word, little endian: red in the lowest byte) of each mixture of sends, receives
/// and local ops, each in 31sts.
function makeShades(rgb) {
  const [p0, p1, p2] = rgb.page, [s0, s1, s2] = rgb.send, [r0, r1, r2] = rgb.receive, [l0, l1, l2] = rgb.local;
  const shades = new Uint32Array(1 << 3 * SHADE_BITS);
  shades[0] = 0xff000000 | p2 << 16 | p1 << 8 | p0;
  for (let i = 1; i < shades.length; ++i) {
    const s = (i >> 2 * SHADE_BITS) / MOST_SHADE, r = (i >> SHADE_BITS & MOST_SHADE) / MOST_SHADE, l = (i & MOST_SHADE) / MOST_SHADE, sum = s + r + l;
    // A small share stays visible, and a full one has the full colour.
    const full = sum > 1 ? 1 : sum < 0.25 ? 0.25 : sum, unit = full / sum, rest = 1 - full;
    shades[i] = 0xff000000 | p2 * rest + (s2 * s + r2 * r + l2 * l) * unit << 16 |
                p1 * rest + (s1 * s + r1 * r + l1 * l) * unit << 8 | p0 * rest + (s0 * s + r0 * r + l0 * l) * unit;
  }
  return shades;
}

/// Fills a line of pixels with the colours of `shares`, which are rounded up, so that none
/// vanishes.
function colorLine(shares, width, shades, pixels) {
  const up = 0.9999;
  for (let x = 0; x < width; ++x) {
    const s = shares[x] * MOST_SHADE + up | 0, r = shares[width + x] * MOST_SHADE + up | 0, l = shares[2 * width + x] * MOST_SHADE + up | 0;
    pixels[x] = shades[(s < MOST_SHADE ? s : MOST_SHADE) << 2 * SHADE_BITS | (r < MOST_SHADE ? r : MOST_SHADE) << SHADE_BITS | (l < MOST_SHADE ? l : MOST_SHADE)];
  }
}
