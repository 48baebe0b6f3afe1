#!/usr/bin/env python3
"""Shows that the house rules find what they are there for."""
import os
import tempfile
import unittest

import diagnostics
import editors
import file_names
import includes
import links
import names
import namespaces
import packages
import packaging
import quotes
import text
import uses


def found_in(check, files):
    """What a check finds in a tree of these files, a dictionary from path to content."""
    with tempfile.TemporaryDirectory() as root:
        for path, content in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(content)
        return check(root)


class Names(unittest.TestCase):
    def found(self, *headers):
        return found_in(names.check, {f"ir/{i}.h": text for i, text in enumerate(headers)})

    def test_one_definition_per_name(self):
        place = "namespace colldsl {\nstruct Place {\n};\n} // namespace colldsl\n"
        self.assertEqual(
            self.found(place, "\n" + place),
            ["ir/1.h:3: colldsl::Place is also defined in ir/0.h:2"],
        )
        self.assertTrue(self.found(place, place.replace("struct", "enum class")))

    def test_other_namespaces_and_declarations(self):
        place = "namespace colldsl {\nstruct Place {\n};\n} // namespace colldsl\n"
        other = place.replace("colldsl", "colldsl::shm")
        self.assertFalse(self.found(place, other))
        self.assertFalse(self.found(place, "namespace colldsl {\nstruct Place;\n}\n"))


class Namespaces(unittest.TestCase):
    def found(self, **contents):
        """Of files of one struct each, from the folder, `__` in it for `/`, to the namespace."""
        block = "namespace {0} {{\nstruct Place {{\n}};\n}} // namespace {0}\n"
        files = {folder.replace("__", "/") + "/Place.h": block.format(name) for folder, name in contents.items()}
        return found_in(namespaces.check, files)

    def test_one_namespace_per_folder(self):
        self.assertFalse(self.found(wireup="colldsl", protocol="colldsl::protocol", tests__ir="colldsl::test"))
        self.assertEqual(
            self.found(wireup="colldsl::network"),
            ["wireup/Place.h:1: defines names in colldsl::network, where wireup has colldsl"],
        )
        self.assertTrue(self.found(verifier="colldsl"))
        self.assertFalse(self.found(transports="colldsl", transports__verbs="colldsl::verbs"))
        self.assertTrue(self.found(transports__verbs="colldsl"))
        self.assertTrue(self.found(elsewhere="colldsl"))

    def test_namespaces_within(self):
        self.assertFalse(self.found(program="colldsl::ast"))
        self.assertEqual(
            self.found(program="colldsl::ast", compiler="colldsl::ast"),
            ["program/Place.h:1: defines names in colldsl::ast, which is compiler's"],
        )

    def test_declarations(self):
        nested = "namespace colldsl {\nnamespace sim {\nclass Place;\n}\nclass Other {\n};\n} // namespace colldsl\n"
        self.assertFalse(found_in(namespaces.check, {"passes/Place.h": nested}))
        nested = nested.replace("class Place;\n", "class Place {\n};\n").replace("}\nclass", "} // namespace sim\nclass")
        self.assertEqual(
            found_in(namespaces.check, {"passes/Place.h": nested}),
            ["passes/Place.h:2: defines names in colldsl::sim, where passes has colldsl"],
        )


