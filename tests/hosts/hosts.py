#!/usr/bin/env python3
"""Ranks on several hosts that are namespaces of the network on this machine, each with an address
of its own, joined by a bridge; a launcher outside starts them. Prints what it does, and fails with
what went wrong.

usage: hosts.py BUILD LAUNCHER

LAUNCHER is MPICH's mpirun, which reaches its processes by what they inherit.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# What the survivors of a cut link may take: the silence that is borne, and a busy machine.
MOST_SECONDS = 40

# Each kernel has reno, and lets a namespace choose it. What this machine uses may pace what it sends
# by an estimate of a real network: BBR halves the speed of long messages here.
CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def bits_per_second(rate):
    """A rate as tc takes it."""
    number, unit = re.fullmatch(r"([\d.]+)([kmg]?)bit", rate).groups()
    return float(number) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[unit]


def own_network():
    """This script once more, in namespaces of its own of network and mounts: however it ends, nothing
    of what it makes is left."""
    if "HOSTS_OF_TEST" not in os.environ:
        if shutil.which("ip") is None:
            return "there is no program ip"
        tried = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            return tried.stderr.strip()
        os.environ["HOSTS_OF_TEST"] = "inside"
        os.execvp("unshare", ["unshare", "--mount", "--net", sys.executable, *sys.argv])
    try:
        os.makedirs("/run/netns", exist_ok=True)
        for own in ("/run/netns", "/dev/shm"):
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", own], check=True)
        ip("link", "set", "lo", "up")  # for the launcher
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that ranks on hosts are ended
        with Hosts(1):
            return None
    except OSError as error:
        return str(error)
    except subprocess.CalledProcessError as error:
        return str(error.stderr or error).strip()


class Hosts:
    """So many hosts, 10.213.7.1 and on, and on each of them loopback. They hang on a bridge. `rate`: of
    each host's link, in both directions, as tc takes it."""

    def __init__(self, count, rate=None):
        self.names = [f"colldsl{os.getpid()}-{i}" for i in range(count)]
        self.rate, self.relaying = rate, None

    def __enter__(self):
        ip("link", "add", "bridge0", "type", "bridge")
        ip("link", "set", "bridge0", "up")
        self.add_hosts()
        return self

    def relay_by(self, command):
        """In place of the bridge they hang on a relay that is started so."""
        for i in range(len(self.names)):
            self.cut(i)
        ports = [f"port{i}" for i in range(len(self.names))]
        self.relaying = subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, text=True)
        expect(self.relaying.stdout.readline() == "ready\n", "the relay does not work")

    def add_hosts(self):
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("link", "add", f"port{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"port{i}", "master", "bridge0", "up")
            ip("-n", name, "addr", "add", f"10.213.7.{i + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("netns", "exec", name, "sh", "-c", f"echo reno > {CONGESTION_CONTROL}")
            if self.rate:
                self.slow_down(i, self.rate)

    def __exit__(self, *_):
        if self.relaying:
            self.relaying.kill()
            self.relaying.wait()
        for i, name in enumerate(self.names):
            self.end_processes(name)
            for cable in ("port", "more"):
                ip("link", "del", f"{cable}{i}", check=False)
            ip("netns", "del", name, check=False)
        ip("link", "del", "bridge0", check=False)

    def end_processes(self, name):
        """A launcher cannot end what it started on a host that it does not reach any more."""
        pids = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True)
        for pid in pids.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def plug_in(self, name):
        """One more interface per host, in the same network: 10.213.7.101 and on."""
        for i, host in enumerate(self.names):
            ip("link", "add", f"more{i}", "type", "veth", "peer", "name", name, "netns", host)
            ip("link", "set", f"more{i}", "master", "bridge0", "up")
            ip("-n", host, "addr", "add", f"10.213.7.{i + 101}/24", "dev", name)
            ip("-n", host, "link", "set", name, "up")

    def listeners(self, i):
        """The last numbers of the addresses with listening sockets on host i."""
        table = subprocess.run(["ip", "netns", "exec", self.names[i], "cat", "/proc/net/tcp"],
                               check=True, capture_output=True, text=True).stdout
        return {int(of[:2], 16) for of in re.findall(r": (\w{6})0A:\w{4} 0{8}:0{4} 0A", table)}

    def speak_ipv6(self):
        """Alone: fd00:213:7::1 and on."""
        for i, name in enumerate(self.names):
            ip("-n", name, "addr", "flush", "dev", "eth0", "scope", "global")
            ip("-n", name, "addr", "add", f"fd00:213:7::{i + 1}/64", "dev", "eth0", "nodad")

    def slow_down(self, i, rate):
        """What host i sends and hears. The buckets hold what the link takes in 100 us, or two packets: short
        messages take their time, too. The queues hold all that TCP has under way, so that nothing is lost."""
        burst = max(3200, round(bits_per_second(rate) / 8 * 100e-6))
        for netns, device in ((["-n", self.names[i]], "eth0"), ([], f"port{i}")):
            subprocess.run(["tc", *netns, "qdisc", "add", "dev", device, "root", "tbf", "rate", rate,
                            "burst", f"{burst}b", "limit", "64mb"], check=True)

    def sent_to_groups(self, i):
        """Datagrams of multicast that host i has sent, by its kernel's count."""
        counts = ip("netns", "exec", self.names[i], "cat", "/proc/net/netstat").stdout.splitlines()
        names, values = (line.split() for line in counts if line.startswith("IpExt:"))
        return int(values[names.index("OutMcastPkts")])

    def cut(self, i):
        """Far away from host i, which notices nothing."""
        ip("link", "set", f"port{i}", "nomaster")


def inside(launcher, hosts, per_host, command):
    """The words by which a launcher that knows of no hosts starts ranks in a row, so many on each
    host. Once one dies the launcher ends what it started, if it finds it."""
    names = " ".join(hosts.names)
    script = (f'set -- {names} -- "$@"; shift $((PMI_RANK / {per_host})); '
              'host=$1; while [ "$1" != -- ]; do shift; done; shift; '
              'exec setsid --fork --wait ip netns exec $host "$@" >> "$HEARD" 2>&1')
    return [launcher, "-disable-auto-cleanup", "-n", str(per_host * len(hosts.names)),
            "sh", "-c", script, "sh", *command]


class Job:
    """What `start` says starts it, of the file that ranks are to write to, as launchers stop listening
    when one dies."""

    def __init__(self, start, environment=None):
        self.file = tempfile.NamedTemporaryFile("a")
        self.process = subprocess.Popen(
            start(self.file.name), stdin=subprocess.DEVNULL, stdout=self.file.fileno(),
            stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "HEARD": self.file.name, **(environment or {})})

    def heard(self):
        with open(self.file.name) as file:
            return file.read()

    def hear(self, pattern, count, seconds):
        """Waits until so many lines match; returns the matches."""
        deadline = time.monotonic() + seconds
        while len(found := re.findall(pattern, self.heard())) < count:
            expect(time.monotonic() < deadline,
                   f"{len(found)} of {count} said '{pattern}' in {seconds} s:\n{self.heard()}")
            time.sleep(0.05)
        return found

    def end(self, seconds):
        """All that was said, and the exit code."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"not at its end after {seconds} s:\n{self.heard()}") from error
        return self.heard(), self.process.returncode

    def __enter__(self):
        return self

    # Ranks have sessions of their own.
    def __exit__(self, *_):
        mine = re.findall(r"is process (\d+)", self.heard())
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for process in mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        self.process.wait()
        self.file.close()


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def survivors_name(job, count, reason, seconds):
    """Waits until so many ranks failed for that reason."""
    begin = time.monotonic()
    failed = job.hear(r"rank (\d+) failed after ([\d.]+) s: (.*)", count, seconds)
    print(f"  all told within {time.monotonic() - begin:.1f} s: {failed[0][2]}")
    expect(all(re.search(reason, why) for _, _, why in failed), job.heard())


def run_all(plan):
    """Each test of (number of hosts, test, its words...); the exit code."""
    if why := own_network():
        print(f"skipped: namespaces of the network cannot be made here: {why}")
        return 77
    for count, test, *of in plan:
        print(f"{count} hosts: {' '.join([test.__name__, *of])}", flush=True)
        with Hosts(count) as hosts:
            try:
                test(hosts, *of)
            except AssertionError as error:
                print(error)
                return 1
    return 0


class Suite:
    def __init__(self, build, launcher):
        self.colldsl, self.sums, self.relay = (f"{build}/bin/{name}" for name in ("colldsl", "sums", "relay"))
        self.launcher = launcher

    def job(self, hosts, per_host, *command, **environment):
        return Job(lambda _: inside(self.launcher, hosts, per_host, command),
                   {"COLLDSL_RANKS_PER_NODE": str(per_host), **environment})

    def run(self, hosts, per_host, *words, **environment):
        few = [] if "--iters" in words else ["--iters", "3"]
        with self.job(hosts, per_host, self.colldsl, "run", *words, *few, "--warmup", "1",
                      **environment) as job:
            return job.end(120)

    def collectives_run_right(self, hosts):
        names = ["allreduce_hierarchical", "bcast_hierarchical", "alltoall_pairwise",
                 "barrier_dissemination"]
        for ways in ([], ["--transport", "ofi"], ["--transport", "datagram"]):
            said, code = self.run(hosts, 2, *names, "--bytes", "40KiB", *ways)
            expect(code == 0 and all(re.search(rf"{n} +{2 * len(hosts.names)} .*proved +correct", said)
                                     for n in names), said)
        grid = f"g=torus([2,{len(hosts.names)}])"
        said, code = self.run(hosts, 2, "neighbor_alltoall", "--set", grid, "--bytes", "20KiB")
        expect(code == 0 and "proved" in said, said)

    def library_knows_nodes(self, hosts):
        """Four ranks of one node would have another collective for so few bytes, also on fewer cores."""
        with self.job(hosts, 2, self.sums, "20") as job:
            said, code = job.end(60)
        expect(code == 0, said)
        ranks = 2 * len(hosts.names)
        chosen = re.findall(rf"rank \d+ of {ranks} is process \d+: (\w+)", said)
        expect(chosen == [chosen[0]] * ranks and chosen[0] == "allreduce_striped", said)

    def address_is_told(self, hosts):
        """By a network that all are in; one without any rank gives an error on all ranks."""
        said, code = self.run(hosts, 2, "allreduce_ring", COLLDSL_OFI_BIND="10.213.7.0/24")
        expect(code == 0 and "correct" in said, said)
        said, code = self.run(hosts, 2, "allreduce_ring", COLLDSL_OFI_BIND="10.214.0.0/16")
        expect(code != 0 and "has no address in 10.214.0.0/16" in said, said)

    def interfaces_are_shared_out(self, hosts, *wanted):
        """Of two that are equally near the ranks of a host take one each, else all the nearest one, unless it
        drops what comes that way. `wanted`: the interface that this machine is said to have beside its first
        cores, and whether it is strict."""
        hosts.plug_in("ib0")
        near, *strict = wanted or [None]
        if strict:
            for host in hosts.names:
                subprocess.run(["ip", "netns", "exec", host, "sh", "-c",
                                f"echo 1 > /proc/sys/net/ipv4/conf/{near}/rp_filter"], check=True)
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as machine:
            with open(os.path.join(os.path.dirname(__file__), "../tools/Inputs/two-nics.xml")) as file:
                names = {"eth0": near, "ib0": "ib0" if near == "eth0" else "eth0"}
                machine.write(re.sub('"(eth0|ib0)"', lambda name: f'"{names[name[1]]}"', file.read()))
            machine.flush()
            said = {"HWLOC_XMLFILE": machine.name} if near else {}
            with self.job(hosts, 2, self.sums, "1000000000", **said) as job:
                job.hear(r"is process \d+", 2 * len(hosts.names), 60)
                found = [hosts.listeners(i) for i in range(len(hosts.names))]
        for i, addresses in enumerate(found):
            first, more = i + 1, i + 101
            expected = {None: {first, more}, "eth0": {first}, "ib0": {first if strict else more}}[near]
            expect(addresses == expected, f"host {i} listens at {addresses}, not {expected}")

    def ipv6_is_enough(self, hosts):
        hosts.speak_ipv6()
        names = ["allreduce_hierarchical", "alltoall_pairwise", "barrier_dissemination"]
        for ways in ([], ["--transport", "ofi"]):
            said, code = self.run(hosts, 2, *names, "--bytes", "40KiB", *ways)
            expect(code == 0 and said.count("correct") == len(names), said)
        said, code = self.run(hosts, 2, "allreduce_ring", COLLDSL_OFI_BIND="fd00:213:7::/64")
        expect(code == 0 and "correct" in said, said)
        said, code = self.run(hosts, 2, "allreduce_ring", "--transport", "datagram")
        expect(code != 0 and "IPv4" in said, said)
        self.dead_rank_is_named(hosts)

    def dead_rank_is_named(self, hosts):
        ranks = 2 * len(hosts.names)
        with self.job(hosts, 2, self.sums, "1000000000") as job:
            processes = job.hear(r"rank (\d+) of \d+ is process (\d+)", ranks, 60)
            time.sleep(0.5)
            os.kill(int(dict(processes)["1"]), signal.SIGKILL)
            survivors_name(job, ranks - 1, r"rank 1 died", 10)

    def dead_host_is_named(self, hosts):
        ranks = 2 * len(hosts.names)
        with self.job(hosts, 2, self.sums, "1000000000") as job:
            processes = dict(job.hear(r"rank (\d+) of \d+ is process (\d+)", ranks, 60))
            time.sleep(0.5)
            for rank in "23":
                os.kill(int(processes[rank]), signal.SIGKILL)
            survivors_name(job, ranks - 2, r"rank [23] died", 10)

    def slow_host_is_awaited(self, hosts):
        """Its link takes 20 Mbit/s, and its ranks stand still for a while."""
        hosts.slow_down(1, "20mbit")
        for ways in ([], ["--transport", "datagram"]):
            said, code = self.run(hosts, 2, "allreduce_hierarchical", "--bytes", "40KiB", *ways)
            expect(code == 0 and "correct" in said, said)
        ranks = 2 * len(hosts.names)
        with self.job(hosts, 2, self.sums, "50") as job:
            processes = dict(job.hear(r"rank (\d+) of \d+ is process (\d+)", ranks, 60))
            for what, seconds in ((signal.SIGSTOP, 3), (signal.SIGCONT, 0)):
                for rank in "23":
                    os.kill(int(processes[rank]), what)
                time.sleep(seconds)
            said, code = job.end(60)
        expect(code == 0, said)

    def cut_link_is_noticed(self, hosts):
        ranks = 2 * len(hosts.names)
        with self.job(hosts, 2, self.sums, "1000000000") as job:
            job.hear(r"rank (\d+) of \d+ is process (\d+)", ranks, 60)
            time.sleep(0.5)
            hosts.cut(1)
            survivors_name(job, ranks, r"rank \d cannot (?:be reached|reach rank \d)",
                                MOST_SECONDS)

    def goes_to_all_at_once(self, hosts, *weather):
        """By multicast, in any weather."""
        if weather:
            hosts.relay_by([self.relay, *weather])
        begin = time.monotonic()
        said, code = self.run(hosts, 2, "bcast_multicast", "--bytes", "40KiB", "--iters", "300",
                              "--transport", "datagram")
        expect(code == 0 and re.search(rf"bcast_multicast +{2 * len(hosts.names)} .*proved +correct", said),
               said)
        took = time.monotonic() - begin
        many = hosts.sent_to_groups(0)
        expect(many > 100, f"only {many} datagrams of multicast")
        print(f"  {many} datagrams to all, done within {took:.1f} s")

    def datagrams_get_lost(self, hosts, *weather):
        """Every byte is right nevertheless. The weather: seed, and per cent of loss, of reordering, of
        duplication."""
        hosts.relay_by([self.relay, *weather])
        names = ["allreduce_ring", "bcast_binomial", "alltoall_pairwise", "barrier_dissemination"]
        begin = time.monotonic()
        said, code = self.run(hosts, 2, *names, "--bytes", "40KiB", "--transport", "datagram")
        expect(code == 0 and all(re.search(rf"{n} +{2 * len(hosts.names)} .*proved +correct", said)
                                 for n in names), said)
        print(f"  all done within {time.monotonic() - begin:.1f} s")


def main():
    suite = Suite(*sys.argv[1:3])
    plan = [(2, suite.collectives_run_right), (3, suite.collectives_run_right),
            (2, suite.library_knows_nodes), (2, suite.address_is_told),
            (2, suite.interfaces_are_shared_out), (2, suite.interfaces_are_shared_out, "eth0"),
            (2, suite.interfaces_are_shared_out, "ib0"),
            (2, suite.interfaces_are_shared_out, "ib0", "strict"), (2, suite.ipv6_is_enough),
            (3, suite.goes_to_all_at_once), (3, suite.dead_rank_is_named),
            (3, suite.dead_host_is_named), (3, suite.slow_host_is_awaited),
            (2, suite.cut_link_is_noticed)]
    for weather in ("1 0.1 0.1 0.1", "2 1 1 1", "3 5 5 5", "4 20 5 5"):
        plan.append((3, suite.datagrams_get_lost, *weather.split()))
        plan.append((3, suite.goes_to_all_at_once, *weather.split()))
    return run_all(plan)


if __name__ == "__main__":
    sys.exit(main())
