"""The call that is being typed: its parameters, and which of them the caret is in."""
import pytest

from client import ABILITIES, File, Server

BODY = """\
/// Doubles.
function twice(a: int, times: int = 2) = a * times;

/// Passes data on. To the next rank.
collective shift_by(
    in data: T[n],  // what each rank has
    out result: T[n],
    by: int = 1 in {1, 2}, /* where from */ root: rank = 0)
  ensures result == data
{
%s
}

/// Behind it.
function later(b: int) = b;
"""
SHIFT_BY = "shift_by(in data: T[n], out result: T[n], by: int = 1 in {1, 2}, root: rank = 0)"
TWICE = "twice(a: int, times: int = 2)"


def help_in(server, text):
    return File(server, text).ask("signatureHelp")


def shown(found):
    """The label of the active signature, and its active parameter; None where there is none."""
    if found is None:
        return None
    signature = found["signatures"][found["activeSignature"]]
    label, active = signature["label"], found["activeParameter"]
    parameters = [label[begin:end] for begin, end in (p["label"] for p in signature["parameters"])]
    return label, parameters[active] if active < len(parameters) else None


@pytest.mark.parametrize("body, label, parameter", [
    ("  shift_by(^", SHIFT_BY, "in data: T[n]"),
    ("  shift_by(^)", SHIFT_BY, "in data: T[n]"),
    ("  shift_by(data,^ result);", SHIFT_BY, "out result: T[n]"),
    ("  shift_by(data, result, ^);", SHIFT_BY, "by: int = 1 in {1, 2}"),
    ("  shift_by(data, result, 1, ^", SHIFT_BY, "root: rank = 0"),
    ("  shift_by(data, result, 1, 2, ^", SHIFT_BY, None),
    ("  shift_by(data, result, root = ^", SHIFT_BY, "root: rank = 0"),
    ("  shift_by(data, ro^ot = 1, result);", SHIFT_BY, "root: rank = 0"),
    ("  shift_by(by = 2, ^", SHIFT_BY, "in data: T[n]"),
    ("  shift_by(data, by = 2, result, ^", SHIFT_BY, "root: rank = 0"),
    ("  shift_by(data, other = ^", SHIFT_BY, None),
    ("  shift_by(data, result == ^", SHIFT_BY, "out result: T[n]"),
    ("  shift_by(\n    data,\n    ^\n    result\n  );", SHIFT_BY, "out result: T[n]"),
    ("  shift_by(\n    data,\n    ^", SHIFT_BY, "out result: T[n]"),
    ("  label: shift_by(data[0..n], ^ over node;", SHIFT_BY, "out result: T[n]"),
    ("  let a = twice(twice(1, ^", TWICE, "times: int = 2"),
    ("  let a = twice(twice(1, 2)^", TWICE, "a: int"),
    ("  let a = twice((1 + (2, ^", TWICE, "a: int"),
    ("  let a = [twice(1, ^]", TWICE, "times: int = 2"),
    ("  let a = twice(min(1, 2), ^", TWICE, "times: int = 2"),
    ("  let a = twice(not (^", TWICE, "a: int"),
    ("  let a = later(^", "later(b: int)", "b: int"),
    ("  let a = shift([1, 2], ^", "shift(dims: int[], d: int, delta: int)", "d: int"),
    ("  let a = max(1, ^", "max(a, b, ...)", "b"),
    ("  let a = max(1, 2, 3, 4, ^", "max(a, b, ...)", "..."),
    ("  let a = sum(^", "sum(l: int[])", "l: int[]"),
    ("  let a = sum(for ^", "sum(for i in ITER: e)", "for i in ITER: e"),
    ("  let t = binomial(^", "binomial(root: rank)", "root: rank"),
    ("  let t = binomial(root); let s = t.at(^", "at(r)", "r"),
    ("  let g = leaders(node, ^", "leaders(level, include = r, index = i)", "include = r"),
    ("  let g = leaders(node, include = ^", "leaders(level, include = r, index = i)", "include = r"),
    ("  let s = part(data, ^", "part(b, i of k)", "i of k"),
    ('  let g = edges("a, (b^', 'edges("file")', '"file"'),
    ('  let g = edges("a, ^(b");', 'edges("file")', '"file"'),
    ("  shift_by(data, // twice(1,\n  ^", SHIFT_BY, "out result: T[n]"),
    ("  shift_by(data; let a = twice(1, ^", TWICE, "times: int = 2"),
    ("  send data to (twice(^", TWICE, "a: int"),
])
def test_parameters(server, body, label, parameter):
    assert shown(help_in(server, BODY % body)) == (label, parameter)


