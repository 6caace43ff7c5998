"""Scores dates of publication on open sets, beside htmldate on the same pages.

usage: python benches/outside/dates.py --rutter PROGRAM [--part train|tune|look-once] [--list FILE] SET_DIR...

PROGRAM is rutter-bench. Two measures, each for all sets together:
- annotated: pages whose date the set states, read as they are;
- stripped: pages that state their date in JSON-LD or `article:published_time`. All machine-readable
  dates are removed from the page; what is found in the rest is compared with the removed statement.
A date is right where its day is the expected one or a neighbour of it: a time near midnight has two
days. Precision is right / given, recall is right / pages. Exits with 1 where the precision of Rutter
is below that of htmldate. `--list` writes the pages with a wrong date (never those of look-once).
"""

import argparse
import datetime
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sets import Page, Part, find_sets

DAY = datetime.timedelta(days=1)
JSON_LD = re.compile(rb"<script[^>]*ld\+json[^>]*>(.*?)</script>", re.S | re.I)
META = re.compile(rb"<meta\b[^>]*>", re.I)
PUBLISHED = re.compile(rb"article:published_time", re.I)
# `meta` elements that state any date.
DATED = re.compile(rb"""(name|property|itemprop|http-equiv)\s*=\s*["']?[^"'>]*(date|time|modified|issued|created|revised)""", re.I)
CONTENT = re.compile(rb"""content\s*=\s*["']([^"']*)""", re.I)
ITEMPROP = re.compile(rb"""\sitemprop\s*=\s*["'](datePublished|dateModified|dateCreated)["']""", re.I)
STATED = re.compile(rb'"datePublished"\s*:\s*"([^"]*)"')
ISO_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


@dataclass(frozen=True)
class Case:
    page: Page
    html: bytes
    day: datetime.date


def day_of(text: str) -> datetime.date | None:
    found = ISO_DAY.match(text.strip())
    try:
        return datetime.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def annotated(pages: list[Page]) -> list[Case]:
    cases = ((page, day_of(page.date)) for page in pages)
    return [Case(page, page.path.read_bytes(), day) for page, day in cases if day]


def stripped(pages: list[Page]) -> list[Case]:
    cases = []
    for page in pages:
        html = page.path.read_bytes()
        stated = [text for block in JSON_LD.findall(html) for text in STATED.findall(block)]
        metas = [meta for meta in META.findall(html) if PUBLISHED.search(meta)]
        stated += [text for meta in metas for text in CONTENT.findall(meta)]
        days = {day_of(text.decode(errors="replace")) for text in stated}
        # A page that states several days says nothing that could be expected.
        if len(days) == 1 and (day := days.pop()):
            html = JSON_LD.sub(b"", html)
            html = META.sub(lambda meta: b"" if DATED.search(meta[0]) else meta[0], html)
            cases.append(Case(page, ITEMPROP.sub(b"", html), day))
    return cases


def by_rutter(program: Path, cases: list[Case]) -> list[datetime.date | None]:
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for n, case in enumerate(cases):
            path = Path(folder) / f"{n}.html"
            path.write_bytes(case.html)
            lines.append(f"{path}\t{case.page.url}\n")
        listing = Path(folder) / "list"
        listing.write_text("".join(lines), encoding="utf-8")
        out = subprocess.run([program, "dates", listing], check=True, capture_output=True, text=True)
    return [day_of(json.loads(line)["published"] or "") for line in out.stdout.splitlines()]


def by_htmldate(cases: list[Case]) -> list[datetime.date | None]:
    from htmldate import find_date

    found = []
    for case in cases:
        try:
            found.append(day_of(find_date(case.html, url=case.page.url, original_date=True) or ""))
        except Exception:  # a page it cannot read has no date
            found.append(None)
    return found


def is_right(found: datetime.date, wanted: datetime.date) -> bool:
    return abs(found - wanted) <= DAY


def score(name: str, cases: list[Case], found: list[datetime.date | None]) -> float:
    """Prints the scores of a system; returns its precision."""
    given = [(day, case.day) for day, case in zip(found, cases) if day]
    right = sum(is_right(*pair) for pair in given)
    precision = right / max(1, len(given))
    print(f"  {name:<16} P {precision:.4f}  R {right / max(1, len(cases)):.4f}  given {len(given)}")
    return precision


def main() -> int:
    parser = argparse.ArgumentParser(prog="dates")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--rutter", type=Path, required=True)
    parser.add_argument("--part", type=Part, default=Part.LOOK_ONCE)
    parser.add_argument("--list", type=Path)
    args = parser.parse_args()
    pages = [page for data in find_sets(args.sets, args.part) for page in data.pages]
    wrong, is_met = [], True
    for name, cases in (("annotated", annotated(pages)), ("stripped", stripped(pages))):
        print(f"\ndates of publication, part {args.part.value}, {name}: {len(cases)} pages")
        ours = by_rutter(args.rutter, cases)
        precision = score("rutter", cases, ours)
        try:
            theirs = by_htmldate(cases)
            is_met &= precision >= score("htmldate", cases, theirs)
        except ImportError:
            print("  htmldate is not installed")
            theirs = [None] * len(cases)
        for case, day, other in zip(cases, ours, theirs):
            if day != case.day or other != case.day:
                wrong.append(f"{name}\t{case.page.path}\t{case.day}\t{day}\t{other}\n")
    if args.list and args.part is not Part.LOOK_ONCE:
        args.list.write_text("".join(wrong))
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
