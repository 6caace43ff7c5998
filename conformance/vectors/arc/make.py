#!/usr/bin/env python3
"""Writes the ARC vectors: one file and one expectation for each case.

Run `python3 make.py` after a change; `python3 make.py --check` sees that what
is in `files` is what this script writes.
"""

import gzip
import json
import sys
from pathlib import Path

FILES = Path(__file__).parent / "files"
SITE = "https://harbour.example"
SUM = "sha256:" + "0a" * 32

# How grave each rule is; README.md explains the words.
GRAVITY = {
    **{code: "fatal" for code in (
        "AR001 AR002 AR003 AR005 AR006 AR007 AR015 AR017 AR024 AR070 AR071 AR073").split()},
    **{code: "warning" for code in (
        "AR008 AR009 AR010 AR011 AR012 AR013 AR014 AR016 AR027 AR030 AR031 AR032 AR033 AR035 "
        "AR036 AR037 AR038 AR039 AR040 AR041 AR043 AR046 AR048 AR050 AR051 AR052 AR056 AR059 "
        "AR063 AR074 AR080").split()},
    **{code: "advice" for code in (
        "AR018 AR019 AR020 AR022 AR025 AR026 AR034 AR044 AR045 AR049 AR053 AR057 AR058 AR060 "
        "AR061 AR062 AR064 AR075 AR081 AR082").split()},
    **{code: "hint" for code in "AR042 AR047 AR054 AR055 AR083".split()},
}

CASES = []


