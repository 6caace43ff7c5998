#!/usr/bin/env python3
"""Writes the SPXI vectors: one file and one expectation for each case, and
small sites with what is wrong with them.

Run `python3 make.py` after a change; `python3 make.py --check` sees that what
is in `files` and `sites` is what this script writes.
"""

import copy
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
SITE = "https://lights.example"
SCHEMA = "https://schema.org/"
SPXI = "https://spxi.dev/vocabulary#"
MP = "https://metadatapacket.org/vocabulary#"
CONTEXT = {"@vocab": SCHEMA, "spxi": SPXI}
DOI = "10.5555/lights.1"

# How grave each rule is; README.md explains the words.
GRAVITY = {
    **{code: "fatal" for code in "SX001 SX002 SX003 SX004 SX005 SX006 SX120 SX121".split()},
    **{code: "warning" for code in (
        "SX008 SX010 SX011 SX013 SX014 SX016 SX020 SX022 SX023 SX024 SX025 SX026 SX027 SX034 SX037 "
        "SX040 SX041 SX050 SX051 SX053 SX054 SX055 SX056 SX057 SX058 SX059 SX061 SX062 SX063 SX064 "
        "SX065 SX067 SX075 SX076 SX077 SX080 SX081 SX091 SX100 SX101 SX107 SX109 SX122").split()},
    **{code: "judge" for code in "SX009".split()},
    **{code: "advice" for code in (
        "SX007 SX012 SX015 SX017 SX028 SX030 SX031 SX032 SX033 SX035 SX036 SX043 SX052 SX060 SX066 "
        "SX082 SX083 SX092 SX094 SX095 SX096 SX097 SX098 SX099 SX102 SX103 SX104 SX105 SX106").split()},
    **{code: "hint" for code in "SX021 SX029 SX042 SX068 SX069 SX070 SX071 SX072 SX078 SX090 SX093 SX108".split()},
}

CASES = []
SITES = []


