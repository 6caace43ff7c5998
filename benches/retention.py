"""How much of the annotated main region of documentation pages survives.

usage: retention.py RUTTER DOCS_DIR

DOCS_DIR holds sqlite3-doc, git-doc and debian-policy, unpacked. The main region of each is annotated
below by the element that holds it and by what in it is not text; 30 pages of each are sampled by the
hash of their names. Words of the region that are in the blocks, and words of the blocks that are in the
region, as multisets; each page read alone, and with the template of its site.
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

import lxml.html

SITES = {
    # The page has no landmark: everything below its head, without menus, contents and the last line.
    "sqlite3-doc": ("//body", "//div[contains(@class,'nosearch')] | //*[@id='toc'] | //div[contains(@class,'toc')] | //div[@id='toc_sub']"
                    " | //table[contains(@class,'menubar')] | //div[contains(@class,'menu')] | //div[contains(@class,'searchmenu')]"
                    " | //div[contains(@class,'fancy_toc')] | //small[contains(.,'last modified')] | //input | //form"),
    "git-doc": ("//div[@id='content']", "//div[@id='footer']"),
    "debian-policy": ("//div[@role='main']", "//a[contains(@class,'headerlink')] | //nav | //div[contains(@class,'contents')]"),
}
WORD = re.compile(r"\w+")


def text_of(element):
    for child in list(element.iter("script", "style", "noscript", "template", "svg", "title")):
        child.drop_tree()
    return " ".join(t for t in element.itertext())


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key in ("text", "code", "items", "rows", "alt", "citation", "name", "summary", "transcript"):
                yield from strings(one)


def pages(rutter, folder, *how):
    """The pages of a folder, by their paths."""
    base = "http://localhost/"
    out = subprocess.run([rutter, "extract", folder, "--url", base, *how], capture_output=True, check=False).stdout
    found = {}
    for line in out.splitlines():
        page = json.loads(line)
        path = urllib.parse.unquote(page["url"][len(base):])
        found[path + "index.html" if path.endswith("/") or not path else path] = page
    return found


def main(rutter, docs):
    total = collections.Counter()
    worst = []
    for site, (region, without) in SITES.items():
        root = os.path.join(docs, site)
        files = []
        for folder, _, names in os.walk(root):
            files += [os.path.join(folder, n) for n in names if n.endswith(".html")]
        files = [f for f in files if not os.path.islink(f) and os.path.getsize(f) <= 2_000_000]
        files.sort(key=lambda f: hashlib.sha256(os.path.basename(f).encode()).hexdigest())
        read = {"alone": pages(rutter, root, "--alone"), "template": pages(rutter, root)}
        sums = collections.Counter()
        for file in files[:30]:
            tree = lxml.html.document_fromstring(open(file, "rb").read())
            found = tree.xpath(region)
            if not found:
                continue
            for element in found[0].xpath("." + without.replace("| //", "| .//")):
                if element.getparent() is not None:
                    element.drop_tree()
            expected = collections.Counter(WORD.findall(text_of(found[0])))
            sums["pages"] += 1
            sums["words"] += sum(expected.values())
            for how, by_path in read.items():
                page = by_path.get(os.path.relpath(file, root), {"content": []})
                made = collections.Counter(WORD.findall(" ".join(strings(page["content"]))))
                here = sum((expected & made).values())
                sums[how, "kept"] += here
                sums[how, "made"] += sum(made.values())
                if how == "alone":
                    worst.append((here / max(1, sum(expected.values())), sum(expected.values()), site, os.path.basename(file)))
        for how in read:
            kept, made = sums[how, "kept"], sums[how, "made"]
            print(f"{site:<14} {how:<9} retention {kept / sums['words']:.4f}  of what we keep, in the region {kept / max(1, made):.4f}")
        total.update(sums)
    for share, words, site, name in sorted(worst)[:5]:
        print(f"  {share:.3f} of {words:>6} words  {site}/{name}")
    shares = {how: total[how, "kept"] / max(1, total["words"]) for how in ("alone", "template")}
    is_ok = min(shares.values()) >= 0.99 and total["pages"] >= 60
    print(f"text retention {shares['alone']:.4f} alone, {shares['template']:.4f} with templates, "
          f"on {total['pages']} pages (goal 0.99) {'ok' if is_ok else 'MISSED'}")
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
