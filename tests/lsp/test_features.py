"""Each request about a document."""
import pathlib
import re
import subprocess

import pytest

from client import ABILITIES, PROGRAM, File, Server, ServerError

SHIFT = """\
/// Passes data on. To the next rank.
collective shift(in data: T[n], out result: T[n], by: int = 1)
  ensures result == data@((rank + ranks - by) % ranks)
{
  let next = (rank + by) % ranks;
  s: send data to next;
  for k in 0..1 {
    recv result from (rank + ranks - by) % ranks;
  }
}

/// Two of them.
collective twice(in data: T[n], out result: T[n])
  ensures result == data@((rank + 2 * (ranks - 1)) % ranks)
{
  temp middle: T[n];
  shift(data, middle);
  shift(middle, result, by = 1);
}
"""


# Diagnostics


def test_diagnostics_have_exact_ranges(server):
    file = File(server, SHIFT.replace("send data to next", "send data to nextt"))
    (wrong,) = file.diagnostics()
    assert file.text_of(wrong["range"]) == "nextt"
    assert wrong["severity"] == 1 and wrong["source"] == "colldsl"
    assert wrong["message"] == "unknown name 'nextt'\nhint: did you mean 'next'?"


def test_diagnostics_follow_what_is_typed(server):
    file = File(server, SHIFT)
    assert file.diagnostics() == []
    place = file.position(file.text.index("copy") if "copy" in file.text else file.text.index("  s: "))
    file.change([{"range": {"start": place, "end": place}, "text": "sendd"}])
    assert [d["message"].split("\n")[0] for d in file.diagnostics()] != []
    file.change([{"range": {"start": place, "end": {**place, "character": place["character"] + 5}}, "text": ""}])
    assert file.diagnostics() == []


def test_syntax_errors(server):
    file = File(server, "collective f(in x: T[n])\n{\n  send x 1;\n  let y = &&;\n}\n")
    messages = {file.text_of(d["range"]): d["message"] for d in file.diagnostics()}
    assert "expected 'to' or 'along'" in messages["1"]


def test_the_code_is_that_of_explain(server):
    file = File(server, SHIFT.replace("result == data@((rank + ranks - by) % ranks)",
                                      "result == data@(rank + by) % ranks"))
    codes = [d.get("code") for d in file.diagnostics()]
    assert "precedence-of-at" in codes
    explained = subprocess.run([PROGRAM, "explain", "precedence-of-at"], capture_output=True, text=True)
    assert explained.returncode == 0


def test_notes_are_related_information(server, tmp_path):
    (tmp_path / "a.coll").write_text('import "b.coll";\n')
    (tmp_path / "b.coll").write_text('import "a.coll";\n')
    file = File(server, 'import "b.coll";\n', tmp_path / "a.coll")
    (wrong,) = file.diagnostics()
    places = [(pathlib.Path(r["location"]["uri"]).name, r["location"]["range"]["start"]["line"], r["message"])
              for r in wrong["relatedInformation"]]
    assert ("b.coll", 0, "'%s' imports '%s', which imports it in turn" % (tmp_path / "b.coll", tmp_path / "a.coll")) \
        in places or any("b.coll" == name for name, _, _ in places)


def test_an_error_in_an_import_is_shown_at_the_import(server, tmp_path):
    (tmp_path / "parts.coll").write_text("function wrong(a: int) = b;\n")
    file = File(server, '// uses\nimport "parts.coll";\n', tmp_path / "whole.coll")
    (wrong,) = file.diagnostics()
    assert wrong["range"]["start"]["line"] == 1
    assert "parts.coll:1:26: unknown name 'b'" in wrong["message"]
    (place,) = wrong["relatedInformation"]
    assert place["location"]["uri"].endswith("/parts.coll")
    assert place["location"]["range"] == {"start": {"line": 0, "character": 25}, "end": {"line": 0, "character": 26}}


