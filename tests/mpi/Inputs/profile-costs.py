"""Gives a machine profile the costs of a machine model: profile-costs.py PROFILE MODEL OUT [NS].

Messages between nodes take their sender NS of time. Without it they cost as those within a node: so
a sweep on one node fills them in.
"""
import json
import sys

profile, model, out = sys.argv[1:4]
with open(profile, encoding="utf-8") as file:
    changed = json.load(file)
with open(model, encoding="utf-8") as file:
    costs = json.load(file)
costs["name"] = "tuned"
distances = costs["distances"]
distances["7"] = {**distances["7"], "o": int(sys.argv[4]), "O": 0} if len(sys.argv) > 4 else distances["3..6"]
distances["8"] = distances["7"]
changed["model"] = costs
with open(out, "w", encoding="utf-8") as file:
    json.dump(changed, file)
