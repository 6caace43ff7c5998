"""How a text is scored against what is expected of its page.

Each kind of set keeps the rule of its own benchmark:

- snippets (trafilatura): a string counts where it is in the text, white space collapsed; precision,
  recall and F1 over the strings of all pages;
- words (WCXB): words in lower case as a multiset; precision, recall and F1 of each page, then their
  means. Chinese, Japanese and Korean characters count as words of their own in the other sets;
- 4-grams (article-extraction-benchmark): true positives, false positives and false negatives of each
  page as shares of their sum; means of precision and recall over pages; F1 of the two means.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sets import Kind, Page

WORD = re.compile(r"\w+")
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD_OR_CJK = re.compile(f"[{CJK}]|[^\\W{CJK}]+")


@dataclass(frozen=True)
class Row:
    """What one text scores on one page; the meaning of the numbers depends on the kind of set."""

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    right: float = 0.0
    wrong: float = 0.0
    missing: float = 0.0
    must_not_have: int = 0


@dataclass(frozen=True)
class Score:
    precision: float
    recall: float
    f1: float


def squeeze(text: str) -> str:
    return " ".join(text.split())


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score_page(kind: Kind, page: Page, text: str) -> Row:
    if kind is Kind.SNIPPETS:
        return _strings(page, squeeze(text), squeeze)
    if kind is Kind.FOUR_GRAMS:
        return _four_grams(text, page.text)
    word = WORD if kind is Kind.WORDS_BY_TYPE else WORD_OR_CJK
    precision, recall, f1 = _words(word, text, page.text)
    strings = _strings(page, text.lower(), str.lower)
    return Row(precision, recall, f1, strings.right, strings.wrong, strings.missing, strings.must_not_have)


def score(kind: Kind, rows: Sequence[Row]) -> Score:
    """The score of a set from the rows of its pages."""
    if not rows:
        return Score(0.0, 0.0, 0.0)
    if kind is Kind.SNIPPETS:
        right = sum(row.right for row in rows)
        precision = right / (right + sum(row.wrong for row in rows) or 1)
        recall = right / (right + sum(row.missing for row in rows) or 1)
        return Score(precision, recall, harmonic(precision, recall))
    if kind is Kind.FOUR_GRAMS:
        precisions = [row.right / (row.right + row.wrong) for row in rows if row.right + row.wrong]
        recalls = [row.right / (row.right + row.missing) for row in rows if row.right + row.missing]
        precision, recall = _mean(precisions), _mean(recalls)
        return Score(precision, recall, harmonic(precision, recall))
    return Score(
        _mean([row.precision for row in rows]), _mean([row.recall for row in rows]), _mean([row.f1 for row in rows])
    )


def string_shares(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The share of required strings that were found, and of unwanted strings that were found."""
    required = sum(row.right + row.missing for row in rows)
    unwanted = sum(row.must_not_have for row in rows)
    if not required or not unwanted:
        return None
    return sum(row.right for row in rows) / required, sum(row.wrong for row in rows) / unwanted


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _strings(page: Page, text: str, normal) -> Row:
    right = sum(normal(string) in text for string in page.must_have)
    wrong = sum(normal(string) in text for string in page.must_not_have)
    missing = len(page.must_have) - right
    return Row(right=right, wrong=wrong, missing=missing, must_not_have=len(page.must_not_have))


def _words(word: re.Pattern[str], text: str, expected: str) -> tuple[float, float, float]:
    made, wanted = Counter(word.findall(text.lower())), Counter(word.findall(expected.lower()))
    if not made or not wanted:
        equal = float(made == wanted)
        return equal, equal, equal
    shared = (made & wanted).total()
    precision, recall = shared / made.total(), shared / wanted.total()
    return precision, recall, harmonic(precision, recall)


def _four_grams(text: str, expected: str) -> Row:
    made, wanted = _shingles(text), _shingles(expected)
    right, wrong, missing = (made & wanted).total(), (made - wanted).total(), (wanted - made).total()
    total = right + wrong + missing or 1
    return Row(right=right / total, wrong=wrong / total, missing=missing / total)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    """Runs of four words; a shorter text is one run."""
    words = WORD.findall(text)
    if not words:
        return Counter()
    return Counter(tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3)))
