"""How much of the main text of documentation pages is kept, and how much is added.

usage: retention.py RUTTER DOCS_DIR LARGE_DIR

DOCS_DIR holds sqlite3-doc, git-doc and debian-policy, LARGE_DIR is openjdk-17-doc, all unpacked. The main
region of each site is annotated below: the element that holds it, and the elements in it that are not text.
At most 500 pages of a site are taken, by the hash of their paths. Words are compared as multisets. Each page
is read alone, and with the template of its site.

retention: share of the region's words that are in the blocks, mean over pages
pollution: share of the blocks' words that are not in the region, over all pages of a site
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lxml.html

SITES = {
    # The pages have no landmark: everything in the body but menus, contents and the last line.
    "sqlite3-doc": (
        "//body",
        "//div[contains(@class,'nosearch')] | //*[@id='toc'] | //div[contains(@class,'toc')] | //div[@id='toc_sub']"
        " | //table[contains(@class,'menubar')] | //div[contains(@class,'menu')] | //div[contains(@class,'searchmenu')]"
        " | //div[contains(@class,'fancy_toc')] | //small[contains(.,'last modified')] | //input | //form | //button"
        " | //*[contains(translate(@style,' ',''),'display:none')]",
    ),
    "git-doc": ("//body", "//div[@id='footer'] | //*[@id='toc'] | //div[@class='toc']"),
    # Chapters by Sphinx have a landmark; the older documents, by DocBook and AsciiDoc, have none.
    "debian-policy": (
        "//div[@role='main'] | //body[not(.//div[@role='main'])]",
        "//a[contains(@class,'headerlink')] | //nav | //div[contains(concat(' ',@class,' '),' contents ')] | //*[@id='toc']"
        " | //*[@id='footer'] | //div[@class='toc'] | //div[contains(@class,'navheader')]"
        " | //div[contains(@class,'navfooter')]",
    ),
    # Buttons that choose which methods a table shows are not text.
    "openjdk-17-doc": ("//main", "//div[contains(@class,'table-tabs')] | //nav"),
}
MOST_PAGES = 500
LARGEST = 2_000_000
RETENTION_GOAL = 0.995
PAGE_GOAL = 0.90
POLLUTION_GOAL = 0.01
NOT_TEXT = ("script", "style", "noscript", "template", "svg", "title")
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span strike strong"
    " sub sup time tt u var wbr".split()
)
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Region:
    """The words that a page must keep, and words that it may have beside them."""

    words: Counter[str]
    alternatives: Counter[str]


@dataclass(frozen=True)
class PageResult:
    name: str
    n_words: int
    kept: int
    added: int
    made: int

    def retention(self) -> float:
        return self.kept / self.n_words


def words_of(text: str) -> Counter[str]:
    return Counter(WORD.findall(text))


def pieces(element: lxml.html.HtmlElement) -> Iterator[str]:
    """The text of an element; spaces stand around blocks only, so that `<b>f</b>oo` is one word."""
    if not isinstance(element.tag, str):
        return
    space = "" if element.tag in INLINE else " "
    yield space
    yield element.text or ""
    for child in element:
        yield from pieces(child)
        yield child.tail or ""
    yield space


def region_of(file: Path, region: str, without: str) -> Region | None:
    tree = lxml.html.document_fromstring(file.read_bytes())
    found = tree.xpath(region)
    if not found:
        return None
    main = found[0]
    for element in main.xpath("." + without.replace("| //", "| .//")) + list(main.iter(*NOT_TEXT)):
        if element.getparent() is not None:
            element.drop_tree()
    words = words_of("".join(pieces(main)))
    alternatives = words_of(" ".join(image.get("alt") or "" for image in main.iter("img")))
    return Region(words, alternatives) if words else None


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        for key in ("text", "code", "items", "rows", "alt", "citation", "name", "summary", "transcript"):
            yield from strings(value.get(key))


def compare(name: str, region: Region, page: dict) -> PageResult:
    """Compares blocks with the region.

    Titles and `link` blocks repeat text of other blocks: they may fill what is missing, and count as
    added only where their words are nowhere in the region.
    """
    blocks = page["content"]
    made = words_of(" ".join(text for block in blocks if block["type"] != "link" for text in strings(block)))
    links = words_of(" ".join(text for block in blocks if block["type"] == "link" for text in strings(block)))
    kept = region.words & made
    missing = region.words - made
    kept_otherwise = missing & (links + words_of(page.get("title") or ""))
    added = (made - region.words - region.alternatives).total()
    added += sum(n for word, n in links.items() if word not in region.words)
    return PageResult(
        name, region.words.total(), kept.total() + kept_otherwise.total(), added, made.total() + links.total()
    )


def read_pages(rutter: str, folder: Path, *options: str) -> dict[str, dict]:
    """The pages of a folder as Rutter reads them, by path."""
    base = "http://localhost/"
    command = [rutter, "extract", str(folder), "--url", base, *options]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    found = {}
    for line in out.splitlines():
        page = json.loads(line)
        path = urllib.parse.unquote(page["url"][len(base) :])
        found[path + "index.html" if path.endswith("/") or not path else path] = page
    return found


def sample(root: Path) -> list[Path]:
    """Paths of the pages to measure, below the folder of a site."""
    files = []
    for folder, _, names in os.walk(root):
        files += [Path(folder, name) for name in names if name.endswith(".html")]
    files = [file for file in files if not file.is_symlink() and file.stat().st_size <= LARGEST]
    paths = [file.relative_to(root) for file in files]
    return sorted(paths, key=lambda path: hashlib.sha256(str(path).encode()).hexdigest())[:MOST_PAGES]


def measure(rutter: str, root: Path, region: str, without: str) -> dict[str, list[PageResult]]:
    """The results of a site's pages, read alone and with their template."""
    with tempfile.TemporaryDirectory() as copy:
        # A copy of the sample: a large site is read in part.
        paths = sample(root)
        for path in paths:
            (target := Path(copy, path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, target)
        read = {"alone": read_pages(rutter, Path(copy), "--alone"), "template": read_pages(rutter, Path(copy))}
    regions = {str(path): region_of(root / path, region, without) for path in paths}
    return {
        how: [
            compare(path, found, pages.get(path, {"content": []}))
            for path, found in regions.items()
            if found is not None
        ]
        for how, pages in read.items()
    }


def main(rutter: str, docs: str, large: str) -> int:
    n_missed = 0
    print(f"{'site':<16}{'read':<10}{'pages':>6}{'mean':>8}{'minimum':>9}{'below 0.90':>12}{'pollution':>11}")
    for site, (region, without) in SITES.items():
        root = Path(large) if site == Path(large).name else Path(docs, site)
        for how, results in measure(rutter, root, region, without).items():
            results.sort(key=PageResult.retention)
            mean = sum(result.retention() for result in results) / max(1, len(results))
            below = [result for result in results if result.retention() < PAGE_GOAL]
            pollution = sum(result.added for result in results) / max(1, sum(result.made for result in results))
            is_met = bool(results) and mean >= RETENTION_GOAL and not below and pollution <= POLLUTION_GOAL
            n_missed += not is_met
            lowest = results[0].retention() if results else 0.0
            print(
                f"{site:<16}{how:<10}{len(results):>6}{mean:>8.4f}{lowest:>9.4f}{len(below):>12}{pollution:>11.4f}"
                f"  {'ok' if is_met else 'MISSED'}"
            )
            for result in results[:5]:
                if result.retention() < 1.0:
                    print(f"    kept {result.retention():.3f} of {result.n_words:>6} words  {result.name}")
            for result in sorted(results, key=lambda result: -result.added)[:3]:
                if result.added:
                    print(f"    added {result.added:>5} to {result.made:>6} words  {result.name}")
    print(
        f"goals for each site: mean at least {RETENTION_GOAL}, no page below {PAGE_GOAL}, pollution at most"
        f" {POLLUTION_GOAL}: {'ok' if not n_missed else f'{n_missed} MISSED'}"
    )
    return 1 if n_missed else 0


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    sys.exit(main(*sys.argv[1:4]))
