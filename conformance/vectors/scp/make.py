#!/usr/bin/env python3
# SPDX-License-Identifier: CC0-1.0
"""Writes the SCP 0.1 conformance vectors, or checks them with --check.

Needs Python 3.11 and the package `zstandard`.
Run it by hand; the files it writes are kept under version control.

Every case states its verdict as the rule codes that apply.
What a lenient reader and a strict judge report follows from the gravity of each rule.
Nothing here reads a collection in order to find out what to expect of it.
"""

import hashlib
import json
import re
import struct
import sys
import zlib
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlsplit

import zstandard

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
MERGE = HERE / "merge"
LARGEST_FILE = 150_000
LARGEST_SUITE = 600_000

# ---------------------------------------------------------------- the rules

# fatal    the whole file is rejected, by readers and judges alike
# warning  a reader reports it and goes on, a judge rejects
# advice   both report it, neither rejects
# note     both mention it, neither rejects
# judge    only a validator reports it, and rejects
# hint     only a judge mentions it, and does not reject
GRAVITY = {
    "fatal": """SC001 SC002 SC003 SC004 SC005 SC006 SC007 SC008 SC009 SC010 SC011 SC012 SC013
                SC014 SC015 SC016 SC017 SC018 SC019 SC030 SC031 SC044 SC059 SC063""",
    "warning": """SC020 SC021 SC022 SC023 SC024 SC025 SC026 SC027 SC029 SC032 SC033 SC034 SC035 SC037
                  SC038 SC039 SC040 SC041 SC043 SC050 SC051 SC052 SC057 SC058 SC060 SC061 SC064 SC066""",
    "advice": "SC056",
    "note": "SC042 SC053 SC054",
    "judge": "SC028 SC036",
    "hint": "SC055 SC062 SC065",
}
RULES = {code: gravity for gravity, codes in GRAVITY.items() for code in codes.split()}
REJECTS_IN_STRICT = {"warning", "judge"}
SILENT_IN_LENIENT = {"judge", "hint"}

# ------------------------------------------------------------ building blocks

GENERATED = "2026-05-01T06:00:00Z"
MODIFIED = "2026-04-30T12:00:00Z"
HOST = "https://harbour.example"


