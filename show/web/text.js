// Numbers and ops in words; elements of the page.

const NONE = 0xffffffff;
const KINDS = ["send", "recv", "signal", "wait", "copy", "combine", "calc"];
const CAUSES = ["start", "dependency", "processor", "gap", "wire"];
const SEND = 0, RECEIVE = 1, LOCAL = 2;

/// The activity of an op's kind.
const activityOf = kind => kind === 0 || kind === 2 ? SEND : kind === 1 || kind === 3 ? RECEIVE : LOCAL;

/// A number below 1000 with three digits.
function digits(value) {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units, base) {
  let unit = 0;
  while (unit + 1 < units.length && value >= base) {
    value /= base;
    ++unit;
  }
  return `${digits(value)} ${units[unit]}`;
}

const timeText = ns => ns < 1000 ? `${Math.round(ns)} ns` : scaled(ns / 1000, ["us", "ms", "s"], 1000);
const bytesText = bytes => scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const countText = count => count.toLocaleString("en-US");
const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/// "3", "3 to 7".
const rangeText = (from, to) => from === to ? `${from}` : `${from} to ${to}`;

/// An element with attributes and children: texts or elements. `on...` attributes are handlers.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null));
  return element;
}

const byId = id => document.getElementById(id);

/// A labelled list of [value, text], of which the user chooses one.
const choice = (name, entries, selected, choose) =>
  make("label", {}, `${name} `, make("select", { "aria-label": name, onchange: event => choose(entries[event.target.selectedIndex][0]) },
    entries.map(([value, text]) => make("option", { value, selected: value === selected }, text))));

/// Pairs of name and value as a list; a pair without a value is left out.
function pairs(...rows) {
  const list = make("dl");
  for (const [name, value] of rows)
    if (value !== undefined && value !== null && value !== "")
      list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}

/// Ticks at steps of 1, 2 or 5 times a power of ten, about `pixels` apart.
function ticks(from, to, length, pixels) {
  const rough = (to - from) * pixels / Math.max(1, length);
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1e-9))));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
  const all = [];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step)
    all.push(value);
  return { step, all };
}
