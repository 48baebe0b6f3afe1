"""load, parse, verify, instantiate, simulate, sweep."""
import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import BROKEN

import colldsl


@pytest.fixture
def first(source):
    return colldsl.load(source / "examples" / "first.coll")


def test_load_lists_collectives(first):
    assert first.collectives == ["first_allgather"]


def test_verify_proves(first):
    report = first.verify(ranks=range(1, 9), bytes=[0, 4])
    assert report and report.proofs == 16 and report.refused == 0
    assert str(report) == "first_allgather: proved for ranks 1..8; 0 B, 4 B: 16 proofs"
    assert report.check() is report


def test_verify_has_counterexamples():
    report = colldsl.parse(BROKEN, "broken.coll").verify(ranks=[1, 2, 3], bytes=8)
    assert not report.ok and report.proofs == 3 and report.refused == 2
    assert [c.ranks for c in report.counterexamples] == [2, 3]
    first = report.counterexamples[0]
    assert first.bytes == 8 and not first.in_place
    assert "broken.coll:3:30: error: writes: rank 0: y[2..4] is promised" in first.text
    assert "ensures for r in 0..ranks" in first.text  # the line of the source
    with pytest.raises(colldsl.NotProved, match="refused, 2 of 3 proofs"):
        report.check()


def test_what_looks_at_the_machine_is_proved_on_several():
    text = "collective on_nodes(inout x: T[n]) ensures x == x@0 { bcast_flat(x) over node; }"
    program = colldsl.parse(text, "nodes.coll")
    first = program.verify(ranks=4, bytes=8).counterexamples[0]
    assert first.topology == "node:4" and first.ranks == 4
    report = program.verify(ranks=4, bytes=8, topology="flat")
    assert report and str(report) == "on_nodes: proved for ranks 4; 8 B; topology=flat: 1 proof"


def test_counterexamples_are_those_that_the_command_shows(tmp_path):
    file = tmp_path / "wrong.coll"
    file.write_text(BROKEN + BROKEN.replace("broken", "worse").replace("copy x to y[rank];", ""))
    command = subprocess.run(
        [os.environ["COLLDSL_PROGRAM"], "verify", str(file), "--ranks", "1..3", "--json"],
        capture_output=True, text=True,
    )
    shown = [
        (part["name"], failure["ranks"], failure["bytes"], failure["text"])
        for part in json.loads(command.stdout)["collectives"]
        for failure in part["failures"]
    ]
    report = colldsl.load(file).verify(ranks=range(1, 4))
    assert [(c.collective, c.ranks, c.bytes, c.text) for c in report.counterexamples] == shown
    assert shown[0][2] > 0 and report.refused == len(shown)


def test_texts_are_those_of_the_command(source, tmp_path):
    file = tmp_path / "bad.coll"
    file.write_text("collective bad(in x: T[n]) { snd x to 0; }\n")
    command = subprocess.run(
        [os.environ["COLLDSL_PROGRAM"], "verify", str(file)], capture_output=True, text=True
    )
    with pytest.raises(colldsl.ProgramError) as raised:
        colldsl.load(file)
    assert str(raised.value) == command.stderr.rstrip("\n")


def test_unknown_names(first):
    with pytest.raises(colldsl.ProgramError, match="there is no collective 'allreduce_rng'"):
        colldsl.load("allreduce_rng")
    with pytest.raises(colldsl.ProgramError, match="cannot open|No such file|no such file"):
        colldsl.load("missing.coll")
    with pytest.raises(colldsl.ArgumentError, match="there is no type 'f46'; did you mean 'f16'"):
        first.simulate(ranks=4, type="f46")
    with pytest.raises(colldsl.ProgramError, match="say for how many ranks"):
        first.simulate()


def test_instantiate_and_text(first):
    schedule = first.instantiate(ranks=4, bytes=1 << 20)
    assert schedule.name == "first_allgather" and schedule.ranks == 4
    assert schedule.elements == 1 << 18
    assert list(schedule.ops) == [7, 7, 7, 7]
    assert "first_allgather" in schedule.text
    again = schedule.verify()
    assert again.ok and again.proofs == 1


def test_passes(first):
    schedule = first.instantiate(ranks=4, bytes=4096)
    improved = schedule.passes("default")
    assert improved.verify().ok
    with pytest.raises(colldsl.ArgumentError, match="--passes: there is no pass 'defualt'"):
        schedule.passes("defualt")


def test_simulate(first):
    times = first.simulate({"L": 1000, "o": 10, "g": 0, "G": 0}, ranks=2, bytes=8)
    assert times.finish_ns.dtype == np.uint64 and times.ranks == 2
    assert list(times.finish_ns) == [1020, 1020]
    assert times.makespan_ns == 1020 and times.messages == 2
    same = first.instantiate(ranks=2, bytes=8).simulate({"L": 1000, "o": 10, "g": 0, "G": 0})
    assert list(same.finish_ns) == [1020, 1020]


def test_traffic_by_levels():
    exchange = colldsl.load("allreduce_recursive_doubling")
    times = exchange.simulate(ranks=8, bytes=64, topology="group:2 switch:2 node:2 core:1")
    assert [(level.crosses, level.within, level.messages, level.bytes) for level in times.traffic] == [
        (None, "node", 0, 0), ("node", "switch", 8, 512), ("switch", "group", 8, 512), ("group", None, 8, 512)]


