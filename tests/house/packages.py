#!/usr/bin/env python3
"""Every program and Python module that a file of the tree uses is of a Debian package that scripts/packages.txt
brings: of one that it lists, of one that such a package depends on, or of the base system.

Modules are imported and programs looked up on this machine; dpkg says of which package their files are.

usage: packages.py ROOT [FOLDER OF PROGRAMS OR MODULES]...; exits with 77 where there is no dpkg
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import tree
import uses

SKIPPED = 77
LIST = os.path.join("scripts", "packages.txt")
# Files whose programs are of other lists, which these files install.
OTHER_LISTS = {
    "scripts/build-debs": "packaging/debian/packages.txt",
    "packaging/debian/": "packaging/debian/packages.txt",
    "cmake/DebianFiles.cmake": "packaging/debian/packages.txt",
    "tests/rdma/build-kernel": "tests/rdma/packages.txt",
}
# Programs and modules that no list brings, used where they are installed: (name, what it is for, what happens without it).
OPTIONAL = (
    ("clang-format-14", "formatting, which other versions do otherwise", "house.format is skipped"),
    ("aarch64-linux-gnu-g++", "64-bit Arm, on request", "tests/aarch64/run names the package"),
    ("qemu-aarch64-static", "as aarch64-linux-gnu-g++", "as aarch64-linux-gnu-g++"),
    ("debootstrap", "other suites of Debian, on request", "scripts/in-suite says so"),
    ("dolfinx", "programs of others under the backend, on request", "tests/mpi/guests names the packages"),
    ("petsc4py", "as dolfinx", "as dolfinx"),
    ("ufl", "as dolfinx", "as dolfinx"),
    ("ml_dtypes", "small floating-point numbers of NumPy; Debian 12 lacks it", "tests/python skips them"),
    ("gnuplot", "pictures of bench/experiments", "its scripts say so"),
    ("ibv_rc_pingpong", "the peer of bench/verbs", "the benchmark says so"),
    ("valgrind", "bench/mpi-instructions", "the benchmark says so"),
    ("spack", "packaging/spack/package.py, which Spack reads", "nothing reads it"),
    ("spack_repo", "as spack", "as spack"),
)
# A machine may have other versions of its own before these.
SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin")
ZSH_BUILTINS = {"zmodload", "zpty", "print"}


def closure(wanted, installed):
    """Names of the packages that come with those wanted. installed: {name: (dependencies, provided names, whether
    it is of the base system)}, where dependencies are lists of alternatives."""
    providers = {}
    for name, (_, provides, _) in installed.items():
        for virtual in provides:
            providers.setdefault(virtual, []).append(name)
    found = set()
    todo = [*wanted, *(name for name, entry in installed.items() if entry[2])]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        if name not in installed:
            todo += providers.get(name, [])[:1]
            continue
        found.add(name)
        for alternatives in installed[name][0]:
            todo += [a for a in alternatives if a in installed or a in providers][:1]
    return found


def names_of(field):
    """Lists of alternatives of a field like Depends."""
    return [[re.split(r"[\s:(]", alternative.strip())[0] for alternative in one.split("|")]
            for one in field.split(",") if one.strip()]


def installed_packages():
    form = "${Package}\t${Pre-Depends}, ${Depends}\t${Provides}\t${Essential}\t${Priority}\t${db:Status-Status}\n"
    lines = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in lines.splitlines():
        name, depends, provides, essential, priority, status = line.split("\t")
        if status == "installed":
            found[name] = (names_of(depends), [one[0] for one in names_of(provides)],
                           essential == "yes" or priority == "required")
    return found


def owners(paths):
    """{path: package}, of those files that are of packages. A merged /usr has files under two names."""
    asked = {}
    for path in paths:
        chain = [path]
        while os.path.islink(chain[-1]) and len(chain) < 10:
            chain.append(os.path.join(os.path.dirname(chain[-1]), os.readlink(chain[-1])))
        for file in [*chain, os.path.realpath(path)]:
            file = os.path.normpath(file)
            bare = re.sub(r"^/usr(?=/s?bin/|/lib)", "", file)
            for spelled in (file, bare, "/usr" + bare):
                asked.setdefault(spelled, set()).add(path)
    found = {}
    files = sorted(asked)
    for start in range(0, len(files), 500):
        lines = subprocess.run(["dpkg", "-S", *files[start:start + 500]], capture_output=True, text=True).stdout
        for line in lines.splitlines():
            packages, _, file = line.rpartition(": ")
            if file in asked and not packages.startswith("diversion"):
                found.update((path, packages.split(",")[0].split(":")[0]) for path in asked[file])
    return found


def module_files(names, folders):
    """{name: file} of modules that a fresh interpreter imports; None: built in."""
    program = ("import importlib, sys\n"
               "sys.path += sys.argv[1].split(':')\n"
               "for name in sys.argv[2:]:\n"
               "    try:\n"
               "        module = importlib.import_module(name)\n"
               "    except Exception as error:\n"
               "        continue\n"
               "    print(name, getattr(module, '__file__', None) or list(getattr(module, '__path__', ['']))[0], sep='\\t')\n")
    lines = subprocess.run([sys.executable, "-I", "-B", "-c", program, ":".join(folders), *names],
                           capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t") for line in lines.splitlines() if "\t" in line)


def own_modules(root):
    """Modules and packages of the tree itself."""
    files = tree.files(root, ".py")
    return {os.path.basename(file)[:-3] for file in files} | {
        os.path.basename(os.path.dirname(file)) for file in files if file.endswith("__init__.py")}


def own_programs(root):
    """Programs that the tree, or a page of it, builds; functions of CMake that name theirs first."""
    found = {"colldsl"}
    for path in tree.files(root, "CMakeLists.txt", ".cmake", ".md", ".test", ".py"):
        found.update(re.findall(r"(?:\badd_executable\(|_program\(|_test\(|-o )\s*([\w.+-]+)", tree.read(root, path)))
    return found


def shell_words():
    lines = subprocess.run(["bash", "-c", "compgen -b -k"], capture_output=True, text=True, check=True).stdout
    return set(lines.split()) | ZSH_BUILTINS


class Check:
    """The lists of the tree, and what this machine says of names."""

    def __init__(self, root, folders):
        self.root = root
        self.folders = folders
        self.installed = installed_packages()
        self.brought = {}
        self.optional = {name for name, _, _ in OPTIONAL}

    def brings(self, path):
        """The packages of the list for that file, and of the list of all."""
        extra = next((file for start, file in OTHER_LISTS.items() if path.startswith(start)), None)
        if extra not in self.brought:
            wanted = tree.listed(self.root, LIST) | (tree.listed(self.root, extra) if extra else set())
            self.brought[extra] = closure(wanted, self.installed)
        return self.brought[extra]

    def complaints(self, what, all_uses, files):
        """files: {name: path on this machine}."""
        packages = owners(files.values())
        for path, line, name in sorted(all_uses):
            if name.split(".")[0] in self.optional or (name not in files and self.has_own_list(path)):
                continue
            if name not in files:
                yield f"{path}:{line}: {what} {name} is not on this machine: no package of {LIST} brings it"
            elif files[name] not in packages:
                yield f"{path}:{line}: {what} {name} is {files[name]}, which is of no package"
            elif packages[files[name]] not in self.brings(path):
                yield (f"{path}:{line}: {what} {name} is of the package {packages[files[name]]}, "
                       f"which {LIST} does not bring")

    def has_own_list(self, path):
        """The file installs a list of its own when it runs."""
        return any(path.startswith(start) for start in OTHER_LISTS)

    def all(self):
        modules, programs = uses.uses(self.root)
        own = own_modules(self.root) | set(sys.stdlib_module_names)
        modules = {use for use in modules if use[2].split(".")[0] not in own}
        known = own_programs(self.root) | shell_words()
        programs = {use for use in programs if use[2] not in known}
        where = os.pathsep.join([*SYSTEM_FOLDERS, *self.folders, os.environ["PATH"]])
        found = {name: shutil.which(name, path=where) for name in {use[2] for use in programs}}
        found = {name: path for name, path in found.items() if path}
        yield from self.complaints("module", modules, module_files(sorted({use[2] for use in modules}), self.folders))
        yield from self.complaints("program", programs, found)
        used = {use[2].split(".")[0] for use in modules | programs}
        for name in sorted(self.optional - used):
            yield f"tests/house/packages.py: nothing uses {name}, which is said to be optional"


if __name__ == "__main__":
    if not shutil.which("dpkg-query"):
        print("skipped: there is no dpkg here")
        sys.exit(SKIPPED)
    folders = [folder for pattern in sys.argv[2:] for folder in glob.glob(pattern)]
    wrong = list(Check(sys.argv[1], folders).all())
    print("\n".join(wrong) if wrong else "all programs and modules are of packages that are listed")
    sys.exit(1 if wrong else 0)
