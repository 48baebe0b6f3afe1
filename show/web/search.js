// Search by conditions, all of which must hold: "rank 3", "op 12", "round 2", a kind of op, "to 5",
// "from 5", part of a source's name, "file:line".

const SEARCHED_NUMBERS = ["rank", "op", "round", "to", "from"];

/// The conditions on ops in the words of a query.
function conditionsOf(schedule, query) {
  const words = query.trim().toLowerCase().split(/\s+/), conditions = [];
  for (let i = 0; i < words.length; ++i) {
    const number = Number(words[i + 1]);
    if (SEARCHED_NUMBERS.includes(words[i]) && words[i + 1] !== undefined && Number.isInteger(number)) {
      conditions.push(conditionOn(schedule, words[i], number));
      ++i;
    } else if (KINDS.includes(words[i])) {
      conditions.push(op => KINDS[schedule.kind[op]] === words[i]);
    } else {
      const fits = schedule.places.map(place => `${place.file}:${place.line}:${place.column} ${place.text}`.toLowerCase().includes(words[i]));
      conditions.push(op => fits[schedule.place[op]]);
    }
  }
  return conditions;
}

function conditionOn(schedule, word, number) {
  switch (word) {
  case "rank": return op => schedule.rank[op] === number;
  case "op": return op => schedule.numberInRank(op) === number;
  case "round": return op => schedule.round[op] === number;
  case "to": return op => schedule.peer[op] === number && activityOf(schedule.kind[op]) === SEND;
  default: return op => schedule.peer[op] === number && activityOf(schedule.kind[op]) === RECEIVE;
  }
}

function searchOps(run, query) {
  const conditions = conditionsOf(run.schedule, query), found = [];
  for (let op = 0; op < run.schedule.size; ++op)
    if (conditions.every(holds => holds(op)))
      found.push(op);
  return found.sort((a, b) => run.begin[a] - run.begin[b]);
}
