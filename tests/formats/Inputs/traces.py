#!/usr/bin/env python3
"""Writes and reads traces of Chakra without a library for protocol buffers.

usage: traces.py write FILE < NODES    a node per line: ID TYPE [NAME=NUMBER...] [after ID...]; '-' is an empty file
       traces.py read FILE             prints these lines

TYPE is a number; `micros` is the duration, other names are attributes of int64, or as NAME:FIELD=NUMBER of that field.
"""
import sys

VARINT_FIELDS = {7, 9, 11, 13, 27}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(content):
    return varint(len(content)) + content


def node_of(line):
    words, _, awaited = line.partition(" after ")
    number, kind, *attributes = words.split()
    out = field(1, int(number)) + field(2, b"n" + number.encode()) + field(3, int(kind))
    for dep in awaited.split():
        out += field(5, int(dep))
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        name, _, kind = name.partition(":")
        if name == "micros":
            out += field(7, int(value))
        else:
            out += field(10, field(1, name.encode()) + field(int(kind or 9), int(value)))
    return out


def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def varints(data):
    at = 0
    while at < len(data):
        value, at = take_varint(data, at)
        yield value


def fields(data):
    at = 0
    while at < len(data):
        key, at = take_varint(data, at)
        value, at = take_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def messages(data):
    at = 0
    while at < len(data):
        length, at = take_varint(data, at)
        yield data[at:at + length]
        at += length


def line_of(data):
    number = kind = 0
    attributes, awaited = [], []
    for key, value in fields(data):
        if key == 1:
            number = value
        elif key == 3:
            kind = value
        elif key == 5:
            awaited += map(str, [value] if isinstance(value, int) else varints(value))
        elif key == 7:
            attributes.append(f"micros={value}")
        elif key == 10:
            parts = dict(fields(value))
            numbers = [parts[f] for f in VARINT_FIELDS & parts.keys()]
            attributes.append(f"{parts[1].decode()}={numbers[0] if numbers else 0}")
    return " ".join([str(number), str(kind), *attributes, *(["after", *awaited] if awaited else [])])


def main():
    action, file = sys.argv[1:]
    if action == "write":
        with open(file, "wb") as out:
            lines = sys.stdin.read().splitlines()
            if lines != ["-"]:
                out.write(message(field(1, b"0.0.4")))
                out.writelines(message(node_of(line)) for line in lines)
    else:
        with open(file, "rb") as trace:
            metadata, *nodes = messages(trace.read())
        print("version", dict(fields(metadata))[1].decode())
        for node in nodes:
            print(line_of(node))


if __name__ == "__main__":
    main()
