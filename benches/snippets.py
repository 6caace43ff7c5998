"""Scores trafilatura on snippets, on the same parts and by the same rule as `rutter-bench score`.

usage: snippets.py DIR

DIR holds evaldata*.json and the pages in html/, cache/ or eval/. A piece counts where it is in the text,
white space collapsed; precision, recall and F1 over all pieces. The parts are those of the SHA-256 of file
names.
"""

import glob
import hashlib
import json
import logging
import os
import re
import sys

import trafilatura
from trafilatura.utils import decode_file

logging.disable(logging.CRITICAL)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def main(folder):
    pages = json.load(open(glob.glob(os.path.join(folder, "evaldata*.json"))[0], encoding="utf8"))
    parts = [[0, 0, 0], [0, 0, 0]]
    for page in pages.values():
        places = [os.path.join(folder, place, page["file"]) for place in ("html", "cache", "eval")]
        path = next((place for place in places if os.path.isfile(place)), None)
        if path is None:
            continue
        html = decode_file(open(path, "rb").read())
        html = html if isinstance(html, str) else html.decode("utf8", "replace")
        try:
            text = trafilatura.extract(html, fast=False, include_comments=False, include_tables=True,
                                       include_formatting=False)
        except Exception:
            text = ""
        text = squeeze(text or "")
        part = parts[hashlib.sha256(page["file"].encode()).digest()[0] % 2]
        right = sum(squeeze(piece) in text for piece in page["with"])
        part[0] += right
        part[1] += sum(squeeze(piece) in text for piece in page["without"])
        part[2] += len(page["with"]) - right
    whole = [a + b for a, b in zip(*parts)]
    for name, (right, wrong, missing) in zip(("tuned on", "untouched", "all"), parts + [whole]):
        precision, recall = right / (right + wrong), right / (right + missing)
        f1 = 2 * precision * recall / (precision + recall)
        print(f"{f'trafilatura {trafilatura.__version__}, {name}':<28} P {precision:.3f}  R {recall:.3f}  F1 {f1:.4f}")


if __name__ == "__main__":
    main(sys.argv[1])
