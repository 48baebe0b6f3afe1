#!/usr/bin/env python3
"""Prints a plan after a change: a statement about `plan` or its `gpus`.

usage: edit.py PLAN STATEMENT
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    plan = json.load(file)
exec(sys.argv[2], {"plan": plan, "gpus": plan["gpus"]})  # pylint: disable=exec-used
print(json.dumps(plan, indent=1))
