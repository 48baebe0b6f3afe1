"""What a command leaves in /dev/shm, beside what other programs make and remove there meanwhile."""
import os
import time

OTHERS_S = 60  # for which programs of others may keep what they made


class SharedMemory:
    def __init__(self):
        self.before = set(os.listdir("/dev/shm"))

    def left(self):
        """Names made since then, of which none goes away with its program."""
        names = set(os.listdir("/dev/shm")) - self.before
        end = time.monotonic() + OTHERS_S
        while names and time.monotonic() < end:
            time.sleep(0.1)
            names &= set(os.listdir("/dev/shm"))
        return names
