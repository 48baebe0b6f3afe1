"""A lexer for Pygments, made from the grammar of editors, which scripts/index-editors makes from the tables of
the language. mkdocs.yml has this file as a hook: blocks ```coll of the site are coloured.
"""
import json
import os
import re

import pygments.lexers
from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GRAMMAR = os.path.join(ROOT, "editors", "vscode", "syntaxes", "coll.tmLanguage.json")
# How the names of scopes begin; the first that fits counts.
TOKENS = {
    "comment.line.documentation": String.Doc,
    "comment.block": Comment.Multiline,
    "comment": Comment.Single,
    "string": String,
    "constant.numeric": Number,
    "constant.language": Keyword.Constant,
    "constant.other.reduction": Name.Constant,
    "variable.language": Name.Builtin.Pseudo,
    "support.type": Keyword.Type,
    "support.function": Name.Builtin,
    "entity.name.function": Name.Function,
    "keyword.declaration": Keyword.Declaration,
    "keyword.operator.word": Operator.Word,
    "keyword.operator": Operator,
    "keyword": Keyword,
    "storage.modifier": Keyword.Namespace,
}


def token_of(scope):
    for begin, token in TOKENS.items():
        if scope.startswith(begin):
            return token
    raise ValueError(f"no token stands for the scope {scope}")


def rule_of(pattern):
    if "begin" in pattern:
        escapes = "".join(inner["match"] + "|" for inner in pattern.get("patterns", []))
        body = rf"{pattern['begin']}(?:{escapes}[\s\S])*?(?:{pattern['end']})"
        return body, token_of(pattern["name"])
    if "captures" not in pattern:
        return pattern["match"], token_of(pattern["name"])
    # Between the groups of a match there is space alone.
    tokens = [token_of(pattern["captures"][number]["name"]) for number in sorted(pattern["captures"])]
    parts = re.split(r"(?<=\))(\\s[+*])", pattern["match"])
    regex = "".join(f"({part})" if part.startswith(r"\s") else part for part in parts)
    spaced = [token for pair in zip(tokens, [Whitespace] * len(tokens)) for token in pair]
    return regex, bygroups(*spaced[: re.compile(regex).groups])


def rules():
    with open(GRAMMAR, encoding="utf-8") as file:
        patterns = json.load(file)["patterns"]
    made = [rule_of(pattern) for pattern in patterns]
    others = [(r"\s+", Whitespace), (r"[A-Za-z_]\w*", Name), (r"\d\w*", Number), (r"[^\w\s]", Punctuation)]
    return made + others


class CollLexer(RegexLexer):
    name = "colldsl"
    aliases = ["coll"]
    filenames = ["*.coll"]
    flags = re.MULTILINE
    tokens = {"root": rules()}


# Pygments finds lexers by a table of its own modules, and by names in this cache.
pygments.lexers.LEXERS["CollLexer"] = ("", CollLexer.name, tuple(CollLexer.aliases), tuple(CollLexer.filenames), ())
pygments.lexers._lexer_cache[CollLexer.name] = CollLexer