class Diagnostics(unittest.TestCase):
    def found(self, call):
        rows = 'COLLDSL_EXPLANATION("twice", "^label \'... is twice$|no label", "compiler", R"(\nText.)", R"(\n)")\n'
        return found_in(
            diagnostics.check, {"driver/explain/Explanations.def": rows, "compiler/Sema.cpp": call}
        )

    def test_names_of_messages(self):
        self.assertFalse(self.found('error(loc, "label \'" + name + "\' is twice", hint());'))
        self.assertFalse(self.found('return Status::error(formatv("there is no label {0}", name));'))
        self.assertEqual(
            self.found('\nerror(loc, "a label \'" + name + "\' is twice");'),
            ["compiler/Sema.cpp:2: no explanation has a fragment of 'a label \'...\' is twice'"],
        )

    def test_foreign_messages(self):
        rows = 'COLLDSL_EXPLANATION("twice", "is twice$", "ir/Text verifier", R"(\nText.)", R"(\n)")\n'

        def found(path, code):
            return found_in(diagnostics.check, {"driver/explain/Explanations.def": rows, path: code})

        code = 'Status s() {\n  return fail("it " + name, "is" // two parts\n   " twice");\n}\n'
        self.assertEqual(
            found("tools/Sim.cpp", code), ["tools/Sim.cpp:2: 'twice' fits 'it ...is twice'"]
        )
        self.assertFalse(found("ir/TextParser.cpp", code))
        self.assertFalse(found("tools/Sim.cpp", code.replace("twice", "twice there")))
        self.assertFalse(found("tools/Sim.cpp", code.replace("return fail(", "options.addFlag(")))
        self.assertTrue(found("verify/Sim.cpp", code))

    def test_needs_rows(self):
        files = {"driver/explain/Explanations.def": "", "compiler/Sema.cpp": ""}
        self.assertTrue(found_in(diagnostics.check, files))


class FileNames(unittest.TestCase):
    def test_one_header_per_name(self):
        files = {"ir/Cost.h": "", "passes/Cost.h": "", "tests/ir/Cost.h": ""}
        self.assertEqual(found_in(file_names.check, files), ["passes/Cost.h: ir/Cost.h has this name too"])

    def test_members_are_where_their_class_is(self):
        files = {"ir/Dag.h": "class Dag {\n};\n", "ir/DagText.cpp": "void Dag::print() {\n}\n"}
        self.assertFalse(found_in(file_names.check, files))
        files["ir/Text.cpp"] = files["ir/DagText.cpp"]
        self.assertEqual(
            found_in(file_names.check, files),
            ["ir/Text.cpp: implements Dag, whose name its own does not begin with"],
        )
        files["ir/Text.h"] = ""
        self.assertFalse(found_in(file_names.check, files))


class Editors(unittest.TestCase):
    def found(self, before="", after=""):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        files = {}
        for name in ("package.json", "language-configuration.json", "syntaxes/coll.tmLanguage.json"):
            with open(os.path.join(root, "editors/vscode", name), encoding="utf-8") as file:
                files["editors/vscode/" + name] = file.read().replace(before, after)
        return found_in(editors.check, files)

    def test_scopes(self):
        self.assertFalse(self.found("no such text", ""))
        self.assertTrue(self.found("ensures|", ""))
        self.assertTrue(self.found("none|", ""))

    def test_paths_and_json(self):
        with self.assertRaises(FileNotFoundError):
            self.found("./syntaxes/coll", "./syntaxes/call")
        with self.assertRaises(ValueError):
            self.found("{", "")


