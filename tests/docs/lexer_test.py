#!/usr/bin/env python3
"""Shows that the lexer of the site knows the words of the language, and takes all of its texts."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
try:
    import pygments.lexers
    from pygments.token import Comment, Error, Keyword, Name, Operator, String, Token

    import coll_lexer  # noqa: F401: registers the lexer
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)


def tokens(text):
    return list(pygments.lexers.get_lexer_by_name("coll").get_tokens(text))


def kinds_of(word, text):
    return [kind for kind, value in tokens(text) if value.strip() == word]


def words_of(rule):
    found = re.search(rf"^{rule}\n(.*?);", (ROOT / "grammar/Coll.g4").read_text(), re.MULTILINE | re.DOTALL)
    return re.findall(r"'(\w+)'", found[1])


class Lexer(unittest.TestCase):
    def test_every_keyword_of_the_grammar(self):
        for word in words_of("identifier"):
            (kind,) = kinds_of(word, f"x {word} y")
            self.assertTrue(kind in Keyword or kind in Operator.Word, f"{word} is {kind}")

    def test_types_of_the_tables(self):
        for table in ("ir/Vocabulary.def", "program/Types.def"):
            for word in re.findall(r'^COLLDSL_TYPE\(\w+, "(\w+)"', (ROOT / table).read_text(), re.MULTILINE):
                self.assertEqual(kinds_of(word, f"collective c(x: {word})"), [Keyword.Type], word)

    def test_names_of_declarations(self):
        for word in ("collective", "function", "tree", "graph"):
            self.assertEqual(kinds_of("mine", f"{word} mine(k: int)"), [Name.Function])

    def test_texts_stay_whole_and_have_no_error(self):
        files = [*ROOT.glob("stdlib/*.coll"), *ROOT.glob("examples/**/*.coll"), *ROOT.glob("tests/**/*.coll")]
        self.assertGreater(len(files), 50)
        for file in files:
            text = file.read_text(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
            found = tokens(text)
            self.assertEqual("".join(value for _, value in found).strip("\n"), text.strip("\n"), file)
            self.assertFalse([value for kind, value in found if kind is Token.Error or kind in Error], file)

    def test_comments_and_strings_hide_keywords(self):
        self.assertEqual(kinds_of("copy", "copy // copy\n/* copy\n copy */ \"copy\""), [Keyword])
        self.assertIn((Comment.Multiline, "/* a\n b */"), tokens("/* a\n b */ x"))
        self.assertIn((String, '"a\\"b"'), tokens('x "a\\"b" y'))
        self.assertIn((String.Doc, "/// what"), tokens("/// what\n"))


if __name__ == "__main__":
    unittest.main()
