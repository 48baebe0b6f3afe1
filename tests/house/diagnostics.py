#!/usr/bin/env python3
"""Whether each message of the parser and the checker has a name: a row of
tools/explain/Explanations.def whose fragments it has.

usage: diagnostics.py SOURCE_DIR"""
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:Diagnostic::error|Status::error|error|errorAt|report|fail)\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ROW = re.compile(r'^COLLDSL_EXPLANATION\("([^"]+)", "((?:[^"\\]|\\.)*)", R"\(', re.MULTILINE)
# In place of what is put in when the program runs.
VALUE = "\0"


def unescaped(text):
    return text.encode().decode("unicode_escape")


def rows(source):
    text = (source / "tools/explain/Explanations.def").read_text()
    return [(m[1], unescaped(m[2]).split("|")) for m in ROW.finditer(text)]


def fits(fragment, message):
    """As fits() in tools/explain/Explanations.cpp. A value may be any text."""
    begins = fragment.startswith("^")
    pieces = [re.escape(p) for p in fragment.lstrip("^").split("...")]
    pattern = ".*".join(pieces).replace(r"\ ", " ")
    return re.search(("^" if begins else "") + pattern, message, re.DOTALL) is not None


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
        body = text[call.end() : argument_end(text, call.end())]
        strings = [unescaped(m[1]) for m in STRING.finditer(body)]
        strings = [re.sub(r"\{\d+\}", VALUE, s) for s in strings]
        if any(re.search("[a-z]{2}", s) for s in strings):
            yield text.count("\n", 0, call.start()) + 1, VALUE.join(strings)


def check(source):
    source = pathlib.Path(source)
    known = rows(source)
    wrong = []
    if not known:
        wrong.append("tools/explain/Explanations.def: it has no row")
    for path in sorted((source / "compiler").glob("*.cpp")):
        name = str(path.relative_to(source))
        for line, message in messages(path):
            if not any(fits(f, message) for _, fragments in known for f in fragments):
                shown = message.replace(VALUE, "...")
                wrong.append(f"{name}:{line}: no explanation has a fragment of '{shown}'")
    return wrong


def main():
    wrong = check(sys.argv[1])
    print("\n".join(wrong) or "every message of the compiler has a name")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