def test_imports_are_read_from_open_documents(server, tmp_path):
    (tmp_path / "parts.coll").write_text("function bisect(a: int) = a / 2;\n")
    whole = File(server, 'import "parts.coll";\nfunction f(a: int) = bisect(a);\n', tmp_path / "whole.coll")
    assert whole.diagnostics() == []
    parts = File(server, "function third(a: int) = a / 3;\n", tmp_path / "parts.coll")
    assert "unknown function 'bisect'" in whole.diagnostics(lambda l: l)[0]["message"]
    server.notify("textDocument/didClose", parts.document)
    assert whole.diagnostics(lambda l: not l) == []


def test_changes_on_the_disk(server, tmp_path):
    path = tmp_path / "parts.coll"
    path.write_text("function bisect(a: int) = a / 2;\n")
    whole = File(server, 'import "parts.coll";\nfunction f(a: int) = bisect(a);\n', tmp_path / "whole.coll")
    assert whole.diagnostics() == []
    path.write_text("")
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 2}]})
    assert len(whole.diagnostics(lambda l: l)) == 1


def test_a_closed_document_has_no_diagnostics(server):
    file = File(server, "x")
    assert file.diagnostics() != []
    server.notify("textDocument/didClose", file.document)
    found = server.wait_for("textDocument/publishDiagnostics", lambda p: p["uri"] == file.uri)
    assert found["diagnostics"] == []
    with pytest.raises(ServerError):
        server.ask("textDocument/documentSymbol", file.document)


def test_an_untitled_document(server):
    file = File(server, SHIFT.replace("to next", "to nextt"), uri="untitled:Untitled-1")
    assert len(file.diagnostics()) == 1
    assert file.ask("definition", "send data", 5)["uri"] == "untitled:Untitled-1"


# Quick fixes


def test_a_hint_is_a_quick_fix(server):
    file = File(server, SHIFT.replace("send data to next", "send data to nextt").replace("temp ", "tmp "))
    (wrong,) = [d for d in file.diagnostics()][:1]
    fixes = server.ask("textDocument/codeAction", {**file.document, "range": wrong["range"], "context": {
        "diagnostics": [wrong]}})
    assert [f["title"] for f in fixes] == ["replace 'tmp' with 'temp'"]
    assert fixes[0]["diagnostics"] == [wrong]
    file.replace_all(file.applied(fixes[0]["edit"]["changes"][file.uri]))
    (wrong,) = file.diagnostics()
    (fix,) = server.ask("textDocument/codeAction", {**file.document, "range": wrong["range"], "context": {
        "diagnostics": []}})
    file.replace_all(file.applied(fix["edit"]["changes"][file.uri]))
    assert file.text == SHIFT and file.diagnostics() == []


def test_no_quick_fix_elsewhere_or_without_a_hint(server):
    file = File(server, SHIFT.replace("by: int = 1", "by: int = qqqqq"))
    assert len(file.diagnostics()) >= 1
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    for range in (everything, {"start": {"line": 6, "character": 0}, "end": {"line": 6, "character": 0}}):
        assert server.ask("textDocument/codeAction", {**file.document, "range": range, "context": {}}) == []


# Hover


def hover(file, what=None, inside=0):
    found = file.ask("hover", what, inside)
    return found and found["contents"]["value"]


def test_hover_of_a_declaration_is_what_list_prints(server):
    file = File(server, SHIFT.replace("shift(data, middle);", "bcast_kary(data);"))
    text = hover(file, "bcast_kary")
    listed = subprocess.run([PROGRAM, "list", "bcast_kary"], capture_output=True, text=True, check=True).stdout
    head, *paragraphs = listed.strip().split("\n\n")
    for paragraph in paragraphs:
        if not paragraph.startswith("proved "):  # a stamp, which an open text has not
            assert paragraph in text
    assert head.removeprefix("bcast_kary: ") in text
    assert "```colldsl\ncollective bcast_kary(" in text