def entry(path="tides", **members):
    """A full entry; a member that is `...` is left out."""
    whole = {
        "url": f"{SITE}/{path}",
        "lastmod": "2026-05-01T06:00:00Z",
        "ai_indexable": True,
        "ai_summary": "When the water is high.",
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def bare(path="log", **members):
    return entry(path, ai_summary=..., **members)


def doc(*pages, **members):
    whole = {
        "arc_sitemap_version": "2.1",
        "site": SITE,
        "generated_at": "2026-05-02T00:00:00Z",
        **members,
    }
    whole = {name: value for name, value in whole.items() if value is not ...}
    return {**whole, "pages": list(pages) or [entry()]}


def case(name, about, clauses, content, findings="", pages=1, schema=None, now=None, called=None,
         ending="json", reason=None):
    """`findings` are all codes a judge reports; `schema` is what E.9 says."""
    if isinstance(content, (dict, list)):
        content = json.dumps(content, ensure_ascii=False, indent=1)
    data = content if isinstance(content, bytes) else content.encode()
    file = f"{name}.{ending}"
    expect = {"about": about, "clauses": clauses.split(), "file": file}
    if called:
        expect["called"] = called
    if now:
        expect["given"] = {"now": now}
    if schema is not None:
        expect["schema"] = "valid" if schema else "invalid"
    if reason:
        assert GRAVITY[reason] == "fatal", reason
        expect["lenient"] = expect["strict"] = {"verdict": "rejected", "reason": reason}
    else:
        codes = sorted(findings.split())
        heard = [code for code in codes if GRAVITY[code] in ("warning", "advice")]
        is_bad = any(GRAVITY[code] == "warning" for code in codes)
        expect["lenient"] = {"verdict": "accepted", "findings": heard}
        if pages is not None:
            expect["lenient"]["pages"] = pages
        expect["strict"] = {"verdict": "rejected" if is_bad else "accepted", "findings": codes}
    CASES.append((name, file, data, expect))


def raw(pages, head=f'"arc_sitemap_version":"2.1","site":"{SITE}","generated_at":"2026-05-02T00:00:00Z",'):
    """A document as text, for what a JSON library would not write."""
    return "{" + head + '"pages":[' + pages + "]}"


ONE = f'{{"url":"{SITE}/tides","lastmod":"2026-05-01T06:00:00Z","ai_indexable":true,"ai_summary":"Tides."%s}}'


def good():
    snapshot = {"page": "signup", "title": "Join", "ai_context": ["personal"], "sections": [
        {"name": "form", "intent": "register_user", "fields": [{"field": "email", "context": "personal"}]}]}
    case("whole", "Every field of E.4, and everything beside the pages.",
         "ARC-006 ARC-010 ARC-011 ARC-012 ARC-013 ARC-014 ARC-015 ARC-016 ARC-017 ARC-018 ARC-019 ARC-032 ARC-037 ARC-042 ARC-052",
         doc(entry(ai_tags=["tides", "harbour"], ai_checksum=SUM, ai_snapshot=snapshot, crawl_priority=0.5,
                   auth_required=False, robots_directive="noarchive"),
             crawl_rate="1/s", **{"ai-crawl-contact": "crawl@harbour.example"},
             deltas={"template": SITE + "/arc-sitemap-deltas/YYYY-MM-DD.json", "from": "2026-04-02", "to": "2026-05-02"}),
         schema=True)
    case("sample-of-the-specification", "The example of E.3.1; its checksum is no digest.", "ARC-006 D51",
         {"arc_sitemap_version": "2.1", "site": "https://example.com", "generated_at": "2025-11-09T08:00:00Z",
          "pages": [{"url": "https://example.com/signup", "lastmod": "2025-11-08T12:00:00Z", "ai_indexable": True,
                     "ai_summary": "Signup page for AquaGrow; collects email and password for onboarding.",
                     "ai_tags": ["signup", "onboarding", "user-account"], "ai_checksum": "sha256:af3c...",
                     "ai_snapshot": {"page": "signup", "title": "Create Your Account", "sections": [
                         {"name": "registration_form", "fields": ["email", "password"], "intent": "register_user"}]}}]},
         "AR044", schema=True)
    case("no-pages", "An empty list of pages is fine.", "ARC-042",
         {"arc_sitemap_version": "2.1", "site": SITE, "generated_at": "2026-05-02T00:00:00Z", "pages": []},
         pages=0, schema=True)
    case("pages-first", "Pages come before everything else.", "ARC-042",
         {"pages": [entry()], "site": SITE, "generated_at": "2026-05-02T00:00:00Z", "arc_sitemap_version": "2.1"},
         schema=True)
    case("unknown-members", "Unknown members do not make a document invalid.", "ARC-052",
         doc(entry(**{"x-owner": {"name": "port"}}), **{"x-note": [1, {"a": None}]}), schema=True)
    case("minor-version", "A newer minor version is read.", "ARC-038 D61", doc(arc_sitemap_version="2.9"), schema=True)
    case("bare-entries", "A forbidden page and one behind a login, with nothing of their content.",
         "ARC-012 ARC-018 ARC-024 ARC-025 D56 D57",
         doc(bare(ai_indexable=False), bare("members", lastmod=..., auth_required=True)), pages=2, schema=True)
    case("offset-time", "A time with an offset and a fraction.", "ARC-047",
         doc(entry(lastmod="2026-05-01T06:00:00.250+02:00")), schema=True)
    case("priority-ends", "0 and 1 are both inside.", "ARC-051",
         doc(entry("a", crawl_priority=0), entry("b", crawl_priority=1)), pages=2, schema=True)
    case("escaped-names", "Names and texts may be written with escapes.", "ARC-006",
         raw(ONE.replace('"url"', '"\\u0075rl"') % ',"ai_tags":["\\ud83d\\udea2"]'), schema=True)
    case("compressed", "The same as gzip.", "ARC-006", gzip.compress(json.dumps(doc()).encode(), mtime=0),
         ending="json.gz")
    case("everything-sensible-about-a-site-in-a-subfolder", "The site lives under a path; its pages are of its origin.",
         "D92 D88", doc(site=SITE + "/blog/"), schema=True)


def head():
    case("not-json", "A text that is no JSON.", "ARC-006", "arc: yes", reason="AR001", called="arc-sitemap.json")
    case("trailing", "Something follows the document.", "ARC-006", json.dumps(doc()) + "{}", reason="AR001")
    case("comma-too-many", "A comma before the last bracket.", "ARC-006", raw(ONE % "" + ","), reason="AR001")
    case("list", "A list of pages is no document.", "ARC-042", [entry()], reason="AR002", called="arc-sitemap.json",
         schema=False)
    case("latin-1", "Not UTF-8.", "ARC-006", json.dumps(doc(entry(ai_summary="Hafen überall")), ensure_ascii=False).encode("latin-1"),
         reason="AR003")
    case("cut", "The file ends in the middle.", "ARC-006", json.dumps(doc())[:-20], reason="AR005")
    case("empty", "A file without a byte.", "ARC-006", b"", reason="AR005", called="arc-sitemap.json")
    case("too-deep", "Brackets in brackets.", "D89", raw(ONE % (',"x":' + "[" * 150 + "]" * 150)), reason="AR006")
    case("version-3", "Another major version is refused.", "ARC-038 D61", doc(arc_sitemap_version="3.0"), reason="AR007",
         schema=True)
    case("version-missing", "No version.", "ARC-038 ARC-042", doc(arc_sitemap_version=...), "AR008", schema=False,
         called="arc-sitemap.json")
    for name, version in [("word", "abc"), ("empty", ""), ("blank", " "), ("true", True), ("letter", "v2.1")]:
        case(f"version-{name}", "A version without a number is refused.", "ARC-038 D61", doc(arc_sitemap_version=version),
             reason="AR007", called="arc-sitemap.json")
    case("version-major", "The major version alone.", "ARC-043 D61", doc(arc_sitemap_version="2"), "AR009")
    case("version-number", "The version is a number.", "ARC-043", doc(arc_sitemap_version=2.1), "AR009", schema=False)
    case("site-missing", "No site.", "ARC-042", doc(site=...), "AR010", schema=False)
    case("site-relative", "The site is no address.", "ARC-044", doc(site="harbour.example"), "AR011", schema=False)
    case("generated-missing", "No time.", "ARC-042", doc(generated_at=...), "AR012", schema=False)
    case("generated-date", "A date is no date-time.", "ARC-045", doc(generated_at="2026-05-02"), "AR013", schema=False)
    missing = doc()
    del missing["pages"]
    case("pages-missing", "No pages.", "ARC-042 ARC-046", missing, "AR014", pages=0, schema=False)
    case("pages-object", "Pages are no list.", "ARC-046", {**missing, "pages": {}}, reason="AR015", schema=False)
    case("site-twice", "A member of the document stands there twice.", "C06 D63",
         raw(ONE % "", f'"arc_sitemap_version":"2.1","site":"{SITE}","site":"{SITE}","generated_at":"2026-05-02T00:00:00Z",'),
         "AR016", schema=True)
    case("pages-twice", "Two lists of pages.", "C06 D63", raw(ONE % "")[:-1] + ',"pages":[]}', reason="AR017", schema=True)
    case("rate", "A rate of unknown form.", "ARC-032 D52", doc(crawl_rate="slowly"), "AR018", schema=True)
    case("other-spellings", "Hyphen and underscore exchanged.", "ARC-037 D52",
         doc(**{"crawl-rate": "1/s", "ai_crawl_contact": "crawl@harbour.example"}), "AR019", schema=True)
    case("deltas-form", "An announcement without the place of the day.", "D60",
         doc(deltas={"template": "/deltas", "from": "a", "to": "b"}), "AR020", schema=True)
    case("byte-order-mark", "A byte order mark.", "ARC-006", b"\xef\xbb\xbf" + json.dumps(doc()).encode(), "AR022")
    case("gzip-cut", "The compression ends early.", "ARC-006",
         gzip.compress(json.dumps(doc()).encode(), mtime=0)[:-12], reason="AR024", ending="json.gz", called="arc-sitemap.json.gz")
    case("future", "A page of next year.", "D50", doc(entry(lastmod="2027-05-01T00:00:00Z")), "AR025", schema=True,
         now="2026-05-02T00:00:00Z")
    case("many-members", "Three hundred unknown members.", "D89",
         doc(entry(**{f"x{n}": n for n in range(300)})), "AR026", schema=True)


def entries():
    case("entry-text", "An address alone.", "ARC-046", doc(f"{SITE}/tides"), "AR030", pages=0, schema=False)
    case("entry-null", "Nothing.", "ARC-046", doc(None), "AR030", pages=0, schema=False)
    case("url-missing", "An entry without address.", "ARC-010 ARC-046", doc(entry(url=...)), "AR031", pages=0, schema=False)
    case("url-relative", "A relative address.", "ARC-047", doc(entry(url="/tides")), "AR032", pages=0, schema=False)
    case("url-number", "A number for an address.", "ARC-047", doc(entry(url=7)), "AR032", pages=0, schema=False)
    case("url-ftp", "An address that is no page's.", "ARC-010", doc(entry(url="ftp://harbour.example/a")), "AR033",
         pages=0, schema=True)
    case("url-password", "An address with a password.", "ARC-010", doc(entry(url="https://a:b@harbour.example/a")),
         "AR033", pages=0, schema=True)
    case("url-umlaut", "A letter that must be escaped.", "ARC-047", doc(entry(url=SITE + "/hafenführer")), "AR027",
         schema=False)
    case("other-host", "A page of another host; www is another host.", "D88",
         doc(entry(), entry(url="https://www.harbour.example/tides")), "AR034", schema=True)
    case("url-twice", "Two entries for one page, apart by a fragment.", "ARC-010",
         doc(entry(), entry("tides#high", ai_indexable=False, ai_summary=...)), "AR035", pages=2, schema=True)
    case("two-urls", "One entry, two addresses.", "C06", raw(ONE % f',"url":"{SITE}/other"'), "AR048", pages=0,
         schema=True)
    case("indexable-missing", "Nothing about consent.", "ARC-012 ARC-046 C09", doc(bare(ai_indexable=...)), "AR036",
         schema=False)
    for name, value in [("text-false", "false"), ("text-true", "true"), ("null", None), ("one", 1), ("list", [True])]:
        case(f"indexable-{name}", "Consent that is no boolean is none.", "ARC-012 ARC-048 C09",
             doc(bare(ai_indexable=value)), "AR037", schema=False)
    case("indexable-twice", "Allowed, then forbidden: forbidden, and so more is said than should be.", "C06 D63",
         raw(ONE % ',"ai_indexable":false'), "AR048 AR049")
    case("generator-nulls", "What the generator of E.10 writes without a snapshot.", "ARC-049 ARC-050 D50",
         doc(entry(ai_summary=None, ai_tags=[], ai_checksum=SUM, ai_snapshot=None)), "AR038 AR054", schema=False)
    case("tags-null", "What the generator of E.10 prints in its example.", "ARC-050 D50",
         doc(entry(ai_tags=None)), "AR038", schema=False)
    case("summary-number", "A summary that is a number.", "ARC-049", doc(entry(ai_summary=7)), "AR039 AR054", schema=False)
    case("checksum-number", "A checksum that is a number.", "ARC-049", doc(entry(ai_checksum=7)), "AR039", schema=False)
    case("snapshot-list", "A snapshot that is a list.", "ARC-050", doc(entry(ai_snapshot=[])), "AR039", schema=False)
    case("tags-text", "Tags that are one text.", "ARC-050", doc(entry(ai_tags="tides")), "AR039", schema=False)
    case("priority-text", "A priority in quotes.", "ARC-051", doc(entry(crawl_priority="0.5")), "AR039", schema=False)
    case("auth-text", "A login that is perhaps needed.", "ARC-018 ARC-048", doc(bare(auth_required="yes")), "AR040",
         schema=False)
    case("robots-list", "Directives as a list.", "ARC-019 ARC-049 D58", doc(bare(robots_directive=["noindex"])), "AR040",
         schema=False)
    case("removed-text", "Removed, as a text.", "D60", doc(bare(removed="true")), "AR040", schema=True)
    case("lastmod-date", "A date is no date-time.", "ARC-047", doc(entry(lastmod="2026-05-01")), "AR041", schema=False)
    case("lastmod-words", "A time in words.", "ARC-047", doc(entry(lastmod="yesterday")), "AR041 AR042", schema=False)
    case("lastmod-missing", "No time; it is only recommended.", "ARC-011", doc(entry(lastmod=...)), "AR042", schema=True)
    case("priority-above", "More than 1.", "ARC-051", doc(entry(crawl_priority=1.01)), "AR043", schema=False)
    case("priority-below", "Less than 0.", "ARC-051", doc(entry(crawl_priority=-0.1)), "AR043", schema=False)
    case("checksum-short", "A digest that is too short.", "ARC-015 D51", doc(entry(ai_checksum="sha256:af3c")), "AR044",
         schema=True)
    case("many-tags", "More tags than anybody filters by.", "D89", doc(entry(ai_tags=["t"] * 1001)), "AR045", schema=True)
    case("tag-number", "A tag that is a number.", "ARC-050", doc(entry(ai_tags=["a", 1])), "AR046", schema=False)
    case("directive-unknown", "A directive that is spelt wrongly.", "ARC-019 D58", doc(entry(robots_directive="noindx")),
         "AR047", schema=True)
    case("member-twice", "An unknown member stands there twice.", "C06", raw(ONE % ',"x":1,"x":2'), "AR048", schema=True)
    case("forbidden-with-summary", "Forbidden, and yet summarised.", "ARC-024 D56", doc(entry(ai_indexable=False)),
         "AR049", schema=True)
    case("login-with-snapshot", "Behind a login, and yet in the open.", "ARC-025 ARC-063 C13 D57",
         doc(entry(auth_required=True, ai_snapshot={"page": "members"})), "AR050", schema=True)
    case("sensitive-snapshot", "A sensitive snapshot in a public entry.", "ARC-025 ARC-027 D59",
         doc(entry(ai_snapshot={"page": "a", "ai_context": ["sensitive"]})), "AR051", schema=True)
    case("sensitive-tag", "A sensitive snapshot, by its tags.", "ARC-025 ARC-027",
         doc(entry(ai_tags=["sensitive"], ai_snapshot={"page": "a"})), "AR051", schema=True)
    case("field-value", "The value of a field.", "ARC-063 D59",
         doc(entry(ai_snapshot={"page": "a", "fields": [{"field": "email", "value": "jo"}]})), "AR052", schema=True)
    case("snapshot-without-page", "A snapshot that does not say of what.", "D62", doc(entry(ai_snapshot={"title": "a"})),
         "AR053", schema=True)
    case("summary-missing", "No summary; it is only recommended.", "ARC-013", doc(bare()), "AR054", schema=True)
    case("summary-long", "A summary that is a page.", "ARC-013", doc(entry(ai_summary="word " * 300)), "AR055", schema=True)
    key = "AKIA" + "Q3EGRT7WZ5KLM2NP"
    case("secret", "A key in a summary.", "ARC-063", doc(entry(ai_summary="Use " + key + " for it.")), "AR056", schema=True)
    case("personal", "An address and a number in a snapshot.", "ARC-063 C13",
         doc(entry(ai_snapshot={"page": "a", "who": "office@port.org, +44 20 7946 0958"})), "AR057", schema=True)
    case("contradiction", "Allowed, and noindex.", "ARC-019 D58", doc(bare(robots_directive="NoIndex, nofollow")), "AR058",
         schema=True)
    case("tombstone-half", "Removed, and yet indexable.", "D60",
         doc({"url": SITE + "/a", "ai_indexable": True, "removed": True}, since="2026-05-01T00:00:00Z",
             until="2026-05-01T12:00:00Z"), "AR059", schema=True)
    case("tombstone-in-full", "A removed page in the full sitemap.", "D60",
         doc({"url": SITE + "/a", "ai_indexable": False, "robots_directive": "noindex", "removed": True}), "AR060",
         schema=True)


def days():
    gone = {"url": SITE + "/a", "ai_indexable": False, "robots_directive": "noindex", "removed": True}
    window = {"since": "2026-05-01T00:00:00Z", "until": "2026-05-01T18:00:00Z"}
    day = "arc-sitemap-deltas/2026-05-01.json"
    case("day", "The changes of a day, with a page that is gone.", "ARC-039 ARC-040 D60", doc(entry(), gone, **window),
         pages=2, schema=True, called=day)
    case("day-nothing", "A day on which nothing changed.", "ARC-040 D60", {**doc(**window), "pages": []}, pages=0,
         schema=True, called=day)
    case("day-name", "A day that does not exist.", "ARC-039 C12", doc(entry(), **window), "AR061", schema=True,
         called="arc-sitemap-deltas/2026-13-40.json")
    case("day-window", "Changes of no known time.", "ARC-040", doc(), "AR062", schema=True, called=day)
    case("day-backwards", "Until before since.", "ARC-040",
         doc(since="2026-05-01T18:00:00Z", until="2026-05-01T00:00:00Z"), "AR063", schema=True, called=day)
    case("day-other", "The changes of another day.", "D60",
         doc(since="2026-05-03T00:00:00Z", until="2026-05-03T18:00:00Z"), "AR064", schema=True, called=day)


def yaml():
    start = f'arc_sitemap_version: "2.1"\nsite: "{SITE}"\ngenerated_at: "2026-05-02T00:00:00Z"\npages:\n'
    page = f'  - url: "{SITE}/tides"\n    lastmod: "2026-05-01T06:00:00Z"\n    ai_summary: "Tides."\n'

    def one(name, about, clauses, text, *rest, **more):
        case("yaml-" + name, about, clauses, text, *rest, ending="yaml", **more)

    one("whole", "The same in YAML.", "ARC-004 ARC-008 ARC-009", start + page + '    ai_indexable: true\n    ai_tags: ["a"]\n')
    one("plain-time", "A time without quotes is text.", "D63",
        (start + page).replace('"2026-05-01T06:00:00Z"', "2026-05-01T06:00:00Z") + "    ai_indexable: true\n")
    one("yes", "`yes` is no boolean.", "ARC-048 C11 D63", (start + page).replace("ai_summary", "x") + "    ai_indexable: yes\n",
        "AR037")
    one("norway", "`no` is a text, and so is no tag lost.", "C11 D63", start + page + "    ai_indexable: true\n    ai_tags: [no, NO]\n")
    one("tabs", "Tabs do not indent.", "C11 D63", start + page + "\tai_indexable: true\n", reason="AR070")
    one("two-documents", "A second document.", "D63", start + page + "    ai_indexable: true\n---\na: 1\n", reason="AR070")
    one("alias", "Anchors and aliases.", "C11 D63", start + page + "    ai_indexable: &a true\n    x: *a\n", reason="AR071")
    one("tag", "An object of a program.", "C11 D63",
        start + page + "    ai_indexable: true\n    x: !!python/object/apply:os.system [ls]\n", reason="AR071")
    one("key-twice", "A key stands there twice.", "C06 C11 D63", start + page + "    ai_indexable: true\n    ai_indexable: false\n",
        reason="AR073")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi"))
    one("bomb", "Aliases of aliases of aliases.", "C11 D63", bomb + start + page, reason="AR071")


def others():
    data = {"@context": "https://schema.org", "@type": "Dataset", "name": "ARC Sitemap", "url": SITE + "/arc-sitemap.json",
            "distribution": [{"@type": "DataDownload", "encodingFormat": "application/json",
                              "contentUrl": SITE + "/arc-sitemap.json"}]}
    case("pointer", "A pointer in JSON-LD.", "ARC-007 D53", data, ending="jsonld", pages=0)
    del data["distribution"][0]["contentUrl"]
    case("pointer-sample", "The sample of E.3.2 has no contentUrl.", "ARC-007 D53", data, "AR075", ending="jsonld", pages=0)
    case("pointer-nowhere", "A pointer to nothing.", "ARC-007 D53", {"@context": "https://schema.org", "@type": "WebSite"},
         "AR074", ending="jsonld", pages=0, called="arc-sitemap.jsonld")
    case("pointer-with-pages", "JSON-LD that is a sitemap itself.", "D53", {"@context": "https://schema.org", **doc()},
         ending="jsonld", schema=True)
    policy = {"arc_policy_version": "2.1", "site": SITE, "retention": {"max_days": 90, "delete_on_removal": True},
              "access": {"default": "deny", "endpoints": [{"url": SITE + "/arc-api/v1/pages", "auth": "bearer", "rate": "10/min"}]},
              "approved_consumers": [{"name": "Pilot", "user_agent": "PilotBot", "purposes": ["search"]}]}
    case("policy", "A policy with its three areas.", "ARC-028 ARC-029 ARC-030 ARC-031 D55", policy, pages=None)
    case("policy-no-json", "A policy that cannot be read is none.", "ARC-028 D55", "allow all", "AR080", pages=None,
         called=".well-known/arc-policy.json")
    case("policy-unclear", "Words that are no answer.", "D55", {**policy, "access": {"default": "perhaps"}}, "AR081", pages=None)
    case("policy-half", "Nothing about consumers.", "ARC-031 D55",
         {name: value for name, value in policy.items() if name != "approved_consumers"}, "AR082", pages=None)
    case("policy-spelling", "Another name for the same.", "D55",
         {("data_retention" if name == "retention" else name): value for name, value in policy.items()}, "AR083", pages=None)


def main():
    for part in (good, head, entries, days, yaml, others):
        part()
    wanted = {}
    for name, file, data, expect in CASES:
        assert file not in wanted, file
        wanted[file] = data
        wanted[f"{name}.expect.json"] = (json.dumps(expect, indent=2) + "\n").encode()
    FILES.mkdir(exist_ok=True)
    if "--check" in sys.argv:
        found = {path.name: path.read_bytes() for path in FILES.iterdir()}
        wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        sys.exit(f"not as written: {', '.join(wrong)}" if wrong else 0)
    for path in FILES.iterdir():
        path.unlink()
    for name, data in wanted.items():
        (FILES / name).write_bytes(data)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main()
