#!/usr/bin/env python3
"""Execution plans of MSCCL++ for tests, each for any number of GPUs.

usage: plans.py GPUS FOLDER [NAME...]    writes plans, or all, to FOLDER/NAME.json
"""
import json
import os
import sys


def local(kind, index, size=1):
    return {"type": kind, "index": index, "size": size}


def remote(buffer, index, size=1):
    return {"buffer_id": buffer, "index": index, "size": size}


def over_switch(index, size=1):
    return {"switch_channel_id": 0, "index": index, "size": size}


def op(name, **members):
    return {"name": name, **members}


def on(name, channels, kind="memory"):
    return op(name, channel_type=kind, channel_ids=list(channels))


NOP = op("nop")


def meet(channels, relaxed=False, kind="memory"):
    """All GPUs at these channels have come here."""
    prefix = "rlx" if relaxed else ""
    return [on(prefix + "signal", channels, kind), on(prefix + "wait", channels, kind), NOP]


def without_sharing(value):
    return json.loads(json.dumps(value))


def plan(name, collective, gpus, chunks, blocks, kind="memory", buffer="s", **members):
    """`blocks(gpu, peers)` makes the lists of ops. Each thread block has a channel to each peer of its own, and
    refers to that buffer of each peer by its position among the peers."""
    made = []
    for gpu in range(gpus):
        peers = [p for p in range(gpus) if p != gpu]
        lists = blocks(gpu, peers)
        channels = [{"channel_type": kind, "connected_to": peers * len(lists)}]
        switch = members.get("switch")
        if switch:
            channels.append({"channel_type": "switch", "buffer_type": switch,
                             "rank_groups": [{"size": gpus, "ranks": list(range(gpus))}]})
        made.append({
            "id": gpu, "input_chunks": chunks[0], "output_chunks": chunks[1], "scratch_chunks": chunks[2],
            "channels": channels,
            "remote_buffers": [{"rank": p, "type": buffer, "access_channel_types": [kind]} for p in peers],
            "semaphores": [{"init_value": v} for v in members.get("semaphores", [])],
            "threadblocks": [{
                "id": i, "ops": ops,
                "channels": [{"channel_type": kind, "channel_ids": [i * len(peers) + k for k in range(len(peers))]}]
                + ([{"channel_type": "switch", "channel_ids": [0]}] if switch else []),
                "remote_buffer_refs": [{"access_channel_type": kind, "remote_buffer_ids": list(range(len(peers)))}],
            } for i, ops in enumerate(lists)]})
    return without_sharing({"name": name, "collective": collective, "protocol": members.get("protocol", "Simple"),
            "inplace": members.get("inplace", False), "reuse_resources": False,
            "num_threads_per_block": 256, "use_double_scratch_buffer": members.get("double", False),
            "buffer_alignment": 16, "min_message_size": 0, "max_message_size": 1 << 30, "gpus": made})


def allgather_put(n):
    """Each GPU puts its chunk into the output of the others."""
    def blocks(gpu, peers):
        ids = range(len(peers))
        return [meet(ids, relaxed=True) + [
            op("put", channel_type="memory", channel_ids=list(ids), src_buff=[local("i", 0) for _ in peers],
               dst_buff=[remote(k, gpu) for k in ids]),
            op("copy", src_buff=[local("i", 0)], dst_buff=[local("o", gpu)]), NOP] + meet(ids)]
    return plan("allgather_put", "allgather", n, (1, n, 0), blocks, buffer="o")


def allgather_port(n):
    """As allgather_put, by the proxy, which signals behind the data."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        return [meet(ids, kind="port") + [
            op("pws", channel_type="port", channel_ids=ids, src_buff=[local("i", 0) for _ in peers],
               dst_buff=[remote(k, gpu) for k in ids]),
            op("copy", src_buff=[local("i", 0)], dst_buff=[local("o", gpu)]),
            on("wait", ids, "port"), NOP] + meet(ids, kind="port")]
    return plan("allgather_port", "allgather", n, (1, n, 0), blocks, kind="port", buffer="o")


def allgather_packets(n):
    """In place, by packets through a double scratch buffer; thread block 0 sends, 1 receives."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        send = [op("ppkt", channel_type="memory", channel_ids=ids, src_buff=[local("o", gpu) for _ in peers],
                   dst_buff=[remote(k, gpu) for k in ids])]
        return [send, [op("upkt", src_buff=[local("s", p)], dst_buff=[local("o", p)]) for p in peers]]
    return plan("allgather_packets", "allgather", n, (1, n, n), blocks, protocol="LL", inplace=True, double=True)