def test_hover_of_own_names(server):
    file = File(server, SHIFT)
    assert "Passes data on." in hover(file, "shift(data, middle)")
    assert "ensures result == data@" in hover(file, "shift(data, middle)")
    assert "in data: T[n]" in hover(file, "send data", 5)
    assert hover(file, "data to next").endswith("parameter of shift: a slice")
    assert "let next = (rank + by) % ranks" in hover(file, "to next", 3)
    assert hover(file, "to next", 3).endswith("an int")
    assert hover(file, "by = 1)").endswith("parameter of shift: an int")
    assert "temp middle: T[n]" in hover(file, "middle);")
    assert hover(file, "n], out").startswith("```colldsl")
    assert hover(file, "s: send").endswith("label")
    assert file.text_of(file.ask("hover", "to next", 3)["range"]) == "next"


@pytest.mark.parametrize("text, word, wanted", [
    ("function f(a: int) = ceil_log2(a);", "ceil_log2", "`ceil_log2(x)`: the same, rounded up"),
    ("function f(a: int) = a % ranks;", "ranks", "the size of the current group"),
    ("function f(t: tree) = t.parent;", "parent", "`.parent`: this rank's parent; `none` at the root"),
    ("collective f(in x: T[n]) { send x to 0; }", "send", "`send S to p [tag e];`: sends a slice"),
    ("collective f(in x: T[n]) { for i in 0..2 { } }", "for", "once for each element"),
    ("function f(a: bytes) = a;", "bytes", "a number of bytes"),
    ("collective f(op: reduction = sum) { }", "sum", "a reduction"),
])
def test_hover_of_words_of_the_language(server, text, word, wanted):
    assert wanted in hover(File(server, text), word)


CONTRACT = """\
collective f(in x: T[n], out y: T[ranks][n], inout z: T[n] at root, op: reduction = sum, root: rank = 0, g: graph)
  where ranks %% 2 == 0 and (root < 3)
  %s
{
}
"""


@pytest.mark.parametrize("clause, states", [
    ("ensures y[0] == x", "`y[0]` at exit is `x` at entry on the same rank"),
    ("ensures for r in 0..ranks: y[r] == x@r",
     "for each `r` in `0..ranks`: `y[r]` at exit is `x` at entry on rank `r`"),
    ("ensures for e in g.in if e.slot > 1: y[e.slot] == x@e.peer",
     "for each `e` in `g.in` for which `e.slot > 1`: `y[e.slot]` at exit is `x` at entry on rank `e.peer`"),
    ("ensures at rank == root: z == reduce(op, for r in 0..ranks if r > 2: x[0..n / 2]@(r + 1))",
     "on each rank where `rank == root`: `z` at exit is `x[0..n / 2]` at entry on rank `(r + 1)`, combined by `op` over "
     "each `r` in `0..ranks` for which `r > 2`; each counts once, in this order if `op` does not commute"),
    ("ensures at root > 0 ? rank > 1 : rank > 2: z == x@root",
     "on each rank where `root > 0 ? rank > 1 : rank > 2`: `z` at exit is `x` at entry on rank `root`"),
    ("ensures synchronizes", "no rank finishes before all have started"),
    ("ensures at rank != root: rounds <= 2 * log2(ranks)",
     "on each rank where `rank != root`: `rounds` is at most `2 * log2(ranks)`: rounds until this rank is done"),
    ("ensures depth <= 3", "`depth` is at most `3`: the longest chain of messages"),
    ("ensures sent <= n", "`sent` is at most `n`: elements of T that this rank sends"),
    ("ensures received <= n", "`received` is at most `n`: elements of T that this rank receives"),
    ("x aliases y[rank]", "callers may let `x` lie in `y[rank]`"),
    ("where\n    root > 0 // not\n    and root < 2", "callers guarantee that `root > 0 and root < 2` holds"),
])
def test_hover_of_a_clause_says_what_it_states(server, clause, states):
    file = File(server, CONTRACT.replace("  where ranks", "  // ranks") % clause)
    keyword = next(word for word in ("ensures", "aliases", "where") if word in clause)
    code, stated, row = hover(file, keyword).rsplit("\n\n", 2)
    assert code == f"```colldsl\n{clause}\n```"
    assert stated.startswith(states)
    assert re.fullmatch(rf"`[^`]*{keyword} [^`]*`: .+", row)
    assert file.text_of(file.ask("hover", keyword)["range"]) == keyword


