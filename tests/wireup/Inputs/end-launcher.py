#!/usr/bin/env python3
"""Kills a launcher in the middle of a run that would last, and wants its ranks to end.

usage: end-launcher.py LAUNCHER ARGUMENT... PROGRAM ARGUMENT...

The ranks are the processes that have a mark of this script in their environment, and a rank.
"""
import os
import signal
import subprocess
import sys
import time

MARK = "END_LAUNCHER"


def marked(own, names):
    """All processes that were started here, with one of these variables."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if own in words and any(word.split(b"=")[0] in names for word in words):
            found.append(int(process))
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def main():
    command, own = sys.argv[1:], f"{MARK}={os.getpid()}"
    number = int(command[command.index("-n") + 1])
    launcher = subprocess.Popen(command, env={**os.environ, MARK: str(os.getpid())},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ranks():
        return marked(own.encode(), (b"PMIX_RANK", b"PMI_RANK"))

    came = wait_until(lambda: len(ranks()) == number, 60)
    time.sleep(1)  # so that they find each other
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()
    went = wait_until(lambda: not ranks(), 30)
    for rank in ranks():
        os.kill(rank, signal.SIGKILL)
    if not (came and went):
        sys.exit("end-launcher: " + ("some ranks live on" if came else "the ranks did not start"))


main()
