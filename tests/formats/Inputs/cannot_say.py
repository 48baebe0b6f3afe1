#!/usr/bin/env python3
"""Compares the table of docs/formats.md of what each format can say with what `colldsl export` does.

usage: cannot_say.py COLLDSL PAGE [ROW...]    only the samples of these rows

Each row has a sample here: a schedule in the text form, or words of `export` that make one. A cell is `yes`, `no`, or
`as calc`, which --local-as-calc alone makes a yes. A refusal has to name the sample's thing.
"""
import os
import re
import subprocess
import sys
import tempfile

FORMATS = ["goal", "goal-bin", "chakra", "msccl-xml", "mscclpp"]
TABLE = "| in a schedule |"


def pair(*ops, head="in x: i32[n]\nout y: i32[n]", words="contract", size="size n = 4 in 1..\n"):
    """Two ranks with these ops, in which PEER is the other one; they exchange x for y first."""
    text = f'schedule "sample" {words}\nnum_ranks 2\n{size}'
    for rank in (0, 1):
        lines = [head, "l0: send to PEER tag 0 from x", "l1: recv from PEER tag 0 into y", *ops]
        text += f"rank {rank} {{\n" + "\n".join(lines).replace("PEER", str(1 - rank)) + "\n}\n"
    return text


GOAL = "num_ranks 2\nrank 0 {\nl0: send 8b to 1 tag 0\n}\nrank 1 {\nl0: recv 8b from 0 tag 0\n}\n"
SAMPLES = {  # row: the sample, and an expression for its refusals
    "send, recv": (pair(), ""),
    "copy": (pair("l2: copy from x into s", head="in x: i32[n]\nout y: i32[n]\ntemp s: i32[n]"), "copy"),
    "combine by sum": (pair("l2: combine by sum i32 after from x into y", "l2 requires l1"), "combine"),
    "combine by another operator": (pair("l2: combine by max i32 after from x into y", "l2 requires l1"), "combine"),
    "calc of some time": (pair("l2: calc 5"), "calc of 5 ns"),
    "calc 0": (pair("l2: calc 0"), ""),
    "signal, wait": (pair("l2: signal to PEER tag 1", "l3: wait from PEER tag 1"), "signal"),
    "irequires of a send": (pair("l1 irequires l0"), "waits for the start"),
    "irequires of another op": (pair("l2: calc 0", "l2 irequires l1"), "op l2"),
    "cpu, nic": (pair("l2: calc 0 cpu 1"), "cpu"),
    "several messages of one tag": (pair("l2: send to PEER tag 0 from x", "l3: recv from PEER tag 0 into s",
                                         head="in x: i32[n]\nout y: i32[n]\ntemp s: i32[n]"), ""),
    "a message of a rank to itself": (pair("l2: send to SELF tag 1 from x", "l3: recv from SELF tag 1 into s",
                                           head="in x: i32[n]\nout y: i32[n]\ntemp s: i32[n]"), "itself"),
    "blocks of one length": (["alltoall_pairwise", "-n", "2", "--local-as-calc"], ""),
    "blocks whose length is known at call time": (["alltoallv_pairwise", "-n", "2", "--local-as-calc"],
                                                  "known at call time|lengths of their own"),
    "no parameters": (["barrier_dissemination", "-n", "4"], "0 parameters"),
    "parameters of several types": (pair(head="in x: i32[n]\nout y: f32[n]"), "element type"),
    "a parameter of another size on another rank": (["allgatherv_ring", "-n", "3", "--set", "counts=[0,2,1]",
                                                     "--local-as-calc"], "one size on all ranks"),
    "a gather, a scatter": (["gather_binomial", "-n", "3", "--local-as-calc"], "none of MSCCL's collectives"),
    "an allreduce, allgather, reduce_scatter, alltoall, broadcast": (["bcast_flat", "-n", "3"], ""),
    "a reduction to one rank (reduce)": (["reduce_binomial", "-n", "3", "--local-as-calc"], "reduction to one GPU"),
    "another collective with input and output of one size": (["scan_chain", "-n", "3", "--local-as-calc"], ""),
    "plain GOAL, without buffers": (GOAL, "0 parameters"),
}


def rows_of(page):
    """The cells of each row, by its first cell, without backquotes."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(TABLE))
    names = [cell.strip().strip("`") for cell in lines[begin].strip("|").split("|")][1:]
    rows = {}
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            break
        first, *cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        rows[first] = cells
    return names, rows


def export(colldsl, folder, sample, target, *options):
    """Whether the sample is written, and what is said."""
    words = [word for word in sample if word != "--local-as-calc" or target in FORMATS[:3]] \
        if isinstance(sample, list) else [os.path.join(folder, "sample.text")]
    if isinstance(sample, str):
        for rank, peer in ((0, 1), (1, 0)):
            sample = sample.replace("SELF", str(rank), 2)
        with open(words[0], "w", encoding="utf-8") as file:
            file.write(sample)
    output = os.path.join(folder, "output")
    done = subprocess.run([colldsl, "export", *words, "--to", target, "-o", output, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    written = [name for name in os.listdir(folder) if name.startswith("output")]
    for name in written:
        os.remove(os.path.join(folder, name))
    if (done.returncode == 0) != bool(written) or done.returncode not in (0, 1):
        sys.exit(f"{words}, {target}: exit {done.returncode}, files {written}\n{done.stdout}")
    return bool(written), done.stdout


def main():
    colldsl, page, *chosen = sys.argv[1:]
    names, rows = rows_of(page)
    mistakes = [] if names == FORMATS else [f"the columns are {names}, the formats {FORMATS}"]
    mistakes += [f"no row '{name}'" for name in SAMPLES if name not in rows]
    mistakes += [f"no sample for the row '{name}'" for name in rows if name not in SAMPLES]
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or SAMPLES:
            sample, word = SAMPLES[name]
            found = []
            for target in FORMATS:
                is_written, said = export(colldsl, folder, sample, target)
                if not is_written and target in FORMATS[:3] and "hint: --local-as-calc" in said:
                    is_calc, again = export(colldsl, folder, sample, target, "--local-as-calc")
                    found.append("as calc" if is_calc else "no")
                    said = said if is_calc else again
                else:
                    found.append("yes" if is_written else "no")
                if not is_written and not (word and re.search(word, said)):
                    mistakes.append(f"'{name}', {target}: '{word}' is not in\n{said}")
            if rows.get(name) != found:
                mistakes.append(f"'{name}': the page says {rows.get(name)}, export {found}\n{said}")
    for mistake in mistakes:
        print(mistake)
    print(f"{len(chosen or SAMPLES)} rows, {len(mistakes)} mistakes")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()
