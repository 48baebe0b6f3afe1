"""usage: counts-agree.py PROFILE REPORT SHOWN
Whether the numbers that `tune` reported, and those of its table, are those of the profile."""
import json
import re
import sys

profile = json.load(open(sys.argv[1]))
report, shown = (open(name).read() for name in sys.argv[2:])


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def decides(decision, point):
    alike = all(decision[key] == point[key] for key in ("function", "ranks", "nodes"))
    low, high = (decision["bytes"] + [float("inf")])[:2]
    return alike and low <= point["bytes"] <= high


decisions = profile["decisions"]
decided = sum(any(decides(d, p) for d in decisions) for p in profile["points"])
rows = re.search(r"instead of.*\n((?:.+\n)*)", shown)
expected = {
    "decisions of the report": (number(r"(\d+) decisions?,", report), len(decisions)),
    "rows of the table": (len(rows[1].splitlines()) if rows else 0, len(decisions)),
    "points of the table": (number(r"(\d+) points? measured", shown), len(profile["points"])),
    "decided points of the table": (number(r"at (\d+) a decision", shown), decided),
    "decided points of the report": (number(r"at (\d+) points with", report), decided),
}
wrong = {what: pair for what, pair in expected.items() if pair[0] != pair[1]}
sys.exit(str(wrong) if wrong else 0)
