"""Proofs in the background: lenses, diagnostics, pages."""
import pathlib
import time

import pytest

from client import SECONDS, File, Server, ServerError
from test_features import SHIFT

# No rank sends before it has received.
HANGS = """\
collective around(in x: T[n], out y: T[n])
  ensures y == x@((rank + ranks - 1) % ranks)
{
  recv y from (rank + ranks - 1) % ranks;
  send y to (rank + 1) % ranks;
}

collective fine(in x: T[n], out y: T[n])
  ensures y == x
{
  copy x to y;
}
"""


@pytest.fixture
def server():
    server = Server("--ranks", "1..4", "--bytes", "4,8")
    server.initialize()
    yield server
    assert server.end() == 0


def lenses(file):
    return {file.text_of(lens["range"]): lens["command"]
            for lens in file.server.ask("textDocument/codeLens", file.document)}


def settled(file):
    """The lenses once all proofs are done."""
    file.server.wait_for("textDocument/publishDiagnostics", lambda p: p["uri"] == file.uri)
    end = time.monotonic() + SECONDS
    while any(command["title"] == "proofs are on the way" for command in lenses(file).values()):
        assert time.monotonic() < end
        file.server.wait_for("workspace/codeLens/refresh")
    return lenses(file)


def test_a_collective_that_holds_is_proved_for_what_was_tried(server):
    found = settled(File(server, SHIFT))
    assert found["shift"]["title"].startswith("proved for ranks 1..4; 4 B, 8 B")
    assert found["shift"]["command"] == ""
    assert "proved for ranks 1..4" in found["twice"]["title"]


def test_a_collective_that_fails(server):
    file = File(server, HANGS)
    found = settled(file)
    assert found["around"]["title"].startswith("fails at P=1, n=1: deadlock: ")
    assert found["around"]["command"] == "colldsl.showCounterexample"
    assert found["around"]["arguments"] == [file.uri, "around"]
    assert found["fine"]["title"].startswith("proved for ranks 1..4")
    file.version = 1
    server.stash.clear()
    file.replace_all(HANGS + "\n")
    (wrong,) = file.diagnostics(lambda l: l)
    assert wrong["message"].startswith("around, fails at P=1, n=1: deadlock: ")
    assert wrong["code"] == "deadlock"
    assert file.text_of(wrong["range"]) in ("recv", "send")
    assert {r["location"]["uri"] for r in wrong["relatedInformation"]} == {file.uri}


def test_a_collective_that_fails_on_another_machine(server):
    file = File(server, "collective on_nodes(inout x: T[n])\n  ensures x == x@0\n{ bcast_flat(x) over node; }\n")
    assert settled(file)["on_nodes"]["title"].startswith("fails at P=2, n=1, topology=node:2: contract: ")


def test_the_picture(server):
    file = File(server, HANGS)
    settled(file)
    shown = server.ask("workspace/executeCommand", {"command": "colldsl.showCounterexample",
                                                    "arguments": [file.uri, "around"]})
    page = pathlib.Path(shown["path"])
    assert page.as_uri() == shown["uri"] and page.suffix == ".html"
    text = page.read_text()
    assert text.lstrip().lower().startswith("<!doctype html>") and "deadlock" in text
    for arguments in ([file.uri, "fine"], [file.uri, "nothing"], ["file:///x", "around"], [], [1, 2]):
        with pytest.raises(ServerError):
            server.ask("workspace/executeCommand", {"command": "colldsl.showCounterexample", "arguments": arguments})
    with pytest.raises(ServerError):
        server.ask("workspace/executeCommand", {"command": "other"})
    assert server.end() == 0
    assert not page.exists() and not page.parent.exists()
    server.__init__()  # for the end of the fixture
    server.initialize()


def test_the_client_is_asked_to_show_the_picture_if_it_can():
    server = Server("--ranks", "1..2", "--bytes", "4")
    server.initialize({"window": {"showDocument": {"support": True}}, "workspace": {
        "codeLens": {"refreshSupport": True}}})
    file = File(server, HANGS)
    settled(file)
    shown = server.ask("workspace/executeCommand", {"command": "colldsl.showCounterexample",
                                                    "arguments": [file.uri, "around"]})
    asked = server.wait_for("window/showDocument")
    assert asked == {"uri": shown["uri"], "external": True}
    assert server.end() == 0