class Includes(unittest.TestCase):
    def found(self, path, content):
        return found_in(includes.check, {path: content})

    def test_downstream_only(self):
        self.assertEqual(
            self.found("ir/Dag.cpp", '#include "ir/Dag.h"\n#include "program/Program.h"\n'),
            ['ir/Dag.cpp:2: ir must not include program: #include "program/Program.h"'],
        )
        self.assertTrue(self.found("verifier/Verifier.cpp", '#include "topology/Topology.h"\n'))
        self.assertTrue(self.found("passes/Fuse.cpp", '#include "verifier/Verifier.h"\n'))
        self.assertTrue(self.found("passes/Fuse.cpp", '#include "tools/Commands.h"\n'))
        self.assertFalse(self.found("passes/Fuse.cpp", '#include "program/Program.h"\n'))
        self.assertTrue(self.found("transports/shm/Shm.h", '#include "executor/Plan.h"\n'))
        self.assertFalse(self.found("program/Program.h", '#include "topology/Topology.h"\n'))
        self.assertFalse(self.found("tools/Main.cpp", '#include "executor/Plan.h"\n'))

    def test_what_holds_over_any_wire_includes_none(self):
        fifo = '#include "transports/shm/Fifo.h"\n'
        self.assertEqual(
            self.found("protocol/SendSide.h", fifo),
            ["protocol/SendSide.h:1: it holds over any wire: " + fifo.strip()],
        )
        self.assertFalse(self.found("protocol/SendSide.h", '#include "transports/Tag.h"\n'))
        self.assertFalse(self.found("protocol/local/LocalWorker.h", fifo))

    def test_folders_of_the_protocol_know_what_they_are_made_of(self):
        worker = '#include "protocol/local/LocalWorker.h"\n'
        self.assertEqual(
            self.found("protocol/remote/RemoteWorker.h", worker),
            ["protocol/remote/RemoteWorker.h:1: protocol/remote must not include protocol/local: " + worker.strip()],
        )
        self.assertTrue(self.found("protocol/SendSide.h", worker))
        self.assertFalse(self.found("protocol/local/Attach.h", worker))
        self.assertFalse(self.found("protocol/local/Attach.h", '#include "protocol/open/PlanTerms.h"\n'))

    def test_folders_of_the_driver_form_no_circle(self):
        self.assertTrue(self.found("driver/source/Source.h", '#include "driver/schedule/SingleSchedule.h"\n'))
        self.assertFalse(self.found("driver/choice/Functions.h", '#include "driver/schedule/SingleSchedule.h"\n'))
        rest = dict(includes.PARTS["driver"])
        while rest:
            lowest = [part for part, below in rest.items() if not set(below) & set(rest)]
            self.assertTrue(lowest, f"a circle among {sorted(rest)}")
            rest = {part: below for part, below in rest.items() if part not in lowest}

    def test_spacing_does_not_hide_an_include(self):
        self.assertTrue(self.found("ir/Dag.cpp", '  #  include   "program/Program.h"\n'))

    def test_executor_knows_images_only(self):
        self.assertTrue(self.found("executor/Plan.cpp", '#include "ir/Dag.h"\n'))
        self.assertTrue(self.found("transports/cma/Cma.cpp", '#include "ir/TextForm.h"\n'))
        self.assertFalse(self.found("executor/Plan.cpp", '#include "ir/Image.h"\n'))

    def test_antlr_only_in_compiler_and_tools(self):
        for header in ("<antlr4-runtime.h>", '"antlr4-runtime/Token.h"', '"CollParser.h"'):
            self.assertTrue(self.found("program/Program.cpp", f"#include {header}\n"))
            self.assertFalse(self.found("compiler/Parser.cpp", f"#include {header}\n"))

    def test_llvm_not_where_schedules_run(self):
        for folder in ("ir", "topology", "program", "instantiate", "verifier", "executor", "select",
                       "passes", "runtime", "mpi"):
            for header in ("<llvm/ADT/SmallVector.h>", '"llvm/Support/Error.h"'):
                self.assertTrue(self.found(f"{folder}/A.cpp", f"#include {header}\n"))
        for folder in ("compiler", "tools"):
            self.assertFalse(self.found(f"{folder}/A.cpp", '#include "llvm/Support/Error.h"\n'))

    def test_hwloc_only_in_topology(self):
        self.assertTrue(self.found("executor/A.cpp", "#include <hwloc.h>\n"))
        self.assertFalse(self.found("topology/A.cpp", "#include <hwloc.h>\n"))

    def test_program_is_data(self):
        self.assertTrue(self.found("program/A.cpp", '#include "instantiate/Instantiate.h"\n'))
        self.assertTrue(self.found("compiler/A.cpp", '#include "instantiate/Instantiate.h"\n'))
        self.assertTrue(self.found("instantiate/dependence/A.cpp", '#include "program/Program.h"\n'))
        self.assertTrue(self.found("instantiate/graphs/A.cpp", '#include "program/Program.h"\n'))
        self.assertTrue(self.found("instantiate/graphs/A.cpp", '#include "instantiate/ArgumentValue.h"\n'))
        self.assertFalse(self.found("instantiate/A.cpp", '#include "instantiate/graphs/GraphFile.h"\n'))

    def test_metis_only_in_graphs(self):
        self.assertTrue(self.found("instantiate/A.cpp", "#include <metis.h>\n"))
        self.assertFalse(self.found("instantiate/graphs/A.cpp", "#include <metis.h>\n"))

    def test_simulator_below_the_runtime(self):
        self.assertTrue(self.found("simulator/A.cpp", '#include "executor/Plan.h"\n'))
        self.assertTrue(self.found("simulator/A.cpp", '#include "instantiate/Instantiate.h"\n'))
        self.assertFalse(self.found("passes/A.cpp", '#include "simulator/Simulate.h"\n'))

    def test_what_chooses_runs_nothing(self):
        self.assertTrue(self.found("select/A.cpp", '#include "runtime/job/Communicator.h"\n'))
        self.assertTrue(self.found("program/library/A.cpp", '#include "select/Decision.h"\n'))
        self.assertFalse(self.found("runtime/A.cpp", '#include "select/Rule.h"\n'))

    def test_parts_of_the_runtime_are_in_order(self):
        job = '#include "runtime/job/Communicator.h"\n'
        self.assertFalse(self.found("runtime/graph/A.cpp", job))
        self.assertEqual(
            self.found("runtime/job/A.cpp", '#include "runtime/graph/GraphOrder.h"\n'),
            ['runtime/job/A.cpp:1: runtime/job must not include runtime/graph: #include "runtime/graph/GraphOrder.h"'],
        )
        self.assertTrue(self.found("runtime/graph/A.cpp", '#include "select/Rule.h"\n'))

    def test_nlohmann_json_only_in_topology(self):
        self.assertTrue(self.found("simulator/A.cpp", "#include <nlohmann/json.hpp>\n"))
        self.assertFalse(self.found("topology/A.cpp", "#include <nlohmann/json.hpp>\n"))

    def test_pmix_only_in_wireup(self):
        self.assertTrue(self.found("runtime/A.cpp", "#include <pmix.h>\n"))
        self.assertFalse(self.found("wireup/A.cpp", "#include <pmix.h>\n"))

    def test_libxml2_only_in_formats(self):
        self.assertTrue(self.found("ir/A.cpp", "#include <libxml/parser.h>\n"))
        self.assertFalse(self.found("formats/A.cpp", "#include <libxml/parser.h>\n"))

    def test_includes_start_at_the_top(self):
        self.assertTrue(self.found("ir/Dag.cpp", '#include "Dag.h"\n'))


