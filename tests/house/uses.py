"""Programs and Python modules that files of the tree run and import, by reading them.

A use is (path, line, name). Programs are names in command position of shell scripts, of the RUN lines of lit, of
`COMMAND` and find_program() in CMake, of shell blocks in pages, and the first words of commands that Python starts.
Modules are imports of Python files, of Python blocks in pages and of notebooks.
"""
import ast
import json
import os
import re

import tree

SHELLS = ("sh", "bash", "zsh")
PYTHON_CALLS = {"run", "Popen", "check_output", "check_call", "call", "execvp", "which"}
ASSIGNMENT = re.compile(r"^\w+\+?=")
# Words after which a command begins.
OPENERS = {"if", "then", "elif", "else", "while", "until", "do", "{", "!", "exec", "command", "sudo", "nice", "time", "not", "env",
           "nohup", "(", "builtin", "eval"}
NAME = re.compile(r"^[A-Za-z_][\w.+-]*$")
EXPANSION = "X"  # what stands for an expansion, or for the line before
GENERATORS = {"Unix Makefiles": "make", "Ninja": "ninja"}  # of CMake, and the programs that they need
HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


def first_line(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.readline(200).decode("utf-8", "replace")


def interpreter(line):
    """bash of `#!/usr/bin/env bash`."""
    found = re.match(r"#!\s*\S*/(?:env\s+(?:-S\s+)?)?(\w+)", line)
    return found[1] if found else None


def without_quotes(line):
    """The line without what is quoted, whose words are no commands, and without its comment. Quoted `$(...)` stays."""
    line = re.sub(r"'[^']*'", "''", line)
    line = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"" ' + " ; ".join(["", *re.findall(r"\$\(([^()]*)\)", m[0])]), line)
    return re.sub(r"(^|\s)#.*", "", line)


def commands(line):
    """The first words of the commands of a line of shell."""
    line = re.sub(r"\$\{[^}]*\}|\$\(\(.*?\)\)", EXPANSION, line)
    line = re.sub(r"\[\[.*?\]\]", "true", line)
    for piece in re.split(r"\|\||&&|;;|[|;&]|\$\(|<\(|>\(|`|(?:^|\s)\(", line):
        words = piece.replace(")", " ) ").split()
        while words and (words[0] in OPENERS or ASSIGNMENT.match(words[0]) or words[0].startswith("-")):
            opener = words.pop(0)
            if opener == "env":
                while words and words[0].startswith("-"):
                    words = words[2 if words[0] == "-u" else 1:]
        if words and NAME.match(words[0]) and words[0] != EXPANSION:
            yield words[0]


def shell(text, first=1):
    """(line, name) of all commands of a script; here-documents, quoted lines and cases are passed over."""
    functions = set(re.findall(r"(?m)^\s*(?:function\s+)?([\w.-]+)\s*\(\)", text))
    end, quote, continued = None, None, False
    for number, line in enumerate(text.splitlines(), first):
        if end:
            end = None if line.strip() == end else end
            continue
        if quote:
            if line.count(quote) % 2:
                quote = None
            continue
        bare = without_quotes(line)
        rest, was_continued = bare, continued
        continued = bare.rstrip().endswith("\\")
        here = HERE_DOCUMENT.search(line)
        if here and "<<<" not in line:
            end = here[2]
        for mark in "'\"":
            if bare.replace("''", "").replace('""', "").count(mark) % 2:
                quote, rest = mark, bare[:bare.rindex(mark)]
        rest = re.sub(r"^\s*[^()$`\s]*(?:\s*\|\s*[^()$`\s]+)*\)(\s|$)", " ", rest)  # a pattern of `case`
        rest = re.sub(r"^\s*(?:for|case|select|function|local|declare|export|readonly)\s.*?(;|\$\(|$)", r"\1", rest)
        rest = re.sub(r"^\s*(?:function\s+)?[\w.-]+\s*\(\)", "", rest)
        rest = re.sub(r"\b\w+\+?=\([^)$]*\)?", "", rest)  # an array
        if was_continued and not re.match(r"\s*(\||&&)", rest):
            rest = EXPANSION + " " + rest
        for name in commands(rest):
            if name not in functions:
                yield number, name


class PythonUses(ast.NodeVisitor):
    def __init__(self):
        self.modules, self.programs = [], []

    def visit_Import(self, node):
        self.modules += [(node.lineno, alias.name) for alias in node.names]

    def visit_ImportFrom(self, node):
        if node.level == 0:
            self.modules.append((node.lineno, node.module))

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0] if node.args else None
        if name in ("importorskip", "import_module") and isinstance(first, ast.Constant):
            self.modules.append((node.lineno, first.value))
        if name in PYTHON_CALLS:
            words = first.elts if isinstance(first, ast.List) else [first]
            values = [word.value if isinstance(word, ast.Constant) else None for word in words]
            if values and isinstance(values[0], str) and NAME.match(values[0]):
                self.programs.append((node.lineno, values[0]))
        self.generic_visit(node)


