"""Scores kept text against the truth of a set: snippets, 4-grams for articles, words for the rest."""

import collections
import re
import statistics

WORD = re.compile(r"\w+")


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def snippets(pages):
    """P, R and F1 over all pieces; `pages` are (truth, text)."""
    right = wrong = missing = 0
    for truth, text in pages:
        text = squeeze(text)
        found = sum(squeeze(piece) in text for piece in truth["with"])
        right, missing = right + found, missing + len(truth["with"]) - found
        wrong += sum(squeeze(piece) in text for piece in truth["without"])
    precision, recall = right / max(1, right + wrong), right / max(1, right + missing)
    return precision, recall, f1(precision, recall)


def grams(text, n=4):
    tokens = WORD.findall(text or "")
    return collections.Counter(tuple(tokens[i:i + n]) for i in range(max(1, len(tokens) - n + 1))) if tokens else collections.Counter()


def articles(pages):
    """Mean precision and recall of 4-grams, and their F1."""
    precisions, recalls = [], []
    for truth, text in pages:
        found, wanted = grams(text), grams(truth.get("articleBody"))
        shared = sum((found & wanted).values())
        if found:
            precisions.append(shared / sum(found.values()))
        if wanted:
            recalls.append(shared / sum(wanted.values()))
    precision, recall = statistics.mean(precisions), statistics.mean(recalls)
    return precision, recall, f1(precision, recall)


def bag(text):
    return collections.Counter(WORD.findall((text or "").lower()))


def words(found, wanted):
    if not wanted:
        return (1.0, 1.0, 1.0) if not found else (0.0, 0.0, 0.0)
    if not found:
        return 0.0, 0.0, 0.0
    shared = sum((found & wanted).values())
    precision, recall = shared / sum(found.values()), shared / sum(wanted.values())
    return precision, recall, f1(precision, recall)


def by_type(pages):
    """Mean precision, recall and F1 of words, and the mean F1 of each type; `pages` are (truth, text)."""
    rows = [(truth.get("type"), words(bag(text), bag(truth.get("main_content") or truth.get("articleBody"))))
            for truth, text in pages]
    means = tuple(statistics.mean(row[k] for _, row in rows) for k in range(3))
    types = {kind: statistics.mean(row[2] for other, row in rows if other == kind)
             for kind in sorted({kind for kind, _ in rows if kind})}
    return means, types


def score(name, pages):
    """One line of scores for a set."""
    if name == "trafilatura":
        return "P {:.4f} R {:.4f} F1 {:.4f}".format(*snippets(pages))
    if name == "andy":
        return "P {:.4f} R {:.4f} F1 {:.4f}".format(*articles(pages))
    means, types = by_type(pages)
    return "P {:.4f} R {:.4f} F1 {:.4f}".format(*means) + "".join(f" {kind[:5]} {value:.3f}" for kind, value in types.items())


def retention(pages):
    """Documentation: shares of the truth that is kept and of the kept that is in the truth; `pages` are (truth, text)."""
    kept = wanted = found = 0
    for truth, text in pages:
        a, b = bag(text), bag(truth)
        kept, wanted, found = kept + sum((a & b).values()), wanted + sum(b.values()), found + sum(a.values())
    return kept / max(1, wanted), kept / max(1, found)
