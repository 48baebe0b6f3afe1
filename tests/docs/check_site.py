#!/usr/bin/env python3
"""Checks a built site: each link and anchor of its pages leads somewhere, nothing is loaded from other hosts,
no page has markup that was not understood, blocks of the language are coloured, and the search knows every page.

usage: check_site.py SITE
"""
import html.parser
import json
import os
import re
import sys
import urllib.parse

SKIPPED = 77
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
LANGUAGE_BLOCK = re.compile(r'<div class="language-coll[^>]*>.*?</div>', re.DOTALL)
RAW = re.compile(r"(^|\n)\s*(```|\* |\||#{1,6} )|\]\([\w./#-]+\)")


class Page(html.parser.HTMLParser):
    """The ids, the links and the loaded resources of a page, and the text of its paragraphs."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.raw = set(), [], [], []
        self.is_mermaid = False
        self.plain = [block for block in LANGUAGE_BLOCK.findall(text) if '<span class="' not in block]
        self.paragraph, self.depth = None, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = {name: value or "" for name, value in attrs}
        self.ids.update(attrs[name] for name in ("id", "name") if attrs.get(name))
        self.is_mermaid |= "mermaid" in attrs.get("class", "").split()
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag in LOADING and attrs.get(LOADING[tag]) and attrs.get("rel") != "canonical":
            self.loaded.append(attrs[LOADING[tag]])
        if tag == "p":
            self.paragraph = ""
        elif tag == "code":
            self.depth += 1

    def handle_endtag(self, tag):
        if tag == "code":
            self.depth -= 1
        elif tag == "p" and self.paragraph is not None:
            if RAW.search(self.paragraph):
                self.raw.append(self.paragraph.strip()[:60])
            self.paragraph = None

    def handle_data(self, data):
        if self.paragraph is not None and not self.depth:
            self.paragraph += data


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def files(site, suffix):
    return sorted(os.path.relpath(os.path.join(folder, name), site)
                  for folder, _, names in os.walk(site) for name in names if name.endswith(suffix))


def is_external(url):
    return re.match(r"([a-z]+:)?//", url) is not None


def leads_nowhere(site, pages, page, url):
    """What is wrong with a link of a page, or None."""
    path, _, anchor = urllib.parse.unquote(url).partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path.split("?")[0])) if path else page
    if os.path.isdir(os.path.join(site, target)):
        target = os.path.normpath(os.path.join(target, "index.html"))
    if not os.path.exists(os.path.join(site, target)):
        return f"links to {url}, which does not exist"
    if anchor and target in pages and anchor not in pages[target].ids:
        return f"links to {url}, but {target} has no such anchor"
    return None


def check_page(site, pages, name):
    page = pages[name]
    for url in page.loaded:
        if is_external(url):
            yield f"{name}: loads {url}"
    if page.is_mermaid:
        yield f"{name}: has a diagram for which the theme loads a program"
    for block in page.plain:
        yield f"{name}: a block of the language has no colours: {re.sub('<[^>]*>', '', block).strip()[:60]!r}"
    for text in page.raw:
        yield f"{name}: markup was not understood: {text!r}"
    if name == "404.html":
        return
    for url in [*page.links, *page.loaded]:
        if re.match(r"[a-z]+:|//", url):
            continue
        problem = leads_nowhere(site, pages, name, url)
        if problem:
            yield f"{name}: {problem}"


def check_styles(site):
    for name in files(site, ".css"):
        for match in CSS_URL.finditer(read(site, name)):
            url = match[1] or match[2]
            if is_external(url):
                yield f"{name}: loads {url}"


def check_search(site, pages):
    index = json.loads(read(site, "search", "search_index.json"))
    found = {entry["location"].partition("#")[0] or "index.html" for entry in index["docs"]}
    for name in sorted(set(pages) - found - {"404.html"}):
        yield f"{name}: the search does not know it"


def check(site):
    pages = {name: Page(read(site, name)) for name in files(site, ".html")}
    found = [problem for name in pages for problem in check_page(site, pages, name)]
    return found + [*check_styles(site), *check_search(site, pages)]


if __name__ == "__main__":
    if not os.path.exists(os.path.join(sys.argv[1], "index.html")):
        print("skipped: the site was not built")
        sys.exit(SKIPPED)
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "all links of the site lead somewhere; it loads nothing from other hosts")
    sys.exit(1 if violations else 0)