@pytest.mark.parametrize("clause", ["", "y", "y ==", "for r in", "for r in 0..2:", "for : y == x", "at", "at root:", "rounds",
                                    "rounds <=", "y == reduce(", "y == reduce(op, for", "y == reduce(op, for r in l: )"])
def test_hover_of_a_clause_that_is_being_typed(server, clause):
    clause = f"ensures {clause}".rstrip()
    found = hover(File(server, CONTRACT % clause), "ensures")
    assert found == f"```colldsl\n{clause}\n```\n\n`ensures C`: a postcondition, which is proved"


def test_hover_of_each_word_of_contracts(server):
    grammar = (pathlib.Path(__file__).parents[2] / "grammar" / "Coll.g4").read_text()
    rules = [re.search(rf"^{rule}\n(.*?);", grammar, re.MULTILINE | re.DOTALL)[1] for rule in ("clause", "postcondition")]
    words = set(re.findall(r"'(\w+)'", "".join(rules)))
    assert words == {"where", "ensures", "aliases", "synchronizes", "at"}
    clauses = "ensures synchronizes\n  ensures at rank == 0: for r in 0..2: y[r] == reduce(op, for q in 0..2: x@q)\n  " \
              "x aliases y[rank]\n  ensures rounds <= 3"
    file = File(server, CONTRACT.replace(" at root", "") % clauses)
    for word in words | {"reduce", "for r", "rounds"}:
        assert hover(file, word), word


def test_hover_of_names_in_a_clause(server):
    file = File(server, CONTRACT % "ensures for r in 0..ranks: y[r] == reduce(op, for q in 0..ranks: x@q)")
    assert hover(file, "y[r]").endswith("parameter of f: a slice of blocks")
    assert hover(file, "x@q").startswith("```colldsl\nin x: T[n]\n```")
    assert "op: reduction = sum" in hover(file, "op, for")
    assert hover(file, "r] ==").startswith("```colldsl\nensures for r in 0..ranks: y[r]")
    assert hover(file, "q)").startswith("```colldsl\nfor q in 0..ranks: x@q\n```")
    assert "root: rank = 0" in hover(file, "root < 3")


def test_hover_of_where_that_is_no_clause(server):
    text = "collective f(in where: T[n]) {\n  let g = where(r: r > 1);\n  send where to 1;\n}\n"
    file = File(server, text)
    assert hover(file, "where(r").startswith("`where(r: c)`: the group")
    assert "in where: T[n]" in hover(file, "where to 1")


def test_hover_over_nothing(server):
    file = File(server, "  // ^comment 12\n" + SHIFT)
    assert hover(file, "{\n") is None
    assert hover(file, "12") is None


def test_hover_as_plain_text():
    server = Server("--no-proofs")
    server.initialize({})
    found = File(server, SHIFT).ask("hover", "shift(data, middle)")["contents"]
    assert found["kind"] == "plaintext" and "```" not in found["value"]
    assert server.end() == 0


# Definitions and references


def test_definitions(server):
    file = File(server, SHIFT)
    for use, inside, declared in [("to next", 3, "next = ("), ("shift(middle", 0, "shift(in"),
                                  ("by = 1)", 0, "by: int"), ("- by)", 2, "by: int"), ("T[n], out", 0, "T[n], out"),
                                  ("result ==", 0, "result: T[n], by"), ("n], out", 0, "n], out")]:
        found = file.ask("definition", use, inside)
        assert found["uri"] == file.uri
        assert found["range"]["start"] == file.at(declared)["position"], use
    assert file.ask("definition", "ranks") is None