def allreduce_packets(n):
    """In place: chunk g is reduced at GPU g from packets, whose sum goes on as packets."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        def place(at, sender):  # of the packets of `sender` in the scratch of `at`
            return sender if sender < at else sender - 1
        send = [op("ppkt", channel_type="memory", channel_ids=ids, src_buff=[local("i", p) for p in peers],
                   dst_buff=[remote(k, place(p, gpu)) for k, p in enumerate(peers)])]
        reduce = [op("respkt", channel_type="memory", channel_ids=ids, reduce_op="sum",
                     src_buff=[local("i", gpu)] + [local("s", place(gpu, p)) for p in peers],
                     dst_buff=[local("i", gpu)] + [remote(k, n - 1 + gpu) for k in ids])]
        return [send, reduce, [op("upkt", src_buff=[local("s", n - 1 + p)], dst_buff=[local("i", p)]) for p in peers]]
    return plan("allreduce_packets", "allreduce", n, (n, n, 2 * n - 1), blocks, protocol="LL", inplace=True, double=True)


def reduce_scatter_read(n):
    """Each GPU reads its chunk from the inputs of the others."""
    def blocks(gpu, peers):
        ids = range(len(peers))
        return [meet(ids, relaxed=True) + [
            op("rre", channel_type="memory", channel_ids=list(ids), reduce_op="sum",
               src_buff=[local("i", gpu)] + [remote(k, gpu) for k in ids], dst_buff=[local("o", 0)]), NOP] + meet(ids)]
    return plan("reduce_scatter_read", "reducescatter", n, (n, 1, 0), blocks, buffer="i")


def reduce_scatter_scratch(n):
    """Chunks are put into scratch, one thread block per half of a chunk, and reduced behind a barrier."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        def ops(i):
            half = {"tb_id": i, "tbg_size": 2}
            return meet(ids, relaxed=True) + [
                op("put", channel_type="memory", channel_ids=ids, src_buff=[local("i", p) for p in peers],
                   dst_buff=[remote(k, gpu) for k in ids], tbg_info=half), NOP] + meet(ids) + [
                op("barrier", barrier_id=0, num_threadblocks=2),
                op("re", reduce_op="sum", src_buff=[local("i", gpu)] + [local("s", p) for p in peers],
                   dst_buff=[local("o", 0)], tbg_info={"tb_id": 1 - i, "tbg_size": 2})]
        return [ops(0), ops(1)]
    return plan("reduce_scatter_scratch", "reducescatter", n, (n, 1, n), blocks)


def allreduce_switch(n):
    """In place: each GPU reduces a chunk over the switch."""
    def blocks(gpu, peers):
        ids = range(len(peers))
        return [meet(ids, relaxed=True) + [
            op("glres", channel_type="switch", reduce_op="sum", src_buff=[over_switch(gpu)],
               dst_buff=[over_switch(gpu)]), NOP] + meet(ids)]
    return plan("allreduce_switch", "allreduce", n, (n, n, 0), blocks, buffer="i", switch="i", inplace=True)


