#!/usr/bin/env python3
"""Interrupts a command that replaces a file, and looks at the file and at its folder.

usage: interrupt-write.py work|write FILE COMMAND...

FILE is in a folder of its own, which is made. Sends SIGINT when the command has worked for a while,
or when it has begun to write. Prints its exit code and the files of the folder with their contents.
"""
import os
import signal
import subprocess
import sys
import time

WORKED_TICKS = 20


def has_worked(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]) > WORKED_TICKS


def main():
    phase, path, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    folder = os.path.dirname(path)
    os.makedirs(folder)
    with open(path, "w", encoding="ascii") as file:
        file.write("old\n")
    run = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not (has_worked(run.pid) if phase == "work" else len(os.listdir(folder)) > 1):
        if run.poll() is not None:
            sys.exit("interrupt-write: it ended before the signal")
        time.sleep(0.001)
    run.send_signal(signal.SIGINT)
    print("exit", run.wait(timeout=60))
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            print(f"{name}: {file.read(80)}", end="")


main()