def test_definitions_in_the_library(server):
    file = File(server, "collective f(inout x: T[n]) { bcast_kary(x); }\n")
    found = file.ask("definition", "bcast_kary")
    path = pathlib.Path(found["uri"].removeprefix("file://"))
    assert path.name == "bcast.coll"
    line = path.read_text().split("\n")[found["range"]["start"]["line"]]
    assert line.startswith("collective bcast_kary(")
    library = File(server, path.read_text(), path)
    assert library.diagnostics() == []
    assert library.ask("definition", "collective bcast_kary", 12)["uri"] == found["uri"]
    assert server.end() == 0
    assert not path.exists()  # it was the server's
    server.__init__("--no-proofs")  # for the end of the fixture
    server.initialize()


def test_definitions_in_an_import(server, tmp_path):
    (tmp_path / "my parts.coll").write_text("\nfunction bisect(a: int) = a / 2;\n")
    file = File(server, 'import "my parts.coll";\nfunction f(a: int) = bisect(a = a);\n', tmp_path / "whole.coll")
    found = file.ask("definition", "bisect")
    assert found == {"uri": (tmp_path / "my parts.coll").as_uri(),
                     "range": {"start": {"line": 1, "character": 9}, "end": {"line": 1, "character": 15}}}
    assert file.ask("definition", "a = a")["uri"] == (tmp_path / "my parts.coll").as_uri()


def test_definition_of_an_import(server, tmp_path):
    (tmp_path / "parts.coll").write_text("function bisect(a: int) = a / 2;\n")
    file = File(server, '// import "other.coll"\nimport "parts.coll";\nimport "none.coll";\n', tmp_path / "whole.coll")
    start = {"line": 0, "character": 0}
    found = {"uri": (tmp_path / "parts.coll").as_uri(), "range": {"start": start, "end": start}}
    for inside in (0, 3, len('"parts.coll')):
        assert file.ask("definition", '"parts', inside) == found
    for other in ("import \"parts", "none", "other"):
        assert file.ask("definition", other, 2) is None


def test_diagnostics_are_sent_where_they_changed(server, tmp_path):
    other = File(server, "collective f(inout x: T[n]) { g(x); }\n", tmp_path / "a.coll")
    assert len(other.diagnostics()) == 1
    file = File(server, "collective g(inout x: T[n]) { h(x); }\n", tmp_path / "b.coll")
    assert len(file.diagnostics()) == 1
    file.replace_all("collective g(inout x: T[n]) { k(x); }\n")
    file.diagnostics()
    file.ask("hover", "collective")
    published = [m["params"]["uri"] for m in server.seen if m["method"] == "textDocument/publishDiagnostics"]
    assert (published.count(other.uri), published.count(file.uri)) == (1, 2)


def test_references(server):
    file = File(server, SHIFT)
    found = file.ask("references", "data: T[n], out", context={"includeDeclaration": True})
    assert [file.offset(r["range"]["start"]) for r in found] == [
        file.text.index("data: T"), file.text.index("data@"), file.text.index("data to")]
    found = file.ask("references", "shift(in", context={"includeDeclaration": False})
    assert [file.text_of(r["range"]) for r in found] == ["shift", "shift"]