def test_changes_cancel_proofs_and_lenses_are_of_the_text(server):
    file = File(server, HANGS)
    settled(file)
    file.replace_all(HANGS.replace("recv y from (rank + ranks - 1) % ranks;\n  send y",
                                   "send x to (rank + 1) % ranks;\n  recv y").replace(
        "recv y to (rank + 1) % ranks", "recv y from (rank + ranks - 1) % ranks"))
    found = settled(file)
    assert found["around"]["title"].startswith("proved for ranks 1..4")
    file.replace_all("x" + HANGS)
    assert len(file.diagnostics()) == 1
    assert lenses(file) == {}


def test_an_edit_while_proofs_are_on_the_way_is_answered(server):
    file = File(server, "".join(SHIFT.replace("shift", f"s{i}").replace("twice", f"t{i}") for i in range(30)))
    assert file.diagnostics() == []
    for i in range(10):
        file.replace_all(file.text + f"// {i}\n")
        assert file.ask("hover", "s1(in") is not None
    assert file.diagnostics() == []


def test_what_is_too_large_is_not_proved_and_not_refused(server):
    file = File(server, "collective f(inout x: T[n]) { for i in 0..100000000 { signal to rank; wait from rank; } }\n")
    (title,) = [c["title"] for c in settled(file).values()]
    assert title == "not proved: stopped at P=1, n=1: with this statement the rank has 100001 ops, the limit is 100000"


def test_promises_of_nothing_are_refused(server):
    file = File(server, "collective f(in x: T[n], out y: T[n])\n  ensures y == x\n"
                        "  ensures for r in ranks..ranks: y == x@r\n{\n  copy x to y;\n}\n")
    found = settled(file)
    assert found["f"]["title"].startswith("refused, 1 promise of nothing")
    file.replace_all(file.text + "\n")
    (wrong,) = file.diagnostics(lambda l: l)
    assert wrong["code"] == "empty-promise" and file.text_of(wrong["range"]) == "y"


def test_verdicts_are_reported_together(server):
    file = File(server, "".join(SHIFT.replace("shift", f"s{i}").replace("twice", f"t{i}") for i in range(40)))
    settled(file)
    sent = [m["method"] for m in server.seen]
    assert sent.count("textDocument/publishDiagnostics") == 1
    assert 1 <= sent.count("workspace/codeLens/refresh") < 40


def test_no_proofs():
    server = Server("--no-proofs")
    server.initialize()
    file = File(server, HANGS)
    assert file.diagnostics() == [] and lenses(file) == {}
    assert server.end() == 0


def test_shutdown_while_proofs_are_on_the_way():
    server = Server()
    server.initialize()
    file = File(server, "".join(SHIFT.replace("shift", f"s{i}").replace("twice", f"t{i}") for i in range(30)))
    assert file.diagnostics() == []
    time.sleep(0.5)  # the proofs begin
    assert server.end() == 0


def test_options_of_verify_choose_what_is_proved():
    server = Server("--ranks", "2", "--bytes", "4", "--name", "fine")
    server.initialize()
    file = File(server, HANGS)
    found = settled(file)
    assert list(found) == ["fine"] and found["fine"]["title"].startswith("proved for ranks 2; 4 B")
    assert server.end() == 0


def test_a_limit_of_time_is_part_of_the_claim():
    server = Server("--ranks", "1..600", "--seconds", "1", "--thorough")
    server.initialize()
    file = File(server, "collective f(inout x: T[n], root: rank = 0)\n  ensures x == x@root\n{\n"
                        "  bcast_scatter_allgather(x, root);\n}\n")
    (title,) = [command["title"] for command in settled(file).values()]
    assert title.startswith(("proved for ranks 1", "not proved: ")) and "stopped after 1 s" in title
    assert "64" not in title.split(";")[0]
    assert server.end() == 0


def test_a_number_of_ranks_that_was_not_completed_is_not_claimed():
    server = Server("--ranks", "1..4", "--bytes", "4,8", "--max-ops", "3")
    server.initialize()
    file = File(server, "collective f(inout x: T[n])\n  ensures x == x\n{\n  for i in 0..ranks * n { calc 1ns; }\n}\n")
    assert settled(file)["f"]["title"] == ("proved for ranks 1; 4 B, 8 B: 2 proofs; stopped at P=2, n=2: "
                                           "with this statement the rank has 4 ops, the limit is 3")
    assert server.end() == 0
