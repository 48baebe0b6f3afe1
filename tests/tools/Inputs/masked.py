"""masked.py COLLDSL FOLDER: each reader of files, and each place that shows arguments, gets characters
that a terminal obeys: escape sequences, C1 as UTF-8 and as bytes, DEL, controls of direction. None of
them may be in what the command prints. Writes its files into the folder."""
import os
import pathlib
import subprocess
import sys
import unicodedata

COLLDSL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
EVIL = b"\x1b[31mred\x1b]0;title\x07 \xc2\x9b31m \x9b2J \x7f \xe2\x80\xae 1 2\n"
# XML has no control characters but C1, and no bytes that are no UTF-8.
EVIL_XML = "\x9b31m \u202e".encode()
NAMED = 'schedule "\\x1b[31mred\\xc2\\x9b2J"\nnum_ranks 1\nrank 0 {\n  calc 5\n}\n'

FILES = {
    "evil": EVIL,
    "evil.coll": b"collective " + EVIL,
    "imports.coll": b'import "' + EVIL.rstrip() + b'";\n',
    "evil.goal": b"num_ranks 1\nrank 0 {\n" + EVIL + b"}\n",
    "named.text": NAMED.encode(),
    "evil.xml": b'<algo name="' + EVIL_XML + b'" proto="' + EVIL_XML + b'"/>',
    "root.xml": b"<a" + EVIL_XML + b"/>",
    "evil.mtx": b"%%MatrixMarket matrix coordinate " + EVIL,
    "evil.graph": EVIL,
    "evil.json": b'{"' + EVIL.rstrip() + b'": 1}',
    "own.coll": b"collective c(inout x: T[n]) { copy x to x; }\n",
    "own.rules": b"allreduce use " + EVIL,
}
GRAPH = 'neighbor_alltoall --ranks 4 --set g=edges("{}")'
COMMANDS = [
    "verify evil",
    "verify evil.coll",
    "verify imports.coll",
    "fmt evil.coll",
    "fmt --check evil.coll",
    "verify evil.goal",
    "import evil.goal",
    "import evil --from goal-bin",
    "import evil --from msccl-xml",
    "verify named.text",
    "verify named.text --json",
    "sim named.text",
    "sim named.text --json",
    "run named.text",
    "import evil.xml",
    "import root.xml --from msccl-xml",
    "verify root.xml",
    "verify " + GRAPH.format("evil"),
    "verify " + GRAPH.format("evil.mtx"),
    "verify " + GRAPH.format("evil.graph"),
    "sim allgather_ring -n 2 --model evil.json",
    "compile own.coll --rules own.rules -o own.cdag",
    "lib evil",
    "show allgather_ring -n 2 --trace evil -o page.html",
    "verify EVIL",
    "verify ./EVIL.coll",
    "EVIL",
    "verify --EVIL",
    "verify allgather_ring --topology EVIL",
    "verify allgather_ring --passes EVIL",
    "verify allgather_ring --set EVIL=1",
    "sim allgather_ring -n 2 --model EVIL",
    "compile own.coll -o own.cdag --rules EVIL",
    "explain EVIL",
    "list EVIL",
    "mpi --library EVIL -- true",
    "mpi -- EVIL",
]


def controls(printed):
    """Those in it."""
    text = printed.decode(errors="surrogateescape")
    obeyed = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return sorted({f"U+{ord(c):04X}" for c in text if c not in "\n\t" and unicodedata.category(c) in obeyed})


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in FILES.items():
        (FOLDER / name).write_bytes(content)
    assert len(controls(EVIL)) == 6, "the files are as they are meant"
    wrong = 0
    for command in COMMANDS:
        words = [os.fsencode(word).replace(b"EVIL", EVIL.rstrip()) for word in command.split(" ")]
        done = subprocess.run([os.fsencode(COLLDSL), *words], cwd=FOLDER, stdin=subprocess.DEVNULL, capture_output=True)
        if not done.stdout + done.stderr:
            wrong += 1
            print(f"{command}: prints nothing")
        for what, printed in (("output", done.stdout), ("errors", done.stderr)):
            if found := controls(printed):
                wrong += 1
                print(f"{command}: its {what} have {' '.join(found)}")
    print(f"{len(COMMANDS)} commands, {wrong} wrong")
    return wrong != 0


sys.exit(main())
