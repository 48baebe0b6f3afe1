"""Runs a command, sends it alone SIGINT once it has begun to measure points, and prints its output
and exit code."""

import signal
import subprocess
import sys
import time

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
output = ""
for line in process.stdout:
    output += line
    if "are to be measured" in line:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        break
output += process.stdout.read()
print(output)
print("exit", process.wait())