def python(text, first=1):
    """PythonUses of a program, or of a block that may be no whole program."""
    uses = PythonUses()
    try:
        uses.visit(ast.parse(text))
    except SyntaxError:
        pass
    shift = lambda pairs: [(line + first - 1, name) for line, name in pairs]
    return shift(uses.modules), shift(uses.programs)


def blocks(text):
    """(language, first line, text) of the fenced blocks of a page."""
    for found in re.finditer(r"(?ms)^```(\w*)[^\n]*\n(.*?)^```", text):
        yield found[1], text.count("\n", 0, found.start()) + 2, found[2]


def shell_of_page(text):
    """What a reader types: all lines, or those behind a prompt where there is one."""
    if re.search(r"(?m)^\$ ", text):
        return "\n".join(line[2:] if line.startswith("$ ") else "" for line in text.splitlines())
    return text


def lit(text):
    """(line, name) of the commands of RUN lines."""
    continued = False
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"RUN:(.*)", line)
        if found:
            for name in commands((EXPANSION + " " if continued else "") + without_quotes(found[1])):
                yield number, name
            continued = found[1].rstrip().endswith("\\")


def generators(text):
    for number, line in enumerate(text.splitlines(), 1):
        for name, program in GENERATORS.items():
            if re.search(rf"\b{name}\b", line):
                yield number, program


def cmake(text):
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.findall(r"\bCOMMAND\s+([\w.+-]+)(?=[\s)]|$)", line):
            yield number, found
        found = re.search(r"find_program\(\S+\s+(?:NAMES\s+)?([a-z][\w.+-]*)(?![\w.+$-])", line)
        if found:
            yield number, found[1]


def uses(root):
    """({use of a module}, {use of a program}) of all files of the tree."""
    modules, programs = set(), set()

    def add(target, path, pairs):
        target.update((path, line, name) for line, name in pairs)

    for path in tree.files(root, ""):
        name = os.path.basename(path)
        kind = interpreter(first_line(root, path)) if "." not in name or path.endswith((".py", ".sh")) else None
        if path.endswith(".py") or kind == "python3":
            found = python(tree.read(root, path))
            add(modules, path, found[0])
            add(programs, path, found[1])
        elif kind in SHELLS:
            add(programs, path, shell(tree.read(root, path)))
        elif path.endswith((".test", ".coll")) and path.startswith("tests"):
            add(programs, path, lit(tree.read(root, path)))
            add(programs, path, generators(tree.read(root, path)))
        elif name == "CMakeLists.txt" or path.endswith(".cmake"):
            add(programs, path, cmake(tree.read(root, path)))
        elif path.endswith(".ipynb"):
            for cell in json.loads(tree.read(root, path))["cells"]:
                if cell["cell_type"] == "code":
                    add(modules, path, python("".join(cell["source"]))[0])
        elif path.endswith(".md"):
            for language, line, text in blocks(tree.read(root, path)):
                if language in ("python", "py"):
                    add(modules, path, python(text, line)[0])
                elif language in ("sh", "bash", "shell", "console"):
                    add(programs, path, shell(shell_of_page(text), line))
    return modules, programs
