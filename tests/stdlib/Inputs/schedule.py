"""Reads the text form of schedules as far as the tests of this folder need it: ops, the
messages between them, and which op waits for which."""
import collections
import re
import subprocess

Op = collections.namedtuple("Op", "kind peer message slices")

OP = re.compile(
    r"l(?P<id>\d+): (?P<kind>\w+)(?: \d+b)?(?: (?:to|from) (?P<peer>\d+) tag (?P<tag>\d+))?"
    r"(?: nth (?P<nth>\d+))?(?: (?:from|into) (?P<slices>.*?))? @"
)
DEP = re.compile(r"l(?P<waiter>\d+) i?requires l(?P<on>\d+)")


class Rank:
    def __init__(self):
        self.ops = {}
        self.waits_for = collections.defaultdict(set)

    def reaches(self, op):
        """All ops that this one waits for, directly or not."""
        found, todo = set(), [op]
        while todo:
            for before in self.waits_for[todo.pop()] - found:
                found.add(before)
                todo.append(before)
        return found


def read(text):
    ranks = []
    for line in text.splitlines():
        if line.startswith("rank "):
            ranks.append(Rank())
        elif match := OP.match(line):
            peer = match["peer"] and int(match["peer"])
            message = (match["tag"], match["nth"])
            op = Op(match["kind"], peer, message, match["slices"])
            ranks[-1].ops[int(match["id"])] = op
        elif match := DEP.match(line):
            ranks[-1].waits_for[int(match["waiter"])].add(int(match["on"]))
        elif re.match(r"l\d+\b", line):
            raise ValueError(f"cannot read: {line}")
    return ranks


def make(colldsl, collective, ranks, *options):
    """The schedule that colldsl makes of a collective of the library."""
    command = [colldsl, "opt", collective, "-n", str(ranks), *options]
    return read(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
