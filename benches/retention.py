"""How much of the annotated main region of documentation pages survives.

usage: retention.py RUTTER DOCS_DIR

DOCS_DIR holds sqlite3-doc, git-doc and debian-policy, unpacked. The main region of each is annotated
below by the element that holds it and by what in it is not text; 30 pages of each are sampled by the
hash of their names. Letters and digits of the region that are in the blocks, as a multiset of words.
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys

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


def main(rutter, docs):
    kept = all_words = n_pages = 0
    worst = []
    for site, (region, without) in SITES.items():
        files = []
        for folder, _, names in os.walk(os.path.join(docs, site)):
            files += [os.path.join(folder, n) for n in names if n.endswith(".html")]
        files = [f for f in files if not os.path.islink(f) and os.path.getsize(f) <= 2_000_000]
        files.sort(key=lambda f: hashlib.sha256(os.path.basename(f).encode()).hexdigest())
        site_kept = site_all = 0
        for file in files[:30]:
            tree = lxml.html.document_fromstring(open(file, "rb").read())
            found = tree.xpath(region)
            if not found:
                continue
            for element in found[0].xpath("." + without.replace("| //", "| .//")):
                if element.getparent() is not None:
                    element.drop_tree()
            expected = collections.Counter(WORD.findall(text_of(found[0])))
            out = subprocess.run([rutter, "extract", file], capture_output=True, check=False).stdout
            page = json.loads(out) if out.strip() else {"content": []}
            made = collections.Counter(WORD.findall(" ".join(strings(page["content"]))))
            here = sum((expected & made).values())
            total = sum(expected.values())
            site_kept += here
            site_all += total
            n_pages += 1
            worst.append((here / max(1, total), total, site, os.path.basename(file)))
        print(f"{site:<16} {site_kept / max(1, site_all):.4f} of {site_all} words")
        kept += site_kept
        all_words += site_all
    share = kept / max(1, all_words)
    for share_here, total, site, name in sorted(worst)[:8]:
        print(f"  {share_here:.3f} of {total:>6}  {site}/{name}")
    print(f"text retention {share:.4f} on {n_pages} pages (goal 0.99) {'ok' if share >= 0.99 else 'MISSED'}")
    return 0 if share >= 0.99 and n_pages >= 60 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
