"""Texts of pages by an extractor of PyPI.

usage: texts.py trafilatura|resiliparse LIST

Each line of LIST holds an input file (HTML in UTF-8), an output file and the URL, separated by tabs.
"""

import logging
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")


def by_trafilatura() -> Callable[[str, str], str | None]:
    """The options of trafilatura's own evaluation."""
    import trafilatura

    return lambda html, url: trafilatura.extract(
        html, url=url, fast=False, include_comments=False, include_tables=True, include_formatting=False
    )


def by_resiliparse() -> Callable[[str, str], str | None]:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, _: extract_plain_text(html, main_content=True, alt_texts=False, list_bullets=False)


def main(name: str, listing: str) -> None:
    extract = {"trafilatura": by_trafilatura, "resiliparse": by_resiliparse}[name]()
    for line in Path(listing).read_text(encoding="utf-8").splitlines():
        source, output, url = line.split("\t")
        html = Path(source).read_text(encoding="utf-8", errors="replace")
        try:
            text = extract(html, url) or ""
        except Exception:  # A page on which the extractor fails counts as empty.
            text = ""
        partial = f"{output}.partial"
        Path(partial).write_text(text, encoding="utf-8", errors="replace")
        os.replace(partial, output)


if __name__ == "__main__":
    main(*sys.argv[1:3])
