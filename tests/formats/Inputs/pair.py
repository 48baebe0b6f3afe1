#!/usr/bin/env python3
"""Writes an algorithm of MSCCL for two gpus.

usage: pair.py ATTRIBUTES [copy] STEP...   a STEP is "TYPE SRCBUF SRCOFF DSTBUF DSTOFF"

ATTRIBUTES are those of <algo> besides name, proto and ngpus, as in the file, and `i` and `o`, the chunks of each
gpu. The steps of gpu 0 stand in one threadblock with the peer as sender and receiver; those of gpu 1 are the same,
where an offset `own` is the number of the gpu and `peer` that of the other one. `copy` is a <copy> of the input's
chunk 0 to the output's chunk of the gpu.
"""
import re
import sys

attributes, *steps = sys.argv[1:]
own = dict(re.findall(r'(\w+)="?(\w+)"?', attributes))
chunks = {name: own.pop(name, "0") for name in ("i", "o")}
own.setdefault("nchannels", "1")
words = " ".join(f'{name}="{value}"' for name, value in own.items())
print(f'<algo name="pair" proto="Simple" ngpus="2" {words}>')
for gpu in (0, 1):
    print(f'<gpu id="{gpu}" i_chunks="{chunks["i"]}" o_chunks="{chunks["o"]}" s_chunks="1">')
    if steps[0] == "copy":
        print(f'<copy i_off="0" o_off="{gpu}"/>')
    print(f'<tb id="0" send="{1 - gpu}" recv="{1 - gpu}" chan="0">')
    for s, step in enumerate(step for step in steps if step != "copy"):
        kind, *places = step.replace("own", str(gpu)).replace("peer", str(1 - gpu)).split()
        source, at, target, into = places
        print(f'<step s="{s}" type="{kind}" srcbuf="{source}" srcoff="{at}" dstbuf="{target}" dstoff="{into}" cnt="1" '
              'depid="-1" deps="-1" hasdep="0"/>')
    print("</tb></gpu>")
print("</algo>")
