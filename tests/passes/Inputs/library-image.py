#!/usr/bin/env python3
"""Takes the first image out of a schedule library: docs/library.md and docs/image.md tell where they lie.

usage: library-image.py LIB LISTED IMAGE
LISTED: what `colldsl lib LIB --json` said; IMAGE: where to write it
"""
import json
import sys

MAGIC = b"colldsl\0\2\0"

library, listed, into = sys.argv[1:]
with open(listed, encoding="utf-8") as file:
    images = json.load(file)["images"]
with open(library, "rb") as file:
    data = file.read()
places = [at for at in range(64, len(data), 64) if data.startswith(MAGIC, at)]
if not images or len(places) != len(images):
    sys.exit(f"{len(places)} images found, not {len(images)}")
with open(into, "wb") as file:
    file.write(data[places[0]:places[0] + images[0]["bytes"]])
