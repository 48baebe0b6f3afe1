#!/usr/bin/env python3
"""Checks the files for GitHub, citations and packages: they parse, have what their formats require, name
scripts that exist, and agree on the version.

usage: packaging.py ROOT; exits with 77 where Python has no YAML
"""
import ast
import os
import re
import runpy
import sys

import tree

SKIPPED = 77
CFF_REQUIRED = {"authors", "cff-version", "message", "title"}
CFF_KEYS = CFF_REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
    "version"}
FORM_TYPES = {"markdown", "textarea", "input", "dropdown", "checkboxes", "upload"}
DEF_SECTIONS = {"arguments", "environment", "files", "help", "labels", "post", "runscript", "setup", "startscript",
                "test"}
SCRIPT = re.compile(r"(?<![\w./-])(?:\./[\w./-]+|(?:scripts|tests|bench)/[\w./-]+)")
VERSIONS = {
    "CMakeLists.txt": r"project\(colldsl VERSION (\S+)",
    "CHANGELOG.md": r"(?m)^## (\S+) - \d{4}-\d\d-\d\d$",
    "CITATION.cff": r"(?m)^version: (\S+)$",
    "packaging/spack/package.py": r"version\(\"([^\"]+)\"",
    "packaging/apptainer/colldsl.def": r"(?m)^    Version (\S+)$",
}
HEADER = os.path.join("include", "colldsl", "colldsl.h")
# Lists of Debian packages: what the tree is built with, and what its packages are built with.
TREE_PACKAGES = os.path.join("scripts", "packages.txt")
DEBIAN_PACKAGES = os.path.join("packaging", "debian", "packages.txt")
PACKAGE_TOOLS = {"dpkg-dev", "file", "lintian", "xz-utils"}


def versions(root):
    """What each file states as the version; None where it states none."""
    found = {}
    for path, pattern in VERSIONS.items():
        match = re.search(pattern, tree.read(root, path))
        found[path] = match[1] if match else None
    header = tree.read(root, HEADER)
    parts = [re.search(rf"#define COLLDSL_VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    found[HEADER] = ".".join(part[1] for part in parts) if all(parts) else None
    return found


def check_versions(root):
    found = versions(root)
    wanted = found["CMakeLists.txt"]
    for path, version in found.items():
        if version != wanted:
            yield f"{path}: has version {version}, but CMakeLists.txt has {wanted}"


def check_lists(root):
    """Debian packages are built with what the tree is built with, and tools for packages."""
    for package in sorted(tree.listed(root, DEBIAN_PACKAGES) - tree.listed(root, TREE_PACKAGES) - PACKAGE_TOOLS):
        yield f"{DEBIAN_PACKAGES}: {package} is not in {TREE_PACKAGES}"


def check_changelog(root):
    """Debian's changelog, as it is made of CHANGELOG.md, has all versions, and lines that lintian takes."""
    path = os.path.join("packaging", "debian", "make-changelog")
    text = tree.read(root, "CHANGELOG.md")
    made = runpy.run_path(os.path.join(root, path))["convert"](text, "1", "N <a@b.org>")
    wanted = re.findall(VERSIONS["CHANGELOG.md"], text)
    found = re.findall(r"(?m)^colldsl \((\S+)-1\) ", made)
    if found != wanted:
        yield f"CHANGELOG.md: has versions {wanted}, but {path} makes {found}"
    for line in made.splitlines():
        if len(line) > 80:
            yield f"CHANGELOG.md: {path} makes a line of {len(line)} characters: {line}"


def check_interface(root):
    """The version has a description of its binary interface."""
    version = versions(root)[HEADER]
    path = os.path.join("packaging", "abi", f"libcolldsl-{'.'.join((version or '').split('.')[:2])}.abi")
    if not os.path.exists(os.path.join(root, path)):
        yield f"{path}: does not exist, but {HEADER} has version {version}"


def check_scripts(root, path, text):
    for script in SCRIPT.findall(text):
        if not os.path.exists(os.path.join(root, script)):
            yield f"{path}: runs {script}, which does not exist"


def check_workflow(root, path, workflow):
    # YAML 1.1 reads the key `on` as true.
    for key, value in (("name", workflow.get("name")), ("on", workflow.get(True)), ("jobs", workflow.get("jobs"))):
        if not value:
            yield f"{path}: has no {key}"
    jobs = workflow.get("jobs") or {}
    for name, job in jobs.items():
        needs = job.get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            if needed not in jobs:
                yield f"{path}: job {name} needs {needed}, which does not exist"
        if not job.get("runs-on"):
            yield f"{path}: job {name} runs on nothing"
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step):
                yield f"{path}: a step of {name} has not exactly one of run and uses"
            yield from check_scripts(root, path, step.get("run", ""))


def check_form(path, form):
    for key in ("name", "description", "body"):
        if not form.get(key):
            yield f"{path}: has no {key}"
    ids = [field["id"] for field in form.get("body") or [] if "id" in field]
    if len(ids) != len(set(ids)):
        yield f"{path}: two fields have one id"
    for field in form.get("body") or []:
        if field.get("type") not in FORM_TYPES:
            yield f"{path}: {field.get('type')} is no type of a field"
        elif field["type"] != "markdown" and not field.get("attributes", {}).get("label"):
            yield f"{path}: a field has no label"


def check_citation(path, citation):
    for key in sorted(CFF_REQUIRED - set(citation)):
        yield f"{path}: has no {key}"
    for key in sorted(set(citation) - CFF_KEYS):
        yield f"{path}: {key} is no key of the format"
    if citation.get("cff-version") != "1.2.0":
        yield f"{path}: is not of version 1.2.0 of the format"
    if not isinstance(citation.get("date-released", ""), str):
        yield f"{path}: date-released is not quoted"


def check_definition(root, path, text):
    for section in re.findall(r"(?m)^%(\w+)", text):
        if section not in DEF_SECTIONS:
            yield f"{path}: %{section} is no section"
    yield from check_scripts(root, path, text.split("%post", 1)[-1].split("\n%", 1)[0])


def check_recipe(path, text):
    try:
        ast.parse(text)
    except SyntaxError as error:
        yield f"{path}:{error.lineno}: {error.msg}"


def check(root, yaml):
    """All that is wrong, one line each."""
    found = []
    paths = [os.path.join(".github", path) for path in tree.files(os.path.join(root, ".github"), ".yml")]
    for path in [*paths, "CITATION.cff", "mkdocs.yml"]:
        try:
            content = yaml.safe_load(tree.read(root, path))
        except yaml.YAMLError as error:
            found.append(f"{path}: {error}")
            continue
        if "workflows" in path:
            found += check_workflow(root, path, content)
        elif "ISSUE_TEMPLATE" in path and not path.endswith("config.yml"):
            found += check_form(path, content)
        elif path.endswith(".cff"):
            found += check_citation(path, content)
    for path, checker in (("packaging/spack/package.py", check_recipe),
                          ("packaging/apptainer/colldsl.def", lambda *parts: check_definition(root, *parts))):
        found += checker(path, tree.read(root, path))
    return found + [*check_versions(root), *check_lists(root), *check_changelog(root),
                    *check_interface(root)]


if __name__ == "__main__":
    try:
        import yaml as parser
    except ImportError:
        print("skipped: Python has no YAML")
        sys.exit(SKIPPED)
    violations = check(sys.argv[1], parser)
    print("\n".join(violations) if violations else "all files for GitHub, citations and packages are in order")
    sys.exit(1 if violations else 0)