def test_references_in_files_that_are_not_open(tmp_path):
    (tmp_path / "parts.coll").write_text("function bisect(a: int) = a / 2;\n")
    (tmp_path / "other.coll").write_text('import "parts.coll";\nfunction g(a: int) = bisect(bisect(a));\n')
    (tmp_path / "same-name.coll").write_text("function bisect(a: int) = a;\nfunction g(a: int) = bisect(a);\n")
    server = Server("--no-proofs")
    server.initialize(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    parts = File(server, (tmp_path / "parts.coll").read_text(), tmp_path / "parts.coll")
    found = parts.ask("references", "bisect", context={"includeDeclaration": True})
    names = [pathlib.Path(r["uri"]).name for r in found]
    assert sorted(names) == ["other.coll", "other.coll", "parts.coll"]
    assert server.end() == 0


def test_places_are_found_while_the_text_does_not_parse(server):
    file = File(server, SHIFT)
    assert file.diagnostics() == []
    place = file.position(file.text.index("  for k"))
    file.change([{"range": {"start": place, "end": place}, "text": "  let broken = (\n"}])
    file.text = file.text.replace("  for k", "  let broken = (\n  for k")
    assert file.diagnostics() != []
    found = file.ask("definition", "by) % ranks;\n  }")
    assert found["range"]["start"] == file.at("by: int")["position"]
    assert "Two of them." in hover(file, "twice(in")
    names = [s["name"] for s in server.ask("textDocument/documentSymbol", file.document)]
    assert names == ["shift", "twice"]


# Renaming


def rename(file, what, name, inside=0):
    return file.ask("rename", what, inside, newName=name)["changes"]


def test_rename(server):
    file = File(server, SHIFT)
    able = file.ask("prepareRename", "- by)", 2)
    assert able["placeholder"] == "by" and file.text_of(able["range"]) == "by"
    changes = rename(file, "- by)", "step", 2)
    assert list(changes) == [file.uri]
    text = file.applied(changes[file.uri])
    assert text == SHIFT.replace("by: int", "step: int").replace("- by)", "- step)").replace(
        "+ by)", "+ step)").replace("by = 1)", "step = 1)")
    file.replace_all(text)
    assert file.diagnostics() == []


@pytest.mark.parametrize("what, name", [
    ("data: T", "x"), ("next = ", "following"), ("s: send", "first"), ("k in", "i"), ("middle: T", "between"),
    ("T[n], out", "Element"), ("n], out", "count"), ("shift(in", "rotate")])
def test_rename_of_each_kind_of_name(server, what, name):
    file = File(server, SHIFT)
    text = file.applied(rename(file, what, name)[file.uri])
    file.replace_all(text)
    assert file.diagnostics() == []
    old = what.split(" ")[0].split("[")[0].split("(")[0].split(":")[0].split("]")[0]
    back = file.applied(rename(file, what.replace(old, name, 1), old)[file.uri])
    assert back == SHIFT


@pytest.mark.parametrize("what, inside, name, why", [
    ("send data", 0, "x", "'send' is a word of the language"),
    ("ranks", 0, "x", "'ranks' is a word of the language"),
    ("bcast_kary", 0, "x", "'bcast_kary' belongs to the standard library"),
    ("{\n", 0, "x", "there is no name here"),
    ("data: T", 0, "result", "'result' is declared in line 2 already"),
    ("data: T", 0, "next", "'next' is declared in line 5 already"),
    ("data: T", 0, "ranks", "would collide"),
    ("next =", 0, "by", "'by' is declared in line 2 already"),
    ("shift(in", 0, "twice", "'twice' is declared in line 13 already"),
    ("shift(in", 0, "bcast_kary", "would collide"),
    ("data: T", 0, "1x", "is no name"),
    ("data: T", 0, "a-b", "is no name"),
    ("data: T", 0, "", "is no name"),
    ("data: T", 0, "true", "'true' is a word of the language"),
])
def test_rename_refuses(server, what, inside, name, why):
    file = File(server, SHIFT.replace("temp middle", "bcast_kary(result);\n  temp middle"))
    with pytest.raises(ServerError) as error:
        rename(file, what, name, inside)
    assert why in error.value.message


def test_rename_refuses_to_hide_a_name(server):
    text = "collective f(inout x: T[n]) {\n  for i in 0..2 {\n    for j in 0..2 { calc 1ns * (i + j); }\n  }\n}\n"
    file = File(server, text)
    for what, name in (("i in", "j"), ("j in", "i")):
        with pytest.raises(ServerError) as error:
            rename(file, what, name)
        assert "would collide" in error.value.message
    file.replace_all(text.replace("(i + j)", "i"))  # the inner name hides the outer one, which is used
    with pytest.raises(ServerError):
        rename(file, "j in", "i")
    file.replace_all(text.replace("(i + j)", "j"))  # and here it is not
    assert file.applied(rename(file, "j in", "i")[file.uri]).count("i in") == 2


def test_rename_of_a_text_with_errors_is_refused(server):
    file = File(server, SHIFT + "x")
    for method in ("prepareRename", "rename"):
        with pytest.raises(ServerError) as error:
            file.ask(method, "data", newName="x")
        assert "the text has errors" in error.value.message


def test_rename_across_files(tmp_path):
    (tmp_path / "parts.coll").write_text("function bisect(a: int) = a / 2;\n")
    (tmp_path / "other.coll").write_text('import "parts.coll";\nfunction g(b: int) = bisect(a = bisect(b));\n')
    server = Server("--no-proofs")
    server.initialize(rootUri=tmp_path.as_uri())
    parts = File(server, (tmp_path / "parts.coll").read_text(), tmp_path / "parts.coll")
    changes = rename(parts, "bisect", "part2")
    assert {pathlib.Path(uri).name: len(edits) for uri, edits in changes.items()} == {"parts.coll": 1, "other.coll": 2}
    changes = rename(parts, "a: int", "value")
    assert {pathlib.Path(uri).name: len(edits) for uri, edits in changes.items()} == {"parts.coll": 2, "other.coll": 1}
    with pytest.raises(ServerError) as error:
        rename(parts, "bisect", "g")
    assert "collide" in error.value.message
    assert server.end() == 0


# Completion


def labels(file, what=None, inside=0):
    return [item["label"] for item in file.ask("completion", what, inside)]


BODY = "collective f(in data: T[n], out other: T[n], root: rank = 0)\n  ensures other == data\n{\n%s\n}\n"


@pytest.mark.parametrize("body, wanted, unwanted", [
    ("  let first = 1; send data to ^;", ["first", "root", "rank", "ranks", "data", "n"], ["parent", "bcast_kary"]),
    ("  let first = 1; send data to ^", ["first", "root", "rank"], []),
    ("  let first = 1; send data to fir^;", ["first", "root"], []),
    ("  let first = 1; send data to (fi^", ["first", "root"], []),
    ("  for i in 0..2 { let inner = i; }\n  calc ^;", ["root"], ["i", "inner"]),
    ("  for i in 0..2 { let inner = i; calc 1ns * ^; }", ["i", "inner", "root", "log2"], []),
    ("  ^", ["send", "recv", "let", "for", "bcast_kary", "f"], ["log2", "binomial"]),
    ("  copy data to other; se^", ["send"], []),
    ("  let t = binomial(root); calc 1ns * t.^;", ["parent", "root", "children", "at"], ["size", "log2", "rank"]),
    ("  let g = node; calc 1ns * g.si^;", ["size", "rank", "contains"], ["parent"]),
    ("  bcast_kary(data, ^);", ["root = ", "k = ", "root"], []),
    ("  // ^", [], ["send"]),
    ("  // as in /* here\n  se^", ["send"], ["log2"]),
    ("  let t = binomial(root); calc 1ns * t. // which\n  pa^", ["parent"], ["send"]),
    ('  let a = edges("^");', [], ["send"]),
    ("  let a = 12^;", [], ["send"]),
])
def test_completion(server, body, wanted, unwanted):
    found = labels(File(server, BODY % body))
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)
    assert len(found) == len(set(found))


