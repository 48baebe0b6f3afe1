"""A real client: Neovim without a screen."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from client import PROGRAM, SECONDS

NVIM = shutil.which("nvim")
TEXT = """\
// \U0001d11e
collective  around(in data: T[n], out y: T[n])
  ensures y == data@((rank + ranks - 1) % ranks)
{
    let next = (rank + 1) % ranks;
  bcast_kary(y);
  recv y from (rank + ranks - 1) % ranks;
  /* \U0001d11e */ send dta to next;
}
"""


@pytest.mark.skipif(NVIM is None, reason="there is no nvim")
def test_neovim(tmp_path):
    file, log = tmp_path / "around.coll", tmp_path / "log"
    file.write_text(TEXT)
    environment = {**os.environ, "COLLDSL_PROGRAM": str(pathlib.Path(PROGRAM).resolve()), "COLLDSL_FILE": str(file),
                   "COLLDSL_LOG": str(log), "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run([NVIM, "--headless", "--clean", "-n", "-c",
                           f"luafile {pathlib.Path(__file__).with_name('neovim.lua')}"],
                          env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=4 * SECONDS)
    seen = dict(json.loads(line) for line in log.read_text().splitlines())
    assert done.returncode == 0 and seen.get("end") is True, (seen, done.stdout, done.stderr)

    line = TEXT.split("\n")[7]
    column = line.encode().index(b"dta")
    assert seen["diagnostic"] == [7, column, column + 3, "unknown name 'dta'\nhint: did you mean 'data'?"]
    assert re.fullmatch(r"(stdlib/bcast.coll:\d+:\d+: )?around, fails at P=2, n=1: \w+: .*", seen["proof"][0], re.DOTALL)
    assert "let next = (rank + 1) % ranks" in seen["hover"]
    assert seen["definition"].endswith("/stdlib/bcast.coll")
    fixed = TEXT.replace("dta", "data").rstrip("\n").split("\n")
    assert seen["refused"] == fixed
    assert seen["renamed"] == [one.replace("next", "following") for one in fixed]
    formatted = subprocess.run([PROGRAM, "fmt"], input="\n".join(seen["renamed"]) + "\n", capture_output=True,
                               text=True, check=True).stdout
    assert seen["formatted"] == formatted.rstrip("\n").split("\n") != seen["renamed"]
    assert seen["lens"].startswith("fails at P=2, n=1: ")
    assert seen["page"] == 1
