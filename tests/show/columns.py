#!/usr/bin/env python3
"""Prints the columns of a page of `colldsl show`, one a line.

usage: columns.py PAGE.html
"""
import array
import base64
import json
import re
import sys
import zlib


def script(page, name):
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def column(entry, data):
    at, count = entry["at"], entry["count"]
    if entry["type"] == "u8":
        return list(data[at : at + count])
    words = array.array("I", data[at : at + 4 * count]).tolist()
    if entry["type"] == "steps":
        for i in range(1, count):
            words[i] = (words[i] + words[i - 1]) % 2**32
    if entry["type"] == "u64":
        high = array.array("I", data[at + 4 * count : at + 8 * count])
        words = [low + (h << 32) for low, h in zip(words, high)]
    return words


def columns(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    document = json.loads(script(page, "document"))
    data = base64.b64decode(script(page, "columns"))
    if document["isDeflated"]:
        data = zlib.decompress(data)
    return {name: column(entry, data) for name, entry in document["columns"].items()}


if __name__ == "__main__":
    for name, values in sorted(columns(sys.argv[1]).items()):
        print(f"{name}:", *values)
