"""Executes plans with data on a memory that is as weak as docs/mscclpp.md allows, in random order. It knows nothing of
the proofs: it finds that a plan is wrong by a wrong result, a deadlock or a lost packet.

Each location holds its writes in an order (coherence); a step has a view, the oldest write of each location that it may
still read. Steps of a thread block that touch different locations may pass each other, also at a nop, until a release.
"""
import random

ELEMENTS = 2  # per chunk and part
MODULUS = (1 << 61) - 1


class Wrong(Exception):
    """The plan is wrong: the message says how."""


class Unsupported(Exception):
    """This interpreter does not know what the plan does."""


class Step:
    def __init__(self, kind, tb, **members):
        self.kind, self.tb = kind, tb
        self.reads, self.writes = [], []  # locations
        self.waits_packet = []
        self.counter = None
        self.relaxed = False
        self.needs, self.view = [], {}
        self.flag = 0
        self.done = False
        self.raw = self.source = None
        self.meeting = None
        self.__dict__.update(members)

    def touches(self, other):
        mine, theirs = set(self.reads) | set(self.waits_packet), set(other.reads) | set(other.waits_packet)
        return bool(set(self.writes) & (theirs | set(other.writes)) or set(other.writes) & mine)


def join(view, other):
    for location, time in other.items():
        if view.get(location, -1.0) < time:
            view[location] = time


