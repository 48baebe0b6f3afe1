"""Prints what a command writes to stderr, line by line, escapes spelled out.

usage: stderr-of.py pipe|terminal COMMAND...
"""
import os
import pty
import subprocess
import sys


def read_all(end):
    parts = []
    while True:
        try:
            part = os.read(end, 4096)
        except OSError:  # a terminal whose other end is closed
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def main():
    ours, theirs = pty.openpty() if sys.argv[1] == "terminal" else os.pipe()
    process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = read_all(ours).decode()
    for line in text.split("\r"):
        print(repr(line))
    return process.wait()


sys.exit(main())