class Text(unittest.TestCase):
    def complaints(self, path, content):
        return [complaint for _, complaint in text.problems(path, content)]

    def test_length(self):
        self.assertFalse(self.complaints("ir/Dag.h", "x\n" * 800))
        self.assertTrue(self.complaints("ir/Dag.h", "x\n" * 801))

    def test_machine_paths(self):
        for top in ("work", "root", "home", "Users"):
            self.assertTrue(self.complaints("README.md", f"see /{top}/me/colldsl"))
        self.assertFalse(self.complaints("README.md", "framework/ and /usr/bin and at/home/x"))

    def test_neighbor_in_code(self):
        self.assertTrue(self.complaints("ir/Dag.h", "int neighbour;"))
        self.assertTrue(self.complaints("stdlib/torus.coll", "graph bestNeighbours() {}"))
        self.assertFalse(self.complaints("ir/Dag.h", "int neighbor; // the neighbour"))
        self.assertFalse(self.complaints("ir/Dag.cpp", '/* neighbour\n */ f("neighbour");'))

    def test_neighbour_in_prose(self):
        self.assertTrue(self.complaints("README.md", "every Neighbor sends"))
        self.assertFalse(self.complaints("README.md", "`MPI_Neighbor_alltoall`, a neighbour"))
        self.assertFalse(self.complaints("README.md", "```\nneighbor\n```\n"))

    def test_comments_name_their_subjects(self):
        self.assertTrue(self.complaints("ir/Dag.h", "/// What it is.\nint a;"))
        self.assertTrue(self.complaints("ir/Dag.h", "  int a; ///< of the thread\nint b; // Whether it runs"))
        self.assertFalse(self.complaints("ir/Dag.h", "/// The operations.\n/// Of these the first counts.\nint a;"))
        self.assertFalse(self.complaints("tests/ir/DagTest.cpp", "// What fails.\n"))
        self.assertFalse(self.complaints("ir/Dag.cpp", 'f("http://Where");'))

    def test_line_numbers_survive_comments(self):
        self.assertEqual(text.problems("a.h", "/*\n\n*/\nint neighbour;")[0][0], 4)