def allreduce_pipeline(n):
    """In place: thread block 0 copies a unit into scratch, 1 reduces it over the switch, 2 copies it back."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        def pipeline(*ops):
            return [op("pipeline", iter_context={"unit_size": 1 << 16, "num_chunks": 1}, ops=list(ops))]
        chunks = range(n)
        copy_in = [op("copy", src_buff=[local("i", c)], dst_buff=[local("s", c)]) for c in chunks]
        copy_out = [op("copy", src_buff=[local("s", c)], dst_buff=[local("i", c)]) for c in chunks]
        first = pipeline(op("sem_acquire", semaphore_ids=[2]), NOP, *copy_in, NOP, on("signal", ids),
                         on("wait", ids), NOP, op("sem_release", semaphore_ids=[0]))
        second = pipeline(op("sem_acquire", semaphore_ids=[0]), NOP,
                          op("glres", channel_type="switch", reduce_op="sum", src_buff=[over_switch(gpu)],
                             dst_buff=[over_switch(gpu)]), NOP, on("signal", ids), on("wait", ids), NOP,
                          op("sem_release", semaphore_ids=[1]))
        third = pipeline(op("sem_acquire", semaphore_ids=[1]), NOP, *copy_out, NOP, on("signal", ids),
                         on("wait", ids), NOP, op("sem_release", semaphore_ids=[2]))
        return [first, second, third]
    return plan("allreduce_pipeline", "allreduce", n, (n, n, n), blocks, switch="s", inplace=True, semaphores=[0, 0, 1])


def alltoall_get(n):
    """Each GPU copies its input into scratch, from where the others get their chunks."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        # A get has one offset on both sides, so chunks lie in the scratch of the sender where the output wants them.
        copies = [op("copy", src_buff=[local("i", p)], dst_buff=[local("s", p * n + gpu)]) for p in range(n)]
        gets = [op("get", channel_type="memory", channel_ids=[k], src_buff=[remote(k, gpu * n + p)],
                   dst_buff=[local("s", gpu * n + p)]) for k, p in enumerate(peers)]
        return [meet(ids, relaxed=True) + copies + [NOP] + meet(ids) + gets + [NOP] +
                [op("copy", src_buff=[local("s", gpu * n, n)], dst_buff=[local("o", 0, n)]), NOP] + meet(ids)]
    return plan("alltoall_get", "alltoall", n, (n, n, n * n), blocks)


def broadcast_switch(n):
    """GPU 0 stores its input into the outputs of all."""
    def blocks(gpu, peers):
        ids = range(len(peers))
        store = [op("gstore", channel_type="switch", src_buff=[local("i", 0)], dst_buff=[over_switch(0)]), NOP]
        return [meet(ids, relaxed=True) + (store if gpu == 0 else []) + meet(ids)]
    return plan("broadcast_switch", "broadcast", n, (1, 1, 0), blocks, switch="o", buffer="o")


def allgather_switch_packets(n):
    """In place: a GPU makes packets in its scratch and stores them over the switch, also onto themselves."""
    def blocks(gpu, peers):
        make = [op("cpkt", src_buff=[local("o", gpu)], dst_buff=[local("s", gpu)])]
        store = [op("gstorepkt", channel_type="switch", src_buff=[local("s", gpu)], dst_buff=[over_switch(gpu)])]
        return [make, store, [op("upkt", src_buff=[local("s", p)], dst_buff=[local("o", p)]) for p in peers]]
    return plan("allgather_switch_packets", "allgather", n, (1, n, n), blocks, protocol="LL", inplace=True, double=True,
                switch="s")


def allgather_forward(n):
    """In place, along the ring by packets, each of which is passed on as it comes."""
    def blocks(gpu, peers):
        right = peers.index((gpu + 1) % n)
        def of(step):
            return (gpu - step) % n
        first = [op("ppkt", channel_type="memory", channel_ids=[right], src_buff=[local("o", gpu)],
                    dst_buff=[remote(right, gpu)])]
        passed = [op("rppkt", channel_type="memory", channel_ids=[right], src_buff=[local("s", of(step))],
                     dst_buff=[remote(right, of(step))]) for step in range(1, n - 1)]
        return [first + passed, [op("upkt", src_buff=[local("s", of(step))], dst_buff=[local("o", of(step))])
                                 for step in range(1, n)]]
    return plan("allgather_forward", "allgather", n, (1, n, n), blocks, protocol="LL", inplace=True, double=True)


