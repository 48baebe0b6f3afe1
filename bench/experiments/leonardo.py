#!/usr/bin/env python3
"""Bytes between the cells of Leonardo that an allreduce sends by Rabenseifner's algorithm and by Bine's
butterfly, for the hosts of real jobs, beside the published reduction of each job.

Ranks are one per node, in the order of the job's list. A cell is a group of the dragonfly+. For powers of
two the library's schedules are compared. For other numbers of nodes the published count takes messages that
no algorithm sends (leonardo.coll says which); the table has it besides what the library's schedules send.

source: D. De Sensi et al., "Bine trees: enhancing collective operations by optimizing communication
locality", SC 2025; data in data/leonardo
"""
import csv
import fractions
import json
import lzma
import os
import tarfile
import tempfile

from experiment import HERE, Table, argument, colldsl, finish, main, options

DATA = os.path.join(HERE, "data", "leonardo")
ELEMENTS = 512  # halves that a job of up to 512 nodes exchanges are whole
BYTES = 4 * ELEMENTS
COUNTED = os.path.join(HERE, "leonardo.coll")

argument("--jobs", default=os.path.join(DATA, "jobs.tar.xz"),
         help="archive of files, one per job, with a host per line (default: data/leonardo/jobs.tar.xz)")
argument("--nodes", default=os.path.join(DATA, "nodes.txt.xz"),
         help="file of nodes and cells (default: data/leonardo/nodes.txt.xz)")
argument("--published", default=os.path.join(DATA, "reduction.csv"),
         help="table of nodes, cells and reductions (default: data/leonardo/reduction.csv)")


def opened(path):
    """A file, which may be compressed."""
    return lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8")


def unpack(archive, folder):
    """The jobs with two compute nodes or more, as files of the folder: the rest has no row in the table."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile():
                continue
            text = tar.extractfile(member).read()
            if b"viz" in text or text.count(b"\n") < 2:
                continue
            with open(os.path.join(folder, os.path.basename(member.name)), "wb") as file:
                file.write(text)


def traffic(jobs, nodes, *words):
    """Per job, in the order of names: its name, nodes, cells, bytes between cells."""
    topology = f"nodes={nodes} prefix=lrdn levels=cell"
    told = json.loads(colldsl("traffic", *words, "--bytes", BYTES, "--topology", topology, "--jobs", jobs,
                              "--json"))
    return [(os.path.splitext(os.path.basename(job["job"]))[0], job["ranks"], job["groups"]["cell"],
             job["traffic"][-1]["bytes"]) for job in told["jobs"]]


def is_power_of_two(number):
    return number & (number - 1) == 0


def reduction(baseline, other):
    """By how many percent it is less, cut to two decimals, as the published table has it."""
    hundredths = fractions.Fraction(100 * 100 * (baseline - other), baseline)
    return int(hundredths) / 100


def with_rank_before_first(ranks, is_bine, sent):
    """The published count has 1.5 n from rank 0 to rank -1, in another cell, where ranks fold."""
    folds = not is_power_of_two(ranks) and (ranks % 2 == 1 or not is_bine)
    return sent + (BYTES * 3 // 2 if folds else 0)


def measure():
    """All four traffics of each job with two cells or more."""
    with tempfile.TemporaryDirectory() as folder:
        jobs, nodes = os.path.join(folder, "jobs"), os.path.join(folder, "nodes.txt")
        os.mkdir(jobs)
        unpack(options().jobs, jobs)
        with opened(options().nodes) as source, open(nodes, "w", encoding="utf-8") as file:
            file.write(source.read())
        sent = [traffic(jobs, nodes, *words) for words in (
            ["allreduce_rabenseifner"], ["allreduce_swing"],
            [COUNTED, "--name", "counted_allreduce"],
            [COUNTED, "--name", "counted_allreduce", "--set", "bine=true"])]
    for rabenseifner, swing, *counted in zip(*sent):
        name, ranks, cells, _ = rabenseifner
        if cells > 1:
            yield (name, ranks, cells, rabenseifner[3], swing[3],
                   *(with_rank_before_first(ranks, bine, each[3])
                     for bine, each in zip((False, True), counted)))


def experiment():
    with opened(options().published) as file:
        published = list(csv.DictReader(file))
    table = Table("job", "nodes", "cells", "Rabenseifner", "Bine", "reduction", "counted Rabenseifner",
                  "counted Bine", "counted reduction", "published", "agrees")
    agree = {True: 0, False: 0}
    rows = {True: 0, False: 0}
    measured = list(measure())
    for (name, ranks, cells, *sent), row in zip(measured, published):
        own, counted = reduction(*sent[:2]), reduction(*sent[2:])
        power = is_power_of_two(ranks)
        fits = (ranks, cells) == (int(row["Nodes"]), int(row["Groups"])) and \
            counted == float(row["Reduction"]) and (own == counted or not power)
        rows[power] += 1
        agree[power] += fits
        table.add(name, ranks, cells, *sent[:2], f"{own:.2f}", *sent[2:], f"{counted:.2f}",
                  f"{float(row['Reduction']):.2f}", "yes" if fits else "no")
    finish("leonardo", table)
    print(f"\n{agree[True] + agree[False]} of {len(published)} rows agree to 0.01, {len(measured)} jobs:")
    print(f"{agree[True]} of {rows[True]} powers of two, by the library's schedules")
    print(f"{agree[False]} of {rows[False]} others, by the published count")


if __name__ == "__main__":
    main(experiment)