def dumps(value):
    """Compact JSON, letters outside ASCII as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def text(words="High water at six, low water at noon."):
    return {"type": "text", "text": words}


def page(path="/tides", **members):
    """A page of the harbour town; a member given as `...` is left out."""
    whole = {
        "url": path if ":" in path else HOST + path,
        "title": "Tide table",
        "description": "When the water comes and goes.",
        "modified": MODIFIED,
        "language": "en",
        "content": [text()],
    }
    whole.update(members)
    return {key: value for key, value in whole.items() if value is not ...}


TIDES = page("/tides")
FERRY = page("/ferry", title="Ferry", description="Crossings to the island.",
             content=[{"type": "heading", "level": 1, "text": "Ferry"}, text("Four crossings a day.")])
MARKET = page("/market", title="Fish market", description="What the boats brought in.",
              content=[text("Open from five.")])
TOWN = [TIDES, FERRY]


def head(**members):
    """The members of `collection`; one given as `...` is left out."""
    whole = {
        "id": "harbour-snapshot-1",
        "section": "harbour",
        "type": "snapshot",
        "generated": GENERATED,
        "version": "0.1",
    }
    whole.update(members)
    return {key: value for key, value in whole.items() if value is not ...}


def delta_head(**members):
    return head(**({"id": "harbour-delta-1", "type": "delta", "since": "2026-04-30T06:00:00Z"} | members))


def lines(pages):
    """Page lines, each after a line feed; texts and bytes are taken as they are."""
    out = b""
    for item in pages:
        line = item if isinstance(item, (str, bytes)) else dumps(item)
        out += b"\n" + (line.encode() if isinstance(line, str) else line)
    return out


def seal(before, member, after, rest):
    """Joins line 1 and the rest, with the checksum of what is there without `member`.

    `member` holds %s where the 64 digits go.
    """
    before, after = before.encode(), after.encode()
    digits = sha256(before + after + rest)
    return before + (member % digits).encode() + after + rest


def plain(pages=TOWN, meta=None, start="", tail=b""):
    """A collection with its checksum last, in the usual compact form."""
    line_1 = dumps({"collection": meta or head()})
    return seal(start + line_1[:-2], ',"checksum":"sha256:%s"', "}}", lines(pages) + tail)


def bare(pages=TOWN, meta=None, tail=b""):
    """A collection without checksum."""
    return dumps({"collection": meta or head()}).encode() + lines(pages) + tail


def deflate(data):
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return machine.compress(data) + machine.flush()


def gzip(data):
    """One gzip member: no time, no name, system unknown."""
    header = b"\x1f\x8b\x08" + bytes(5) + b"\x02\xff"
    return header + deflate(data) + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def zstd(data, level=9):
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(data)


def zstd_window(data, log):
    """One zstd frame that asks for a window of two to the power of `log`."""
    params = zstandard.ZstdCompressionParameters.from_level(3, window_log=log, write_checksum=True)
    machine = zstandard.ZstdCompressor(compression_params=params).compressobj()
    frame = machine.compress(data) + machine.flush()
    assert zstandard.get_frame_parameters(frame).window_size == 1 << log
    return frame


def zstd_dictionary(data):
    """One raw zstd frame that names dictionary 42."""
    assert 256 <= len(data) < 65536
    block = struct.pack("<I", len(data) << 3 | 1)[:3] + data
    return b"\x28\xb5\x2f\xfd" + b"\x61" + b"\x2a" + struct.pack("<H", len(data) - 256) + block


def skippable(data, number=0):
    return struct.pack("<II", 0x184D2A50 + number, len(data)) + data


def nested(depth):
    """JSON text of objects, `depth` levels deep."""
    return '{"a":' * depth + "1" + "}" * depth


def with_raw(value, raw):
    """Writes a value as JSON with the string "@@" replaced by JSON text."""
    return dumps(value).replace('"@@"', raw)


def key(url):
    """The address by which pages are told apart; enough of it for our own addresses."""
    parts = urlsplit(url)
    host = parts.hostname
    default = {"https": 443, "http": 80}[parts.scheme]
    if parts.port not in (None, default):
        host += f":{parts.port}"
    assert "/." not in parts.path and host.isascii()
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}{parts.path or '/'}{query}"


def weight(url, line):
    digest = hashlib.sha256(line).digest()[:16].hex()
    return int.from_bytes(hashlib.sha256(f"{key(url)}\n{digest}".encode()).digest()[:16], "big")


def state(pages):
    """The state of a section that holds exactly these pages."""
    total = sum(weight(item["url"], dumps(item).encode()) for item in pages)
    return f"{total % (1 << 128):032x}"


# --------------------------------------------------------------------- cases

CASES = []


def case(name, about, clauses, data, *codes, pages=None, skipped=0, given=None, ext=".scp"):
    """Adds a case. A fatal code stands alone; otherwise `pages` says what a reader gets."""
    fatal = [code for code in codes if RULES[code] == "fatal"]
    assert not fatal or (len(codes) == 1 and pages is None), name
    assert fatal or pages is not None, name
    assert all(other["name"] != name for other in CASES), name
    CASES.append({"name": name, "about": about, "clauses": clauses.split(), "data": data,
                  "codes": sorted(set(codes)), "reason": fatal[0] if fatal else None,
                  "pages": pages, "skipped": skipped, "given": given, "ext": ext})


def expectation(it):
    """What each mode is to say about a case."""
    out = {"about": it["about"], "clauses": it["clauses"], "file": it["name"] + it["ext"]}
    if it["given"]:
        out["given"] = it["given"]
    if it["reason"]:
        verdict = {"verdict": "rejected", "reason": it["reason"]}
        return out | {"lenient": verdict, "strict": verdict}
    heard = [code for code in it["codes"] if RULES[code] not in SILENT_IN_LENIENT]
    is_rejected = any(RULES[code] in REJECTS_IN_STRICT for code in it["codes"])
    out["lenient"] = {"verdict": "accepted", "findings": heard,
                      "pages": it["pages"], "skipped": it["skipped"]}
    out["strict"] = {"verdict": "rejected" if is_rejected else "accepted", "findings": it["codes"]}
    return out


def one_page(name, about, clauses, item, *codes, **more):
    """A case about one page; a second, sound page follows it."""
    count = {} if any(RULES[code] == "fatal" for code in codes) else {"pages": 2}
    case(name, about, clauses, plain([item, FERRY]), *codes, **(count | more))


def skipped_page(name, about, clauses, item, *codes, **more):
    one_page(name, about, clauses, item, *codes, **({"pages": 1, "skipped": 1} | more))


def one_block(name, about, clauses, block, *codes, **more):
    """A case about one block; a text block stands before and after it."""
    content = [text("Before."), block, text("After.")]
    one_page(name, about, clauses, page("/quay", content=content), *codes, **more)


# ------------------------------------------------------- cases: the checksum


def checksum_cases():
    rest = lines(TOWN)
    h = head()
    line = dumps({"collection": h})
    digits_of = "sha256:%s"

    case("checksum-last", "Excised form with the checksum as last member, the way writers put it.",
         "D01 D02 SCP-024 SCP-026", plain(), pages=2)
    first = line.replace('{"id"', '"id"', 1)
    case("checksum-first", "Checksum as first member: the cut takes the comma after it.",
         "D02 SCP-024",
         seal('{"collection":{', '"checksum":"sha256:%s",', first[len('{"collection":'):], rest), pages=2)
    at = line.index(',"version"')
    case("checksum-middle", "Checksum before version, as the samples of the specification have it.",
         "D02 SCP-024", seal(line[:at], ',"checksum":"sha256:%s"', line[at:], rest), pages=2)
    spaced = json.dumps({"collection": h}, ensure_ascii=False)
    case("checksum-last-spaced", "Line 1 written with blanks; the cut takes the blank before the member.",
         "D02", seal(spaced[:-2], ', "checksum": "sha256:%s"', "}}", rest), pages=2)
    body = spaced[len('{"collection": {'):]
    case("checksum-first-spaced", "Checksum first, with blanks; the blank after its comma stays.",
         "D02", seal('{"collection": {', '"checksum": "sha256:%s",', " " + body, rest), pages=2)
    at = spaced.index(', "version"')
    case("checksum-middle-wide", "Blanks and tabs on all sides of the member belong to the cut.",
         "D02", seal(spaced[:at] + " ", ',\t "checksum"  :\t"sha256:%s" ', spaced[at:], rest), pages=2)
    case("checksum-key-escaped", "The member's name is spelled with an escape; JSON decides what it says.",
         "D02", seal(line[:-2], ',"check\\u0073um":"sha256:%s"', "}}", rest), pages=2)

    case("checksum-final-lf-covered", "A final line feed that the checksum covers is nothing special.",
         "D02 SCP-025", plain(tail=b"\n"), pages=2)
    case("checksum-final-lf-added", "A line feed was added at the end after hashing.",
         "D02", plain() + b"\n", "SC053", pages=2)
    case("checksum-final-crlf-added", "A carriage return and line feed were added at the end after hashing.",
         "D02 D32", plain() + b"\r\n", "SC051", "SC053", pages=2)
    case("checksum-final-lf-added-no-pages", "The added line feed ends line 1, because there are no pages.",
         "D02", plain([]) + b"\n", "SC053", pages=0)
    case("checksum-two-lf-added", "Two line feeds were added; only one is forgiven.",
         "D02 SCP-029", plain() + b"\n\n", "SC016")
    case("checksum-final-lf-lost", "The checksum covers a final line feed that is not there any more.",
         "D02 SCP-029", plain(tail=b"\n")[:-1], "SC016")
    case("checksum-lf-became-crlf", "An upload turned line feeds into CRLF after hashing.",
         "D02 D32 SCP-029", plain().replace(b"\n", b"\r\n"), "SC016")
    case("checksum-bom-added", "An editor put a byte order mark before the hashed text.",
         "D32 SCP-029", b"\xef\xbb\xbf" + plain(), "SC016")

    def with_digits(source, after=b""):
        """The usual form with digits that come from a text with zeros or from what `source` makes."""
        frame = lambda digits: (line[:-2] + ',"checksum":"%s"}}' % (digits_of % digits)).encode() + rest + after
        return frame(source(frame("0" * 64)))

    case("checksum-zeroed", "Zeroed form: the 64 digits were zeros while the text was hashed.",
         "D02", with_digits(sha256), "SC054", pages=2)
    case("checksum-zeroed-then-lf", "Zeroed form, then a line feed added: that newline is not forgiven.",
         "D02 SCP-029", with_digits(sha256) + b"\n", "SC016")
    case("checksum-pages-only", "The digest covers the page lines alone and leaves line 1 unprotected.",
         "D02 SCP-029", with_digits(lambda whole: sha256(whole.split(b"\n", 1)[1])), "SC016")
    redumped = sha256(line.encode() + rest)
    spaced_with = spaced[:-2] + f', "checksum": "sha256:{redumped}"' + "}}"
    case("checksum-redumped-compact", "Line 1 has blanks, the digest was taken from a compact copy of it.",
         "D02 SCP-029", spaced_with.encode() + rest, "SC016")
    redumped = sha256(spaced.encode() + rest)
    spaced_first = '{"collection": {' + f'"checksum": "sha256:{redumped}", ' + body
    case("checksum-redumped-first", "Checksum first with blanks, digest from a copy that lacks one blank.",
         "D02 SCP-029", spaced_first.encode() + rest, "SC016")

    trap = dumps({"collection": h | {"note": ',"checksum":"sha256:' + "0" * 64 + '"'}})
    case("checksum-lookalike-in-text", "Another member's text holds the same characters; the cut must not go there.",
         "D02", seal(trap[:-2], ',"checksum":"sha256:%s"', "}}", rest), pages=2)
    trap = dumps({"collection": {"audit": {"checksum": "sha256:" + "1" * 64}} | h})
    case("checksum-lookalike-in-object", "An unknown object inside the metadata has a checksum of its own.",
         "D02 SCP-017", seal(trap[:-2], ',"checksum":"sha256:%s"', "}}", rest), pages=2)
    trap = dumps({"checksum": "sha256:" + "2" * 64, "collection": h})
    case("checksum-lookalike-outside", "A checksum beside `collection` is not the collection's.",
         "D02 SCP-017", seal(trap[:-2], ',"checksum":"sha256:%s"', "}}", rest), pages=2)

    good = plain()
    digits = good.split(b"sha256:")[1][:64]
    case("checksum-upper-case", "Upper-case digits are compared as lower case.",
         "D03 A04 SCP-088", good.replace(digits, digits.upper()), pages=2)
    case("checksum-63-digits", "One digit is missing.", "D03 A04 SCP-088",
         good.replace(digits, digits[:-1]), "SC015")
    case("checksum-66-digits", "Two digits too many.", "D03 A04 SCP-088",
         good.replace(digits, digits + b"00"), "SC015")
    case("checksum-not-hex", "A letter that is no hexadecimal digit.", "D03 SCP-088",
         good.replace(digits, b"g" + digits[1:]), "SC015")
    case("checksum-md5", "Another algorithm.", "D03 A04 SCP-088",
         good.replace(b"sha256:" + digits, b"md5:" + digits[:32]), "SC015")
    case("checksum-no-prefix", "Digits without the name of the algorithm.", "D03 SCP-027 SCP-088",
         good.replace(b"sha256:", b""), "SC015")
    case("checksum-not-a-string", "The checksum is a number.", "D03 SCP-088",
         bare(meta=head(checksum=256)), "SC015")
    case("checksum-wrong", "A well-formed digest of something else.", "D02 A04 SCP-029 SCP-030",
         good.replace(digits, sha256(b"another harbour").encode()), "SC016")
    case("checksum-page-changed", "One word of a page was changed after hashing.",
         "D02 SCP-029", good.replace(b"Four crossings", b"Five crossings"), "SC016")
    case("checksum-metadata-changed", "The section was changed after hashing.",
         "D02 SCP-029", good.replace(b'"section":"harbour"', b'"section":"harbor"'), "SC016")
    case("checksum-page-lost", "The file was cut at the end of a line.",
         "D02 A03 SCP-029", good.rsplit(b"\n", 1)[0], "SC016")
    case("checksum-twice", "Two checksum members, both with the right digits.", "D02",
         good.replace(b'"checksum":"sha256:' + digits + b'"',
                      b'"checksum":"sha256:' + digits + b'","checksum":"sha256:' + digits + b'"'), "SC017")
    case("checksum-twice-escaped", "Two checksum members, one of them spelled with an escape.", "D02",
         good.replace(b'"checksum"', b'"\\u0063hecksum":"sha256:' + digits + b'","checksum"'), "SC017")
    case("collection-twice", "Two collection members on line 1.", "D02",
         good.replace(b'{"collection":', b'{"collection":{},"collection":', 1), "SC017")
    case("checksum-absent", "No checksum: allowed, and a judge mentions it.", "SCP-015 SCP-031",
         bare(), "SC055", pages=2)


# ------------------------------------------------------ cases: the container


def container_cases():
    case("container-empty", "A file without a byte.", "A01 D32 SCP-007", b"", "SC001")
    case("container-newline-only", "A file that is one line feed.", "A01 D32 SCP-007", b"\n", "SC001")
    case("container-bom-only", "A file that is a byte order mark.", "A01 D32 SCP-007", b"\xef\xbb\xbf", "SC001")
    case("container-empty-gzip", "A gzip member that holds nothing.", "A01 D32", gzip(b""), "SC001", ext=".scp.gz")
    case("container-no-pages", "A snapshot without pages is a sound file; what to do with it is another matter.",
         "D27 A23 SCP-003", plain([]), pages=0)
    case("container-no-pages-lf", "The same with the line feed that ends line 1.", "D27 SCP-003",
         plain([], tail=b"\n"), pages=0)
    html = b"<!DOCTYPE html>\n<html><head><title>Not found</title></head><body>No such pier.</body></html>\n"
    case("container-html", "A server sent its error page under the collection's name.", "A08 D05 SCP-007", html, "SC003")
    case("container-html-gzip", "The error page, compressed.", "A08 D05 SCP-007", gzip(html), "SC003", ext=".scp.gz")
    case("container-xml", "An object store sent its error document.", "A08 D05 SCP-007",
         b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', "SC003")
    case("container-array", "One JSON array instead of lines.", "D05 SCP-007", dumps([head()] + TOWN).encode(), "SC003")
    case("container-leading-blank", "A blank stands before line 1.", "A10 D32", plain(start=" \t"), pages=2)
    case("container-leading-line", "Blank lines stand before line 1.", "A10 D32 SCP-004", plain(start=" \n\n"), "SC052", pages=2)
    case("container-utf-16-bom", "UTF-16 with its byte order mark.", "A10 D05 SCP-002",
         b"\xff\xfe" + plain().decode().encode("utf-16-le"), "SC003")
    case("container-utf-16", "UTF-16 without byte order mark: every second byte is NUL.", "A10 D32 SCP-096",
         plain().decode().encode("utf-16-le"), "SC008")
    case("container-error-object", "A JSON error message instead of a collection.", "D32 SCP-007 SCP-008",
         b'{"error":"not found"}', "SC010")
    case("container-pages-only", "Line 1 is already a page.", "D32 SCP-003 SCP-007", lines(TOWN)[1:], "SC010")
    case("container-collection-array", "`collection` is an array.", "D32 SCP-008", b'{"collection":[]}' + lines(TOWN), "SC010")
    case("container-collection-string", "`collection` is a string.", "D32 SCP-008",
         b'{"collection":"harbour"}' + lines(TOWN), "SC010")
    case("container-line-1-cut", "Line 1 ends in the middle.", "D32 SCP-096", plain()[:60], "SC008")
    case("container-pretty-printed", "Line 1 is spread over several lines.", "D32 SCP-002 SCP-096",
         json.dumps({"collection": head()}, indent=2).encode() + lines(TOWN), "SC008")
    case("container-two-collections", "A second collection was appended; its line 1 is no page.", "SCP-003 SCP-004 SCP-097",
         bare() + b"\n" + bare([MARKET]), "SC030")

    case("container-bom", "A byte order mark before line 1, covered by the checksum.", "D32 SCP-002",
         plain(start="\ufeff"), "SC050", pages=2)
    case("container-crlf", "All lines end with CRLF, covered by the checksum.", "A10 D32 SCP-002",
         seal(dumps({"collection": head()})[:-2], ',"checksum":"sha256:%s"', "}}",
              lines(TOWN).replace(b"\n", b"\r\n") + b"\r\n"), "SC051", pages=2)
    case("container-crlf-once", "One line of several ends with CRLF.", "D32 SCP-002",
         plain([dumps(TIDES) + "\r", FERRY]), "SC051", pages=2)
    case("container-blank-line", "A blank line between two pages.", "A10 D32 SCP-004",
         plain([TIDES, "", FERRY]), "SC052", pages=2)
    case("container-blank-after-line-1", "A blank line between the metadata and the first page.", "A10 D32 SCP-004",
         plain(["", TIDES, FERRY]), "SC052", pages=2)
    case("container-line-of-blanks", "A line of spaces and tabs is blank too.", "A10 D32 SCP-004",
         plain([TIDES, " \t ", FERRY]), "SC052", pages=2)
    case("container-blank-lines-at-end", "Blank lines at the end are nothing.", "A10 D32",
         plain(TOWN + ["", ""], tail=b"\n"), pages=2)
    case("container-unknown-members", "Line 1 has unknown members, beside and inside `collection`.",
         "D32 SCP-017 SCP-021",
         seal('{"comment":[1,2],' + dumps({"collection": head(keeper={"name": "Ada", "shifts": [[1], [2]]})})[1:-2],
              ',"checksum":"sha256:%s"', "}}", lines(TOWN)), pages=2)

    case("json-trailing-comma", "A trailing comma on line 3.", "A10 D32 SCP-091 SCP-096",
         plain([TIDES, dumps(FERRY)[:-1] + ",}", MARKET]), "SC008")
    case("json-last-line-cut", "The last page ends in the middle, and there is no checksum to tell.",
         "D32 SCP-096", bare()[:-40], "SC008")
    case("json-two-on-a-line", "Two pages on one line.", "D32 SCP-002 SCP-096",
         plain([dumps(TIDES) + dumps(FERRY)]), "SC008")
    case("json-line-break-in-text", "A real line break inside a string.", "D32 SCP-002 SCP-096",
         plain([dumps(TIDES).replace("six, ", "six,\n")]), "SC008")
    case("json-nan", "NaN is not JSON.", "D32 SCP-096", plain([with_raw(page(depth="@@"), "NaN")]), "SC008")
    case("json-single-quotes", "Single quotes are not JSON.", "D32 SCP-096",
         plain([dumps(TIDES).replace('"', "'")]), "SC008")
    case("json-nul", "A raw NUL inside a string.", "A10 D32 SCP-096",
         plain([dumps(TIDES).replace("water", "wa\0ter")]), "SC008")
    case("json-nul-escaped", "An escaped NUL is an ordinary character of JSON.", "A10",
         plain([page(title="Tide\0table"), FERRY]), pages=2)
    case("json-lone-surrogate", "Half of a surrogate pair, written as an escape in the title.", "A10 D32 SCP-096",
         plain([dumps(TIDES).replace("Tide table", "Tide \\ud83d table")]), "SC008")
    case("json-lone-surrogate-in-block", "Half of a surrogate pair in the text of a block.", "A10 D32 SCP-096",
         plain([dumps(TIDES).replace("High", "\\udc00High")]), "SC008")
    case("json-surrogate-pair", "A whole surrogate pair is one character.", "SCP-002",
         plain([dumps(TIDES).replace("Tide table", "Tide \\ud83c\\udf0a table"), FERRY]), pages=2)
    case("json-bom-inside", "A byte order mark at the start of line 3.", "D32 SCP-096",
         plain([TIDES, "\ufeff" + dumps(FERRY)]), "SC008")
    case("json-array-line", "A line that is an array.", "D32 SCP-004", plain([TIDES, dumps([FERRY])]), "SC009")
    case("json-string-line", "A line that is a string.", "D32 SCP-004", plain([TIDES, '"ferry"']), "SC009")
    case("json-null-line", "A line that is null.", "D32 SCP-004", plain([TIDES, "null", FERRY]), "SC009")
    case("utf-8-latin-1", "A page written in Latin-1.", "A10 D32 SCP-002 SCP-096",
         plain([TIDES, dumps(page("/f", title="Fähre")).encode("latin-1")]), "SC007")
    case("utf-8-overlong", "A slash in two bytes.", "D32 SCP-002 SCP-096",
         plain([TIDES, dumps(FERRY).encode().replace(b"island", b"is\xc0\xafland")]), "SC007")
    case("utf-8-surrogate", "A surrogate in three bytes.", "D32 SCP-002 SCP-096",
         plain([TIDES, dumps(FERRY).encode().replace(b"island", b"is\xed\xa0\x80land")]), "SC007")
    case("utf-8-line-1", "Line 1 is not UTF-8.", "D32 SCP-002",
         bare(meta=head(keeper="Zoe")).replace(b"Zoe", b"Zo\xeb"), "SC007")

    def deep(depth):
        return with_raw(page(schema="@@"), nested(depth))

    case("nesting-127", "`schema` is 127 levels deep; with the page object that makes 128.", "A22 D38 SCP-183",
         plain([deep(127), FERRY]), pages=2)
    case("nesting-128", "`schema` is 128 levels deep; with the page object that makes 129.", "A22 D38 SCP-183",
         plain([deep(128), FERRY]), "SC008")
    case("nesting-129", "`schema` is 129 levels deep.", "A22 D38 SCP-183", plain([deep(129), FERRY]), "SC008")
    case("nesting-block-deep", "An unknown member of a block brings the line to 129 levels.", "A22 D38 SCP-183",
         plain([with_raw(page(content=[text() | {"x": "@@"}]), nested(126)), FERRY]), "SC008")
    case("nesting-block-limit", "The same one level less: 128, which is allowed.", "A22 D38 SCP-183",
         plain([with_raw(page(content=[text() | {"x": "@@"}]), nested(125)), FERRY]), pages=2)
    case("nesting-brackets-in-text", "Brackets inside a string are not levels.", "A22 D38",
         plain([page(title="[" * 300 + "\\\"{" * 50), FERRY]), pages=2)

    def deep_meta(depth):
        line = with_raw({"collection": head(keeper="@@")}, nested(depth))
        return seal(line[:-2], ',"checksum":"sha256:%s"', "}}", lines(TOWN))

    case("nesting-metadata-limit", "An unknown member of the metadata brings line 1 to 128 levels.", "D38 SCP-183",
         deep_meta(126), pages=2)
    case("nesting-metadata-deep", "One level more than that.", "D38 SCP-183", deep_meta(127), "SC008")


# ---------------------------------------------------------- cases: the codings


def coding_cases():
    whole = plain()
    half = len(whole) // 2
    gz, zst = gzip(whole), zstd(whole)

    case("coding-gzip", "One gzip member.", "SCP-006 SCP-090 SCP-215", gz, pages=2, ext=".scp.gz")
    case("coding-zstd", "One zstd frame.", "SCP-006 SCP-090 SCP-215", zst, pages=2, ext=".scp.zst")
    case("coding-gzip-header-fields", "A gzip header with time, extra field, name, comment and header checksum.",
         "SCP-006 SCP-090", gzip_with_everything(whole), pages=2, ext=".scp.gz")
    case("coding-gzip-two-members", "Two gzip members, parted in the middle of a line.", "A05 D38",
         gzip(whole[:half]) + gzip(whole[half:]), pages=2, ext=".scp.gz")
    step = 9
    case("coding-gzip-many-members", "A gzip member for every nine bytes of text.", "A05 D38",
         b"".join(gzip(whole[i:i + step]) for i in range(0, len(whole), step)), pages=2, ext=".scp.gz")
    case("coding-gzip-empty-member", "An empty gzip member between two others.", "A05 D38",
         gzip(whole[:half]) + gzip(b"") + gzip(whole[half:]), pages=2, ext=".scp.gz")
    case("coding-zstd-two-frames", "Two zstd frames, parted in the middle of a line.", "D38",
         zstd(whole[:half]) + zstd(whole[half:]), pages=2, ext=".scp.zst")
    case("coding-zstd-skippable-first", "A skippable frame before the first zstd frame.", "D38",
         skippable(b"harbour log") + zst, pages=2, ext=".scp.zst")
    case("coding-zstd-skippable-between", "Skippable frames between and after zstd frames.", "D38",
         zstd(whole[:half]) + skippable(b"", 7) + zstd(whole[half:]) + skippable(b"end", 15), pages=2, ext=".scp.zst")
    case("coding-zstd-skippable-only", "Nothing but a skippable frame: no text, no line 1.", "A01 D38",
         skippable(b"nothing else"), "SC001", ext=".scp.zst")
    case("coding-zstd-window-8-mib", "A frame that asks for a window of 8 MiB.", "D38",
         zstd_window(whole, 23), pages=2, ext=".scp.zst")
    case("coding-zstd-window-16-mib", "A frame that asks for a window of 16 MiB.", "A06 D38",
         zstd_window(whole, 24), "SC002", ext=".scp.zst")
    case("coding-zstd-dictionary", "A frame that names a dictionary.", "D38",
         zstd_dictionary(whole), "SC002", ext=".scp.zst")
    case("coding-gzip-in-gzip", "Compressed twice.", "A09 D05", gzip(gz), pages=2, ext=".scp.gz")
    case("coding-zstd-in-gzip", "zstd inside gzip.", "A09 D05", gzip(zst), pages=2, ext=".scp.gz")
    case("coding-gzip-in-zstd", "gzip inside zstd.", "A09 D05", zstd(gz), pages=2, ext=".scp.zst")
    case("coding-three-layers", "Compressed three times.", "A06 A09 D05", gzip(gzip(gz)), "SC004", ext=".scp.gz")
    case("coding-three-layers-mixed", "zstd inside gzip inside zstd.", "A09 D05", zstd(gzip(zst)), "SC004", ext=".scp.zst")

    case("coding-name-gz-bytes-plain", "The name promises gzip, the bytes are text.", "A08 D05", whole, pages=2, ext=".scp.gz")
    case("coding-name-gz-bytes-zstd", "The name promises gzip, the bytes are zstd.", "A08 D05 SCP-216",
         zst, pages=2, ext=".scp.gz")
    case("coding-name-zst-bytes-gzip", "The name promises zstd, the bytes are gzip.", "A08 D05 SCP-216",
         gz, pages=2, ext=".scp.zst")
    case("coding-name-plain-bytes-gzip", "The name promises text, the bytes are gzip.", "A08 D05 SCP-216", gz, pages=2)
    case("coding-zlib", "A zlib stream is not one of the codings.", "D05 SCP-006", zlib.compress(whole, 9), "SC003", ext=".scp.gz")

    case("coding-gzip-cut-1", "One byte of a gzip file: too little to be taken for gzip.", "A02 D05", gz[:1], "SC003", ext=".scp.gz")
    case("coding-gzip-cut-header", "gzip cut inside its header.", "A02 SCP-095", gz[:5], "SC002", ext=".scp.gz")
    case("coding-gzip-cut-half", "gzip cut in the middle.", "A02 D32 SCP-090 SCP-095", gz[:len(gz) // 2], "SC002", ext=".scp.gz")
    case("coding-gzip-cut-trailer", "gzip without its last eight bytes; the text is complete.", "A02 D32 SCP-095",
         gz[:-8], "SC002", ext=".scp.gz")
    case("coding-gzip-cut-last-byte", "gzip without its last byte.", "A02 D32 SCP-095", gz[:-1], "SC002", ext=".scp.gz")
    case("coding-gzip-cut-second-member", "The second gzip member is cut.", "A02 A05 SCP-095",
         gzip(whole[:half]) + gzip(whole[half:])[:-12], "SC002", ext=".scp.gz")
    case("coding-gzip-bad-crc", "The checksum of the gzip member is wrong.", "D32 SCP-095",
         gz[:-8] + bytes([gz[-8] ^ 1]) + gz[-7:], "SC002", ext=".scp.gz")
    case("coding-gzip-bad-length", "The length in the gzip trailer is wrong.", "D32 SCP-095",
         gz[:-4] + struct.pack("<I", len(whole) + 1), "SC002", ext=".scp.gz")
    case("coding-gzip-garbage", "Text after the gzip trailer.", "A05 D32", gz + b"tide's out", "SC002", ext=".scp.gz")
    case("coding-gzip-one-byte-after", "One foreign byte after the gzip trailer.", "A05 D32", gz + b"\n", "SC002", ext=".scp.gz")
    case("coding-gzip-zeros-after", "Zeros after the gzip trailer.", "A05 D32", gz + bytes(512), "SC002", ext=".scp.gz")
    case("coding-gzip-then-zstd", "A zstd frame after a gzip member.", "A05 D32",
         gzip(whole[:half]) + zstd(whole[half:]), "SC002", ext=".scp.gz")
    case("coding-zstd-cut-magic", "Three bytes of a zstd file: too little to be taken for zstd.", "A02 D05",
         zst[:3], "SC003", ext=".scp.zst")
    case("coding-zstd-magic-only", "Four bytes of a zstd file.", "A02 SCP-095", zst[:4], "SC002", ext=".scp.zst")
    case("coding-zstd-cut-half", "zstd cut in the middle.", "A02 D32 SCP-095", zst[:len(zst) // 2], "SC002", ext=".scp.zst")
    case("coding-zstd-cut-checksum", "zstd without the four bytes of its content checksum; the text is complete.",
         "A02 D32 SCP-095", zst[:-4], "SC002", ext=".scp.zst")
    case("coding-zstd-bad-checksum", "The content checksum of the zstd frame is wrong.", "D32 SCP-095",
         zst[:-1] + bytes([zst[-1] ^ 1]), "SC002", ext=".scp.zst")
    case("coding-zstd-garbage", "Text after the zstd frame.", "A05 D32", zst + b"tide's out", "SC002", ext=".scp.zst")
    case("coding-zstd-one-byte-after", "One foreign byte after the zstd frame.", "A05 D32", zst + b"\n", "SC002", ext=".scp.zst")
    case("coding-outer-cut", "gzip inside gzip; the outer one lacks its trailer.", "A02 D05 SCP-095",
         gzip(gz)[:-8], "SC002", ext=".scp.gz")
    case("coding-outer-garbage", "zstd inside gzip, with text after the outer one.", "A05 D05 D32",
         gzip(zst) + b"tide's out", "SC002", ext=".scp.gz")
    case("coding-inner-cut", "gzip inside gzip; the inner one is cut.", "A02 D05 SCP-095", gzip(gz[:-8]), "SC002", ext=".scp.gz")

    calm = plain([page("/log", content=[text("~" * 1_040_000)])])
    assert len(calm) < 1 << 20 and 100 * len(gzip(calm)) < len(calm)
    case("ratio-small-gzip", "Far above 100 to 1, but below 1 MiB of text.", "A07 D34 SCP-098",
         gzip(calm), pages=1, ext=".scp.gz")
    case("ratio-small-zstd", "More than 1000 to 1, but below 1 MiB of text.", "A07 D34 SCP-098",
         zstd(calm), pages=1, ext=".scp.zst")
    assert 1000 * len(zstd(calm)) < len(calm)


def gzip_with_everything(data):
    """One gzip member with every optional field its header can have."""
    header = b"\x1f\x8b\x08\x1f" + struct.pack("<I", 1_777_000_000) + b"\x02\x03"
    header += struct.pack("<H", 6) + b"HT\x02\x00ok" + b"harbour.scp\0" + b"made by the harbour office\0"
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    return header + deflate(data) + struct.pack("<II", zlib.crc32(data), len(data))


# --------------------------------------------------------- cases: the metadata


def metadata_cases():
    def meta(name, about, clauses, *codes, pages=None, **members):
        case(name, about, clauses, plain(meta=head(**members)), *codes, pages=pages)

    for member, clause in (("id", "SCP-009"), ("section", "SCP-010"), ("type", "SCP-011"),
                           ("generated", "SCP-012"), ("version", "SCP-016")):
        meta(f"metadata-no-{member}", f"`{member}` is missing.", f"D32 {clause} SCP-086", "SC011", **{member: ...})
    meta("metadata-id-path", "An id that climbs out of its folder.", "A21 D49 SCP-085", "SC012", id="../../quay")
    meta("metadata-id-4-kb", "An id of 4096 letters.", "A21 D49", "SC012", id="h" * 4096)
    meta("metadata-id-empty", "An empty id.", "D49 SCP-085", "SC012", id="")
    meta("metadata-id-dot", "A dot in the id.", "D49 SCP-085", "SC012", id="harbour.2026")
    meta("metadata-id-newline", "A line feed at the end of the id.", "D49 SCP-085", "SC012", id="harbour\n")
    meta("metadata-id-umlaut", "A letter outside ASCII in the id.", "D49 SCP-085", "SC012", id="häfen")
    meta("metadata-id-number", "The id is a number.", "D32 SCP-009", "SC012", id=7)
    meta("metadata-id-all-letters", "Letters of both cases, digits, hyphen and underscore.", "D49 SCP-085",
         pages=2, id="-Harbour_2026-b", section="_Q-")
    meta("metadata-section-slash", "A slash in the section.", "A21 D49 SCP-085", "SC012", section="harbour/pier")
    meta("metadata-section-null", "The section is null.", "D32 SCP-010", "SC012", section=None)
    meta("metadata-type-unknown", "A type that is neither snapshot nor delta.", "D32 SCP-011", "SC012", type="full")
    meta("metadata-type-case", "The type in upper case.", "D32 SCP-011", "SC012", type="Snapshot")
    meta("metadata-generated-nonsense", "`generated` is no time.", "D32 SCP-087", "SC012", generated="at dawn")
    meta("metadata-generated-no-such-day", "`generated` names the 31st of April.", "D32 SCP-087", "SC012",
         generated="2026-04-31T06:00:00Z")
    meta("metadata-generated-number", "`generated` is a number of seconds.", "D32 SCP-087", "SC012", generated=1777615200)
    meta("metadata-generated-date", "`generated` is a date alone; readers take it as UTC.", "D22 SCP-087", "SC034",
         pages=2, generated="2026-05-01")
    meta("metadata-generated-no-zone", "`generated` has no zone; readers take it as UTC.", "D22 SCP-087", "SC034",
         pages=2, generated="2026-05-01T06:00:00")
    meta("metadata-generated-microseconds", "`generated` with microseconds and an offset.", "D22 SCP-087",
         pages=2, generated="2026-05-01T08:00:00.123456+02:00")
    meta("metadata-since-on-snapshot", "A snapshot with `since`.", "SCP-014", "SC057",
         pages=2, since="2026-04-30T06:00:00Z")
    case("metadata-delta", "A delta as it should be.", "SCP-013", plain([FERRY], delta_head()), pages=1)
    case("metadata-delta-no-pages", "A delta without pages is legal to read.", "D27", plain([], delta_head()), pages=0)
    case("metadata-delta-no-since", "A delta without `since`.", "A18 D32 SCP-013 SCP-086",
         plain([FERRY], delta_head(since=...)), "SC011")
    case("metadata-delta-since-nonsense", "A delta whose `since` is no time.", "D32 SCP-087",
         plain([FERRY], delta_head(since="last week")), "SC012")
    case("metadata-delta-since-later", "A delta whose `since` is later than its `generated`.", "D25 SCP-013",
         plain([FERRY], delta_head(since="2027-01-01T00:00:00Z")), "SC066", pages=1)
    case("metadata-delta-since-date", "A delta whose `since` is a date alone.", "D22 SCP-087",
         plain([FERRY], delta_head(since="2026-04-30")), "SC034", pages=1)
    twice = seal(dumps({"collection": head()})[:-2] + ',"section":"pier"', ',"checksum":"sha256:%s"', "}}", lines(TOWN))
    case("metadata-section-twice", "Two sections in one collection.", "D02", twice, "SC017")

    meta("version-0-2", "A newer minor version.", "A14 SCP-020", "SC056", pages=2, version="0.2")
    meta("version-0-99", "A much newer minor version with unknown members.", "A14 SCP-020 SCP-021",
         "SC056", pages=2, version="0.99", signature="none")
    case("version-0-2-new-block", "A newer minor version with a new block type.", "A14 SCP-020 SCP-022",
         plain([page(content=[text(), {"type": "chart", "scale": 25000}])], head(version="0.2")),
         "SC021", "SC056", pages=1)
    meta("version-1-0", "A newer major version.", "A14 SCP-019", "SC014", version="1.0")
    meta("version-huge", "A major version beyond all integers.", "SCP-019", "SC014", version="9" * 30 + ".0")
    meta("version-three-parts", "Three numbers.", "A14 SCP-018 SCP-089", "SC013", version="0.1.3")
    meta("version-number", "The version is a JSON number.", "A14 SCP-018 SCP-089", "SC013", version=0.1)
    meta("version-one-part", "One number.", "SCP-018 SCP-089", "SC013", version="0")
    meta("version-prefix", "A letter before the version.", "SCP-018 SCP-089", "SC013", version="v0.1")
    meta("version-negative", "A negative minor version.", "SCP-018 SCP-089", "SC013", version="0.-1")
    meta("version-foreign-digits", "Digits of another script.", "SCP-018 SCP-089", "SC013", version="٠.١")


# -------------------------------------------------------------- cases: pages


def page_cases():
    for member, clause in (("url", "SCP-032"), ("title", "SCP-033"), ("description", "SCP-034"),
                           ("modified", "SCP-037"), ("language", "SCP-038"), ("content", "SCP-041")):
        one_page(f"page-no-{member}", f"The page has no `{member}`.", f"D32 {clause} SCP-092 SCP-097",
                 page(**{member: ...}), "SC030")
    one_page("page-title-number", "The title is a number.", "D32 SCP-097", page(title=5), "SC031")
    one_page("page-title-null", "The title is null.", "D32 SCP-097", page(title=None), "SC031")
    one_page("page-url-number", "The address is a number.", "D32 SCP-097", page(url=1), "SC031")
    one_page("page-modified-number", "`modified` is a number of seconds.", "D32 SCP-097", page(modified=1777550400), "SC031")
    one_page("page-language-array", "The language is an array.", "D32 SCP-097", page(language=["en"]), "SC031")
    one_page("page-content-string", "`content` is a string.", "D32 SCP-097", page(content="x"), "SC031")
    one_page("page-content-object", "`content` is an object.", "D32 SCP-097", page(content=text()), "SC031")
    one_page("page-bad-url-and-no-title", "A bad address skips a page, but a missing title rejects the file.",
             "D32 SCP-097 SCP-102", page(url="javascript:alert(1)", title=...), "SC030")
    one_page("page-title-empty", "An empty title.", "D32 SCP-033", page(title=""), "SC039")
    one_page("page-description-empty", "An empty description.", "D32 SCP-034", page(description=""), "SC039")
    one_page("page-content-empty", "No content blocks: the page is kept.", "A12 D32 SCP-081", page(content=[]), "SC038")

    full = page("/pilot", title="The pilot station", author="M. Quayle", published="2026-01-02T03:04:05Z",
                canonical=HOST + "/pilot",
                schema={"@context": "https://schema.org", "@type": "Article", "headline": "The pilot station",
                        "datePublished": "2026-01-02T03:04:05Z", "dateModified": MODIFIED})
    one_page("page-all-members", "Every optional member of a page.", "SCP-035 SCP-036 SCP-039 SCP-040 D40", full)
    one_page("page-author-number", "The author is a number: dropped, page kept.", "D32 SCP-035", page(author=5), "SC040")
    one_page("page-author-null", "The author is null.", "D32 SCP-035", page(author=None), "SC040")
    one_page("page-published-nonsense", "`published` is no time.", "D32 SCP-036", page(published="long ago"), "SC040")
    one_page("page-published-date", "`published` is a date alone.", "D22 SCP-078", page(published="2026-01-02"), "SC034")
    for name, url, about in (
        ("space", "/tide tables", "a space"), ("percent", "/%zz", "a percent sign that begins no escape"),
        ("angle", "/<x>", "angle brackets"), ("letter", "/fähre", "a letter outside ASCII"),
        ("bar", "/a|b", "a vertical bar"), ("bracket", "/?a[]=1", "square brackets in its query"),
        ("upper-scheme", "HTTPS://harbour.example/tides", "its scheme in upper case"),
    ):
        one_page(f"page-url-{name}", f"The page's URL has {about}: a reader keeps the page, a judge does not.",
                 "D32 SCP-077", page(url if ":" in url else HOST + url), "SC029")
    one_page("page-canonical-space", "`canonical` is no URI.", "D32 SCP-080", page(canonical=HOST + "/a b"), "SC029")
    one_page("page-canonical-script", "`canonical` runs a script.", "D32 SCP-080 SCP-188",
             page(canonical="javascript:alert(1)"), "SC040")
    one_page("page-canonical-relative", "`canonical` is relative.", "D32 SCP-080", page(canonical="/tides"), "SC040")
    one_page("page-schema-array", "`schema` is an array.", "D32 SCP-084", page(schema=[{"@type": "Article"}]), "SC040")
    one_page("page-schema-string", "`schema` is a string.", "D32 SCP-084", page(schema="Article"), "SC040")
    one_page("page-schema-null", "`schema` is null.", "D32 SCP-084", page(schema=None), "SC040")
    one_page("page-several-bad-members", "Three optional members are bad; each is dropped.", "D32",
             page(author=[], published=0, schema=1, canonical="x"), "SC040")
    one_page("page-schema-other-date", "schema.org data gives another modification time.", "D41 SCP-048 SCP-051",
             page(schema={"@type": "Article", "dateModified": "2025-12-24T00:00:00Z"}), "SC065")
    one_page("page-schema-other-title", "schema.org data gives another title, which is allowed.", "SCP-049 SCP-051",
             page(schema={"@type": "Article", "headline": "Tides of the year"}))
    one_page("page-schema-same-instant", "schema.org data gives the same moment in another zone.", "D22 D41 SCP-048",
             page(schema={"@type": "Article", "dateModified": "2026-04-30T14:00:00+02:00"}))
    one_page("page-unknown-members", "Unknown members, three levels deep, on page, block and link.",
             "A15 D32 D48 SCP-021",
             page(buoy={"colour": {"top": "red", "list": [1, {"x": None}]}},
                  content=[text() | {"style": {"font": {"size": 1.5e3}}},
                           {"type": "audio", "name": "Foghorn", "mood": [[["grey"]]],
                            "url": [{"href": HOST + "/fog.ogg", "mediaType": "audio/ogg", "codec": {"name": "opus"}}]}]))
    one_page("page-reordered", "Members in another order, and `type` last in its block.", "SCP-004",
             dict(reversed(page(content=[{"text": "Calm.", "level": 2, "type": "heading"}]).items())))
    one_page("page-white-space", "Blanks between all tokens.", "SCP-002", json.dumps(TIDES, separators=(" , ", " : ")))
    one_page("page-title-twice", "The title occurs twice; the last one counts.", "SCP-002",
             dumps(TIDES)[:-1] + ',"title":"Tides"}', "SC041")
    one_page("page-title-twice-first-bad", "The first of two titles is a number, the last one is sound and counts.",
             "SCP-002", dumps(TIDES | {"title": 5})[:-1] + ',"title":"Tides"}', "SC041")
    one_page("page-author-twice-first-bad", "The first of two authors is a number, the last one is sound and counts.",
             "SCP-002", dumps(TIDES | {"author": 5})[:-1] + ',"author":"M. Quayle"}', "SC041")
    one_page("page-title-twice-last-bad", "The last of two titles is a number, and the last one counts.",
             "D32 SCP-097", dumps(TIDES)[:-1] + ',"title":5}', "SC031")
    one_page("page-content-twice", "`content` occurs twice; the last one counts.", "SCP-002",
             dumps(TIDES)[:-1] + ',"content":[{"type":"text","text":"Last."}]}', "SC041")

    many = [text("a")] * 1000
    case("page-1000-blocks", "As many blocks as a page may have.", "A12 SCP-180",
         gzip(plain([page(content=many), FERRY])), pages=2, ext=".scp.gz")
    case("page-1001-blocks", "One block too many: the page is skipped.", "A12 D32 SCP-180",
         gzip(plain([page(content=many + [text("a")]), FERRY])), "SC026", pages=1, skipped=1, ext=".scp.gz")
    case("page-all-skipped", "Every page is skipped; the collection is still a sound one.", "D32 SCP-102",
         plain([page(url="ftp://harbour.example/a"), page(modified="soon")]), "SC032", "SC033", pages=0, skipped=2)


def url_cases():
    for name, url, about in (
        ("javascript", "javascript:alert(1)", "An address that runs a script."),
        ("file", "file:///etc/passwd", "An address of a local file."),
        ("data", "data:text/html,tide", "An address that is its own content."),
        ("ftp", "ftp://harbour.example/tides", "An address of another protocol."),
        ("credentials", "https://pilot:secret@harbour.example/tides", "An address with user name and password."),
        ("relative", "/tides", "A relative address."),
        ("no-scheme", "//harbour.example/tides", "An address without scheme."),
        ("no-slashes", "https:harbour.example/tides", "An address without slashes after its scheme."),
        ("no-host", "https://", "An address without host."),
        ("bad-port", "https://harbour.example:99999/tides", "A port that cannot be."),
        ("bad-host", "https://har bour.example/tides", "A host with a blank in it."),
        ("leading-blank", " https://harbour.example/tides", "A blank before the address."),
        ("line-break", "https://harbour.example/ti\ndes", "A line break inside the address."),
        ("empty", "", "An empty address."),
    ):
        skipped_page(f"url-{name}", about + " The page is skipped.", "A17 D32 SCP-093 SCP-102", page(url=url), "SC032")
    stem = HOST + "/"
    for name, size, codes in (("8192", 8192, ()), ("8193", 8193, ("SC032",)), ("100-kb", 100_000, ("SC032",))):
        long = page(url=stem + "a" * (size - len(stem)))
        count = {"pages": 1, "skipped": 1} if codes else {"pages": 2}
        case(f"url-{name}", f"An address of {size} bytes.", "A17 D32", gzip(plain([long, FERRY])), *codes,
             ext=".scp.gz", **count)
    one_page("url-plain-http", "http is as good as https.", "SCP-077", page(url="http://harbour.example/tides"))
    one_page("url-international-host", "A host name with letters outside ASCII.", "A17 SCP-188",
             page(url="https://häfen.example/tides"), "SC029", "SC042")
    one_page("url-query", "Query, port and percent escapes.", "SCP-077",
             page(url="https://harbour.example:8443/tides?day=1&port=%C3%A4#top"))

    def pair(name, about, second, *codes):
        case(f"duplicate-{name}", about, "A16 D30", plain([TIDES, page(url=second, modified="2026-04-30T13:00:00Z")]),
             *codes, pages=2)

    pair("same-url", "The same address twice.", HOST + "/tides", "SC058")
    pair("default-port", "The same page by its default port.", "https://harbour.example:443/tides", "SC058")
    pair("host-case", "The same page by the case of the host.", "https://HARBOUR.example/tides", "SC058")
    pair("fragment", "The same page by its fragment.", HOST + "/tides#noon", "SC058")
    pair("dot-segments", "The same page by its dot segments.", HOST + "/pier/../tides", "SC058")
    pair("not-trailing-slash", "A trailing slash makes another page.", HOST + "/tides/")
    pair("not-query", "A query makes another page.", HOST + "/tides?")
    pair("not-percent", "A percent escape makes another page.", HOST + "/%74ides")
    pair("not-scheme", "The scheme makes another page.", "http://harbour.example/tides")


def time_cases():
    for name, value, about in (
        ("offset", "2026-04-30T14:00:00+02:00", "A time with an offset."),
        ("negative-offset", "2026-04-30T06:30:00-05:30", "A time with a negative offset of half an hour."),
        ("fraction", "2026-04-30T12:00:00.25Z", "A time with a fraction."),
        ("nanoseconds", "2026-04-30T12:00:00.123456789Z", "A time with nine digits of fraction."),
        ("lower-case", "2026-04-30t12:00:00z", "A time with lower-case letters."),
        ("leap-second", "2016-12-31T23:59:60Z", "A leap second."),
        ("leap-day", "2024-02-29T12:00:00Z", "A leap day."),
    ):
        one_page(f"time-{name}", about, "D22 SCP-078", page(modified=value))
    one_page("time-date-only", "A date alone: taken as UTC midnight.", "D22 SCP-078", page(modified="2026-04-30"), "SC034")
    one_page("time-no-zone", "A time without zone: taken as UTC.", "D22 SCP-078", page(modified="2026-04-30T12:00:00"), "SC034")
    one_page("time-no-zone-fraction", "A time with microseconds and without zone.", "D22 SCP-078",
             page(modified="2026-04-30T12:00:00.123456"), "SC034")
    for name, value, about in (
        ("nonsense", "yesterday", "Not a time."),
        ("empty", "", "An empty time."),
        ("no-such-day", "2026-02-30T12:00:00Z", "The 30th of February."),
        ("no-such-month", "2026-13-01T12:00:00Z", "The 13th month."),
        ("no-such-hour", "2026-04-30T25:00:00Z", "The 25th hour."),
        ("no-leap-day", "2026-02-29T12:00:00Z", "The 29th of February in a common year."),
        ("http-date", "Thu, 30 Apr 2026 12:00:00 GMT", "An HTTP date."),
    ):
        skipped_page(f"time-{name}", about + " The page is skipped.", "D32 SCP-078", page(modified=value), "SC033")


def language_cases():
    for name, tag, about, codes in (
        ("region", "en-US", "Language and region.", ()),
        ("script", "zh-Hans-CN", "Language, script and region.", ()),
        ("un-region", "es-419", "A region by number.", ()),
        ("variant", "de-CH-1901", "A variant.", ()),
        ("extension", "de-DE-u-co-phonebk", "An extension.", ()),
        ("extlang", "zh-cmn-Hans-CN", "An extended language.", ()),
        ("private-suffix", "en-x-harbour", "A private suffix.", ()),
        ("lower-region", "pt-br", "A lower-case region fits the last group of the pattern.", ()),
        ("grandfathered", "i-klingon", "A grandfathered tag, which the pattern refuses.", ("SC036",)),
        ("private", "x-whatever", "A private tag, which the pattern refuses.", ("SC036",)),
        ("upper-case", "EN-us", "A language in upper case, which the pattern refuses.", ("SC036",)),
        ("eight-letters", "maritime", "A language of eight letters: well formed, but not by the pattern.", ("SC036",)),
        ("underscore", "en_US", "An underscore where a hyphen belongs.", ("SC037",)),
        ("empty", "", "An empty tag.", ("SC035",)),
        ("one-letter", "e", "One letter.", ("SC035",)),
        ("trailing-hyphen", "en-", "A hyphen at the end.", ("SC035",)),
        ("two-regions", "de-419-DE", "Two regions.", ("SC035",)),
        ("blank", "en us", "A blank inside.", ("SC035",)),
        ("word", "English (British)", "A name instead of a tag.", ("SC035",)),
        ("not-ascii", "日本語", "Letters outside ASCII.", ("SC035",)),
    ):
        one_page(f"language-{name}", about, "D42 SCP-038 SCP-079", page(language=tag), *codes)


# -------------------------------------------------------------- cases: blocks

VIDEO = {
    "type": "video", "name": "The lock opens",
    "url": [{"href": HOST + "/lock.mp4", "mediaType": "video/mp4"},
            {"href": HOST + "/lock", "mediaType": "text/html", "rel": "alternate"}],
    "duration": "PT1H5M20.5S", "width": 1920, "height": 1080,
    "icon": {"type": "Image", "url": HOST + "/lock.jpg"}, "summary": "A barge goes through.",
    "captions": [{"language": "en", "url": HOST + "/lock.vtt", "label": "English"}],
    "chapters": [{"time": 0, "title": "Gate"}, {"time": 60, "title": "Water"}],
    "transcript": "Mind the gate.",
}
AUDIO = {
    "type": "audio", "name": "Foghorn", "url": HOST + "/fog.mp3", "duration": "PT40S",
    "icon": {"type": "Image", "url": HOST + "/fog.jpg"}, "summary": "It is loud.",
    "attributedTo": "Harbour choir", "partOf": "Sounds of the quay",
    "chapters": [{"time": 0, "title": "Once"}], "transcript": "Hoo.",
}
ALL_BLOCKS = [
    text(),
    {"type": "heading", "level": 6, "text": "Berths"},
    {"type": "link", "url": HOST + "/berths", "text": "Berths", "rel": ["nofollow", "sponsored"]},
    {"type": "image", "url": HOST + "/quay.jpg", "alt": "The quay"},
    {"type": "list", "ordered": True, "items": ["North", "South"]},
    {"type": "code", "language": "python", "code": "print('ahoy')"},
    {"type": "table", "rows": [["Berth", "Ship"], ["1", "Ada"], ["2"]]},
    {"type": "quote", "text": "Fair winds.", "citation": "The pilot"},
    VIDEO,
    AUDIO,
]


def block_cases():
    one_page("block-all-types", "All ten block types with every optional member.",
             "SCP-053 SCP-054 SCP-055 SCP-057 SCP-058 SCP-059 SCP-061 SCP-062 SCP-064 SCP-071", page(content=ALL_BLOCKS))
    smallest = [text(""), {"type": "heading", "level": 1, "text": ""}, {"type": "link", "url": HOST, "text": ""},
                {"type": "image", "url": HOST + "/a", "alt": ""}, {"type": "list", "ordered": False, "items": []},
                {"type": "code", "code": ""}, {"type": "table", "rows": []}, {"type": "quote", "text": ""},
                {"type": "video", "name": "", "url": HOST + "/v"}, {"type": "audio", "name": "", "url": HOST + "/s"}]
    one_page("block-all-types-smallest", "All ten block types with as little as they may have.", "SCP-082",
             page(content=smallest))
    one_block("block-extra-members", "Unknown members inside a block are ignored.", "D48 SCP-021",
              text() | {"id": 7, "class": ["wide"]})

    one_block("block-string", "A block that is a string.", "A12 D32 SCP-094", "High water at six.", "SC020")
    one_block("block-null", "A block that is null.", "A12 D32 SCP-094", None, "SC020")
    one_block("block-array", "A block that is an array.", "A12 D32 SCP-094", [text()], "SC020")
    one_block("block-no-type", "A block without `type`.", "A12 D32 D33 SCP-094", {"text": "x"}, "SC020")
    one_block("block-type-number", "A block whose `type` is a number.", "A12 D32 D33 SCP-094", {"type": 1, "text": "x"}, "SC020")
    one_block("block-unknown", "An unknown block type.", "A15 D32 D33 SCP-099 SCP-101",
              {"type": "chart", "scale": {"one": {"to": 25000}}}, "SC021")
    one_block("block-type-case", "`Text` is not `text`.", "D32 SCP-082 SCP-099", {"type": "Text", "text": "x"}, "SC021")
    one_block("block-type-empty", "An empty type is a string, but an unknown one.", "D33 SCP-099", {"type": ""}, "SC021")
    one_block("block-structured", "The reference implementation's eleventh type: only a judge objects.", "D46",
              {"type": "structured", "format": "json-ld", "data": {"@type": "Place"}}, "SC028")
    one_page("block-type-twice", "`type` occurs twice in a block.", "SCP-002",
             dumps(TIDES).replace('"type":"text"', '"type":"text","type":"text"'), "SC041")
    one_page("block-text-twice", "`text` occurs twice in a block; the last one counts.", "SCP-002",
             dumps(TIDES).replace('"type":"text"', '"type":"text","text":"Slack water."'), "SC041")

    for name, level, codes in (("0", 0, ["SC023"]), ("7", 7, ["SC023"]), ("minus-1", -1, ["SC023"]),
                               ("huge", 10**30, ["SC023"]), ("2-0", 2.0, []), ("9-0", 9.0, ["SC023"]),
                               ("2-5", 2.5, ["SC022"]), ("string", "2", ["SC022"]), ("null", None, ["SC022"]),
                               ("true", True, ["SC022"])):
        does = {"SC023": "taken as the nearest level", "SC022": "the block is dropped"}
        about = f"Heading level {dumps(level) if level != 10**30 else 'with 31 digits'}: " + (
            does[codes[0]] if codes else "an integer all the same") + "."
        one_block(f"heading-{name}", about, "A13 D32 SCP-103", {"type": "heading", "level": level, "text": "Pier"}, *codes)

    for name, block, about in (
        ("text-missing", {"type": "text"}, "A text block without text."),
        ("text-number", {"type": "text", "text": 5}, "A text block whose text is a number."),
        ("heading-no-level", {"type": "heading", "text": "Pier"}, "A heading without level."),
        ("heading-no-text", {"type": "heading", "level": 1}, "A heading without text."),
        ("link-no-url", {"type": "link", "text": "Pier"}, "A link without address."),
        ("link-no-text", {"type": "link", "url": HOST + "/"}, "A link without text."),
        ("image-no-alt", {"type": "image", "url": HOST + "/a.png"}, "An image without alternative text."),
        ("list-no-ordered", {"type": "list", "items": ["a"]}, "A list that does not say whether it is numbered."),
        ("list-ordered-string", {"type": "list", "ordered": "no", "items": ["a"]}, "A list whose `ordered` is a string."),
        ("list-item-number", {"type": "list", "ordered": False, "items": ["a", 2]}, "A list with a number for an item."),
        ("table-flat", {"type": "table", "rows": ["a", "b"]}, "A table whose rows are strings."),
        ("table-cell-number", {"type": "table", "rows": [["a", 2]]}, "A table with a number for a cell."),
        ("code-missing", {"type": "code", "language": "c"}, "A code block without code."),
        ("quote-null", {"type": "quote", "text": None}, "A quotation of nothing."),
        ("video-no-name", {"type": "video", "url": HOST + "/v"}, "A video without name."),
        ("video-url-empty", {"type": "video", "name": "Lock", "url": []}, "A video with an empty list of addresses."),
        ("video-url-strings", {"type": "video", "name": "Lock", "url": [HOST + "/v"]}, "A video with bare strings for links."),
        ("video-url-no-media-type", {"type": "video", "name": "Lock", "url": [{"href": HOST + "/v"}]},
         "A video link without media type."),
        ("audio-url-missing", {"type": "audio", "name": "Foghorn"}, "A recording without address."),
        ("audio-url-number", {"type": "audio", "name": "Foghorn", "url": 1}, "A recording whose address is a number."),
    ):
        one_block(f"incomplete-{name}", about + " The block is dropped.", "D32 SCP-082", block, "SC022")

    for name, block, about in (
        ("link-script", {"type": "link", "url": "javascript:alert(1)", "text": "Pier"},
         "A link that runs a script; its text is kept."),
        ("link-mail", {"type": "link", "url": "mailto:pilot@harbour.example", "text": "Pilot"}, "A link to a mailbox."),
        ("link-relative", {"type": "link", "url": "/pier", "text": "Pier"}, "A relative link."),
        ("image-data", {"type": "image", "url": "data:image/png;base64,AA==", "alt": "dot"}, "An image inside its address."),
        ("image-empty", {"type": "image", "url": "", "alt": "dot"}, "An image with an empty address."),
        ("video-file", {"type": "video", "name": "Lock", "url": "file:///lock.mp4"}, "A video in a local file."),
        ("video-one-bad", VIDEO | {"url": [{"href": HOST + "/v", "mediaType": "video/mp4"},
                                           {"href": "javascript:x", "mediaType": "video/mp4"}]},
         "A video with one bad address of two."),
        ("audio-blob", {"type": "audio", "name": "Foghorn", "url": "blob:https://harbour.example/1"},
         "A recording that lives in a browser."),
    ):
        one_block(f"block-url-{name}", about, "D32 SCP-080 SCP-188 SCP-190", block, "SC024")

    for name, block, about in (
        ("link", {"type": "link", "url": HOST + "/a|b", "text": "Pier"}, "A link"),
        ("image", {"type": "image", "url": HOST + "/ä.png", "alt": "dot"}, "An image"),
        ("video", {"type": "video", "name": "Lock", "url": HOST + "/a b.mp4"}, "A video"),
        ("video-link", VIDEO | {"url": [{"href": HOST + "/v", "mediaType": "video/mp4"},
                                        {"href": HOST + "/%zz", "mediaType": "video/webm"}]}, "A video of two"),
        ("icon", {"type": "audio", "name": "Foghorn", "url": HOST + "/f",
                  "icon": {"type": "Image", "url": HOST + "/<f>"}}, "An icon"),
        ("caption", VIDEO | {"captions": [{"language": "en", "label": "English", "url": HOST + "/a^b.vtt"}]},
         "A caption"),
    ):
        one_block(f"block-uri-{name}", f"{about} whose URL is no URI; a reader keeps it.", "D32 SCP-080", block, "SC029")

    for name, block, about, clauses in (
        ("link-rel-string", {"type": "link", "url": HOST + "/", "text": "Pier", "rel": "nofollow"},
         "`rel` of a link is a string.", "SCP-056"),
        ("code-language-number", {"type": "code", "code": "1", "language": 5}, "`language` of code is a number.", "SCP-060"),
        ("quote-citation-object", {"type": "quote", "text": "Ahoy.", "citation": {"name": "Ada"}},
         "`citation` of a quotation is an object.", "SCP-063"),
        ("width-negative", VIDEO | {"width": -1}, "A negative width.", "SCP-066"),
        ("height-fraction", VIDEO | {"height": 10.5}, "Half a pixel of height.", "SCP-066"),
        ("icon-string", VIDEO | {"icon": HOST + "/a.jpg"}, "An icon that is a string.", "SCP-066"),
        ("icon-script", VIDEO | {"icon": {"type": "Image", "url": "javascript:x"}}, "An icon that runs a script.", "SCP-080"),
        ("caption-no-label", VIDEO | {"captions": [{"language": "en", "url": HOST + "/a.vtt"}]},
         "A caption without label.", "SCP-068"),
        ("duration-days", VIDEO | {"duration": "P1DT2H"}, "A duration with days.", "D44 SCP-083"),
        ("duration-nothing", VIDEO | {"duration": "PT"}, "A duration without any part.", "D44 SCP-083"),
        ("duration-clock", AUDIO | {"duration": "5:20"}, "A duration like a clock.", "D44 SCP-083"),
        ("duration-order", AUDIO | {"duration": "PT5S1H"}, "A duration in the wrong order.", "D44 SCP-083"),
        ("duration-fraction-minutes", AUDIO | {"duration": "PT1.5M"}, "A fraction of a minute.", "D44 SCP-083"),
        ("duration-number", AUDIO | {"duration": 320}, "A duration in plain seconds.", "D44 SCP-083"),
        ("chapter-negative", AUDIO | {"chapters": [{"time": -5, "title": "Before"}]}, "A chapter before the start.", "SCP-069"),
        ("chapter-time-string", AUDIO | {"chapters": [{"time": "60", "title": "One"}]}, "A chapter time in quotes.", "SCP-069"),
        ("chapter-no-title", AUDIO | {"chapters": [{"time": 60}]}, "A chapter without title.", "SCP-069"),
        ("attributed-to-number", AUDIO | {"attributedTo": 5}, "`attributedTo` is a number.", "D43 SCP-074"),
        ("part-of-nameless", AUDIO | {"partOf": {"type": "Collection"}}, "`partOf` is an object without name.", "D43 SCP-075"),
        ("transcript-array", AUDIO | {"transcript": ["Hoo."]}, "`transcript` is an array.", "SCP-070"),
    ):
        one_block(f"field-{name}", about + " The member is dropped.", "D32 " + clauses, block, "SC025")

    for name, block, about, clauses in (
        ("duration-seconds-fraction", VIDEO | {"duration": "PT0.5S"}, "A fraction of a second.", "D44 SCP-083"),
        ("duration-minutes", VIDEO | {"duration": "PT90M"}, "More than 59 minutes.", "D44 SCP-083"),
        ("chapter-fraction", AUDIO | {"chapters": [{"time": 61.9, "title": "One"}]},
         "A chapter time with a fraction: rounded down.", "D44 SCP-069"),
        ("width-integral-float", VIDEO | {"width": 1920.0, "height": 1080.0},
         "A width written with a decimal point is an integer by JSON Schema.", "SCP-066"),
        ("attributed-to-object", AUDIO | {"attributedTo": {"type": "Person", "name": "Ada"}},
         "`attributedTo` is an object with a name.", "D43 SCP-074"),
        ("part-of-object", AUDIO | {"partOf": {"type": "Collection", "name": "Quay", "totalItems": 3}},
         "`partOf` is an object with a name.", "D43 SCP-075"),
        ("icon-without-url", VIDEO | {"icon": {"type": "Image"}}, "An icon without address is allowed by the schema.", "SCP-066"),
    ):
        one_block(f"field-ok-{name}", about, clauses, block)


# ----------------------------------------------------- cases: the chain member


def chain_cases():
    good = {"state": state(TOWN), "pages": 2}

    def chained(name, about, codes, member, pages=2, items=TOWN, **more):
        case(f"chain-{name}", about, "D95", plain(items, head(rutter=member)), *codes,
             **({} if any(RULES[c] == "fatal" for c in codes) else {"pages": pages}), **more)

    chained("snapshot", "A snapshot that names its state.", [], good)
    chained("snapshot-order", "The same pages in another order have the same state.", [], good, items=TOWN[::-1])
    chained("snapshot-empty", "The state of no pages is zero.", [], {"state": "0" * 32, "pages": 0}, pages=0, items=[])
    odd = [page(url="https://HARBOUR.example:443/tides#noon")]
    chained("snapshot-url-form", "The state is built from the parsed address without fragment.", [],
            {"state": state(odd), "pages": 1}, pages=1, items=odd)
    ailing = [TIDES, page("/ferry", modified="soon")]
    chained("snapshot-skipped-page", "A page that is skipped for its own fault still counts in the state.", ["SC033"],
            {"state": state(ailing), "pages": 2}, pages=1, items=ailing, skipped=1)
    chained("unknown-member", "An unknown member inside the chain member.", [], good | {"note": [1]})
    case("chain-delta", "A delta that names both states and a removal.", "D95",
         plain([FERRY], delta_head(rutter={"from": state([TIDES, MARKET]), "state": state(TOWN), "pages": 2,
                                           "removed": [HOST + "/market"]})), pages=1)
    case("chain-delta-removals-only", "A delta that only removes has no page lines.", "D27 D95",
         plain([], delta_head(rutter={"from": state(TOWN + [MARKET]), "state": state(TOWN), "pages": 2,
                                      "removed": [HOST + "/market"]})), pages=0)
    case("chain-no-checksum", "The chain member without the checksum that protects it.", "D95",
         bare(meta=head(rutter=good)), "SC018")
    case("chain-no-checksum-malformed", "A malformed chain member without checksum is refused just the same.", "D95",
         bare(meta=head(rutter={"state": "x"})), "SC018")
    chained("state-wrong", "The pages do not add up to the state.", ["SC059"], good | {"state": state([TIDES])})
    chained("state-other-line", "The state was taken from another spelling of the same page.", ["SC059"],
            good | {"state": state([TIDES, dict(reversed(FERRY.items()))])})
    chained("pages-wrong", "The state is right, the number of pages is not.", ["SC059"], good | {"pages": 3})
    for name, member, about in (
        ("null", None, "The chain member is null."),
        ("array", [good], "The chain member is an array."),
        ("no-state", {"pages": 2}, "The chain member has no state."),
        ("no-pages", {"state": good["state"]}, "The chain member has no number of pages."),
        ("state-short", good | {"state": good["state"][1:]}, "The state has 31 digits."),
        ("state-number", good | {"state": 5}, "The state is a number."),
        ("pages-string", good | {"pages": "2"}, "The number of pages is a string."),
        ("pages-negative", good | {"pages": -2}, "The number of pages is negative."),
    ):
        chained(f"malformed-{name}", about + " It is ignored.", ["SC060"], member)
    case("chain-malformed-removed", "The removals of a delta are not a list of addresses; all of it is ignored.", "D95",
         plain([FERRY], delta_head(rutter={"from": state(TOWN), "state": state(TOWN), "pages": 2, "removed": "all"})),
         "SC060", pages=1)


# --------------------------------------------- cases: additional input


def given_cases():
    whole = plain()
    coded = gzip(whole)
    exact = {"section": "harbour", "type": "snapshot", "generated": GENERATED, "pages": 2}

    def advert(name, about, clauses, said, *codes, data=whole, pages=2, **more):
        count = {} if any(RULES[code] == "fatal" for code in codes) else {"pages": pages}
        case(f"advert-{name}", about, clauses, data, *codes, given={"advert": said}, **count, **more)

    since = "2026-04-30T06:00:00Z"
    delta = plain([FERRY], delta_head())
    delta_exact = exact | {"type": "delta", "since": since, "pages": 1}

    advert("exact", "The sitemap says exactly what the file is.", "D20", exact | {"size": len(coded)}, data=coded, ext=".scp.gz")
    advert("delta-exact", "The sitemap describes the delta exactly.", "D20", delta_exact | {"size": len(delta)},
           data=delta, pages=1)
    advert("same-instant", "The sitemap gives the same moment in another zone.", "D20 D22",
           exact | {"generated": "2026-05-01T08:00:00+02:00"})
    advert("section", "The sitemap promises another section.", "A21 D20", exact | {"section": "pier"}, "SC063")
    advert("type", "The sitemap promises a delta.", "D20", exact | {"type": "delta"}, "SC063")
    advert("cut-file", "A file without checksum holds fewer pages than promised: it was cut at a line end.", "A03 D20",
           exact | {"pages": 5247}, "SC063", data=bare())
    advert("fewer-pages", "Fewer pages than promised, but the checksum vouches for the file.", "D20",
           exact | {"pages": 3}, "SC064")
    advert("more-pages", "More pages than promised.", "D20", exact | {"pages": 1}, "SC064")
    advert("more-pages-no-checksum", "More pages than promised in a file without checksum.", "D20",
           exact | {"pages": 1}, "SC055", "SC064", data=bare())
    advert("size", "Another size than promised.", "D20 SCP-121", exact | {"size": len(coded) + 1}, "SC064",
           data=coded, ext=".scp.gz")
    advert("size-decoded", "The promised size is that of the text, not of the file.", "D20 SCP-121",
           exact | {"size": len(whole)}, "SC064", data=coded, ext=".scp.gz")
    advert("older-snapshot", "The snapshot is older than promised: a replay.", "D20 D26",
           exact | {"generated": "2026-05-02T06:00:00Z"}, "SC063")
    advert("newer-snapshot", "The snapshot is newer than promised.", "D20", exact | {"generated": "2026-04-01T06:00:00Z"}, "SC064")
    advert("older-delta", "A delta is older than promised.", "D20", delta_exact | {"generated": "2026-05-02T06:00:00Z"},
           "SC064", data=delta, pages=1)
    advert("other-since", "A delta begins at another time than promised.", "D20",
           delta_exact | {"since": "2026-04-29T06:00:00Z"}, "SC064", data=delta, pages=1)

    made = datetime.fromisoformat(GENERATED)

    def age(name, about, ahead, *codes):
        now = (made - ahead).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        case(f"age-{name}", about, "A20 D26 SCP-166", whole, *codes, pages=2, given={"now": now})

    age("5-minutes-ahead", "Generated five minutes ahead of our clock.", timedelta(minutes=5))
    age("10-minutes-ahead", "Generated exactly ten minutes ahead of our clock.", timedelta(minutes=10))
    age("2-days-ahead", "Generated two days ahead of our clock.", timedelta(days=2), "SC061")
    age("10-years-ahead", "Generated ten years ahead of our clock.", timedelta(days=3652), "SC061")
    age("300-days-old", "Generated 300 days ago.", timedelta(days=-300))
    age("500-days-old", "Generated 500 days ago: only a judge mentions it.", timedelta(days=-500), "SC062")


# --------------------------------------------------------------------- merges

MERGES = []


def day(number, hour=6):
    return f"2026-05-{number:02}T{hour:02}:00:00Z"


def ship(path, number, **members):
    """A page modified on that day of May."""
    return page(path, modified=day(number), **({"title": f"Day {number}"} | members))


def snapshot(pages, number=1, **members):
    return plain(pages, head(id=f"harbour-snapshot-{number}", generated=day(number)) | members).decode()


def delta(pages, begin, number, **members):
    meta = delta_head(id=f"harbour-delta-{number}", generated=day(number), since=day(begin))
    return plain(pages, meta | members).decode()


def chain(pages, before=None, removed=()):
    """The chain member for a section that holds `pages` afterwards."""
    out = {"from": state(before)} if before is not None else {}
    out |= {"state": state(pages), "pages": len(pages)}
    return out | ({"removed": list(removed)} if removed else {})


def merge(name, about, clauses, collections, expect):
    if isinstance(expect, list):
        rows = sorted([item["url"], item["modified"]] for item in expect)
        expect = {"pages": rows}
    else:
        expect = {"refused": expect}
    assert all(other["name"] != name for other in MERGES), name
    MERGES.append({"name": name, "about": about, "clauses": clauses.split(),
                   "collections": collections, "expect": expect})


def merge_cases():
    a0, b0, c0 = ship("/a", 1), ship("/b", 1), ship("/c", 1)
    a2, b2, a3, a4 = ship("/a", 2), ship("/b", 2), ship("/a", 3), ship("/a", 4)
    new = ship("/new", 2)
    base = [a0, b0]

    merge("replace-keep-insert", "A later page replaces, an equal or earlier one does not, an unknown one is added.",
          "SCP-132 SCP-133 SCP-134 D21",
          [snapshot([a0, b0, ship("/c", 2)], 3),
           delta([ship("/a", 3), ship("/b", 1, title="Same time, other words"), ship("/c", 1), new], 3, 4)],
          [ship("/a", 3), b0, ship("/c", 2), new])
    merge("instants-not-strings", "Times are compared as moments: the delta's text sorts later, its moment is earlier.",
          "D22 SCP-133",
          [snapshot([page("/a", modified="2026-05-01T23:30:00Z")], 2),
           delta([page("/a", modified="2026-05-02T01:00:00+02:00")], 2, 3)],
          [page("/a", modified="2026-05-01T23:30:00Z")])
    merge("wrong-order", "Deltas are given in the wrong order and applied in the order of `generated`.",
          "A19 SCP-139 D25",
          [snapshot(base, 1), delta([a4], 3, 4), delta([a2, b2], 1, 2), delta([a3, new], 2, 3)],
          [a4, b2, new])
    merge("order-by-instant", "The order of `generated` is the order of instants, in any zone.",
          "A19 D22 D25",
          [snapshot(base, 1),
           delta([a3], 2, 3, generated="2026-05-02T23:00:00-07:00"),
           delta([a2, new], 1, 2, generated="2026-05-03T06:00:00+14:00")],
          [a3, b0, new])
    merge("delivered-twice", "The same delta twice changes nothing the second time.", "A19 D25",
          [snapshot(base, 1), delta([a2, new], 1, 2), delta([a2, new], 1, 2)], [a2, b0, new])
    merge("older-than-snapshot", "A delta that the snapshot already covers does not bring a deleted page back.",
          "A19 D25", [snapshot(base, 3), delta([ship("/gone", 2), a2], 1, 2)], base)
    merge("same-generated-as-snapshot", "A delta published together with the snapshot is already covered.",
          "A19 D25 D95", [snapshot(base, 3), delta([ship("/gone", 2)], 2, 3), delta([a4], 3, 4)], [a4, b0])
    merge("overlap", "A delta may begin before the mark; what is delivered twice does no harm.", "D25",
          [snapshot(base, 2), delta([a2, b2], 1, 3), delta([a4, b2], 1, 4)], [a4, b2])
    merge("new-page-old-date", "A newly public page may be older than the delta's `since`.", "D25 SCP-134",
          [snapshot([a2], 3), delta([ship("/archive", 1)], 3, 4)], [a2, ship("/archive", 1)])
    merge("host-case", "An address that parses to the same one names the same page.", "D30 A16 SCP-131",
          [snapshot(base, 1), delta([page("https://HARBOUR.example:443/a#top", modified=day(2))], 1, 2)],
          [page("https://HARBOUR.example:443/a#top", modified=day(2)), b0])
    merge("twice-in-one-file", "Of two versions in one collection the later counts; of equals the first.", "D30 A16",
          [snapshot([a0, ship("/b", 1, title="First"), ship("/b", 1, title="Second"), ship("/a", 2)], 3),
           delta([ship("/a", 4), ship("/a", 3)], 3, 4)],
          [ship("/a", 4), b0])
    merge("no-deletion", "A plain delta never deletes.", "D27 SCP-137", [snapshot(base, 1), delta([a2], 1, 2)], [a2, b0])
    merge("empty-delta", "A delta without pages moves the mark and nothing else.", "D27 D25",
          [snapshot(base, 1), delta([], 1, 2), delta([a3], 2, 3)], [a3, b0])

    merge("gap", "The delta begins after the snapshot: what lies between is unknown.", "A18 D25",
          [snapshot(base, 1), delta([a3], 2, 3)], "gap")
    merge("gap-in-the-middle", "One delta of three is missing.", "A18 D25 SCP-139",
          [snapshot(base, 1), delta([a2], 1, 2), delta([a4], 3, 4)], "gap")
    merge("gap-by-one-second", "One second between mark and `since` is a gap.", "A18 D25",
          [snapshot(base, 1), delta([a2], 1, 2, since="2026-05-01T06:00:01Z")], "gap")
    merge("other-section", "The delta belongs to another section.", "A21 D24",
          [snapshot(base, 1), delta([a2], 1, 2, section="pier")], "section")
    merge("delta-first", "A delta alone is no section.", "SCP-127 D25", [delta([a2], 1, 2)], "kind")

    full = [a0, b0, c0]
    after = [a2, c0]
    first = snapshot(full, 1, rutter=chain(full))
    step = delta([a2], 1, 2, rutter=chain(after, full, [HOST + "/b"]))
    merge("chain-removal", "A chained delta replaces one page and removes another.", "D95", [first, step], after)
    merge("chain-removal-only", "A chained delta that only removes has no pages.", "D27 D95",
          [first, delta([], 1, 2, rutter=chain([a0], full, [HOST + "/b", HOST + "/c"]))], [a0])
    back = ship("/b", 3)
    third = delta([back], 2, 3, rutter=chain(after + [back], after))
    merge("chain-twice", "Two chained deltas given in the wrong order; a removed page comes back.", "A19 D95",
          [first, third, step], after + [back])
    merge("chain-then-plain", "A plain delta after a chained one.", "D95 D25",
          [first, step, delta([ship("/c", 3)], 2, 3)], [a2, ship("/c", 3)])
    merge("chain-broken", "The delta starts from another state: its pages count, its removals do not.", "D95 D25",
          [first, delta([a2], 1, 2, rutter=chain(after, [a0, b0], [HOST + "/b"]))], [a2, b0, c0])
    merge("chain-without-start", "The snapshot names no state and is not the one the delta starts from.", "D95 D25",
          [snapshot([a0, b0], 1), delta([a2], 1, 2, rutter=chain(after, full, [HOST + "/b"]))], [a2, b0])
    merge("chain-wrong-state", "After a chained delta the pages do not add up to its state.", "D95",
          [first, delta([a2], 1, 2, rutter=chain([a3, c0], full, [HOST + "/b"]))], "state")
    merge("chain-forgotten-removal", "A removal is missing from the list, so the state cannot be reached.", "D95",
          [first, delta([a2], 1, 2, rutter=chain([a2], full, [HOST + "/b"]))], "state")

    def fleet(count, removed):
        ships = [ship(f"/berth/{n:02}", 1) for n in range(count)]
        left = ships[removed:]
        gone = [item["url"] for item in ships[:removed]]
        return [snapshot(ships, 1, rutter=chain(ships)), delta([], 1, 2, rutter=chain(left, ships, gone))], left

    collections, _ = fleet(22, 12)
    merge("chain-mass-delete", "12 of 22 pages would go: held back.", "A23 D23 D95", collections, "mass-delete")
    collections, left = fleet(22, 11)
    merge("chain-half-deleted", "11 of 22 pages are half and not more.", "A23 D23 D95", collections, left)
    collections, left = fleet(20, 15)
    merge("chain-small-section", "15 of 20 pages: the section is too small for the guard.", "A23 D23 D95", collections, left)
    collections, left = fleet(21, 10)
    merge("chain-ten-of-21", "10 of 21 pages are less than half.", "A23 D23 D95", collections, left)


# --------------------------------------------------------------------- writing


def collect():
    checksum_cases()
    container_cases()
    coding_cases()
    metadata_cases()
    page_cases()
    url_cases()
    time_cases()
    language_cases()
    block_cases()
    chain_cases()
    given_cases()
    merge_cases()


def pretty(value):
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def outputs():
    """Every file of the suite that this script makes, by path."""
    out = {}
    for it in CASES:
        out[FILES / (it["name"] + it["ext"])] = it["data"]
        out[FILES / (it["name"] + ".expect.json")] = pretty(expectation(it))
    for it in MERGES:
        out[MERGE / (it["name"] + ".json")] = pretty({k: v for k, v in it.items() if k != "name"})
    return out


def write():
    wanted = outputs()
    for folder in (FILES, MERGE):
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            if old not in wanted:
                old.unlink()
    for path, data in wanted.items():
        path.write_bytes(data)
    print(f"{len(CASES)} files, {len(MERGES)} merges, {sum(map(len, wanted.values()))} bytes")


# -------------------------------------------------------------------- checking


def decode(data):
    """Undoes up to two codings; None where that fails."""
    for _ in range(2):
        if data[:2] == b"\x1f\x8b":
            out = b""
            while data:
                machine = zlib.decompressobj(31)
                try:
                    out += machine.decompress(data)
                except zlib.error:
                    return None
                if not machine.eof:
                    return None
                data = machine.unused_data
            data = out
        elif data[:4] == b"\x28\xb5\x2f\xfd" or data[1:4] == b"\x2a\x4d\x18" and data[0] >> 4 == 5:
            out = b""
            while data:
                if data[1:4] == b"\x2a\x4d\x18" and data[0] >> 4 == 5:
                    data = data[8 + struct.unpack("<I", data[4:8])[0]:]
                    continue
                machine = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
                try:
                    out += machine.decompress(data)
                except zstandard.ZstdError:
                    return None
                if not machine.eof:
                    return None
                data = machine.unused_data
            data = out
        else:
            break
    return data


BLANK = re.compile(rb"[ \t\r\n]*")
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def members(data, at):
    """Walks the members of the object at `at`: name, start, value start, value end, next."""
    skip = lambda at: BLANK.match(data, at).end()
    at = skip(at)
    assert data[at:at + 1] == b"{"
    start = at = at + 1
    is_first = True
    while data[skip(at):skip(at) + 1] != b"}":
        name = STRING.match(data, skip(at))
        value = skip(skip(name.end()) + 1)
        end = value_end(data, value)
        after = skip(end)
        cut = (start, after + 1) if is_first and data[after:after + 1] == b"," else (start, after)
        yield json.loads(name[0]), cut, (value, end)
        start, is_first = after, False
        at = after + 1 if data[after:after + 1] == b"," else after


def value_end(data, at):
    if data[at:at + 1] == b'"':
        return STRING.match(data, at).end()
    if data[at:at + 1] not in (b"{", b"["):
        return re.compile(rb"[^,}\] \t]+").match(data, at).end()
    depth = 0
    while True:
        if data[at:at + 1] == b'"':
            at = STRING.match(data, at).end()
            continue
        depth += (data[at:at + 1] in (b"{", b"[")) - (data[at:at + 1] in (b"}", b"]"))
        at += 1
        if depth == 0:
            return at


def checksum_forms(whole):
    """The claimed digest and the forms that match it; (None, set()) where none is claimed."""
    first = whole.find(b"{")
    line_end = whole.find(b"\n", first) if b"\n" in whole[first:] else len(whole)
    line = whole[:line_end].removesuffix(b"\r")
    begin = 3 if line.startswith(b"\xef\xbb\xbf") else 0
    inner = next(value for name, _, value in members(line, begin) if name == "collection")
    found = [(cut, value) for name, cut, value in members(line, inner[0]) if name == "checksum"]
    if not found:
        return None, set()
    (cut, value), = found
    claimed = json.loads(line[slice(*value)]).removeprefix("sha256:").lower()
    excised = whole[:cut[0]] + whole[cut[1]:]
    shorter = excised.removesuffix(b"\n").removesuffix(b"\r") if excised.endswith(b"\n") else excised
    zeroed = whole[:value[1] - 65] + b"0" * 64 + whole[value[1] - 1:]
    forms = {"excised": excised, "zeroed": zeroed}
    if shorter != excised:
        forms["no newline"] = shorter
    return claimed, {name for name, text_ in forms.items() if sha256(text_) == claimed}


def strict_json(line):
    def no(word):
        raise ValueError(word)
    return json.loads(line, parse_constant=no)


def check_file(path, say):
    expect = json.loads(path.read_bytes())
    name = path.name.removesuffix(".expect.json")
    target = FILES / expect["file"]
    if set(expect) - {"about", "clauses", "file", "given", "lenient", "strict"}:
        say(name, "unknown member")
    if not re.fullmatch(re.escape(name) + r"\.scp(\.gz|\.zst)?", expect["file"]) or not target.is_file():
        return say(name, "names no file of its own")
    data = target.read_bytes()
    if LARGEST_FILE < len(data):
        say(name, "too large")
    lenient, strict = expect["lenient"], expect["strict"]
    if "reason" in lenient:
        code = lenient["reason"]
        if lenient != strict or RULES.get(code) != "fatal" or lenient["verdict"] != "rejected":
            say(name, "a fatal rule rejects in both modes")
        whole = decode(data)
        if (code == "SC002") != (whole is None):
            say(name, "decodes differently from what is expected")
        if code == "SC016" and (checksum_forms(whole)[0] is None or checksum_forms(whole)[1]):
            say(name, "checksum matches after all")
        return None
    codes = strict["findings"]
    heard = [code for code in codes if RULES[code] not in SILENT_IN_LENIENT]
    if any(RULES.get(code, "fatal") == "fatal" for code in codes) or codes != sorted(set(codes)):
        say(name, "findings are wrong")
    if lenient["findings"] != heard or lenient["verdict"] != "accepted":
        say(name, "lenient does not follow from strict")
    if (strict["verdict"] == "rejected") != any(RULES[code] in REJECTS_IN_STRICT for code in codes):
        say(name, "strict verdict does not follow from its findings")
    whole = decode(data)
    if whole is None:
        return say(name, "does not decode")
    claimed, forms = checksum_forms(whole)
    wanted = {"SC053": "no newline", "SC054": "zeroed"}
    form = next((wanted[code] for code in codes if code in wanted), "excised")
    if claimed is None:
        if "SC055" not in codes:
            say(name, "has no checksum")
    elif "SC055" in codes or forms != {form}:
        say(name, f"checksum matches as {forms or 'nothing'}, wanted {form}")
    rows = [line for line in whole.split(b"\n") if line.strip(b" \t\r")][1:]
    for line in rows:
        strict_json(line)
    if len(rows) != lenient["pages"] + lenient["skipped"]:
        say(name, "pages do not add up")
    size = expect.get("given", {}).get("advert", {}).get("size")
    if size is not None and (size != len(data)) != ("SC064" in codes):
        say(name, "size")
    return None


def moment(text_):
    return datetime.fromisoformat(text_.replace("Z", "+00:00"))


def replay(collections):
    """Merges collections by the rules in the README."""
    read = []
    for whole in collections:
        first, *rest = whole.split("\n")
        assert "excised" in checksum_forms(whole.encode())[1]
        read.append((json.loads(first)["collection"], [(line, json.loads(line)) for line in rest]))
    (meta, pages), *deltas = read
    if meta["type"] != "snapshot":
        return {"refused": "kind"}
    if any(other["section"] != meta["section"] for other, _ in deltas):
        return {"refused": "section"}
    held = {}

    def take(pages):
        for line, item in pages:
            old = held.get(key(item["url"]))
            if old is None or moment(old[1]["modified"]) < moment(item["modified"]):
                held[key(item["url"])] = (line, item)

    def now():
        total = sum(weight(item["url"], line.encode()) for line, item in held.values())
        return f"{total % (1 << 128):032x}"

    take(pages)
    mark = start = moment(meta["generated"])
    for other, pages in sorted(deltas, key=lambda it: moment(it[0]["generated"])):
        if moment(other["generated"]) <= start:
            continue
        if mark < moment(other["since"]):
            return {"refused": "gap"}
        link = other.get("rutter", {})
        is_chained = link.get("from") == now()
        before = len(held)
        take(pages)
        if is_chained:
            removed = link.get("removed", [])
            if 20 < before and before < 2 * len(removed):
                return {"refused": "mass-delete"}
            for url in removed:
                held.pop(key(url), None)
            if now() != link["state"] or len(held) != link["pages"]:
                return {"refused": "state"}
        mark = moment(other["generated"])
    return {"pages": sorted([item["url"], item["modified"]] for _, item in held.values())}


def check():
    troubles = []
    say = lambda name, what: troubles.append(f"{name}: {what}")
    root = HERE.parents[2]
    tables = "".join(path.read_text() for path in sorted(root.glob("crates/*/src/rules.rs")))
    listed = dict(re.findall(r'"(SC\d{3})" "[a-z0-9-]+" \((\w+),', tables))
    # Rules about a sitemap's adverts; no collection can break them.
    for code in ("SC067", "SC068", "SC069", "SC070"):
        listed.pop(code, None)
    if listed and listed != RULES:
        say("rules", f"tables differ: {sorted(set(listed.items()) ^ set(RULES.items()))}")
    requirements = root / "conformance" / "requirements.tsv"
    known = set(re.findall(r"^(\S+)\t", requirements.read_text(), re.M)) if requirements.is_file() else None

    for path, data in outputs().items():
        if not path.is_file() or path.read_bytes() != data:
            say(path.name, "is not what this script writes")
    total = 0
    used = set()
    for path in sorted([*FILES.iterdir(), *MERGE.iterdir()]):
        total += path.stat().st_size
        if path not in outputs():
            say(path.name, "belongs to no case")
    for path in sorted([*FILES.glob("*.expect.json"), *MERGE.glob("*.json")]):
        expect = json.loads(path.read_bytes())
        for clause in expect["clauses"]:
            if not re.fullmatch(r"[ADS]\w*(-\d{3})?", clause) or clause[:3] == "SCP" and known and clause not in known:
                say(path.name, f"unknown clause {clause}")
        if not expect["clauses"] or "\n" in expect["about"] or not expect["about"].endswith("."):
            say(path.name, "wants clauses and one line that says what it is about")
        if path.parent == FILES:
            check_file(path, say)
            used |= set(expect["strict"].get("findings", [])) | {expect["strict"].get("reason")}
        elif replay(expect["collections"]) != expect["expect"]:
            say(path.name, f"replay gives {replay(expect['collections'])}")
    if LARGEST_SUITE < total:
        say("suite", f"{total} bytes")
    readme = (HERE / "README.md").read_text()
    for code in sorted(used - {None}):
        if f"| {code} | {RULES[code]} |" not in readme:
            say("README.md", f"does not list {code} as {RULES[code]}")
    for code in re.findall(r"^\| (SC\d{3}) ", readme, re.M):
        if code not in used:
            say("README.md", f"lists {code}, which no case uses")
    print("\n".join(troubles) or
          f"{len(CASES)} files, {len(MERGES)} merges, {len(used - {None})} rules, {total} bytes: all well")
    return 1 if troubles else 0


if __name__ == "__main__":
    collect()
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if sys.argv[1:]:
        sys.exit("usage: make.py [--check]")
    write()