class Quotes(unittest.TestCase):
    PAGE = "As\n\n`examples/a.coll`:\n\n```\none\ntwo\n```\n\nsays.\n"

    def found(self, files):
        return found_in(quotes.check, {"README.md": self.PAGE, **files})

    def test_exact(self):
        self.assertFalse(self.found({"examples/a.coll": "one\ntwo\n"}))

    def test_different(self):
        self.assertTrue(self.found({"examples/a.coll": "one\nthree\n"}))

    def test_missing(self):
        self.assertTrue(self.found({}))


class Links(unittest.TestCase):
    def found(self, link, other="# A `b` (C)\n\n## Twice\n\n## Twice\n"):
        return found_in(links.check, {"README.md": f"# Top\n\nSee [it]({link}).\n", "docs/a.md": other})

    def test_files_and_headings(self):
        for link in ("docs/a.md", "docs/a.md#a-b-c", "docs/a.md#twice-1", "#top", "https://example.org/x"):
            self.assertFalse(self.found(link))

    def test_nowhere(self):
        for link in ("docs/b.md", "a.md", "docs/a.md#b", "docs/a.md#twice-2", "#bottom"):
            self.assertEqual(len(self.found(link)), 1)

    def test_code_has_no_links_and_no_headings(self):
        self.assertFalse(self.found("docs/a.md", "`[x](none.md)`\n\n```\n[x](none.md)\n```\n"))
        self.assertTrue(self.found("docs/a.md#comment", "```\n# Comment\n```\n"))


class Packaging(unittest.TestCase):
    def test_workflow(self):
        step = {"run": "./test.sh"}
        with tempfile.TemporaryDirectory() as root:
            found = lambda job, **keys: [*packaging.check_workflow(root, "ci.yml", {
                "name": "ci", True: {"push": {}}, "jobs": {"build": {"runs-on": "x", **job}}, **keys})]
            self.assertEqual(found({"steps": [step]}), ["ci.yml: runs ./test.sh, which does not exist"])
            self.assertFalse(found({"steps": [{"run": "apt-get update"}, {"uses": "actions/checkout@v4"}]}))
            self.assertTrue(found({"steps": [{"name": "nothing"}]}))
            self.assertTrue(found({"needs": "site"}))
            self.assertTrue(found({}, name=""))

    def test_form(self):
        form = {"name": "Error", "description": "x", "body": [{"type": "input", "id": "a", "attributes": {"label": "A"}}]}
        self.assertFalse([*packaging.check_form("f", form)])
        self.assertTrue([*packaging.check_form("f", {**form, "name": ""})])
        self.assertTrue([*packaging.check_form("f", {**form, "body": form["body"] * 2})])
        self.assertTrue([*packaging.check_form("f", {**form, "body": [{"type": "button"}]})])

    def test_citation(self):
        citation = {"cff-version": "1.2.0", "message": "m", "title": "t", "authors": [{"name": "a"}]}
        self.assertFalse([*packaging.check_citation("c", citation)])
        for wrong in ({"title": None, "colour": 1}, {"cff-version": "1.1.0"}, {"date-released": 2026}):
            self.assertTrue([*packaging.check_citation("c", {**citation, **wrong})])
        self.assertTrue([*packaging.check_citation("c", {"title": "t"})])

    def test_recipes(self):
        self.assertTrue([*packaging.check_recipe("package.py", "class A(:\n")])
        with tempfile.TemporaryDirectory() as root:
            self.assertTrue([*packaging.check_definition(root, "d", "%post\n    scripts/none\n")])
            self.assertTrue([*packaging.check_definition(root, "d", "%script\n")])

    def test_lists(self):
        files = {"scripts/packages.txt": "# x\ng++\n", "packaging/debian/packages.txt": "# y\ng++\nlintian\n"}
        self.assertFalse(found_in(lambda root: [*packaging.check_lists(root)], files))
        files["packaging/debian/packages.txt"] += "libx-dev\n"
        self.assertEqual(found_in(lambda root: [*packaging.check_lists(root)], files),
                         ["packaging/debian/packages.txt: libx-dev is not in scripts/packages.txt"])

    def test_versions(self):
        files = {"CMakeLists.txt": "project(colldsl VERSION 1.2.3 LANGUAGES C)", "CHANGELOG.md": "## 1.2.3 - 2026-01-01\n",
                 "CITATION.cff": "version: 1.2.3\n", "packaging/spack/package.py": 'version("1.2.3")',
                 "packaging/apptainer/colldsl.def": "    Version 1.2.3\n",
                 "include/colldsl/colldsl.h": "\n".join(f"#define COLLDSL_VERSION_{part} {value}" for part, value in
                                                        (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3)))}
        found = lambda files: found_in(lambda root: [*packaging.check_versions(root)], files)
        self.assertFalse(found(files))
        for path, content in files.items():
            self.assertTrue(found({**files, path: content.replace("3", "4")}))


