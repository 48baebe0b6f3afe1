"""The package where CMake installs it."""
import os
import pathlib
import subprocess
import sys


def test_the_installed_package_finds_its_library(tmp_path):
    build = pathlib.Path(os.environ["COLLDSL_BUILD"])
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path, "--component", "python"],
                   check=True, capture_output=True)
    (tmp_path / "lib" / "libcolldsl.so.0").symlink_to(build / "lib" / "libcolldsl.so.0")
    code = "import colldsl; print(colldsl.__file__); colldsl.Communicator.local(2).close()"
    environment = dict(os.environ, PYTHONPATH=str(tmp_path / "lib/python3/dist-packages"))
    printed = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path,
                             check=True, capture_output=True, text=True).stdout
    assert printed.startswith(str(tmp_path))
    assert list(tmp_path.rglob("py.typed")) and list(tmp_path.rglob("_colldsl.pyi"))
