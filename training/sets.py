"""Loads the dumps of `cargo xtask features` with labels, weights and parts.

Parts: pages are split by the SHA-256 of their names into train (70 %), tune (15 %) and look-once (15 %);
look-once pages are never loaded. Of the snippets only the part "tuned on" is loaded at all.
"""

import hashlib
import json
import os

import numpy as np

import labels

TYPES = ["article", "documentation", "forum", "product", "listing", "collection", "service"]
LINKS = 15
# Bits of a segment's state, the last of its links.
LANDMARK, SURE, NAMED, KEPT = 1, 2, 4, 16
# Weight of a set; how much its pages count.
WEIGHTS = {"trafilatura": 3.0, "andy": 1.5, "wcxb_dev": 1.0, "magic_article": 0.7, "magic_forum": 1.0,
           "sqlite3-doc": 0.6, "git-doc": 0.5, "debian-policy": 0.8, "corpus": 2.0}
MOST_DOC_PAGES = 150


def has(attrs, name, *values):
    return any(value in (attrs.get(name) or "").split() for value in values)


# What of a documentation page is not its text.
FRAMES = {
    "sqlite3-doc": lambda tag, a: has(a, "class", "nosearch", "toc", "menu", "menubar", "searchmenu", "fancy_toc")
    or a.get("id") in ("toc", "toc_sub") or tag == "form",
    "git-doc": lambda tag, a: a.get("id") in ("footer", "footer-text"),
    "debian-policy": lambda tag, a: tag == "nav" or has(a, "class", "related", "sphinxsidebar", "footer", "headerlink")
    or a.get("role") in ("navigation", "search", "contentinfo"),
}


def bucket(name):
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 100


class Page:
    """One page: its name, type, truth, segments and their labels."""

    def __init__(self, name, kind, truth, texts, rows, links, label):
        self.name, self.kind, self.truth, self.texts = name, kind, truth, texts
        self.rows, self.links, self.label = rows, links, np.asarray(label, np.float32)


def expectation(name, folder, source_folder):
    """For a set: a function from a page's file to (id, part, type, truth) or None for a page to skip."""
    if name == "trafilatura":
        by_file = {page["file"]: page for page in json.load(open(f"{source_folder}/evaldata-open.json")).values()}

        def look(file):
            ident = os.path.basename(file)
            if ident not in by_file or hashlib.sha256(ident.encode()).digest()[0] % 2:
                return None
            return ident, "train" if bucket(ident) < 70 else "tune", None, by_file[ident]
        return look
    if name == "corpus":
        return lambda file: (file, "train", None, json.load(open(f"{source_folder}/{file[:-5]}.expect.json")))
    if name in FRAMES:
        def look(file):
            part = "train" if bucket(file) < 70 else "tune" if bucket(file) < 85 else None
            source = open(f"{source_folder}/{file}", encoding="utf8", errors="replace").read()
            return part and (file, part, "documentation", labels.main_text(source, FRAMES[name]))
        return look
    truth = json.load(open(f"{source_folder}/truth.json"))

    def look(file):
        ident = os.path.basename(file)[:-5]
        part = "train" if bucket(ident) < 70 else "tune" if bucket(ident) < 85 else None
        if part is None or ident not in truth:
            return None
        page = truth[ident]
        kind = page.get("type") or ("forum" if name == "magic_forum" else "article")
        return ident, part, kind, page
    return look


def load(name, features, source_folder):
    """The pages of a set, by part."""
    about = json.load(open(f"{features}/{name}/features.json"))
    n = len(about["features"])
    rows = np.memmap(f"{features}/{name}/features.f32", "<f4", "r").reshape(-1, n)
    links = np.memmap(f"{features}/{name}/links.u32", "<u4", "r").reshape(-1, LINKS)
    look = expectation(name, features, source_folder)
    parts = {"train": [], "tune": []}
    at = 0
    for line in open(f"{features}/{name}/segments.jsonl", encoding="utf8"):
        page = json.loads(line)
        texts, first = page["texts"], at
        at += len(texts)
        found = look(page["file"])
        if not found or not texts:
            continue
        ident, part, kind, truth = found
        if name in FRAMES and part == "train" and len(parts[part]) >= MOST_DOC_PAGES:
            continue
        if name == "trafilatura":
            label = labels.by_pieces(texts, truth["with"], truth["without"])
        elif name == "corpus":
            label = labels.by_pieces(texts, labels.expected_pieces(truth), truth.get("without", []))
        elif name in FRAMES:
            label = labels.without_copies(texts, labels.by_truth(texts, truth), truth)
        else:
            text = truth.get("main_content") or truth.get("articleBody") or ""
            # A page whose truth is empty says nothing about its segments.
            label = labels.by_truth(texts, text) if text.strip() else [-1.0] * len(texts)
        parts[part].append(Page(ident, kind, truth, texts, np.array(rows[first:at]), np.array(links[first:at]), label))
    return about, parts


def weights(name, page):
    """Weights of the segments of a page: long ones count more, a long page less per segment."""
    known = page.label >= 0
    if name in ("trafilatura", "corpus"):
        weight = np.full(len(page.label), 8.0)
    else:
        weight = np.sqrt(np.minimum(page.links[:, 0], 400)) + 0.1
    weight = weight * np.where((page.label > 0.3) & (page.label < 0.7), 0.3, 1.0)
    return weight / np.sqrt(max(1.0, weight[known].sum())) * WEIGHTS[name]
