#!/usr/bin/env python3
"""Whether each message of the parser and the checker has a name: a row of
driver/explain/Explanations.def whose fragments it has. And whether no row fits a message which is made
elsewhere than the row says: all string literals of the program are compared with all rows, as
`colldsl` looks at the text of a message alone.

usage: diagnostics.py SOURCE_DIR"""
import os
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:Diagnostic::error|Status::error|error|errorAt|report|fail)\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ROW = re.compile(
    r'^COLLDSL_EXPLANATION\("([^"]+)", "((?:[^"\\]|\\.)*)", "([^"]*)", R"\(', re.MULTILINE
)
# What is no text of a message: comments, raw strings, characters, names of headers.
OTHER = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|\'(?:[^\'\\\n]|\\.)\'|#include[^\n]*|"(?:[^"\\\n]|\\.)*"',
    re.DOTALL,
)
STRING_OR_END = re.compile(r'"((?:[^"\\\n]|\\.)*)"|[;{}]')
HELP = re.compile(r"\b(?:options|fields)\.add\w*\(|\bOptions options\(")
# Folders whose messages `colldsl` does not print, or that are not part of it.
NOT_PRINTED = {"bench", "build", "examples", "mpi", "packaging", "python", "tests"}
# In front of the messages of a folder.
IN_FRONT = {"instantiate/graphs": "graph file \0: "}
# What yields "an int", "a slice of blocks".
DESCRIBED = re.compile(r"\bstd::string\(describe\([\w.]+\)\)|\bdescribe\([\w.]+\)")
# In place of what is put in when the program runs.
VALUE = "\0"


def unescaped(text):
    return text.encode().decode("unicode_escape")


def rows(source):
    text = (source / "driver/explain/Explanations.def").read_text()
    return [(m[1], unescaped(m[2]).split("|"), tuple(m[3].split())) for m in ROW.finditer(text)]


def fits(fragment, message):
    """As fits() in driver/explain/Explanations.cpp. A value may be any text."""
    begins = "^" if fragment.startswith("^") else ""
    ends = r"\Z" if fragment.endswith("$") else ""
    pieces = fragment.removeprefix("^").removesuffix("$").split("...")
    pattern = begins + ".*".join(map(re.escape, pieces)) + ends
    return re.search(pattern, message, re.DOTALL) is not None


def argument_end(text, start):
    """Of the brackets that are open at `start`, the end of what they hold."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            at = STRING.match(text, at).end()
            continue
        if text[at] == "'":
            at += 3 if text[at + 1] != "\\" else 4
            continue
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return at


def messages(path):
    """Line, and the strings of a call with VALUE between them."""
    text = path.read_text()
    for call in CALL.finditer(text):
        body = DESCRIBED.sub('"a type"', text[call.end() : argument_end(text, call.end())])
        strings = [unescaped(m[1]) for m in STRING.finditer(body)]
        strings = [re.sub(r"\{\d+\}", VALUE, s) for s in strings]
        if any(re.search("[a-z]{2}", s) for s in strings):
            words = VALUE.join(strings).replace(VALUE + "a type", "a type")
            yield text.count("\n", 0, call.start()) + 1, words


def without_others(text):
    """The code with its plain strings, in the same lines."""
    return OTHER.sub(lambda m: m[0] if m[0][0] == '"' else "\n" * m[0].count("\n"), text)


def statements(path):
    """Line, and the strings of each statement, with VALUE between them."""
    text = without_others(path.read_text())
    strings, begin, end, line = [], 0, 0, 0
    for found in STRING_OR_END.finditer(text):
        if found[1] is None:
            if strings and not HELP.search(text[begin : found.start()]):
                yield line, VALUE.join(strings)
            strings, begin = [], found.end()
            continue
        words = re.sub(r"\{\d+\}|%[sdu]", VALUE, unescaped(found[1]))
        if strings and not text[end : found.start()].strip():
            strings[-1] += words
        else:
            line = line if strings else text.count("\n", 0, found.start()) + 1
            strings.append(words)
        end = found.end()


def foreign(source, known):
    """Strings that a row fits though their file is none of its."""
    for path in sorted([*source.glob("*/**/*.cpp"), *source.glob("*/**/*.h")]):
        name = str(path.relative_to(source))
        folder = name.split("/")[0]
        if folder in NOT_PRINTED:
            continue
        for line, words in statements(path):
            message = IN_FRONT.get(os.path.dirname(name), "") + words
            for row, fragments, sources in known:
                if any(fits(f, message) for f in fragments):
                    if not any(f"{name}/".startswith(s) for s in sources):
                        yield f"{name}:{line}: '{row}' fits '{words.replace(VALUE, '...')}'"
                    break


def check(source):
    source = pathlib.Path(source)
    known = rows(source)
    wrong = []
    if not known:
        wrong.append("driver/explain/Explanations.def: it has no row")
    for path in sorted((source / "compiler").glob("*.cpp")):
        name = str(path.relative_to(source))
        for line, message in messages(path):
            if not any(fits(f, message) for _, fragments, _ in known for f in fragments):
                shown = message.replace(VALUE, "...")
                wrong.append(f"{name}:{line}: no explanation has a fragment of '{shown}'")
    return wrong + list(foreign(source, known))


def main():
    wrong = check(sys.argv[1])
    print("\n".join(wrong) or "every message of the compiler has a name, and none of another place has it")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