@pytest.mark.parametrize("body", [
    "  ^", "  shift_by(data, result)^;", "  shift^_by(data, result);", "  send data to ^next;", "  send data to (^",
    "  calc (^", "  // shift_by(^", "  /* shift_by(data, ^ */", "  shift_by(data, // ^", "  unknown(^",
    "  shift_by(unknown(^", "  shift_by(data; send data to ^", "  for i in (^", "  if (^", '  let g = "shift_by(^',
])
def test_no_call(server, body):
    assert help_in(server, BODY % body) is None


@pytest.mark.parametrize("text, wanted", [
    ("collective f(^", None),
    ("tree f(root: rank, ^", None),
    ("collective f(k: int in {1, ^", None),
    ("collective f(k: int = max(1, ^", ("max(a, b, ...)", "b")),
    ("collective f(k: int)\n  where (^", None),
    ("collective f(k: int)\n  where where(^", ("where(r: c)", "r: c")),
    ("collective f(in x: T[n])\n  ensures x == reduce(sum, ^",
     ("reduce(op, for r in R [if D]: SLICE@r)", "for r in R [if D]: SLICE@r")),
    ("function min(a: int) = a;\nfunction g(b: int) = min(^", ("min(a: int)", "a: int")),
    ("function f(a: int) = f(^", ("f(a: int)", "a: int")),
    ("function g(a: int) = a;\ncollective f(in x: T[n]) {\n  if rank == 0 {\n    calc 1ns * g(^",
     ("g(a: int)", "a: int")),
    ("^", None),
])
def test_declarations_and_clauses(server, text, wanted):
    assert shown(help_in(server, text)) == wanted


def test_documentation(server):
    (signature,) = help_in(server, BODY % "  shift_by(^")["signatures"]
    assert signature["documentation"] == {
        "kind": "markdown",
        "value": "Passes data on. To the next rank.\n\ncollective, /nowhere/ring.coll:5"}
    (signature,) = help_in(server, BODY % "  bcast_kary(^")["signatures"]
    assert "k-ary tree" in signature["documentation"]["value"]
    (signature,) = help_in(server, BODY % "  let a = log2(^")["signatures"]
    assert "logarithm" in signature["documentation"]["value"]


def test_all_ways_to_call(server):
    found = help_in(server, BODY % "  let a = sum(^")
    assert [s["label"] for s in found["signatures"]] == ["sum(l: int[])", "sum(for i in ITER: e)"]


def test_labels_count_units_of_utf16(server):
    found = help_in(server, 'function f(a: string = "\U0001f600", b: int = 1) = b;\nfunction g(c: int) = f("", ^')
    (signature,) = found["signatures"]
    begin, end = signature["parameters"][found["activeParameter"]]["label"]
    assert signature["label"].encode("utf-16-le")[2 * begin:2 * end].decode("utf-16-le") == "b: int = 1"


def test_abilities_that_are_missing():
    server = Server("--no-proofs")
    assert server.initialize({})["capabilities"]["signatureHelpProvider"] == {"triggerCharacters": ["(", ","]}
    (signature,) = help_in(server, BODY % "  let a = twice(^")["signatures"]
    assert [p["label"] for p in signature["parameters"]] == ["a: int", "times: int = 2"]
    assert signature["documentation"]["kind"] == "plaintext"
    assert server.end() == 0


def test_imports_and_what_they_hide(server, tmp_path):
    (tmp_path / "parts.coll").write_text("/// Half.\nfunction bisect(a: int, rounds_up: bool = false) = a / 2;\n"
                                         "function log2(value: int) = value;\n")
    text = 'import "parts.coll";\nfunction f(a: int) = %s(a, ^'
    for name, label in (("bisect", "bisect(a: int, rounds_up: bool = false)"), ("log2", "log2(value: int)")):
        found = File(server, text % name, tmp_path / "whole.coll").ask("signatureHelp")
        assert shown(found)[0] == label


def test_after_an_edit_that_does_not_parse(server):
    file = File(server, BODY % "  copy data to result;")
    assert all(d["severity"] > 1 for d in file.diagnostics())
    file.replace_all(BODY % "  let a = [[[ ( ) later(^")
    assert shown(file.ask("signatureHelp")) == ("later(b: int)", "b: int")
