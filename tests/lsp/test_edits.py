"""Random edits never end the server, and its text stays that of the client."""
import os
import pathlib
import random

import pytest

from client import File, Server

SOURCE = pathlib.Path(__file__).parents[2]
STEPS = int(os.environ.get("COLLDSL_LSP_STEPS", "1000"))
FILES = sorted((SOURCE / "tests" / "compiler" / "examples").glob("*.coll")) + sorted(
    (SOURCE / "stdlib").glob("*.coll"))
PIECES = ["", "", "", " ", "\n", "\r\n", "\r", "{", "}", "(", ")", ";", ",", "@", "..", '"', "/*", "*/", "//", "x",
          "rank", "send x to 0;", "let a = 1;", "\u00e4", "\U0001d11e", "\u2028", "\t", "9" * 30, "." * 20]


def units(text):
    return len(text.encode("utf-16-le")) // 2


class Oracle:
    """The text as UTF-16 code units, edited by hand."""

    def __init__(self, text):
        self.units = text.encode("utf-16-le")

    @property
    def text(self):
        return self.units.decode("utf-16-le")

    def position(self, index):
        """Of an index into the characters."""
        before = self.text[:index].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n")
        return {"line": line, "character": units(before[before.rfind("\n") + 1:])}


def cut(text, index):
    """No place is within a line's end."""
    return index - 1 if 0 < index < len(text) and text[index - 1:index + 1] == "\r\n" else index


def edit(generator, text):
    begin = cut(text, generator.randrange(len(text) + 1))
    end = cut(text, min(len(text), begin + generator.choice([0, 0, 1, 1, 3, 10, 60])))
    begin = min(begin, end)
    if generator.random() < 0.1:
        other = generator.randrange(len(text) + 1)
        return begin, end, text[other:other + generator.randrange(80)]
    return begin, end, generator.choice(PIECES)


REQUESTS = ["hover", "definition", "completion", "prepareRename", "references", "rename"]


@pytest.mark.parametrize("seed", range(4))
def test_random_edits(seed):
    generator = random.Random(seed)
    server = Server("--no-proofs") if seed % 2 else Server("--ranks", "1..3", "--seconds", "1")
    server.initialize()
    path = generator.choice(FILES)
    file = File(server, path.read_text().replace("^", "xor"), f"/nowhere/{seed}.coll")
    original = file.text
    for step in range(STEPS // 4):
        oracle = Oracle(file.text)
        begin, end, by = edit(generator, file.text)
        file.change([{"range": {"start": oracle.position(begin), "end": oracle.position(end)}, "text": by}])
        file.text = file.text[:begin] + by + file.text[end:]
        if generator.random() < 0.02 or len(file.text) > 4 * len(original):
            file.replace_all(original)
        if generator.random() < 0.3:
            place = Oracle(file.text).position(cut(file.text, generator.randrange(len(file.text) + 1)))
            server.begin("textDocument/" + generator.choice(REQUESTS), {
                **file.document, "position": place, "newName": "renamed", "context": {"includeDeclaration": True}})
        if generator.random() < 0.05:
            server.begin("textDocument/documentSymbol", file.document)
            server.begin("textDocument/codeLens", file.document)
            server.begin("textDocument/formatting", file.document)
    # The server has the same text: with a full parse of it both ways give the same diagnostics.
    marked = file.text
    mine = file.diagnostics()
    again = File(server, marked, f"/nowhere/{seed}-again.coll")
    strip = lambda list: [(d["range"], d["message"]) for d in list if not d["message"].count("fails at")]
    assert strip(again.diagnostics()) == strip(mine)
    assert server.end() == 0
