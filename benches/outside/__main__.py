"""Scores extraction on open sets, with peers on the same pages.

usage: python benches/outside --rutter PROGRAM --work DIR [--part train|tune|look-once]
           [--rust-peers PROGRAM] [--node DIR] SET_DIR...

PROGRAM is rutter-bench. Prints one table for each set, the 95 per cent interval of a paired bootstrap
beside each comparison, and a verdict for each goal. Exits with 1 where a goal is missed.
"""

import argparse
import sys
from pathlib import Path

import systems
from bootstrap import RESAMPLES, SEED, difference
from measures import Row, Score, score, score_page, string_shares
from sets import DataSet, Kind, Part, find_sets

SNIPPETS_GOAL = 0.940
WCXB_GOAL = 0.89
# Peers whose F1 on the set `andy` is the goal.
ANDY_PEERS = ("trafilatura", "rs-trafilatura")

Rows = dict[str, list[Row]]


class Report:
    """Prints tables and verdicts, and counts goals that are missed."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[bool, str]] = []

    def goal(self, is_met: bool, text: str) -> None:
        self.verdicts.append((is_met, text))

    def print_verdicts(self, part: Part) -> None:
        print(f"\ngoals on the part {part.value}")
        for is_met, text in self.verdicts:
            print(f"  {'ok    ' if is_met else 'MISSED'} {text}")

    def n_missed(self) -> int:
        return sum(not is_met for is_met, _ in self.verdicts)


def rows_of(data: DataSet, found: list[systems.System], work: Path) -> Rows:
    """The rows of each system, by its name, in the order of the pages."""
    rows = {}
    for system in found:
        texts = systems.texts(system, data, work)
        rows[system.name] = [score_page(data.kind, page, texts[page.id]) for page in data.pages]
    return rows


def best_peer(kind: Kind, rows: Rows) -> str | None:
    names = [name for name in rows if name != "rutter"]
    return max(names, key=lambda name: score(kind, rows[name]).f1, default=None)


def line(name: str, found: Score) -> str:
    return f"  {name:<24} P {found.precision:.4f}  R {found.recall:.4f}  F1 {found.f1:.4f}"


def print_set(data: DataSet, found: list[systems.System], rows: Rows) -> None:
    print(f"\n{data.name}: {len(data.pages)} pages, scored by {data.kind.value}")
    for system in found:
        text = line(system.title(), score(data.kind, rows[system.name]))
        shares = string_shares(rows[system.name])
        if data.kind is not Kind.SNIPPETS and shares is not None:
            text += f"  with {shares[0]:.3f}  without {shares[1]:.3f}"
        print(text)
    best = best_peer(data.kind, rows)
    if best is not None:
        print(f"  rutter minus {best}: {difference(data.kind, rows['rutter'], rows[best])}")


def print_types(data: DataSet, rows: Rows, report: Report) -> None:
    """F1 by page type; a goal for each type."""
    print(f"  {'F1 by type':<14} {'pages':>5}  " + "  ".join(f"{name:>14}" for name in rows))
    for type in sorted({page.type for page in data.pages}):
        chosen = [n for n, page in enumerate(data.pages) if page.type == type]
        own = {name: [all_rows[n] for n in chosen] for name, all_rows in rows.items()}
        figures = "  ".join(f"{score(data.kind, some).f1:>14.4f}" for some in own.values())
        best = best_peer(data.kind, own)
        print(f"  {type:<14} {len(chosen):>5}  {figures}", end="")
        if best is not None:
            found = difference(data.kind, own["rutter"], own[best])
            print(f"   rutter minus {best}: {found}")
            report.goal(not found.is_worse(), f"wcxb {type}: not worse than {best} beyond the interval: {found}")
        else:
            print()


def judge(data: DataSet, rows: Rows, report: Report) -> None:
    f1 = score(data.kind, rows["rutter"]).f1
    if data.kind is Kind.SNIPPETS:
        report.goal(f1 >= SNIPPETS_GOAL, f"snippets: F1 {f1:.4f}, at least {SNIPPETS_GOAL:.3f}")
    elif data.kind is Kind.WORDS_BY_TYPE:
        report.goal(f1 >= WCXB_GOAL, f"wcxb: F1 {f1:.4f}, at least {WCXB_GOAL:.3f}")
        print_types(data, rows, report)
    elif data.kind is Kind.FOUR_GRAMS:
        for peer in ANDY_PEERS:
            if peer not in rows:
                report.goal(False, f"{data.name}: {peer} is missing, not compared")
                continue
            theirs = score(data.kind, rows[peer]).f1
            found = difference(data.kind, rows["rutter"], rows[peer])
            report.goal(f1 >= theirs, f"{data.name}: F1 {f1:.4f}, at least that of {peer} ({theirs:.4f}): {found}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="outside")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--rutter", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--part", type=Part, default=Part.LOOK_ONCE)
    parser.add_argument("--rust-peers", type=Path)
    parser.add_argument("--node", type=Path)
    args = parser.parse_args()

    peers, missing = systems.peers(args.rust_peers, args.node)
    for message in missing:
        print(f"skipped: {message}")
    ours = systems.rutter(args.rutter)
    systems.forget_old_texts(ours, args.work)
    print(f"part {args.part.value}; intervals of 95 %: paired bootstrap, {RESAMPLES} resamples, seed {SEED}")
    report = Report()
    for data in find_sets(args.sets, args.part):
        rows = rows_of(data, [ours, *peers], args.work)
        print_set(data, [ours, *peers], rows)
        judge(data, rows, report)
    report.print_verdicts(args.part)
    return 1 if report.n_missed() else 0


if __name__ == "__main__":
    sys.exit(main())
