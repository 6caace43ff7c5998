"""Expands the example's index with PyLD and compares the statements.

usage: spxi.py INDEX EXPECTED.nq
"""
import json
import pathlib
import sys

from pyld import jsonld


def refuse(url, options=None):
    raise RuntimeError(f"{url} would have been fetched")


jsonld.set_document_loader(refuse)
FORM = {"algorithm": "URDNA2015", "format": "application/n-quads"}
found = jsonld.normalize(json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8")), FORM)
wanted = pathlib.Path(sys.argv[2]).read_text("utf-8")
wanted = jsonld.normalize(wanted, {**FORM, "inputFormat": "application/n-quads"})
missing = sorted(set(wanted.splitlines()) - set(found.splitlines()))
extra = sorted(set(found.splitlines()) - set(wanted.splitlines()))
for mark, lines in (("-", missing), ("+", extra)):
    for line in lines:
        print(mark, line)
if missing or extra:
    sys.exit("the index says something else than expected")
print(f"interop: PyLD reads the {found.count(chr(10))} statements of the index")