def test_hosts_of_a_job(tmp_path):
    nodes = tmp_path / "nodes"
    nodes.write_text("node n[1-2] cell a\nnode n[3-4] cell b\n")
    exchange = colldsl.load("allreduce_recursive_doubling")
    times = exchange.simulate(ranks=4, bytes=4, topology=f"nodes={nodes} hosts=n[1,3,2,4]")
    assert [level.messages for level in times.traffic] == [0, 4, 4]
    with pytest.raises(colldsl.ProgramError, match="there is no node 'n5'"):
        exchange.simulate(ranks=1, topology=f"nodes={nodes} hosts=n5")


def test_frame(first):
    pytest.importorskip("pandas")
    frame = first.simulate(ranks=3, bytes=8).frame()
    assert frame.index.name == "rank" and list(frame.columns) == ["finish_ns"] and len(frame) == 3


def test_functions_are_chosen_by_rules():
    schedule = colldsl.load("allreduce").instantiate(ranks=4, bytes=1024, op="max")
    assert schedule.name.startswith("allreduce_")
    assert schedule.name in schedule.remarks
    assert colldsl.load("allreduce").verify(ranks=3, bytes=8).ok


def test_sweep_and_plot(tmp_path):
    found = colldsl.sweep(["allreduce_ring", "allreduce_recursive_doubling"], ranks=[2, 4], bytes=[8, 1 << 16])
    assert len(found) == 8
    assert set(found.rows["ranks"]) == {2, 4} and (found.rows["makespan_ns"] > 0).all()
    one = colldsl.load("allreduce_ring").simulate(ranks=4, bytes=8)
    row = found.rows[(found.rows["name"] == "allreduce_ring") & (found.rows["ranks"] == 4)
                     & (found.rows["bytes"] == 8)]
    assert row["makespan_ns"][0] == one.makespan_ns
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = found.plot("bytes")
    assert len(axes.lines) == 4
    axes.figure.savefig(tmp_path / "sweep.png")
    with pytest.raises(colldsl.ArgumentError, match="there is no axis 'time'"):
        found.plot("time")


def test_threads_share_a_program(first):
    errors = []

    def prove():
        try:
            first.verify(ranks=range(1, 5), bytes=4).check()
            first.simulate(ranks=4, bytes=64)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=prove) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_nothing_is_printed(capfd):
    colldsl.load("allreduce").simulate(ranks=4)
    with pytest.raises(colldsl.ProgramError):
        colldsl.parse("collective")
    printed = capfd.readouterr()
    assert printed.out == "" and printed.err == ""


@pytest.mark.parametrize("work", [
    "ring.verify(ranks=range(1, 400))",
    "ring.verify(ranks=3000, bytes=4000)",  # one proof
    "ring.simulate(ranks=6000, bytes=4000)",
    "ring.instantiate(ranks=3000, bytes=4000, passes='default')",
])
def test_ctrl_c_ends_work(work):
    """What would take long ends, with all of its threads; the program can be used again."""
    body = f"""
import colldsl, os
ring = colldsl.load("allreduce_ring")
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", len(os.listdir("/proc/self/task")), flush=True)
print(ring.simulate(ranks=2, bytes=8).messages)
"""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    child = subprocess.Popen([sys.executable, "-c", body], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted 1\n4\n"


def test_choose_has_the_rule_and_the_others(monkeypatch):
    monkeypatch.setenv("COLLDSL_PROFILE", "")
    choice = colldsl.choose("bcast", 4, 4096, type="u8")
    assert (choice.function, choice.ranks, choice.nodes, choice.bytes, choice.type) == ("bcast", 4, 1, 4096, "u8")
    assert str(choice.chosen) == "bcast_knomial k=4" and choice.chosen.why == ""
    assert choice.rule == "bcast bytes ..4096 use bcast_knomial k=4" and not choice.is_decision
    assert choice.place == f"stdlib/selection.rules:{choice.line}"
    times = [other.predicted_ns for other in choice.others]
    assert len(times) > 5 and times == sorted(times)
    assert all(other.why and other.measured_ns is None for other in choice.others)
    simulated = colldsl.load("bcast_knomial").simulate(
        "cluster", ranks=4, bytes=4096, type="u8", parameters={"k": 4}
    )
    assert choice.chosen.predicted_ns == simulated.makespan_ns
    assert "is chosen" in choice._repr_html_()


def test_choose_goes_by_rules_that_are_given(tmp_path):
    rules = tmp_path / "my.rules"
    rules.write_text("bcast ranks ..4 use bcast_binomial\n")
    choice = colldsl.choose("bcast", 4, rules=rules)
    assert choice.chosen.collective == "bcast_binomial" and choice.line == 1
    with pytest.raises(colldsl.ProgramError, match="8 ranks are not 1..4"):
        colldsl.choose("bcast", 8, rules=rules)
    with pytest.raises(colldsl.ProgramError, match="did you mean 'bcast'"):
        colldsl.choose("brcast", 8)