def test_completion_in_headers_and_between_declarations(server):
    assert {"collective", "function", "import"} <= set(labels(File(server, "^\n" + SHIFT)))
    assert {"collective", "tree"} <= set(labels(File(server, SHIFT + "coll^")))
    assert {"int", "rank", "f32"} <= set(labels(File(server, "collective f(in x: T[n], root: ^)\n{\n}\n")))
    assert {"send", "middle", "twice"} <= set(labels(File(server, SHIFT.replace("result, by = 1);\n", "result, by = 1);\n  ^\n"))))
    assert {"data", "by"} <= set(labels(File(server, SHIFT.replace("result == data", "result == ^", 1))))


def test_completion_has_documentation(server):
    file = File(server, BODY % "  bcast_k^")
    item = next(i for i in file.ask("completion") if i["label"] == "bcast_kary")
    assert item["detail"].startswith("collective, stdlib/bcast.coll:")
    assert item["documentation"]["kind"] == "markdown" and "k-ary tree" in item["documentation"]["value"]
    file.replace_all(BODY % "  let a = log^;")
    item = next(i for i in file.ask("completion") if i["label"] == "log2")
    assert "logarithm" in item["documentation"]["value"]


def test_own_names_come_before_those_of_the_library(server):
    items = File(server, BODY % "  calc 1ns * ^;").ask("completion")
    order = [i["label"] for i in sorted(items, key=lambda i: i["sortText"])]
    assert order.index("root") < order.index("log2") < order.index("binomial")


