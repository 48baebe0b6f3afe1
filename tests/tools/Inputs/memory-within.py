"""memory-within.py MIB COMMAND...: runs the command; fails if it ever held more memory."""
import resource
import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
mebibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if code == 0 and mebibytes > int(sys.argv[1]):
    sys.exit(f"held {mebibytes} MiB, more than {sys.argv[1]}")
sys.exit(code)
