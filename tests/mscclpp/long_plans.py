#!/usr/bin/env python3
"""Writes plans with many iterations of a pipeline, and with many channels.

usage: long_plans.py FOLDER
"""
import json
import os
import sys


def plan(name, chunks, channels, ops):
    gpus = [{
        "id": gpu, "input_chunks": chunks, "output_chunks": chunks, "scratch_chunks": 0, "remote_buffers": [],
        "channels": [{"channel_type": "memory", "connected_to": [1 - gpu] * channels}],
        "threadblocks": [{"id": 0, "channels": [{"channel_type": "memory", "channel_ids": [channels - 1]}], "ops": ops}],
    } for gpu in range(2)]
    with open(os.path.join(sys.argv[1], name + ".json"), "w", encoding="utf-8") as out:
        json.dump({"name": name, "collective": "custom", "protocol": "Simple", "inplace": True, "gpus": gpus}, out)


ON = {"channel_type": "memory", "channel_ids": [0]}
MEET = [{"name": "signal", **ON}, {"name": "wait", **ON}, {"name": "nop"}]
plan("iterations", 200, 1, [{"name": "pipeline", "iter_context": {"unit_size": 65536, "num_chunks": 200}, "ops": MEET}])
plan("channels", 1, 200000, MEET)
