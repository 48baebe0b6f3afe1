"""usage: on-terminal.py COMMAND...
Runs a command on a terminal of its own, and prints what it prints, ESC as "<ESC>"."""
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
output = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:  # Linux reports the end so
        break
    if not more:
        break
    output += more
sys.stdout.write(output.decode().replace("\r\n", "\n").replace("\x1b", "<ESC>"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