class Machine:
    def __init__(self, plan, launches, seed, units=1):
        self.plan, self.launches, self.random = plan, launches, random.Random(seed)
        self.n = len(plan["gpus"])
        self.parts = 1
        for _, _, _, op in self.all_ops():
            size = op.get("tbg_info", {}).get("tbg_size", 1)
            self.parts = max(self.parts, size)
            if self.parts % size:
                raise Unsupported("tbg_size")
        self.parts *= units
        self.memory = {}  # location -> [(time, value, flag)] by time
        self.floor = {}   # what all steps see
        self.counters, self.released = {}, {}
        self.inputs = {}
        for gpu in range(self.n):
            for i, semaphore in enumerate(plan["gpus"][gpu]["semaphores"]):
                self.counters[("semaphore", gpu, i)] = semaphore["init_value"]

    def all_ops(self):
        for g, gpu in enumerate(self.plan["gpus"]):
            for t, block in enumerate(gpu["threadblocks"]):
                for i, op in enumerate(block["ops"]):
                    yield g, t, i, op

    # The place of an element in the memory of a GPU.

    def location(self, gpu, kind, element):
        g = self.plan["gpus"][gpu]
        per = self.parts * ELEMENTS
        size = {"i": g["input_chunks"], "o": g["output_chunks"], "s": g["scratch_chunks"]}
        if kind == "o" and self.plan["inplace"]:
            if size["i"] > size["o"]:
                return gpu, "i", gpu * size["o"] * per + element
            if size["i"] == size["o"]:
                return gpu, "i", element
        if kind == "i" and self.plan["inplace"] and size["i"] < size["o"]:
            return gpu, "o", gpu * size["i"] * per + element
        return gpu, kind, element

    def half(self, launch):
        return 1 - launch % 2 if self.plan["use_double_scratch_buffer"] else 0

    def cells(self, step_launch, gpu, block, op, buff, packets=False, unit=None, pointer=True):
        """Per element of the range the locations (several over a switch)."""
        g = self.plan["gpus"][gpu]
        if "buffer_id" in buff:
            refs = [i for r in block["remote_buffer_refs"] if r["access_channel_type"] == op["channel_type"]
                    for i in r["remote_buffer_ids"]]
            target = g["remote_buffers"][refs[buff["buffer_id"]]]
            owners, kind, here = [target["rank"]], target["type"], False
        elif "switch_channel_id" in buff:
            channel = [c for c in g["channels"] if c["channel_type"] == "switch"][0]
            owners, kind, here = channel["rank_groups"][0]["ranks"], channel["buffer_type"], False
        else:
            owners, kind, here = [gpu], buff["type"], pointer
        per = self.parts * ELEMENTS
        begin, count = buff["index"] * per, buff["size"] * per
        group = op.get("tbg_info")
        if group:
            share = count // group["tbg_size"]
            begin, count = begin + share * group["tb_id"], share
        if unit is not None:
            begin, count = begin + unit * ELEMENTS, ELEMENTS
        half = self.half(step_launch) if packets or here else 0
        result = []
        for e in range(begin, begin + count):
            if kind == "s":
                result.append([(o, "p" if packets else "s", half, e) for o in owners])
            else:
                result.append([self.location(o, kind, e) for o in owners])
        return result

    # Steps of one thread block.

    def expand(self, launch, gpu, tb):
        block = self.plan["gpus"][gpu]["threadblocks"][tb]
        self.sequence = []  # (step, thread or None, segment)
        self.segment, self.calls = 0, {}
        self.who = (launch, gpu, tb)
        self.port = []  # (step, channel, thread, segment)
        self.extra = []  # what the proxy does: the kernel ends without it
        for op in block["ops"]:
            if op["name"] != "pipeline":
                self.expand_op(launch, gpu, block, op, None)
                continue
            for i in range(op["iter_context"]["num_chunks"] * self.parts):
                for inner in op["ops"]:
                    self.expand_op(launch, gpu, block, inner, i)
        return [s for s, _, _ in self.sequence], self.extra

    def put(self, step, thread=None, release=False):
        """Adds a step: it needs those before which it may not pass."""
        for other, t, segment in self.sequence:
            before = segment < self.segment or (thread is not None and t == thread)
            same_counter = step.counter is not None and other.counter == step.counter
            if before and (other.kind in ("wait", "meet", "acquire") or release or same_counter or step.touches(other)):
                step.needs.append(other)
        self.sequence.append((step, thread, self.segment))
        return step

    def channel(self, gpu, block, kind, position):
        ids = [i for c in block["channels"] if c["channel_type"] == kind for i in c["channel_ids"]]
        peers = [p for c in self.plan["gpus"][gpu]["channels"] if c["channel_type"] == kind for p in c["connected_to"]]
        index = ids[position]
        peer = peers[index]
        number = peers[:index].count(peer)
        others = [p for c in self.plan["gpus"][peer]["channels"] if c["channel_type"] == kind
                  for p in c["connected_to"]]
        paired = [i for i, p in enumerate(others) if p == gpu]
        return (kind, gpu, index), (kind, peer, paired[number]) if number < len(paired) else None

    def sync(self):
        self.segment += 1

    def expand_op(self, launch, gpu, block, op, unit):
        name = op["name"]
        if name == "nop":
            return self.sync()
        if name == "flush":
            return None  # the executor does nothing
        if name == "barrier":
            self.sync()
            if op["num_threadblocks"] > 1:
                call = self.calls[op["barrier_id"]] = self.calls.get(op["barrier_id"], 0) + 1
                meeting = (launch, gpu, op["barrier_id"], call)
                self.put(Step("arrive", self.who, meeting=meeting, size=op["num_threadblocks"]), release=True)
                self.sync()
                self.put(Step("meet", self.who, meeting=meeting, size=op["num_threadblocks"]))
                self.sync()
            return None
        if name in ("signal", "rlxsignal", "wait", "rlxwait"):
            for thread, position in enumerate(op["channel_ids"]):
                own, peer = self.channel(gpu, block, op["channel_type"], position)
                if name.endswith("wait"):
                    relaxed = name == "rlxwait" and op["channel_type"] == "memory"
                    self.put(Step("wait", self.who, counter=own, relaxed=relaxed), thread)
                elif op["channel_type"] == "port":
                    self.port_signal(self.put(Step("push", self.who), thread, release=True), own, peer, thread)
                else:
                    relaxed = name == "rlxsignal"
                    self.put(Step("signal", self.who, counter=peer, relaxed=relaxed), thread, release=not relaxed)
            return None
        if name in ("sem_acquire", "sem_release"):
            for thread, i in enumerate(op["semaphore_ids"]):
                kind = "acquire" if name == "sem_acquire" else "signal"
                self.put(Step(kind, self.who, counter=("semaphore", gpu, i)), thread, release=kind == "signal")
            return None
        packets_to = {"ppkt": 0, "rppkt": 0, "cpkt": 0, "gstorepkt": 0, "respkt": 1, "repkt": 1, "recpkt": 1, "recspkt": 1}
        packets_from = {"rppkt": 0, "upkt": 0, "gstorepkt": 0, "respkt": 1, "repkt": 1, "recpkt": 1, "recspkt": 1}
        if op.get("channel_type") == "port":
            return self.expand_port(launch, gpu, block, op, unit)
        sources = [self.cells(launch, gpu, block, op, b, i >= packets_from.get(name, 99), unit)
                   for i, b in enumerate(op["src_buff"])]
        targets = [self.cells(launch, gpu, block, op, b, i >= packets_to.get(name, 99), unit)
                   for i, b in enumerate(op["dst_buff"])]
        if name in ("put", "get", "ppkt"):
            groups = [([s], [t]) for s, t in zip(sources, targets)]
        else:
            groups = [(sources, targets)]
        for ins, outs in groups:
            for e in range(len(ins[0])):
                step = Step("data", self.who, flag=launch)
                for i, cells in enumerate(ins):
                    (step.waits_packet if i >= packets_from.get(name, 99) else step.reads).extend(cells[e])
                step.writes = [w for cells in outs for w in cells[e]]
                self.put(step)
        return None

    def port_signal(self, push, own, peer, thread):
        if peer is None:
            return
        step = Step("signal", self.who, counter=peer, needs=[push])
        step.needs += [s for s, channel, t, segment in self.port
                       if channel == own and (t == thread or segment < self.segment)]
        self.extra.append(step)
        self.port.append((step, own, thread, self.segment))

    def expand_port(self, launch, gpu, block, op, unit):
        if op["name"] not in ("put", "pws"):
            raise Unsupported(op["name"] + " over a port")
        for thread, (src, dst) in enumerate(zip(op["src_buff"], op["dst_buff"])):
            own, peer = self.channel(gpu, block, "port", op["channel_ids"][thread])
            push = self.put(Step("push", self.who), thread, release=True)
            pairs = zip(self.cells(launch, gpu, block, op, src, False, unit, pointer=False),
                        self.cells(launch, gpu, block, op, dst, False, unit))
            for source, target in pairs:
                read = Step("data", self.who, reads=source, needs=[push])
                write = Step("data", self.who, writes=target, source=read, needs=[read])
                self.extra += [read, write]
                self.port.append((write, own, thread, self.segment))
            if op["name"] == "pws":
                self.port_signal(push, own, peer, thread)

    # Execution.

    def oldest(self, step, location):
        return max(step.view.get(location, -1.0), self.floor.get(location, -1.0))

    def read(self, step, location):
        writes = self.memory.get(location, [])
        allowed = [w for w in writes if w[0] >= self.oldest(step, location)]
        if not allowed:
            return self.random.randrange(MODULUS)
        chosen = allowed[-1] if self.random.random() < 0.6 else self.random.choice(allowed)
        join(step.view, {location: chosen[0]})
        return chosen[1]

    def read_packet(self, step, location):
        for time, value, flag in self.memory.get(location, []):
            if flag == step.flag and time >= self.oldest(step, location):
                if any(t > time and f != flag for t, _, f in self.memory[location]):
                    raise Wrong("a packet is overwritten before it is read")
                join(step.view, {location: time})
                return value
        return None

    def write(self, step, location, value):
        writes = self.memory.setdefault(location, [])
        later = [w[0] for w in writes if w[0] > self.oldest(step, location)]
        place = self.random.randrange(len(later) + 1) if later and self.random.random() < 0.5 else len(later)
        before = later[place - 1] if place else self.oldest(step, location)
        time = (before + later[place]) / 2 if place < len(later) else max(before, -1.0) + 1.0
        writes.append((time, value, step.flag))
        writes.sort()
        join(step.view, {location: time})

    def ready(self, step):
        if not all(s.done for s in step.needs):
            return False
        if step.kind in ("wait", "acquire"):
            return self.counters.get(step.counter, 0) > 0
        if step.kind == "meet":
            return len(self.meetings.get(step.meeting, [])) >= step.size
        return all(any(w[2] == step.flag for w in self.memory.get(p, [])) for p in step.waits_packet)

    def execute(self, step):
        for need in step.needs:
            join(step.view, need.view)
        if step.kind in ("wait", "acquire"):
            self.counters[step.counter] -= 1
            if not step.relaxed:
                join(step.view, self.released.get(step.counter, {}))
        elif step.kind == "signal" and step.counter is not None:
            self.counters[step.counter] = self.counters.get(step.counter, 0) + 1
            if not step.relaxed:
                join(self.released.setdefault(step.counter, {}), step.view)
        elif step.kind == "arrive":
            self.meetings.setdefault(step.meeting, []).append(step)
        elif step.kind == "meet":
            for other in self.meetings[step.meeting]:
                join(step.view, other.view)
        elif step.kind == "data":
            values = [self.read(step, r) for r in step.reads]
            values += [self.read_packet(step, p) for p in step.waits_packet]
            if None in values:
                raise Wrong("a packet is gone when it is read")
            step.value = sum(values) % MODULUS if values else step.source.value
            for location in step.writes:
                self.write(step, location, step.value)
        step.done = True

    def start(self, gpu, launch):
        """The caller has written the input of a launch, and anything into the output."""
        g = self.plan["gpus"][gpu]
        per = self.parts * ELEMENTS
        user = Step("user", None)
        for kind, chunks in (("o", g["output_chunks"]), ("i", g["input_chunks"])):
            for e in range(chunks * per):
                value = self.random.randrange(MODULUS)
                location = self.location(gpu, kind, e)
                user.view = dict(self.floor)
                self.write(user, location, value)
                self.floor[location] = user.view[location]
                if kind == "i":
                    self.inputs[launch, gpu, e] = value
        self.running[gpu], self.kernel[gpu] = launch, []
        for tb in range(len(g["threadblocks"])):
            steps, proxied = self.expand(launch, gpu, tb)
            self.kernel[gpu] += steps
            self.active += steps + proxied

    def finish(self, gpu):
        launch = self.running[gpu]
        for step in self.kernel[gpu]:
            join(self.floor, step.view)
        self.check(gpu, launch)
        self.running[gpu] = None
        if launch < self.launches:
            self.start(gpu, launch + 1)

    def expected(self, launch, gpu, e):
        per = self.parts * ELEMENTS
        g = self.plan["gpus"][gpu]
        ins = lambda rank, element: self.inputs.get((launch, rank, element))
        total = lambda element: (sum(ins(r, element) for r in range(self.n)) % MODULUS
                                 if all(ins(r, element) is not None for r in range(self.n)) else None)
        kind = self.plan["collective"]
        if kind == "allreduce":
            return total(e)
        if kind == "reducescatter":
            return total(gpu * g["output_chunks"] * per + e)
        if kind == "allgather":
            return ins(e // (g["input_chunks"] * per), e % (g["input_chunks"] * per))
        if kind == "alltoall":
            share = g["input_chunks"] // self.n * per
            return ins(e // share, gpu * share + e % share)
        if kind == "broadcast":
            return ins(0, e)
        raise Unsupported(kind)

    def check(self, gpu, launch):
        g = self.plan["gpus"][gpu]
        reader = Step("user", None)
        for e in range(g["output_chunks"] * self.parts * ELEMENTS):
            reader.view = dict(self.floor)
            found = self.read(reader, self.location(gpu, "o", e))
            if found != self.expected(launch, gpu, e):
                raise Wrong(f"launch {launch}: element {e} of gpu {gpu}'s output is wrong")
        if self.plan["inplace"]:
            return
        for e in range(g["input_chunks"] * self.parts * ELEMENTS):
            reader.view = dict(self.floor)
            if self.read(reader, self.location(gpu, "i", e)) != self.inputs[launch, gpu, e]:
                raise Wrong(f"launch {launch}: element {e} of gpu {gpu}'s input is overwritten")

    def run(self):
        self.active, self.running, self.kernel, self.meetings = [], {}, {}, {}
        for gpu in range(self.n):
            self.start(gpu, 1)
        slow = self.random.randrange(self.n)  # one GPU lags behind in many runs
        bias = self.random.choice([0.0, 0.9])
        while True:
            for gpu in range(self.n):
                if self.running[gpu] and all(s.done for s in self.kernel[gpu]):
                    self.finish(gpu)
            self.active = [s for s in self.active if not s.done]
            if not self.active:
                return
            ready = [s for s in self.active if self.ready(s)]
            if not ready:
                raise Wrong("deadlock")
            fast = [s for s in ready if s.tb[1] != slow]
            if fast and self.random.random() < bias:
                ready = fast
            for step in self.random.sample(ready, max(1, len(ready) // 4)):
                if self.ready(step):
                    self.execute(step)


def find_wrong(plan, seeds, launches=4, units=1):
    """A reason why the plan is wrong, or None if no run shows one."""
    for seed in seeds:
        try:
            Machine(plan, launches, seed, units).run()
        except Wrong as wrong:
            return str(wrong)
    return None
