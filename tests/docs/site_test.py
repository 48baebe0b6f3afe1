#!/usr/bin/env python3
"""Shows that the check of the site finds what it is there for."""
import json
import os
import tempfile
import unittest

import check_site


class Site(unittest.TestCase):
    def found(self, body, style="", known=("index.html", "a/b.html")):
        files = {"index.html": f"<body id='top'>{body}</body>", "a/b.html": "<h2 id='here'>B</h2>", "site.css": style,
                 "search/search_index.json": json.dumps({"docs": [{"location": name} for name in known]})}
        with tempfile.TemporaryDirectory() as site:
            for path, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(site, path)), exist_ok=True)
                with open(os.path.join(site, path), "w", encoding="utf-8") as file:
                    file.write(content)
            return check_site.check(site)

    def test_links(self):
        for url in ("a/b.html", "a/b.html#here", "#top", "https://example.org", "mailto:x@example.org"):
            self.assertFalse(self.found(f"<a href='{url}'>x</a>"))
        for url in ("b.html", "a/b.html#there", "#bottom", "a/"):
            self.assertEqual(len(self.found(f"<a href='{url}'>x</a>")), 1)

    def test_nothing_is_loaded_from_elsewhere(self):
        for tag in ("<script src='https://example.org/x.js'></script>", "<img src='//example.org/x.png'>",
                    "<link rel='stylesheet' href='https://example.org/x.css'>", "<pre class='mermaid'>x</pre>"):
            self.assertEqual(len(self.found(tag)), 1)
        self.assertTrue(self.found("", style="@import 'https://example.org/x.css';"))
        self.assertTrue(self.found("", style="p { background: url(//example.org/x.png) }"))
        self.assertFalse(self.found("", style="p { background: url(data:image/svg+xml;x) }"))

    def test_missing_pictures(self):
        self.assertTrue(self.found("<img src='x.svg'>"))

    def test_markup(self):
        for text in ("a:\n* one\n* two", "``` x", "| a | b |", "[x](y.md)"):
            self.assertEqual(len(self.found(f"<p>{text}</p>")), 1)
        self.assertFalse(self.found("<p>a * b <code>| x |</code></p>"))

    def test_blocks_of_the_language(self):
        block = "<div class=\"language-coll highlight\"><pre><code>{}</code></pre></div>"
        self.assertEqual(len(self.found(block.format("<span></span>copy x to y;"))), 1)
        self.assertFalse(self.found(block.format('<span class="k">copy</span> x to y;')))
        self.assertFalse(self.found("<div class=\"language-c highlight\"><pre><code>x</code></pre></div>"))

    def test_search(self):
        self.assertTrue(self.found("", known=("index.html",)))


if __name__ == "__main__":
    unittest.main()