# Formatting


def test_formatting_is_that_of_fmt(server, tmp_path):
    text = "collective  f( in x:T[n],out y : T[n] )\n ensures y==x\n{\n\n\n copy x   to y;   // \u00e4\n}\n\n\n\n"
    file = File(server, text)
    edits = server.ask("textDocument/formatting", {**file.document, "options": {"tabSize": 8}})
    done = subprocess.run([PROGRAM, "fmt"], input=text, capture_output=True, text=True, check=True).stdout
    assert file.applied(edits) == done != text
    file.replace_all(done)
    assert server.ask("textDocument/formatting", file.document) == []


def test_formatting_edits_only_the_lines_that_change(server):
    file = File(server, SHIFT.replace("  let next", "      let next"))
    (edit,) = server.ask("textDocument/formatting", file.document)
    assert edit["range"] == {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}}
    assert file.applied([edit]) == SHIFT


def test_text_with_errors_is_not_formatted(server):
    file = File(server, "\n\ncollective (")
    with pytest.raises(ServerError) as error:
        server.ask("textDocument/formatting", file.document)
    assert error.value.code == -32803 and "line 3" in error.value.message


# Symbols


def test_document_symbols(server):
    file = File(server, SHIFT)
    first, second = server.ask("textDocument/documentSymbol", file.document)
    assert (first["name"], first["detail"]) == ("shift", "collective")
    assert file.text_of(first["selectionRange"]) == "shift"
    assert file.offset(first["range"]["start"]) == file.text.index("collective shift")
    assert file.text[:file.offset(first["range"]["end"])].endswith("  }\n}")
    assert [c["name"] for c in first["children"]] == ["data", "result", "by"]
    assert second["range"]["start"] == file.position(file.text.index("collective twice"))


def test_document_symbols_without_a_hierarchy():
    server = Server("--no-proofs")
    server.initialize({})
    file = File(server, SHIFT)
    found = server.ask("textDocument/documentSymbol", file.document)
    assert [s["name"] for s in found] == ["shift", "twice"]
    assert found[0]["location"]["uri"] == file.uri
    assert server.end() == 0


# Large texts


def test_a_huge_file(server):
    text = "".join(f"function f{i}(a: int) = a + {i};\n" for i in range(20_000))
    file = File(server, text)
    assert "tokens" in file.diagnostics()[0]["message"] or "limit" in file.diagnostics()[0]["message"]
    file.replace_all("//" + "x" * (20 << 20))
    assert file.diagnostics() != []
    file.replace_all(SHIFT)
    assert file.diagnostics() == []


def test_ability_that_is_missing():
    server = Server("--no-proofs")
    server.initialize({k: v for k, v in ABILITIES.items() if k != "textDocument"})
    file = File(server, "x")
    assert "relatedInformation" not in file.diagnostics()[0]
    assert server.end() == 0