class Uses(unittest.TestCase):
    def test_shell(self):
        text = ("#!/bin/bash\nf() { own one; }\nif tool-a | sort >x; then f; fi\nX=1 env -i Y=2 tool-b \\\n"
                "  argument && tool-c\nlist=(a b)\ncat <<TXT\nno-tool here\nTXT\necho \"$(tool-d 'no tool')\" # no\n"
                "case $x in\n  word | other) tool-e ;;\nesac\n")
        self.assertEqual([name for _, name in uses.shell(text) if name.startswith(("tool", "no", "a", "word", "own"))],
                         ["own", "tool-a", "tool-b", "tool-c", "tool-d", "tool-e"])

    def test_python(self):
        modules, programs = uses.python("import a.b, c\nfrom d import e\nfrom . import f\nx = importorskip('g')\n"
                                        "run(['h', '-x'])\nshutil.which('i')\nrun([j])\n")
        self.assertEqual(modules, [(1, "a.b"), (1, "c"), (2, "d"), (4, "g")])
        self.assertEqual(programs, [(5, "h"), (6, "i")])

    def test_files(self):
        found = found_in(uses.uses, {
            "tests/x.test": "RUN: tool-a %s | not tool-b \\\nRUN:   argument | tool-c\n",
            "CMakeLists.txt": "add_test(NAME x COMMAND tool-d 1)\nfind_program(Y NAMES tool-e)\n",
            "docs/page.md": "```console\n$ tool-f\noutput\n```\n```python\nimport g\n```\n",
            "a.ipynb": '{"cells": [{"cell_type": "code", "source": ["import h"]}]}'})
        self.assertEqual({name for _, _, name in found[0]}, {"g", "h"})
        self.assertEqual({name for _, _, name in found[1]}, {f"tool-{letter}" for letter in "abcdef"})


class Packages(unittest.TestCase):
    def test_closure(self):
        installed = {"base": ([], [], True), "a": ([["missing", "b"], ["virtual"]], [], False), "b": ([], [], False),
                     "c": ([], ["virtual"], False), "d": ([], [], False)}
        self.assertEqual(packages.closure({"a"}, installed), {"base", "a", "b", "c"})

    def check(self, listed, name):
        checker = packages.Check.__new__(packages.Check)
        checker.installed = packages.installed_packages()
        checker.optional = set()
        checker.brought = {None: packages.closure(listed, checker.installed)}
        path = packages.shutil.which(name)
        return [*checker.complaints("program", {("x", 1, name)}, {name: path} if path else {})]

    @unittest.skipUnless(packages.shutil.which("dpkg-query"), "there is no dpkg")
    def test_what_is_of_no_listed_package(self):
        self.assertEqual(self.check({"python3"}, "ls"), [])
        self.assertEqual(self.check({"cmake"}, "cmake"), [])
        self.assertIn("is of the package cmake", self.check({"python3"}, "cmake")[0])
        self.assertIn("is not on this machine", self.check({"python3"}, "no-such-program")[0])


if __name__ == "__main__":
    unittest.main()
