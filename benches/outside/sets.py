"""The open sets: where their pages are, what is expected of each page, and how a set is split."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class Part(Enum):
    """A part of a set. Pages of LOOK_ONCE are scored, never read by a person."""

    TRAIN = "train"
    TUNE = "tune"
    LOOK_ONCE = "look-once"


class Kind(Enum):
    """How a set is scored; see measures.py."""

    SNIPPETS = "snippets"
    WORDS_BY_TYPE = "words by type"
    FOUR_GRAMS = "4-grams"
    WORDS = "words"


@dataclass(frozen=True)
class Page:
    id: str
    path: Path
    url: str
    text: str = ""
    type: str = ""
    # When it was published, where the set says so.
    date: str = ""
    must_have: list[str] = field(default_factory=list)
    must_not_have: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class DataSet:
    name: str
    kind: Kind
    pages: list[Page]


def part_of(id: str) -> Part:
    """The part of a page by the SHA-256 of its id: 70, 15 and 15 per cent."""
    share = int(hashlib.sha256(id.encode()).hexdigest()[:8], 16) % 100
    return Part.TRAIN if share < 70 else Part.TUNE if share < 85 else Part.LOOK_ONCE


def snippet_part_of(file: str) -> Part:
    """The part of a page of the snippets.

    One half of the snippets was never used for tuning (the lowest bit of the first byte of the
    SHA-256 of the file name is set); this half is LOOK_ONCE. The other half is split by `part_of`,
    where everything beyond the first 70 per cent is TUNE.
    """
    if hashlib.sha256(file.encode()).digest()[0] % 2 == 1:
        return Part.LOOK_ONCE
    return Part.TRAIN if part_of(file) is Part.TRAIN else Part.TUNE


def find_sets(folders: list[Path], part: Part) -> list[DataSet]:
    """The sets in these folders, each reduced to one part, in the order of the report."""
    found = []
    for folder in folders:
        for list_file in sorted(folder.glob("evaldata*.json")):
            found.append(DataSet("snippets", Kind.SNIPPETS, list(_snippets(list_file, part))))
        truth = folder / "truth.json"
        if truth.is_file():
            name = folder.name.removesuffix("_dev")
            kind = {"wcxb": Kind.WORDS_BY_TYPE, "andy": Kind.FOUR_GRAMS}.get(name, Kind.WORDS)
            found.append(DataSet(name, kind, list(_full_texts(truth, part))))
    order = ["snippets", "wcxb", "andy"]
    return sorted(found, key=lambda s: (order.index(s.name) if s.name in order else len(order), s.name))


def _snippets(list_file: Path, part: Part) -> Iterator[Page]:
    expected = json.loads(list_file.read_text(encoding="utf-8"))
    for url, page in sorted(expected.items()):
        file = page["file"]
        if snippet_part_of(file) is not part:
            continue
        places = [list_file.parent / place / file for place in ("html", "cache", "eval")]
        path = next((place for place in places if place.is_file()), None)
        if path is not None:
            yield Page(file.removesuffix(".html"), path, url, must_have=page["with"], must_not_have=page["without"])


def _full_texts(truth: Path, part: Part) -> Iterator[Page]:
    expected = json.loads(truth.read_text(encoding="utf-8"))
    for id, page in sorted(expected.items()):
        path = truth.parent / "pages" / f"{id}.html"
        if part_of(id) is part and path.is_file():
            yield Page(
                id,
                path,
                page.get("url") or "https://example.org/",
                page.get("main_content") or page.get("articleBody") or "",
                page.get("type") or "",
                page.get("date") or page.get("publish_date") or "",
                page.get("with") or [],
                page.get("without") or [],
            )