def allreduce_read_send(n):
    """In place: chunk g is read from all, summed and written to all by GPU g."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        return [meet(ids, relaxed=True) + [
            op("rres", channel_type="memory", channel_ids=ids, reduce_op="sum",
               src_buff=[local("i", gpu)] + [remote(k, gpu) for k in ids],
               dst_buff=[local("i", gpu)] + [remote(k, gpu) for k in ids]), NOP] + meet(ids)]
    return plan("allreduce_read_send", "allreduce", n, (n, n, 0), blocks, buffer="i", inplace=True)


def allreduce_copy_packets(n):
    """As allreduce_packets, with the sum also as packets of the GPU itself, from which it is unpacked once more."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        def place(at, sender):
            return sender if sender < at else sender - 1
        send = [op("ppkt", channel_type="memory", channel_ids=ids, src_buff=[local("i", p) for p in peers],
                   dst_buff=[remote(k, place(p, gpu)) for k, p in enumerate(peers)])]
        reduce = [op("recspkt", channel_type="memory", channel_ids=ids, reduce_op="sum",
                     src_buff=[local("i", gpu)] + [local("s", place(gpu, p)) for p in peers],
                     dst_buff=[local("o", gpu), local("s", n - 1 + gpu)] + [remote(k, n - 1 + gpu) for k in ids]), NOP]
        unpack = [op("upkt", src_buff=[local("s", n - 1 + p)], dst_buff=[local("o", p)]) for p in peers]
        again = [op("upkt", src_buff=[local("s", n - 1 + gpu)], dst_buff=[local("o", gpu)])]
        return [send, reduce + again, unpack]
    return plan("allreduce_copy_packets", "allreduce", n, (n, n, 2 * n - 1), blocks, protocol="LL", double=True)


def reduce_scatter_port(n):
    """Chunks go by the proxy into scratch, and are summed there."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        return [meet(ids, kind="port") + [
            op("put", channel_type="port", channel_ids=ids, src_buff=[local("i", p) for p in peers],
               dst_buff=[remote(k, gpu) for k in ids]), on("signal", ids, "port"), on("wait", ids, "port"), NOP,
            op("re", reduce_op="sum", src_buff=[local("i", gpu)] + [local("s", p) for p in peers],
               dst_buff=[local("o", 0)]), NOP] + meet(ids, kind="port")]
    return plan("reduce_scatter_port", "reducescatter", n, (n, 1, n), blocks, kind="port")


def allreduce_send(n):
    """Each GPU puts its chunks into the scratch of the others; each sum of scratch is sent to all."""
    def blocks(gpu, peers):
        ids = list(range(len(peers)))
        first = [op("put", channel_type="memory", channel_ids=ids, src_buff=[local("i", p) for p in peers],
                    dst_buff=[remote(k, gpu) for k in ids]), NOP]
        send = [op("res", channel_type="memory", channel_ids=ids, reduce_op="sum",
                   src_buff=[local("i", gpu)] + [local("s", p) for p in peers],
                   dst_buff=[local("o", gpu)] + [remote(k, n + gpu) for k in ids]), NOP]
        last = [op("copy", src_buff=[local("s", n + p)], dst_buff=[local("o", p)]) for p in peers]
        return [meet(ids, relaxed=True) + first + meet(ids) + send + meet(ids) + last]
    return plan("allreduce_send", "allreduce", n, (n, n, 2 * n), blocks)


ALL = {f.__name__: f for f in (
    allgather_put, allgather_port, allgather_packets, allreduce_packets, reduce_scatter_read, reduce_scatter_scratch,
    allreduce_switch, allreduce_pipeline, alltoall_get, broadcast_switch,
    allgather_switch_packets, allgather_forward, allreduce_read_send, allreduce_copy_packets, reduce_scatter_port,
    allreduce_send)}

if __name__ == "__main__":
    for wanted in sys.argv[3:] or ALL:
        with open(os.path.join(sys.argv[2], wanted + ".json"), "w", encoding="utf-8") as out:
            json.dump(ALL[wanted](int(sys.argv[1])), out, indent=1)