def collision(**members):
    whole = {
        "@type": "spxi:DisambiguationEntry",
        "spxi:collidesWith": "North Light, a brewery",
        "spxi:distinguishingAttribute": "One is lit, the other is drunk.",
        "spxi:collisionRisk": "medium",
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def entity(path="/north", **members):
    """A whole entity; a member that is `...` is left out."""
    whole = {
        "@type": "spxi:IndexedEntity",
        "@id": SITE + path,
        "spxi:entityType": "LandmarksOrHistoricalBuildings",
        "spxi:canonicalName": "North Light",
        "spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"],
        "spxi:semanticIntegrityMarker": ["a red light over the sound", "kept by the Holm family"],
        "spxi:basinState": "contested",
        "spxi:bdrEstimate": 0.4,
        "spxi:verificationLevel": "self_attested",
        "spxi:packetRef": SITE + path + "/spxi-packet.jsonld",
        "spxi:disambiguationMatrix": [collision()],
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def kernel(**members):
    whole = {
        "@type": "spxi:HolographicKernel",
        "spxi:compressionSurvivalSummary": "The lights of the sound: four towers, their keepers and their signals.",
        "spxi:kernelSpecification": DOI,
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def surface(path="/north", **members):
    whole = {"@type": "WebPage", "@id": SITE + path, "name": "The page " + path, **members}
    return {name: value for name, value in whole.items() if value is not ...}


def index(*entities, **members):
    whole = {
        "@context": CONTEXT,
        "@type": "spxi:SemanticIndex",
        "@id": SITE + "/spxi-index.jsonld",
        "name": "Lights of the sound",
        "dateModified": "2026-05-02",
        "spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0",
        "spxi:protocolDoi": DOI,
        "publisher": {"@type": "Organization", "name": "Keepers of the Sound"},
        "spxi:siteKernel": kernel(),
        "spxi:hasEntity": list(entities) or [entity()],
        "spxi:hasSurface": [surface(), surface("/")],
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def packet(**members):
    whole = {
        "@context": {**CONTEXT, "mp": MP},
        "@type": ["spxi:PagePacket", "WebPage"],
        "@id": SITE + "/north/spxi-packet.jsonld",
        "url": SITE + "/north",
        "isPartOf": {"@id": SITE + "/spxi-index.jsonld"},
        "dateModified": "2026-05-02",
        "spxi:about": [entity(**{"@type": ["Place", "spxi:IndexedEntity", "mp:IndexedEntity"], "name": "North Light"})],
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def case(name, about, clauses, content, *findings, reason=None, at=None, same=None, called="spxi-index.jsonld",
         entities=1, unchecked=True):
    """`findings` are pairs of a code and its place, in the order a judge reports them."""
    if isinstance(content, (dict, list)):
        content = json.dumps(content, ensure_ascii=False, indent=1)
    data = content if isinstance(content, bytes) else content.encode()
    file = f"{name}.jsonld"
    expect = {"about": about, "clauses": clauses.split(), "file": file, "called": called}
    if same:
        expect["same"] = same
    if reason:
        assert GRAVITY[reason] == "fatal", reason
        expect["lenient"] = expect["strict"] = {"verdict": "rejected", "reason": reason}
        expect["places"] = [[reason, at or ""]]
    else:
        findings = list(findings)
        if called == "spxi-index.jsonld" and unchecked:
            findings.append(("SX090", ""))
        codes = sorted({code for code, _ in findings})
        heard = [code for code in codes if GRAVITY[code] in ("warning", "advice")]
        is_bad = any(GRAVITY[code] in ("warning", "judge") for code in codes)
        expect["lenient"] = {"verdict": "accepted", "findings": heard, "entities": entities}
        expect["strict"] = {"verdict": "rejected" if is_bad else "accepted", "findings": codes}
        expect["places"] = [list(pair) for pair in findings]
    CASES.append((name, file, data, expect))


ENTITY = "/spxi:hasEntity/0"
TAGS = ENTITY + "/spxi:negativeTag"
MARKERS = ENTITY + "/spxi:semanticIntegrityMarker"


def renamed(value, rename):
    """The same document with other names."""
    if isinstance(value, list):
        return [renamed(item, rename) for item in value]
    if isinstance(value, dict):
        return {(name if name == "@context" else rename(name)): (
            item if name == "@context" else
            ([rename(kind) for kind in item] if isinstance(item, list) else rename(item)) if name == "@type" else
            renamed(item, rename)) for name, item in value.items()}
    return value


def shapes():
    whole = index()
    case("whole", "Every member of the specification.",
         "SPX-009 SPX-010 SPX-011 SPX-012 SPX-013 SPX-015 SPX-016 SPX-017 SPX-018 SPX-019 SPX-020 SPX-021 SPX-022 SPX-023 "
         "SPX-024 SPX-025 SPX-026 SPX-027 SPX-028 SPX-029 SPX-030 SPX-031 SPX-032 SPX-033 SPX-034 SPX-035 SPX-036 SPX-051 SPX-063",
         whole)
    case("shape-prefixes", "Every name has a prefix, and the prefixes have other names.", "SPX-063 D75",
         renamed(index(**{"@context": {"s": SCHEMA, "x": SPXI}}),
                 lambda name: name if name.startswith("@") else name.replace("spxi:", "x:") if ":" in name else "s:" + name),
         same="whole")
    case("shape-vocabulary", "`@vocab` is that of SPXI, and names of schema.org have a prefix.", "SPX-063 D75",
         renamed(index(**{"@context": {"@vocab": SPXI, "schema": SCHEMA}}),
                 lambda name: name if name.startswith("@") else name[5:] if name.startswith("spxi:") else "schema:" + name),
         same="whole")
    full = renamed(index(**{"@context": {}}),
                   lambda name: name if name.startswith("@") else SPXI + name[5:] if name.startswith("spxi:") else SCHEMA + name)
    case("shape-addresses", "Every name is a whole address.", "SPX-063 D75", full, same="whole")
    terms = {"@vocab": SCHEMA, "id": "@id", "kind": "@type", "spxi": SPXI, "entities": {"@id": "spxi:hasEntity", "@container": "@set"},
             "tags": "spxi:negativeTag", "packet": {"@id": "spxi:packetRef", "@type": "@id"}}
    names = {"@id": "id", "@type": "kind", "spxi:hasEntity": "entities", "spxi:negativeTag": "tags", "spxi:packetRef": "packet"}
    case("shape-terms", "Terms of the context's own, also for words of JSON-LD.", "SPX-063 D75",
         renamed(index(**{"@context": terms}), lambda name: names.get(name, name)), same="whole")
    case("shape-list-of-contexts", "A list of contexts; the later one counts.", "SPX-010 D75",
         index(**{"@context": [{"@vocab": "https://other.example/", "spxi": SPXI}, {"@vocab": SCHEMA}]}), same="whole")
    inner = index()
    inner["spxi:hasEntity"][0] = {"@context": {"x": SPXI}, **renamed(entity(), lambda name: name.replace("spxi:", "x:"))}
    case("shape-inner-context", "An object with a context of its own.", "SPX-063 D75", inner, same="whole")
    graph = index()
    del graph["@context"]
    case("shape-graph", "The index stands in a graph.", "SPX-063 D75",
         {"@context": CONTEXT, "@graph": [graph]}, ("SX021", "/@graph"), same="whole")
    flat = copy.deepcopy(graph)
    flat["spxi:siteKernel"] = {"@id": SITE + "/#kernel"}
    flat["spxi:hasEntity"] = [{"@id": SITE + "/north"}]
    # The page of the entity has the same address; the class tells them apart.
    case("shape-graph-of-names", "Objects of a graph are named and stand beside each other.", "SPX-063 D75",
         {"@context": CONTEXT, "@graph": [surface(), {**kernel(), "@id": SITE + "/#kernel"}, entity(), flat]},
         ("SX021", "/@graph"), same="whole")
    case("shape-values", "Values in objects, lists in objects.", "SPX-063 D75",
         index(entity(**{"spxi:canonicalName": {"@value": "North Light"}, "spxi:bdrEstimate": {"@value": 0.4},
                         "spxi:packetRef": {"@id": SITE + "/north/spxi-packet.jsonld"},
                         "spxi:negativeTag": {"@list": ["NOT the brewery", "NOT the South Light", "NOT a light ship"]},
                         "spxi:disambiguationMatrix": {"@set": [collision()]}}),
               **{"@type": ["spxi:SemanticIndex"]}), same="whole")
    case("shape-single-values", "A single value is a list of one; programs that are no processors stumble.", "SPX-024 D75",
         index(**{"spxi:hasEntity": entity(**{"spxi:disambiguationMatrix": collision()})}),
         ("SX035", "/spxi:hasEntity"), ("SX035", "/spxi:hasEntity/spxi:disambiguationMatrix"), same="whole")
    case("shape-null", "What is null is absent.", "SPX-063 D75",
         index(entity(description=None), license=None), same="whole")
    case("shape-order", "Members in another order.", "SPX-051", dict(reversed(list(whole.items()))), same="whole")
    case("shape-extra", "Unknown members are kept.", "SPX-003 D75",
         index(**{"mp:ontologicalStatus": "building", "funder": {"name": "The harbour"}, "@context": {**CONTEXT, "mp": MP}}))
    case("bdr-integers", "Whole numbers 0 and 1 are numbers.", "SPX-067 D71",
         index(entity("/a", **{"spxi:bdrEstimate": 0}), entity("/b", **{"spxi:bdrEstimate": 1}),
               entity("/c", **{"spxi:bdrEstimate": 1.0})), entities=3)
    case("types-of-schema-org", "The ways to write a type, and documented own types.", "SPX-022 SPX-068 C05 D66",
         index(*[entity(f"/{n}", **{"spxi:entityType": kind}) for n, kind in enumerate(
             ["Person", "schema:Person", "http://schema.org/Person", SCHEMA + "Thing", "port:Beacon",
              "https://lights.example/types#Beacon"])],
               **{"@context": {**CONTEXT, "port": SITE + "/types#"}}), entities=6)
    case("fragments", "Two entities of one page.", "SPX-021 D65", index(entity("/north#tower"), entity("/north#lamp")), entities=2)
    case("entities-none", "A list of no entities is as good as none.", "SPX-017", index(**{"spxi:hasEntity": []}),
         ("SX027", "/spxi:hasEntity"), entities=0)


def documents():
    good = json.dumps(index(), indent=1)
    case("json-nan", "NaN is no JSON.", "SPX-063 C04", good.replace("0.4", "NaN"), reason="SX001", at="line 37")
    case("json-comment", "A comment is no JSON.", "SPX-063", "// ours\n" + good, reason="SX001", at="line 1")
    case("json-cut", "The end is missing.", "SPX-063", good[:300], reason="SX004", at="line 11")
    case("json-empty", "Nothing at all.", "SPX-063", b"", reason="SX004", at="line 1")
    case("json-latin-1", "Another encoding.", "SPX-063",
         good.replace("Lights of", "Lichter f\u00fcr").encode("latin-1"), reason="SX002", at="line 8")
    case("json-nested", "A thousand contexts in each other.", "C01 D89",
         '{"@context": ' + "[" * 1000 + "]" * 1000 + "}", reason="SX005", at="line 1")
    case("json-bom", "A byte order mark.", "SPX-063", b"\xef\xbb\xbf" + good.encode(), ("SX007", ""))
    case("json-duplicate", "A member twice; the last one is read.", "C06",
         good.replace('"name": "Lights of the sound"', '"name": "Other", "name": "Lights of the sound"'), ("SX008", "/name"), same="whole")
    case("json-duplicate-inside", "Thrice the same member, told once.", "C06",
         good.replace('"spxi:bdrEstimate": 0.4', '"spxi:bdrEstimate": 7, "spxi:bdrEstimate": 8, "spxi:bdrEstimate": 0.4'),
         ("SX008", ENTITY + "/spxi:bdrEstimate"), same="whole")
    case("json-number", "A number is no index.", "SPX-051", "7", reason="SX006")
    case("other-document", "JSON-LD about something else.", "SPX-051",
         {"@context": {"@vocab": SCHEMA}, "@type": "Dataset", "name": "Tides"}, reason="SX006")
    case("processor-refuses", "A processor refuses an `@id` that is a number.", "SPX-063",
         index(funder={"@id": 7, "name": "The harbour"}), ("SX034", "/funder/@id"), ("SX009", ""))
    case("processor-language", "A processor refuses a language that is a number.", "SPX-063",
         index(name={"@value": "Lights of the sound", "@language": 5}), ("SX009", ""))


def contexts():
    case("context-missing", "No context.", "SPX-010", index(**{"@context": ...}), ("SX010", ""), same="whole")
    case("context-remote-private", "A context at a private address is not fetched.", "SPX-010 C01 D75",
         index(**{"@context": "http://169.254.10.1/context.jsonld"}), ("SX011", "/@context"), same="whole")
    case("context-remote-beside", "One context lies at an address, the other is there.", "SPX-010 D75",
         index(**{"@context": ["https://spxi.dev/vocabulary", CONTEXT]}), ("SX011", "/@context/0"), same="whole")
    literal = {"@type": "@json", "@value": {"@context": SITE + "/context.jsonld", "@id": 5, "spxi:hasEntity": "x"}}
    case("value-json", "A JSON literal is data, also if it looks like JSON-LD.", "SPX-063 D75",
         index(**{"license": "https://creativecommons.org/licenses/by/4.0/", "about": literal}))
    case("value-json-term", "A term whose values are JSON literals.", "SPX-063 D75",
         index(**{"@context": {**CONTEXT, "data": {"@id": SCHEMA + "about", "@type": "@json"}}, "data": literal["@value"]}))
    case("value-type-direction", "A value with a type and a direction, which exclude each other.", "SPX-063",
         index(**{"about": {"@value": "North Light", "@type": SCHEMA + "Text", "@direction": "ltr"}}), ("SX009", "/about"))
    case("value-type", "A value with a type is its value.", "SPX-063",
         index(entity(**{"spxi:canonicalName": {"@value": "North Light", "@type": SCHEMA + "Text"}})), same="whole")
    case("value-direction", "A value with a direction is its value.", "SPX-063",
         index(entity(**{"spxi:canonicalName": {"@value": "North Light", "@direction": "ltr"}})), same="whole")
    case("context-import", "A context that imports another one.", "SPX-010 D75",
         index(**{"@context": {"@import": SITE + "/context.jsonld", **CONTEXT}}), ("SX011", "/@context/@import"), same="whole")
    case("context-by-name", "schema.org by its address.", "SPX-010 D75",
         index(**{"@context": ["https://schema.org", {"spxi": SPXI}]}), ("SX015", "/@context/0"), same="whole")
    case("context-circle", "Two prefixes that are defined by each other.", "C01 D75",
         index(**{"@context": {**CONTEXT, "pier": "quay:x", "quay": "pier:y"}}), ("SX013", "/@context/pier"), same="whole")
    chain = {f"t{n}": f"t{n + 1}:x" for n in range(1000)}
    case("context-chain", "A thousand prefixes, each defined by the next.", "C01 D75",
         index(**{"@context": {**CONTEXT, **chain, "t1000": SITE + "/"}}), ("SX013", "/@context/t0"), same="whole")
    case("context-number", "A context that is a number.", "SPX-063", index(**{"@context": 7}), ("SX014", "/@context"), same="whole")
    case("context-term-number", "A term that is a number.", "SPX-063",
         index(**{"@context": {**CONTEXT, "pier": 7}}), ("SX014", "/@context/pier"), same="whole")
    case("prefix-unbound", "The prefix has no address.", "SPX-009", index(**{"@context": {"@vocab": SCHEMA}}), ("SX016", "/@type"), same="whole")
    case("prefix-elsewhere", "The prefix has another address.", "SPX-009",
         index(**{"@context": {"@vocab": SCHEMA, "spxi": "https://spxi.dev/terms/"}}), ("SX016", "/@type"), same="whole")
    case("vocabulary-missing", "Bare names without `@vocab`.", "SPX-063", index(**{"@context": {"spxi": SPXI}}), ("SX017", "/name"), same="whole")


def heads():
    case("root-list", "A list at the top.", "SPX-051", [index()], ("SX020", ""), same="whole")
    case("root-type", "A root of another type that has entities.", "SPX-051",
         index(**{"@type": "WebSite"}), ("SX022", ""), same="whole")
    two = index()
    del two["@context"]
    case("root-two", "Two indexes.", "SPX-011", {"@context": CONTEXT, "@graph": [two, {**two, "@id": SITE + "/2"}]},
         ("SX021", "/@graph"), ("SX023", "/@graph/1"), same="whole")
    case("version-missing", "No version.", "SPX-019", index(**{"spxi:protocolVersion": ...}), ("SX024", ""))
    case("version-other", "Another version.", "SPX-019", index(**{"spxi:protocolVersion": "1.0"}), ("SX025", "/spxi:protocolVersion"))
    case("version-number", "A version that is a number.", "SPX-019", index(**{"spxi:protocolVersion": 1.0}),
         ("SX034", "/spxi:protocolVersion"), ("SX024", ""))
    case("kernel-missing", "No kernel.", "SPX-016", index(**{"spxi:siteKernel": ...}), ("SX026", ""))
    case("kernel-text", "A kernel that is a text.", "SPX-016", index(**{"spxi:siteKernel": "Four lights."}), ("SX034", "/spxi:siteKernel"))
    case("entities-missing", "No entities.", "SPX-017", index(**{"spxi:hasEntity": ...}), ("SX027", ""), entities=0)
    case("surfaces-missing", "No surfaces.", "SPX-018", index(**{"spxi:hasSurface": ...}), ("SX028", ""))
    case("doi-missing", "No DOI of the specification.", "SPX-020", index(**{"spxi:protocolDoi": ...}), ("SX029", ""))
    case("doi-form", "A DOI that is none.", "D78", index(**{"spxi:protocolDoi": "zenodo 19734726"}), ("SX030", "/spxi:protocolDoi"))
    case("modified-missing", "No date.", "D76", index(dateModified=...), ("SX031", ""))
    case("modified-form", "A date that is none.", "D76", index(dateModified="in spring"), ("SX032", "/dateModified"))
    case("index-large", "More than 100,000 bytes.", "SPX-054", index(description="x" * 100_000), ("SX033", ""))
    case("index-id", "An index that names another place.", "SPX-011", index(**{"@id": SITE + "/data/spxi-index.jsonld"}), ("SX036", "/@id"))
    case("class-kernel", "A kernel without its class.", "SPX-013", index(**{"spxi:siteKernel": kernel(**{"@type": ...})}),
         ("SX037", "/spxi:siteKernel"))
    case("summary-missing", "A kernel without text.", "SPX-032",
         index(**{"spxi:siteKernel": kernel(**{"spxi:compressionSurvivalSummary": ...})}), ("SX040", "/spxi:siteKernel"))
    text = lambda text: index(**{"spxi:siteKernel": kernel(**{"spxi:compressionSurvivalSummary": text})})
    place = "/spxi:siteKernel/spxi:compressionSurvivalSummary"
    hundred = " ".join(["light"] * 100)
    case("words-100", "A hundred words, and dashes, which are none.", "SPX-032 SPX-069 C03 D69", text(hundred + " — …"))
    case("words-101", "One word more.", "SPX-032 SPX-069 C03 D69", text(hundred + " 5"), ("SX041", place))
    case("words-han-100", "A hundred words without spaces.", "SPX-069 C03 D69", text("灯" * 100 + "。"))
    case("words-han-101", "One more.", "SPX-069 C03 D69", text("灯" * 101), ("SX041", place))
    case("words-invisible-100", "Joiners make no words.", "SPX-069 C03 D69", text(hundred + " \u200d \u2060 \ufeff"))
    case("words-invisible-101", "Spaces of no width part words.", "SPX-069 C03 D69", text("\u200b".join(["light"] * 101)), ("SX041", place))
    case("specification-missing", "A kernel without its deposit.", "SPX-033",
         index(**{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": ...})}), ("SX042", "/spxi:siteKernel"))
    case("specification-form", "A deposit that is no DOI.", "SPX-033 D78",
         index(**{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": "https://people.example/0009-0000"})}),
         ("SX043", "/spxi:siteKernel/spxi:kernelSpecification"))


def entities():
    one = lambda **members: index(entity(**members))
    case("entity-bare", "An entity with nothing but an address and a name.", "SPX-012 SPX-021 SPX-022 SPX-023 SPX-024 SPX-026",
         index({"@type": "spxi:Entity", "@id": SITE + "/north", "name": "North Light"}),
         ("SX037", ENTITY), ("SX054", ENTITY), ("SX056", ENTITY), ("SX057", ENTITY), ("SX061", ENTITY),
         ("SX068", ENTITY), ("SX069", ENTITY), ("SX071", ENTITY), ("SX072", ENTITY), ("SX070", ENTITY))
    case("entity-text", "An entity that is a text.", "SPX-017", index("North Light"), ("SX034", ENTITY), entities=0)
    case("id-missing", "No address.", "SPX-021", one(**{"@id": ...}), ("SX050", ENTITY))
    case("id-relative", "An address without its site.", "SPX-021", one(**{"@id": "#north"}), ("SX051", ENTITY + "/@id"))
    case("id-scheme", "An address that cannot be fetched.", "SPX-021", one(**{"@id": "urn:light:north"}), ("SX051", ENTITY + "/@id"))
    case("id-elsewhere", "An entity of another site.", "D88", one(**{"@id": "https://www.lights.example/north"}), ("SX052", ENTITY + "/@id"))
    case("id-twice", "Two entities of one address.", "SPX-021",
         index(entity("/"), entity("", **{"@id": SITE})), ("SX053", "/spxi:hasEntity/1/@id"), entities=2)
    case("type-missing", "No type.", "SPX-022", one(**{"spxi:entityType": ...}), ("SX054", ENTITY))
    for name, kind, about in [
            ("unknown", "DataVisualization", "An unknown type."), ("member", "Abdomen", "A member of an enumeration."),
            ("data", "Text", "A type of data."), ("misspelt", "Organisation", "A type in other letters."),
            ("prefix", "port:Beacon", "A prefix without address.")]:
        case(f"type-{name}", about, "SPX-068 C05 D66", one(**{"spxi:entityType": kind}), ("SX055", ENTITY + "/spxi:entityType"))
    case("name-missing", "`name` stands in for the canonical one.", "SPX-023", one(**{"spxi:canonicalName": ..., "name": "North Light"}),
         ("SX056", ENTITY), same="whole")
    case("name-empty", "A name without a letter.", "SPX-023", one(**{"spxi:canonicalName": " "}), ("SX056", ENTITY))
    case("tags-missing", "No tags.", "SPX-024", one(**{"spxi:negativeTag": ...}), ("SX057", ENTITY))
    case("tags-empty", "An empty list of tags.", "SPX-024", one(**{"spxi:negativeTag": []}), ("SX057", TAGS))
    rest = ["NOT the South Light", "NOT a light ship"]
    for name, tag, about in [
            ("small", "Not the brewery", "Small letters."), ("no-break", "NOT\u00a0the brewery", "A space that does not break."),
            ("no-space", "NOTthe brewery", "No space."), ("alone", "NOT ", "Nothing behind the word."),
            ("blank", "NOT \u2003 ", "Nothing but spaces behind the word."), ("late", " NOT the brewery", "A space before it.")]:
        case(f"tag-{name}", about, "SPX-025 SPX-065 C02", one(**{"spxi:negativeTag": [tag, *rest]}), ("SX058", TAGS + "/0"))
    case("tag-single", "A text instead of a list.", "SPX-024 C02 D78", one(**{"spxi:negativeTag": "NOT the brewery"}),
         ("SX035", TAGS), ("SX060", TAGS))
    case("tag-number", "A tag that is a number.", "SPX-024", one(**{"spxi:negativeTag": [7, "NOT the brewery", *rest]}), ("SX034", TAGS + "/0"))
    case("tag-200", "Two hundred characters.", "SPX-052 C02", one(**{"spxi:negativeTag": ["NOT " + "x" * 196, *rest]}))
    case("tag-201", "One more.", "SPX-052 C02", one(**{"spxi:negativeTag": ["NOT " + "x" * 197, *rest]}), ("SX059", TAGS + "/0"))
    case("tag-200-composed", "Two hundred characters once they are composed.", "SPX-052 D69",
         one(**{"spxi:negativeTag": ["NOT " + "e\u0301" * 196, *rest]}))
    case("tags-two", "Two tags.", "D78", one(**{"spxi:negativeTag": rest}), ("SX060", TAGS))
    case("markers-missing", "No markers.", "SPX-006 SPX-026", one(**{"spxi:semanticIntegrityMarker": ...}), ("SX061", ENTITY))
    case("markers-one", "One marker.", "SPX-026", one(**{"spxi:semanticIntegrityMarker": ["a red light"]}), ("SX061", MARKERS))
    case("markers-equal", "Two markers that are one.", "SPX-026",
         one(**{"spxi:semanticIntegrityMarker": ["a red light", "a  red light"]}), ("SX061", MARKERS))
    case("marker-200", "Two hundred characters.", "SPX-053", one(**{"spxi:semanticIntegrityMarker": ["a red light", "é" * 200]}))
    case("marker-201", "One more.", "SPX-053", one(**{"spxi:semanticIntegrityMarker": ["a red light", "é" * 201]}), ("SX062", MARKERS + "/1"))
    case("marker-empty", "A marker without a letter.", "SPX-026", one(**{"spxi:semanticIntegrityMarker": ["a red light", "a lamp", ""]}),
         ("SX034", MARKERS + "/2"))
    for word in ["competitive", "Ghost", "lost"]:
        case(f"basin-{word.lower()}", "A state that is not one of the five.", "SPX-037 D72", one(**{"spxi:basinState": word}),
             ("SX063", ENTITY + "/spxi:basinState"))
    case("basin-empty", "An empty state is none of the five.", "SPX-037", one(**{"spxi:basinState": ""}),
         ("SX063", ENTITY + "/spxi:basinState"))
    for name, value in [("below", -0.01), ("above", 1.01), ("text", "0.5"), ("true", True)]:
        case(f"bdr-{name}", "Not a number from 0 to 1.", "SPX-028 SPX-067 C04", one(**{"spxi:bdrEstimate": value}),
             ("SX064", ENTITY + "/spxi:bdrEstimate"))
    case("bdr-huge", "A number no machine holds.", "SPX-067 C04", json.dumps(index()).replace("0.4", "1e400"),
         ("SX064", ENTITY + "/spxi:bdrEstimate"))
    case("verification-other", "A level that is not one of the four.", "SPX-038", one(**{"spxi:verificationLevel": "verified"}),
         ("SX065", ENTITY + "/spxi:verificationLevel"))
    case("verification-empty", "An empty level is none of the four.", "SPX-038", one(**{"spxi:verificationLevel": " "}),
         ("SX065", ENTITY + "/spxi:verificationLevel"))
    case("verification-packet", "A word of the other draft.", "SPX-038 D77", one(**{"spxi:verificationLevel": "self_asserted"}),
         ("SX065", ENTITY + "/spxi:verificationLevel"), same="whole")
    case("verification-doi", "A DOI is claimed and none is there.", "D77",
         index(entity(**{"spxi:verificationLevel": "doi_anchored"}), **{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": ...})}),
         ("SX042", "/spxi:siteKernel"), ("SX066", ENTITY + "/spxi:verificationLevel"))
    case("verification-doi-there", "A DOI is claimed and is there, under a name that readers know.", "D77",
         index(entity(**{"spxi:verificationLevel": "doi_anchored", "spxi:doi": "doi:" + DOI}),
               **{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": ...})}), ("SX042", "/spxi:siteKernel"))
    case("packet-ref-relative", "A packet without its site.", "SPX-030", one(**{"spxi:packetRef": "/north/spxi-packet.jsonld"}),
         ("SX067", ENTITY + "/spxi:packetRef"))
    case("packet-ref-doi", "A deposit instead of a packet.", "SPX-030 D67", one(**{"spxi:packetRef": "https://doi.org/" + DOI}))
    case("should-missing", "What an entity should have, and has not.", "SPX-008 SPX-027 SPX-028 SPX-029 SPX-030 SPX-031",
         one(**{"spxi:packetRef": ..., "spxi:verificationLevel": ..., "spxi:basinState": ..., "spxi:bdrEstimate": ...,
                "spxi:disambiguationMatrix": ...}),
         ("SX068", ENTITY), ("SX069", ENTITY), ("SX071", ENTITY), ("SX072", ENTITY), ("SX070", ENTITY))
    entry = ENTITY + "/spxi:disambiguationMatrix/0"
    matrix = lambda **members: one(**{"spxi:disambiguationMatrix": [collision(**members)]})
    case("matrix-collides", "Nothing to collide with.", "SPX-034", matrix(**{"spxi:collidesWith": ...}), ("SX075", entry))
    case("matrix-attribute", "Nothing to tell apart by.", "SPX-035", matrix(**{"spxi:distinguishingAttribute": ...}), ("SX076", entry))
    case("matrix-risk", "A risk that is not one of the three.", "SPX-036", matrix(**{"spxi:collisionRisk": "severe"}),
         ("SX077", entry + "/spxi:collisionRisk"))
    case("matrix-risk-empty", "An empty risk is none of the three.", "SPX-036", matrix(**{"spxi:collisionRisk": ""}),
         ("SX077", entry + "/spxi:collisionRisk"))
    case("matrix-risk-missing", "An entry without risk.", "SPX-036", matrix(**{"spxi:collisionRisk": ...}), ("SX078", entry))
    case("matrix-address", "The other is named by its address.", "SPX-034", matrix(**{"spxi:collidesWith": {"@id": "https://brew.example/"}}))


def surfaces():
    pages = lambda *pages: index(**{"spxi:hasSurface": list(pages)})
    place = "/spxi:hasSurface/0"
    case("surface-functions", "What pages are for.", "SPX-018",
         pages(surface(**{"@type": "AboutPage", "spxi:surfaceType": "entity_page", "spxi:semanticFunction": "definition",
                          "spxi:protectsEntity": [{"@id": SITE + "/north"}], "dateModified": "2026-05-01"})))
    case("surface-class", "A surface of another class.", "SPX-018", pages(surface(**{"@type": "spxi:Surface"})), ("SX037", place))
    case("surface-id-missing", "No address.", "SPX-018", pages(surface(**{"@id": ...})), ("SX080", place))
    case("surface-id-relative", "An address without its site.", "SPX-018", pages(surface(**{"@id": "/north"})), ("SX081", place))
    case("surface-twice", "A page twice.", "SPX-018", pages(surface("/"), surface("", **{"@id": SITE})), ("SX082", "/spxi:hasSurface/1"))
    case("surface-elsewhere", "A page of another site.", "D88", pages(surface(**{"@id": "https://other.example/"})), ("SX083", place))


def packets():
    called = "spxi-packet.jsonld"
    case("packet", "A packet as the specification's class has it.", "SPX-014 SPX-045 D68", packet(), called=called)
    other = {
        "@context": {"@vocab": SCHEMA, "mp": MP}, "@type": ["Person", "mp:IndexedEntity"], "@id": SITE + "/ida#ida",
        "name": "Ida Holm", "jobTitle": "Keeper", "url": [SITE + "/ida"], "sameAs": ["https://people.example/ida"],
        "differentFrom": {"@type": "Person", "name": "Ida Holm, an actress"},
        "mp:ontologicalStatus": "living_person", "mp:negativeTag": ["NOT an actress", "NOT a novelist", "NOT a ship"],
        "mp:semanticIntegrityMarker": ["keeper of the North Light", "wrote the book of tides"],
        "mp:verificationLevel": "assembly_attested"}
    case("packet-other-form", "An entity alone, as pages publish it.", "D68", other, called=called)
    case("packet-other-level", "A level of the other draft.", "D77", {**other, "mp:verificationLevel": "peer_reviewed"},
         ("SX065", "/mp:verificationLevel"), called=called)
    case("packet-remote", "A context that lies elsewhere.", "D75",
         packet(**{"@context": [SITE + "/context.jsonld", {**CONTEXT, "mp": MP}]}), ("SX012", "/@context/0"), called=called)
    case("packet-not", "A document about something else.", "D68",
         {"@context": {"@vocab": SCHEMA}, "@type": "WebPage", "@id": SITE + "/"}, reason="SX120", called=called)
    case("packet-nameless", "A packet of nothing.", "D68", packet(**{"@id": ..., "url": ...}), ("SX122", ""), called=called)
    case("packet-tag", "The rules about tags hold here, too.", "SPX-065",
         packet(**{"spxi:about": [entity(**{"@type": ["spxi:IndexedEntity"], "spxi:negativeTag": ["no ship", "NOT a", "NOT b"]})]}),
         ("SX058", "/spxi:about/0/spxi:negativeTag/0"), called=called)


AI = "".join(f"User-agent: {name}\n" for name in
             "GPTBot ChatGPT-User Claude-Web PerplexityBot CCBot FacebookBot Google-Extended".split())
SIGNS = "Allow: /spxi-index.jsonld\nAllow: /*/spxi-packet.jsonld\nAllow: /spxi-packet.jsonld\n"
ROBOTS = f"User-agent: *\nAllow: /\n\n{AI}Allow: /\n{SIGNS}\nSitemap: {SITE}/sitemap.xml\n"
HEAD = '<link rel="alternate" type="application/ld+json" href="/spxi-index.jsonld">'
LINK = f'<xhtml:link rel="alternate" type="application/ld+json" hreflang="x-spxi" href="{SITE}/spxi-index.jsonld"/>'


def sitemap(*pages):
    """Pages are pairs of an address and what else their entry holds."""
    entries = "".join(f"  <url><loc>{SITE if url.startswith('/') else ''}{url}</loc>{rest}</url>\n" for url, rest in pages)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
            f'xmlns:xhtml="http://www.w3.org/1999/xhtml">\n{entries}</urlset>\n')


def page(*paragraphs, head=HEAD):
    text = "".join(f"<p>{it}</p>\n" for it in paragraphs)
    return f"<!doctype html>\n<html lang=en>\n<title>Lights</title>\n{head}\n<main>\n{text}</main>\n"


NORTH = page("There is a red light over the sound,", "kept by the Holm family", "since the war.")
OLD = "<lastmod>2026-04-30</lastmod>"


def site(name, about, clauses, document, *findings, files=None, others=None, now="2026-06-01T00:00:00Z"):
    """`findings` are those of the index; `others` those of files beside it."""
    whole = {
        "spxi-index.jsonld": json.dumps(document, ensure_ascii=False, indent=1),
        "sitemap.xml": sitemap(("/", OLD), ("/north", OLD + LINK)),
        "robots.txt": ROBOTS,
        "llms.txt": f"# Lights\n\n> The lights of the sound.\n\n## Indexes\n\n- [Entities]({SITE}/spxi-index.jsonld)\n",
        "index.html": page("Four lights."),
        "north.html": NORTH,
        "north/spxi-packet.jsonld": json.dumps(packet(), ensure_ascii=False, indent=1),
        **(files or {}),
    }
    whole = {path: text for path, text in whole.items() if text is not ...}
    expect = {"about": about, "clauses": clauses.split(), "given": {"now": now},
              "findings": {"spxi-index.jsonld": [list(pair) for pair in findings], **(others or {})}}
    SITES.append((name, whole, expect))


def sites():
    site("good", "Everything is there and agrees.",
         "SPX-001 SPX-002 SPX-003 SPX-041 SPX-042 SPX-043 SPX-055 SPX-056 SPX-059 SPX-061 SPX-064 SPX-066 SPX-070 SPX-071", index())
    site("unreachable", "The page of an entity is not there.", "SPX-064 SPX-073 C08",
         index(entity(), entity("/south", **{"spxi:packetRef": "https://doi.org/" + DOI})),
         ("SX091", "/spxi:hasEntity/1/@id"), ("SX102", "/spxi:hasEntity/1/@id"))
    site("moved", "The page of an entity sends its readers elsewhere.", "C08 D65", index(), ("SX092", ENTITY + "/@id"),
         files={"north.html": NORTH.replace(HEAD, HEAD + f'<meta http-equiv="refresh" content="0; url={SITE}/n">')})
    site("fragment", "A place on the page that is not there, and one that is.", "D65",
         index(entity("/north#lamp", **{"spxi:packetRef": SITE + "/north/spxi-packet.jsonld"}),
               entity("/north#tower", **{"spxi:packetRef": SITE + "/north/spxi-packet.jsonld"})), ("SX093", ENTITY + "/@id"),
         files={"north.html": NORTH.replace("<main>", "<main id='tower'>")})
    site("markers", "Markers that are not visible on the page.", "SPX-066 SPX-076 C07 D70",
         index(entity(**{"spxi:semanticIntegrityMarker": ["a red light over the sound", "kept by the holm family", "four towers", "in a storm"]})),
         ("SX096", MARKERS + "/1"), ("SX095", MARKERS + "/2"), ("SX094", MARKERS + "/3"),
         files={"north.html": NORTH.replace(HEAD, HEAD + '<meta name="spxi:sim" content="four towers">')})
    site("older", "A page is younger than the index; one from the future does not count.", "SPX-070 SPX-072 D76", index(),
         ("SX097", "/dateModified"),
         files={"sitemap.xml": sitemap(("/", "<lastmod>2026-05-03T01:00:00Z</lastmod>"), ("/north", "<lastmod>2027-01-01</lastmod>" + LINK))})
    site("same-day", "The day of the index is enough.", "SPX-070 D76", index(),
         files={"sitemap.xml": sitemap(("/", "<lastmod>2026-05-02T23:00:00Z</lastmod>"), ("/north", LINK))})
    site("unknown-page", "A page that is no surface.", "SPX-071", index(), ("SX098", "/spxi:hasSurface"),
         files={"sitemap.xml": sitemap(("/", OLD), ("/north", LINK), ("/llms.txt", ""))})
    site("links", "Links of the sitemap that are not as they must be, and one that is missing.", "SPX-041 SPX-042",
         index(entity(), entity("/", **{"spxi:packetRef": "https://doi.org/" + DOI})),
         ("SX100", ""), ("SX099", "/spxi:hasEntity/1/@id"),
         files={"sitemap.xml": sitemap(("/", OLD), ("/north", OLD + LINK.replace("application/ld+json", "application/json"))),
                "index.html": NORTH})
    site("custom-elements", "Elements of SPXI in the sitemap, a fragment in an address.", "SPX-040 SPX-046 SPX-047", index(),
         ("SX109", ""),
         files={"sitemap.xml": sitemap(("/", OLD + f'<spxi:kernel xmlns:spxi="{SPXI}">x</spxi:kernel><kernel>y</kernel>'), ("/north#lamp", LINK))},
         others={"sitemap.xml": [["SM023", "line 3"], ["SM025", "line 4"]]})
    site("custom-element-above", "An element of SPXI beside the entries.", "SPX-046", index(), ("SX109", ""),
         files={"sitemap.xml": sitemap(("/", OLD), ("/north", OLD + LINK)).replace("</urlset>", f'<x:index xmlns:x="{SPXI}"/></urlset>')},
         others={"sitemap.xml": [["SM019", "line 5"]]})
    site("no-namespace", "The prefix of the links has no address.", "SPX-043", index(), ("SX099", ENTITY + "/@id"),
         files={"sitemap.xml": sitemap(("/", OLD), ("/north", OLD + LINK)).replace(' xmlns:xhtml="http://www.w3.org/1999/xhtml"', "")},
         others={"sitemap.xml": [["SM023", "line 4"]]})
    site("no-sitemap", "An index instead of a sitemap.", "SPX-048", index(), ("SX101", ""), files={"sitemap.xml": ...})
    site("silent-files", "Nothing names the index.", "SPX-055 SPX-056 SPX-059 SPX-061", index(),
         ("SX103", ""), ("SX103", ""), ("SX105", ""), ("SX106", ""), ("SX104", ""),
         files={"robots.txt": "User-agent: *\nDisallow: /cellar\n", "index.html": page("Four lights.", head=""),
                "north.html": NORTH.replace(HEAD, ""), "llms.txt": "# Lights\n\n> The lights.\n"})
    site("no-files", "Neither robots.txt nor llms.txt.", "SPX-056 SPX-061", index(), ("SX106", ""), ("SX104", ""),
         files={"robots.txt": ..., "llms.txt": ...})
    site("robots-lifts", "A group for AI crawlers lifts what is forbidden to all.", "SPX-056 D79", index(),
         files={"robots.txt": f"User-agent: *\nDisallow: /cellar\n\n{AI}{SIGNS}\nSitemap: {SITE}/sitemap.xml\n"},
         others={"robots.txt": [["RB003", "line 4"]]})
    site("robots-forbids", "AI crawlers may not fetch the index.", "SPX-056 D80", index(), ("SX107", ""),
         files={"robots.txt": f"User-agent: *\nAllow: /\n\n{AI}Disallow: /\n\nSitemap: {SITE}/sitemap.xml\n"})
    site("robots-home-packet", "The pattern of the specification misses a packet.", "SPX-056 D80", index(), ("SX108", ""),
         files={"robots.txt": ROBOTS.replace("Allow: /spxi-packet.jsonld\n", "")})
    site("no-pages", "Files of a site without its pages: what needs them is not checked.", "C08 D65", index(), ("SX090", ""),
         files={"index.html": ..., "north.html": ...})
    site("packet-of-another", "A packet that names another page.", "D68", index(),
         files={"north/spxi-packet.jsonld": json.dumps(packet(**{"@id": SITE + "/south/spxi-packet.jsonld", "url": SITE + "/south"}))},
         others={"north/spxi-packet.jsonld": [["SX121", ""]]})
    deployed()


def deployed():
    """The nine shapes that are out there, in a world of our own."""
    plain = lambda path="/", **members: entity(path, **{
        "spxi:packetRef": ..., "spxi:verificationLevel": ..., "spxi:disambiguationMatrix": ..., **members})
    hints = [("SX068", ENTITY), ("SX069", ENTITY), ("SX070", ENTITY)]
    home = {"index.html": page("There is a red light over the sound,", "kept by the Holm family.", head=""),
            "north.html": ..., "north/spxi-packet.jsonld": ..., "llms.txt": "# Lights\n\n> The lights.\n"}
    silent = [("SX103", ""), ("SX104", "")]
    robots = {"robots.txt": f"User-agent: *\nAllow: /\nCrawl-delay: 1\n\n{AI.replace('User-agent: FacebookBot' + chr(10), '')}"
                            f"Allow: /spxi-index.jsonld\n\nSitemap: {SITE}/sitemap.xml\n"}
    listed = {"sitemap.xml": sitemap(("/", OLD + LINK))}
    one = lambda *entities, **members: index(*entities, **{"spxi:hasSurface": [surface("/")], **members})
    site("deployed-kernel-alone", "A kernel is the root, and its text is long.", "SPX-051 SPX-069",
         {"@context": CONTEXT, "@type": "spxi:HolographicKernel", "@id": SITE + "/spxi-index.jsonld", "name": "Lights", "dateModified": "2026-05-02",
          "spxi:compressionSurvivalSummary": " ".join(["light"] * 131)},
         ("SX022", ""), ("SX024", ""), ("SX026", ""), ("SX027", ""), ("SX028", ""), ("SX029", ""),
         ("SX041", "/spxi:compressionSurvivalSummary"), ("SX042", ""), ("SX103", ""), ("SX098", ""), ("SX106", ""), ("SX104", ""),
         files={**home, **robots, "sitemap.xml": sitemap(("/", OLD))})
    site("deployed-bare-entities", "Entities and surfaces of undefined classes; the index is stale; no links.",
         "SPX-012 SPX-041 SPX-070 SPX-071",
         one(plain(), {"@type": "spxi:Entity", "@id": SITE + "/south", "name": "South Light", "spxi:doi": DOI},
             **{"spxi:hasSurface": [surface("/"), surface("/south", **{"@type": "spxi:Surface"})]}),
         *[(code, "/spxi:hasEntity/1") for code in "SX037 SX054 SX056 SX057 SX061".split()], ("SX037", "/spxi:hasSurface/1"),
         *hints, *[(code, "/spxi:hasEntity/1") for code in "SX068 SX069 SX071 SX072 SX070".split()],
         ("SX103", ""), ("SX103", ""), ("SX097", "/dateModified"), ("SX098", "/spxi:hasSurface"), ("SX099", ENTITY + "/@id"),
         ("SX099", "/spxi:hasEntity/1/@id"), ("SX104", ""),
         files={**home, "south.html": page("A green light.", head=""),
                "sitemap.xml": sitemap(("/", "<lastmod>2026-05-09</lastmod>"), ("/south", ""), ("/east", ""))})
    site("deployed-own-type", "A type that schema.org does not have.", "SPX-068",
         one(plain(**{"spxi:entityType": "DataVisualization"})), ("SX055", ENTITY + "/spxi:entityType"), *hints, *silent, files={**home, **listed})
    site("deployed-foreign-hosts", "Most of the sitemap belongs to others; the home page is written in two ways.", "D88 SPX-071",
         one(plain("", **{"@id": SITE})), *hints, *silent,
         files={**home, "sitemap.xml": sitemap(("/", OLD + LINK), ("https://brew.example/", ""), ("https://ships.example/", ""))},
         others={"sitemap.xml": [["SM021", "line 4"], ["SM021", "line 5"]]})
    site("deployed-stale", "A page changed after the index.", "SPX-070", one(plain()), *hints, ("SX103", ""), ("SX097", "/dateModified"), ("SX104", ""),
         files={**home, "sitemap.xml": sitemap(("/", "<lastmod>2026-05-20</lastmod>" + LINK))})
    site("deployed-person-kernel", "The deposit of the kernel is a person's address.", "SPX-033 D78",
         one(plain(), **{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": "https://people.example/0009-0000"})}),
         ("SX043", "/spxi:siteKernel/spxi:kernelSpecification"), *hints, *silent, files={**home, **listed})
    site("deployed-community-kernel", "The deposit is a community, and a DOI is claimed.", "SPX-033 D77",
         one(plain(**{"spxi:verificationLevel": "doi_anchored", "spxi:disambiguationMatrix": [collision()]}),
             **{"spxi:siteKernel": kernel(**{"spxi:kernelSpecification": "https://deposits.example/communities/lights"}), "spxi:protocolDoi": ...}),
         ("SX029", ""), ("SX043", "/spxi:siteKernel/spxi:kernelSpecification"), ("SX066", ENTITY + "/spxi:verificationLevel"), ("SX068", ENTITY),
         ("SX103", ""), ("SX106", ""), ("SX104", ""), files={**home, **listed, **robots})
    site("deployed-reference", "Head links and llms.txt are there; an entity with a fragment has no link in the sitemap.", "SPX-041 SPX-059 SPX-061",
         one(plain("/#lights", **{"spxi:verificationLevel": "doi_anchored", "spxi:disambiguationMatrix": [collision()]}),
             **{"@context": {**CONTEXT, "mp": MP}, "author": {"@type": "Person", "name": "Holm, Ida", "identifier": "https://people.example/ida"}}),
         ("SX068", ENTITY), ("SX093", ENTITY + "/@id"), ("SX099", ENTITY + "/@id"), ("SX106", ""),
         files={**robots, "index.html": page("There is a red light over the sound,", "kept by the Holm family."), "north.html": ...,
                "north/spxi-packet.jsonld": ..., "sitemap.xml": sitemap(("/", OLD))})
    site("deployed-plain", "Nothing but what must be there.", "SPX-016 SPX-017", one(plain(), **{"spxi:protocolDoi": ...}), ("SX029", ""), *hints, *silent,
         files={**home, **listed})


def main():
    for make in (shapes, documents, contexts, heads, entities, surfaces, packets, sites):
        make()
    wanted = {}
    for name, file, data, expect in CASES:
        wanted[HERE / "files" / file] = data
        text = json.dumps(expect, ensure_ascii=False, indent=2) + "\n"
        wanted[HERE / "files" / f"{name}.expect.json"] = text.encode()
    for name, files, expect in SITES:
        for path, text in files.items():
            wanted[HERE / "sites" / name / "site" / path] = text.encode()
        text = json.dumps(expect, ensure_ascii=False, indent=2) + "\n"
        wanted[HERE / "sites" / name / "expect.json"] = text.encode()
    assert len({name for name, *_ in CASES}) == len(CASES), "a name stands twice"
    there = {path for folder in ("files", "sites") for path in (HERE / folder).rglob("*") if path.is_file()}
    if sys.argv[1:] == ["--check"]:
        wrong = sorted(str(path) for path in there ^ set(wanted))
        wrong += [str(path) for path, data in wanted.items() if path in there and path.read_bytes() != data]
        sys.exit("\n".join(wrong) or 0)
    for path in there - set(wanted):
        path.unlink()
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"{len(CASES)} cases, {len(SITES)} sites")


main()
