//! Rules of layer SX: problems in semantic indexes, packets and the links to them.

rutter_finding::rules! {
    NOT_JSON = "SX001" "spxi-not-json" (fatal, "SPX-063") {
        title: "file is not a single JSON document",
        why: "JSON-LD is JSON. Readers interpret a broken file differently or reject it.",
        fix: "Write the file with a JSON library. JSON allows neither NaN nor Infinity nor comments.",
        wrong in "spxi-index.jsonld": r#"{"@type": "spxi:SemanticIndex", "spxi:bdrEstimate": NaN}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex"}"#,
    }
    NOT_UTF8 = "SX002" "spxi-not-utf-8" (fatal, "SPX-063") {
        title: "file is not UTF-8",
        why: "JSON must be UTF-8. Any other encoding would be a guess.",
        fix: "Save the file as UTF-8.",
        wrong: "A name with the byte E9 (`é` in Latin-1).",
        right: "The same name in UTF-8.",
    }
    TOO_LARGE = "SX003" "spxi-too-large" (fatal, "D89") {
        title: "file is larger than the limit",
        why: "Readers limit an index to 5 MB and a packet to 1 MB.",
        fix: "Omit unimportant surfaces, or move details into packets.",
        wrong: "An index of 6 MB, or a packet of 2 MB.",
        right: "An index with names, tags and markers, and packets with the details.",
    }
    TRUNCATED = "SX004" "spxi-truncated" (fatal, "SPX-063") {
        title: "file ends before the document is complete",
        why: "The missing part may contain negative tags, which state what an entity is not.",
        fix: "Publish the file again. Write it to a temporary file first, then rename it.",
        wrong in "spxi-index.jsonld": r#"{"@context": {"spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:Seman"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex"}"#,
    }
    TOO_DEEP = "SX005" "spxi-too-deep" (fatal, "D89") {
        title: "value is nested too deeply",
        why: "Readers limit the nesting to protect their memory. An index needs only a few levels.",
        fix: "Flatten the document.",
        wrong: "Hundreds of nested objects.",
        right: "Index, entity, matrix, entry: four levels.",
    }
    NOT_AN_INDEX = "SX006" "spxi-not-an-index" (fatal, "SPX-051") {
        title: "document contains no semantic index",
        why: "No object in the document has the type or the members of a semantic index.",
        fix: "Give the root object the type `spxi:SemanticIndex`.",
        wrong in "spxi-index.jsonld": r#"{"@context": "https://schema.org", "@type": "WebSite", "name": "Lights of the sound"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "name": "Lights of the sound"}"#,
    }
    BOM = "SX007" "spxi-bom" (advice, "SPX-063") {
        title: "file begins with a byte order mark",
        why: "Most JSON parsers reject the byte order mark.",
        fix: "Save the file as UTF-8 without a byte order mark.",
        wrong: "The bytes EF BB BF before the first `{`.",
        right: "A file that begins with `{`.",
    }
    KEY_TWICE = "SX008" "spxi-member-twice" (warning, "SPX-063") {
        title: "member occurs twice in one object; the last value is used",
        why: "JSON parsers disagree on which value counts, so different readers get different documents.",
        fix: "Delete one of the two members.",
        wrong in "spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "name": "Lights", "name": "Towers"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "name": "Lights"}"#,
    }
    NOT_JSON_LD = "SX009" "spxi-not-json-ld" (judge, "SPX-063") {
        title: "a JSON-LD 1.1 processor rejects the document",
        why: "Rule 1 of the specification requires that every JSON-LD 1.1 processor can read the index.",
        fix: "Correct the part that the error message in the detail names. A common cause is a keyword with a value of the wrong type.",
        wrong in "top of spxi-index.jsonld": r#"{"about": {"@id": 7}}"#,
        right: r#"{"about": {"@id": "https://lights.example/about"}}"#,
    }

    CONTEXT_MISSING = "SX010" "spxi-context-missing" (warning, "SPX-010") {
        title: "`@context` is missing; the usual meanings are assumed",
        why: "Without a context, a JSON-LD processor cannot assign a meaning to any name in the document.",
        fix: "Write `\"@context\": {\"@vocab\": \"https://schema.org/\", \"spxi\": \"https://spxi.dev/vocabulary#\"}`.",
        wrong in "spxi-index.jsonld": r#"{"@type": "spxi:SemanticIndex", "name": "Lights"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "name": "Lights"}"#,
    }
    CONTEXT_REMOTE = "SX011" "spxi-context-remote" (warning, "SPX-010") {
        title: "context of the index is a URL, which is not fetched",
        why: "No server publishes the vocabulary, so the specification requires an inline context. A remote context also lets another party change the meaning of the index.",
        fix: "Write the context into the document.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": "https://spxi.dev/context.jsonld"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}}"#,
    }
    PACKET_CONTEXT_REMOTE = "SX012" "spxi-packet-context-remote" (advice, "D75") {
        title: "context of the packet is a URL, which is not fetched",
        why: "Names that only the context at this URL defines are ignored.",
        fix: "Write the context into the packet.",
        wrong in "top of spxi-packet.jsonld": r#"{"@context": "https://spxi.dev/context.jsonld"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#", "mp": "https://metadatapacket.org/vocabulary#"}}"#,
    }
    CONTEXT_LOOP = "SX013" "spxi-context-loop" (warning, "D75") {
        title: "terms of the context are defined in a cycle or too deeply",
        why: "Processors reject a cycle, and no vocabulary needs so many terms that depend on each other.",
        fix: "Define every prefix by its full URL.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#", "a": "b:x", "b": "a:y"}}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}}"#,
    }
    CONTEXT_FORM = "SX014" "spxi-context-form" (warning, "SPX-063") {
        title: "part of the context is malformed and is ignored",
        why: "A context is an object, or a list of objects, that maps terms to URLs.",
        fix: "Write each term as a member with its URL as a string.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#", "tower": 7}}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#", "tower": "https://lights.example/terms#tower"}}"#,
    }
    CONTEXT_BY_NAME = "SX015" "spxi-context-by-name" (advice, "SPX-010") {
        title: "context references schema.org by URL instead of `@vocab`",
        why: "A processor must fetch and trust a large document to read a small one.",
        fix: "Write `\"@vocab\": \"https://schema.org/\"` in the context.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": ["https://schema.org", {"spxi": "https://spxi.dev/vocabulary#"}]}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}}"#,
    }
    PREFIX = "SX016" "spxi-prefix" (warning, "SPX-009") {
        title: "prefix does not expand to the URL of its vocabulary; the right URL is assumed",
        why: "A JSON-LD processor assigns names with this prefix to another vocabulary or to none.",
        fix: "Write `\"spxi\": \"https://spxi.dev/vocabulary#\"` in the context.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://example.org/spxi#"}}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}}"#,
    }
    TERM_UNDEFINED = "SX017" "spxi-term-undefined" (advice, "SPX-063") {
        title: "name is not defined in the context and is read as a schema.org name",
        why: "A JSON-LD processor drops such a member silently.",
        fix: "Write `\"@vocab\": \"https://schema.org/\"` in the context, or a prefix before the name.",
        wrong in "top of spxi-index.jsonld": r#"{"@context": {"spxi": "https://spxi.dev/vocabulary#"}, "name": "Lights"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "name": "Lights"}"#,
    }

    ROOT_LIST = "SX020" "spxi-root-list" (warning, "SPX-051") {
        title: "document is an array instead of an object",
        why: "Readers look for the members of the index in the root object.",
        fix: "Publish the index object alone.",
        wrong in "spxi-index.jsonld": r#"[{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex"}]"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex"}"#,
    }
    ROOT_GRAPH = "SX021" "spxi-root-graph" (hint, "SPX-051") {
        title: "index is inside `@graph`",
        why: "JSON-LD allows this, but readers without a JSON-LD processor look for the members in the root object.",
        fix: "Publish the index object alone, with its entities inside.",
        wrong in "spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@graph": [{"@type": "spxi:SemanticIndex", "@id": "https://lights.example/spxi-index.jsonld"}]}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "@id": "https://lights.example/spxi-index.jsonld"}"#,
    }
    ROOT_TYPE = "SX022" "spxi-root-type" (warning, "SPX-051") {
        title: "root object is not of type `spxi:SemanticIndex`",
        why: "Readers that check the type do not recognise the index.",
        fix: "Write `\"@type\": \"spxi:SemanticIndex\"`.",
        wrong in "top of spxi-index.jsonld": r#"{"@type": "WebSite"}"#,
        right: r#"{"@type": "spxi:SemanticIndex"}"#,
    }
    TWO_INDEXES = "SX023" "spxi-two-indexes" (warning, "SPX-011") {
        title: "document contains more than one semantic index; the first is used",
        why: "A site has one index. Two indexes may contradict each other.",
        fix: "Merge the indexes.",
        wrong in "spxi-index.jsonld": r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@graph": [{"@type": "spxi:SemanticIndex", "@id": "https://lights.example/a"}, {"@type": "spxi:SemanticIndex", "@id": "https://lights.example/b"}]}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:SemanticIndex", "@id": "https://lights.example/spxi-index.jsonld"}"#,
    }
    VERSION_MISSING = "SX024" "spxi-version-missing" (warning, "SPX-019") {
        title: "member `spxi:protocolVersion` is missing",
        why: "The version tells readers which rules apply to the index.",
        fix: "Write `\"spxi:protocolVersion\": \"EA-SPXI-SITEMAP-01 v1.0\"`.",
        wrong in "top of spxi-index.jsonld": r#"{"@type": "spxi:SemanticIndex"}"#,
        right: r#"{"@type": "spxi:SemanticIndex", "spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0"}"#,
    }
    VERSION_OTHER = "SX025" "spxi-version-other" (warning, "SPX-019") {
        title: "`spxi:protocolVersion` differs from the version in the specification",
        why: "Readers that compare the version do not recognise the protocol.",
        fix: "Write `\"EA-SPXI-SITEMAP-01 v1.0\"` exactly.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:protocolVersion": "1.0"}"#,
        right: r#"{"spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0"}"#,
    }
    KERNEL_MISSING = "SX026" "spxi-kernel-missing" (warning, "SPX-016") {
        title: "member `spxi:siteKernel` is missing",
        why: "The kernel is the statement that should survive when everything else about the site is cut.",
        fix: "Write a `spxi:HolographicKernel` with a summary of at most 100 words.",
        wrong in "top of spxi-index.jsonld": r#"{"name": "Lights of the sound"}"#,
        right: r#"{"name": "Lights of the sound", "spxi:siteKernel": {"@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers, their keepers and their signals."}}"#,
    }
    ENTITIES_MISSING = "SX027" "spxi-entities-missing" (warning, "SPX-017") {
        title: "member `spxi:hasEntity` is missing",
        why: "An index without entities describes nothing.",
        fix: "List the entities of the site.",
        wrong in "top of spxi-index.jsonld": r#"{"name": "Lights of the sound"}"#,
        right: r#"{"name": "Lights of the sound", "spxi:hasEntity": [{"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "North Light"}]}"#,
    }
    SURFACES_MISSING = "SX028" "spxi-surfaces-missing" (advice, "SPX-018") {
        title: "member `spxi:hasSurface` is missing",
        why: "The surfaces tell readers the purpose of each page.",
        fix: "List the pages of the site.",
        wrong in "top of spxi-index.jsonld": r#"{"name": "Lights of the sound"}"#,
        right: r#"{"name": "Lights of the sound", "spxi:hasSurface": [{"@type": "WebPage", "@id": "https://lights.example/north", "name": "North Light"}]}"#,
    }
    PROTOCOL_DOI_MISSING = "SX029" "spxi-protocol-doi-missing" (hint, "SPX-020") {
        title: "member `spxi:protocolDoi` is missing",
        why: "The DOI identifies the SPXI specification permanently. Published indexes do not agree on one DOI.",
        fix: "Write the DOI of the SPXI specification that the index follows, if that DOI resolves.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0"}"#,
        right: r#"{"spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0", "spxi:protocolDoi": "10.5555/lights.1"}"#,
    }
    PROTOCOL_DOI_FORM = "SX030" "spxi-protocol-doi-form" (advice, "D78") {
        title: "`spxi:protocolDoi` is not a DOI",
        why: "Readers cannot resolve the value.",
        fix: "Write the DOI as `10.…/…`.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:protocolDoi": "the usual one"}"#,
        right: r#"{"spxi:protocolDoi": "10.5555/lights.1"}"#,
    }
    MODIFIED_MISSING = "SX031" "spxi-modified-missing" (advice, "D76") {
        title: "member `dateModified` is missing",
        why: "Readers cannot determine whether the index is newer than the pages.",
        fix: "Write the time of the last change of the index.",
        wrong in "top of spxi-index.jsonld": r#"{"name": "Lights of the sound"}"#,
        right: r#"{"name": "Lights of the sound", "dateModified": "2026-05-02"}"#,
    }
    MODIFIED_FORM = "SX032" "spxi-modified-form" (advice, "D76") {
        title: "`dateModified` is not a valid date",
        why: "Readers cannot compare the date of the index with the dates of the pages.",
        fix: "Write a date such as `2026-05-01`, or a date-time with a time zone.",
        wrong in "top of spxi-index.jsonld": r#"{"dateModified": "spring"}"#,
        right: r#"{"dateModified": "2026-05-02"}"#,
    }
    INDEX_LARGE = "SX033" "spxi-index-large" (advice, "SPX-054") {
        title: "index is larger than 100,000 bytes",
        why: "According to the specification, an index should fit into one response.",
        fix: "Omit optional members of the surfaces.",
        wrong: "An index of 180,000 bytes in which every surface has a description.",
        right: "Surfaces with `@id` and `name` only.",
    }
    MEMBER_FORM = "SX034" "spxi-member-type" (warning, "SPX-063") {
        title: "member has the wrong type and is ignored",
        why: "Readers cannot use the member.",
        fix: "Use the type that the specification describes.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:siteKernel": "Four towers."}"#,
        right: r#"{"spxi:siteKernel": {"@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers."}}"#,
    }
    NOT_A_LIST = "SX035" "spxi-not-a-list" (advice, "SPX-024") {
        title: "member is a single value instead of a list",
        why: "JSON-LD treats a single value like a list with one element, but programs that read plain JSON expect a list.",
        fix: "Write the value as a list with one element.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:negativeTag": "NOT the brewery"}"#,
        right: r#"{"spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"]}"#,
    }
    INDEX_ID_FORM = "SX036" "spxi-index-id" (advice, "SPX-011") {
        title: "`@id` of the index is not `/spxi-index.jsonld` at the root of the site",
        why: "Readers request the index at `/spxi-index.jsonld`.",
        fix: "Write `https://`, the host and `/spxi-index.jsonld`.",
        wrong in "top of spxi-index.jsonld": r#"{"@id": "https://lights.example/data/index.jsonld"}"#,
        right: r#"{"@id": "https://lights.example/spxi-index.jsonld"}"#,
    }
    NODE_TYPE = "SX037" "spxi-class" (warning, "SPX-012") {
        title: "object does not have the type that the specification requires",
        why: "Readers that check the type do not recognise the object.",
        fix: "Write the type: `spxi:IndexedEntity`, `spxi:HolographicKernel`, `spxi:DisambiguationEntry` or `WebPage`.",
        wrong in "kernel in spxi-index.jsonld": r#"{"@type": "CreativeWork"}"#,
        right: r#"{"@type": "spxi:HolographicKernel"}"#,
    }

    SUMMARY_MISSING = "SX040" "spxi-summary-missing" (warning, "SPX-032") {
        title: "kernel has no `spxi:compressionSurvivalSummary`",
        why: "The summary is the main content of a kernel.",
        fix: "Write at most 100 words that should survive when everything else about the site is cut.",
        wrong in "kernel in spxi-index.jsonld": r#"{"@type": "spxi:HolographicKernel"}"#,
        right: r#"{"@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers, their keepers and their signals."}"#,
    }
    SUMMARY_LONG = "SX041" "spxi-summary-long" (warning, "SPX-069") {
        title: "`spxi:compressionSurvivalSummary` has more than 100 words",
        why: "Other programs cut a longer summary at an arbitrary point.",
        fix: "Shorten the summary to 100 words. In scripts without spaces, words are counted by the boundaries of UAX #29.",
        wrong: "A `spxi:compressionSurvivalSummary` of 140 words.",
        right: "The same statement in 100 words or fewer.",
    }
    SPECIFICATION_MISSING = "SX042" "spxi-specification-missing" (hint, "SPX-033") {
        title: "kernel has no `spxi:kernelSpecification`",
        why: "This member holds the DOI under which the kernel text is archived, so that readers can compare the two texts.",
        fix: "Write the DOI of the archived text, if there is one.",
        wrong in "kernel in spxi-index.jsonld": r#"{"@type": "spxi:HolographicKernel"}"#,
        right: r#"{"@type": "spxi:HolographicKernel", "spxi:kernelSpecification": "10.5555/lights.1"}"#,
    }
    SPECIFICATION_FORM = "SX043" "spxi-specification-form" (advice, "SPX-033") {
        title: "`spxi:kernelSpecification` is not a DOI",
        why: "Readers rely on a DOI, because the content at other URLs can change.",
        fix: "Write the DOI as `10.…/…`.",
        wrong in "kernel in spxi-index.jsonld": r#"{"spxi:kernelSpecification": "https://lights.example/kernel"}"#,
        right: r#"{"spxi:kernelSpecification": "10.5555/lights.1"}"#,
    }

    ENTITY_ID_MISSING = "SX050" "spxi-entity-id-missing" (warning, "SPX-021") {
        title: "entity has no `@id`",
        why: "Readers cannot determine the page of the entity.",
        fix: "Write the canonical URL of the page.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "@id": "https://lights.example/north"}"#,
    }
    ENTITY_ID_FORM = "SX051" "spxi-entity-id-form" (warning, "SPX-021") {
        title: "`@id` of the entity is not an absolute http or https URL",
        why: "Readers cannot fetch the page of the entity.",
        fix: "Write the full URL, beginning with https://.",
        wrong in "entity in spxi-index.jsonld": r#"{"@id": "/north"}"#,
        right: r#"{"@id": "https://lights.example/north"}"#,
    }
    ENTITY_HOST = "SX052" "spxi-entity-host" (advice, "D88") {
        title: "entity belongs to another site",
        why: "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        fix: "Give the entity a page on this site, or delete it from this index.",
        wrong in "entity in spxi-index.jsonld": r#"{"@id": "https://www.lights.example/north"}"#,
        right: r#"{"@id": "https://lights.example/north"}"#,
    }
    ENTITY_TWICE = "SX053" "spxi-entity-twice" (warning, "SPX-021") {
        title: "two entities have the same `@id`",
        why: "JSON-LD merges them into one entity with both descriptions.",
        fix: "Distinguish them by a fragment, for example `#light`.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:hasEntity": [{"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "North Light"}, {"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "Its keeper"}]}"#,
        right: r#"{"spxi:hasEntity": [{"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "North Light"}, {"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north#keeper", "spxi:canonicalName": "Its keeper"}]}"#,
    }
    TYPE_MISSING = "SX054" "spxi-entity-type-missing" (warning, "SPX-022") {
        title: "entity has no `spxi:entityType`",
        why: "Readers cannot determine what kind of thing the entity is.",
        fix: "Write a schema.org type, such as `Organization`.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:entityType": "LandmarksOrHistoricalBuildings"}"#,
    }
    TYPE_UNKNOWN = "SX055" "spxi-entity-type-unknown" (warning, "SPX-068") {
        title: "`spxi:entityType` is neither a schema.org type nor a documented type",
        why: "Readers cannot look up the meaning of the type.",
        fix: "Write a schema.org type, or the URL that documents your own type.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:entityType": "Lighthaus"}"#,
        right: r#"{"spxi:entityType": "LandmarksOrHistoricalBuildings"}"#,
    }
    NAME_MISSING = "SX056" "spxi-name-missing" (warning, "SPX-023") {
        title: "entity has no `spxi:canonicalName`",
        why: "The name is the main way to identify the entity.",
        fix: "Write the primary name of the entity.",
        wrong in "entity in spxi-index.jsonld": r#"{"@id": "https://lights.example/north"}"#,
        right: r#"{"@id": "https://lights.example/north", "spxi:canonicalName": "North Light"}"#,
    }
    TAGS_MISSING = "SX057" "spxi-tags-missing" (warning, "SPX-024") {
        title: "entity has no `spxi:negativeTag`",
        why: "Negative tags state what the entity is not. The specification requires them for every entity.",
        fix: "List what the entity is mistaken for. Begin each text with `NOT `.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"]}"#,
    }
    TAG_FORM = "SX058" "spxi-tag-form" (warning, "SPX-065") {
        title: "negative tag is not `NOT`, a space and the name of something else",
        why: "Programs recognise exclusions by the four characters `NOT `. A tag without a name after these characters excludes nothing.",
        fix: "Write N, O, T in capital letters and one plain space, then the name of the other entity.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:negativeTag": ["not the brewery", "NOT the South Light", "NOT a light ship"]}"#,
        right: r#"{"spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"]}"#,
    }
    TAG_LONG = "SX059" "spxi-tag-long" (warning, "SPX-052") {
        title: "negative tag is longer than 200 characters",
        why: "Readers cut or drop the tag.",
        fix: "Shorten the tag, or split it.",
        wrong: "A negative tag that explains a confusion in 300 characters.",
        right: "`NOT the brewery of the same name`",
    }
    TAGS_FEW = "SX060" "spxi-tags-few" (advice, "D78") {
        title: "entity has fewer than three negative tags",
        why: "The SPXI authors ask for negative tags that name three similar entities.",
        fix: "Add other things that the entity is mistaken for, if there are any.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:negativeTag": ["NOT the brewery"]}"#,
        right: r#"{"spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"]}"#,
    }
    MARKERS_FEW = "SX061" "spxi-markers-few" (warning, "SPX-026") {
        title: "entity has fewer than two semantic integrity markers",
        why: "Markers are phrases by which a summary is tested. With one phrase, a summary that lost the fact and a summary that paraphrases it look the same.",
        fix: "Write at least two phrases that occur on the page of the entity.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:semanticIntegrityMarker": ["a red light over the sound"]}"#,
        right: r#"{"spxi:semanticIntegrityMarker": ["a red light over the sound", "kept by the Holm family"]}"#,
    }
    MARKER_LONG = "SX062" "spxi-marker-long" (warning, "SPX-053") {
        title: "semantic integrity marker is longer than 200 characters",
        why: "Summaries do not repeat such a long phrase.",
        fix: "Choose a shorter phrase of the page.",
        wrong: "A marker of three sentences.",
        right: "`a red light over the sound`",
    }
    BASIN_WORD = "SX063" "spxi-basin-state" (warning, "SPX-037") {
        title: "`spxi:basinState` is not one of the five allowed values and is ignored",
        why: "The basin state tells how well AI systems recognise the entity. Other documents of the SPXI authors use other values, some of them with the opposite meaning.",
        fix: "Write sovereign, contested, captured, fragmented or ghost.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:basinState": "competitive"}"#,
        right: r#"{"spxi:basinState": "contested"}"#,
    }
    BDR_FORM = "SX064" "spxi-bdr" (warning, "SPX-067") {
        title: "`spxi:bdrEstimate` is not a number from 0.0 to 1.0 and is ignored",
        why: "`spxi:bdrEstimate` states the share of right answers about the entity. Rule 5 of the specification requires a number from 0.0 to 1.0.",
        fix: "Write a number without quotes, or omit the member if nothing was measured.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:bdrEstimate": "40 %"}"#,
        right: r#"{"spxi:bdrEstimate": 0.4}"#,
    }
    VERIFICATION_WORD = "SX065" "spxi-verification-level" (warning, "SPX-038") {
        title: "`spxi:verificationLevel` is not one of the four allowed values",
        why: "Readers do not know the meaning of other values, such as those of another SPXI draft.",
        fix: "Write self_attested, assembly_attested, doi_anchored or institutionally_certified.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:verificationLevel": "verified"}"#,
        right: r#"{"spxi:verificationLevel": "self_attested"}"#,
    }
    DOI_ABSENT = "SX066" "spxi-doi-absent" (advice, "D77") {
        title: "entity has the verification level doi_anchored but no DOI",
        why: "Without the DOI, readers cannot verify the statements about the entity.",
        fix: "Write the DOI in `sameAs`, or use the level self_attested.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:siteKernel": {"@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers."}, "spxi:hasEntity": [{"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "North Light", "spxi:verificationLevel": "doi_anchored"}]}"#,
        right: r#"{"spxi:siteKernel": {"@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers."}, "spxi:hasEntity": [{"@type": "spxi:IndexedEntity", "@id": "https://lights.example/north", "spxi:canonicalName": "North Light", "spxi:verificationLevel": "doi_anchored", "sameAs": ["https://doi.org/10.5555/lights.1"]}]}"#,
    }
    PACKET_REF_FORM = "SX067" "spxi-packet-ref" (warning, "SPX-030") {
        title: "`spxi:packetRef` is neither an absolute URL nor a DOI",
        why: "Readers cannot fetch the packet.",
        fix: "Write the full URL of the packet.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:packetRef": "spxi-packet.jsonld"}"#,
        right: r#"{"spxi:packetRef": "https://lights.example/north/spxi-packet.jsonld"}"#,
    }
    PACKET_REF_MISSING = "SX068" "spxi-packet-ref-missing" (hint, "SPX-030") {
        title: "entity has no `spxi:packetRef`",
        why: "Readers look for the packet next to the page, or not at all.",
        fix: "Publish a packet and write its URL as `spxi:packetRef`.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:packetRef": "https://lights.example/north/spxi-packet.jsonld"}"#,
    }
    VERIFICATION_MISSING = "SX069" "spxi-verification-missing" (hint, "SPX-029") {
        title: "entity has no `spxi:verificationLevel`",
        why: "Readers cannot determine who verified the statements about the entity.",
        fix: "Write self_attested, unless another party verified the entity.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:verificationLevel": "self_attested"}"#,
    }
    MATRIX_MISSING = "SX070" "spxi-matrix-missing" (hint, "SPX-031") {
        title: "entity has no `spxi:disambiguationMatrix`",
        why: "Negative tags state what the entity is not. The matrix states how to distinguish the entity from other entities.",
        fix: "Write one entry for each entity that this entity is mistaken for.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:disambiguationMatrix": [{"@type": "spxi:DisambiguationEntry", "spxi:collidesWith": "North Light, a brewery", "spxi:distinguishingAttribute": "One is lit, the other is drunk.", "spxi:collisionRisk": "medium"}]}"#,
    }

    BASIN_MISSING = "SX071" "spxi-basin-state-missing" (hint, "SPX-027") {
        title: "entity has no `spxi:basinState`",
        why: "Readers cannot determine how well AI systems recognise the entity today.",
        fix: "Ask AI systems about the entity and write the result. Omit the member until then.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:basinState": "contested"}"#,
    }
    BDR_MISSING = "SX072" "spxi-bdr-missing" (hint, "SPX-028") {
        title: "entity has no `spxi:bdrEstimate`",
        why: "Readers cannot determine how many of the answers of AI systems about the entity are right.",
        fix: "Divide the number of right answers by the number of all recorded answers. Omit the member until there are answers.",
        wrong in "entity in spxi-index.jsonld": r#"{"spxi:canonicalName": "North Light"}"#,
        right: r#"{"spxi:canonicalName": "North Light", "spxi:bdrEstimate": 0.4}"#,
    }

    COLLIDES_MISSING = "SX075" "spxi-collides-missing" (warning, "SPX-034") {
        title: "entry of the matrix has no `spxi:collidesWith`",
        why: "Readers cannot determine what the entity is mistaken for.",
        fix: "Write the name or the URL of the other entity.",
        wrong in "matrix of spxi-index.jsonld": r#"{"spxi:distinguishingAttribute": "One is lit, the other is drunk."}"#,
        right: r#"{"spxi:distinguishingAttribute": "One is lit, the other is drunk.", "spxi:collidesWith": "North Light, a brewery"}"#,
    }
    ATTRIBUTE_MISSING = "SX076" "spxi-attribute-missing" (warning, "SPX-035") {
        title: "entry of the matrix has no `spxi:distinguishingAttribute`",
        why: "Readers cannot distinguish the two entities.",
        fix: "Write a property that only one of the two entities has.",
        wrong in "matrix of spxi-index.jsonld": r#"{"spxi:collidesWith": "North Light, a brewery"}"#,
        right: r#"{"spxi:collidesWith": "North Light, a brewery", "spxi:distinguishingAttribute": "One is lit, the other is drunk."}"#,
    }
    RISK_WORD = "SX077" "spxi-collision-risk" (warning, "SPX-036") {
        title: "`spxi:collisionRisk` is not high, medium or low and is ignored",
        why: "Readers cannot compare other values.",
        fix: "Write high, medium or low.",
        wrong in "matrix of spxi-index.jsonld": r#"{"spxi:collisionRisk": "some"}"#,
        right: r#"{"spxi:collisionRisk": "medium"}"#,
    }
    RISK_MISSING = "SX078" "spxi-risk-missing" (hint, "SPX-036") {
        title: "entry of the matrix has no `spxi:collisionRisk`",
        why: "Readers cannot determine which confusion is most likely.",
        fix: "Write high, medium or low.",
        wrong in "matrix of spxi-index.jsonld": r#"{"spxi:collidesWith": "North Light, a brewery"}"#,
        right: r#"{"spxi:collidesWith": "North Light, a brewery", "spxi:collisionRisk": "medium"}"#,
    }

    SURFACE_ID_MISSING = "SX080" "spxi-surface-id-missing" (warning, "SPX-018") {
        title: "surface has no `@id`",
        why: "Readers cannot determine the page of the surface.",
        fix: "Write the URL of the page.",
        wrong in "surface in spxi-index.jsonld": r#"{"name": "North Light"}"#,
        right: r#"{"name": "North Light", "@id": "https://lights.example/north"}"#,
    }
    SURFACE_ID_FORM = "SX081" "spxi-surface-id-form" (warning, "SPX-018") {
        title: "`@id` of the surface is not an absolute http or https URL",
        why: "Readers cannot compare the surface with the sitemap.",
        fix: "Write the full URL, beginning with https://.",
        wrong in "surface in spxi-index.jsonld": r#"{"@id": "/north"}"#,
        right: r#"{"@id": "https://lights.example/north"}"#,
    }
    SURFACE_TWICE = "SX082" "spxi-surface-twice" (advice, "SPX-018") {
        title: "page is listed twice as a surface",
        why: "Readers disagree on which of the two surfaces counts.",
        fix: "Delete one of the two surfaces.",
        wrong in "top of spxi-index.jsonld": r#"{"spxi:hasSurface": [{"@type": "WebPage", "@id": "https://lights.example/north", "name": "North"}, {"@type": "WebPage", "@id": "https://lights.example/north", "name": "North Light"}]}"#,
        right: r#"{"spxi:hasSurface": [{"@type": "WebPage", "@id": "https://lights.example/north", "name": "North Light"}]}"#,
    }
    SURFACE_HOST = "SX083" "spxi-surface-host" (advice, "D88") {
        title: "surface belongs to another site",
        why: "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        fix: "List the page in the index of its own site.",
        wrong in "surface in spxi-index.jsonld": r#"{"@id": "https://brewery.example/"}"#,
        right: r#"{"@id": "https://lights.example/"}"#,
    }

    NOT_CHECKED = "SX090" "spxi-not-checked" (hint, "D65") {
        title: "some rules were not checked because they need the rest of the site",
        why: "The check cannot report problems for these rules.",
        fix: "Check the folder of the site or the live site.",
        wrong: "`rutter check spxi-index.jsonld`, which reads only the index.",
        right: "`rutter check public/`, which reads the index, the sitemap, robots.txt, llms.txt and the pages.",
    }
    UNREACHABLE = "SX091" "spxi-entity-unreachable" (warning, "SPX-064") {
        title: "page of the entity is not reachable",
        why: "Rule 2 of the specification requires a reachable page as evidence.",
        fix: "Publish the page, or correct the URL.",
        wrong in "entity in spxi-index.jsonld": r#"{"@id": "https://lights.example/north-light-old"}"#,
        right: r#"{"@id": "https://lights.example/north"}"#,
    }
    REDIRECTED = "SX092" "spxi-entity-redirected" (advice, "D65") {
        title: "URL of the entity redirects to another URL",
        why: "A URL that redirects is not the canonical URL.",
        fix: "Write the target URL of the redirect.",
        wrong: "`https://lights.example/north`, which only redirects to `/towers/north`.",
        right: r#"`"@id": "https://lights.example/towers/north"`"#,
    }
    FRAGMENT_ABSENT = "SX093" "spxi-fragment-absent" (hint, "D65") {
        title: "page of the entity has no element with the id after `#`",
        why: "The URL of the entity leads to the page, but not to a position on it.",
        fix: "Give an element of the page this id.",
        wrong in "page.html": "<h2>The keeper</h2>",
        right: r#"<h2 id="keeper">The keeper</h2>"#,
    }
    MARKER_ABSENT = "SX094" "spxi-marker-absent" (advice, "SPX-066") {
        title: "marker does not occur on the page of its entity",
        why: "Rule 4 of the specification requires every marker on the page. A phrase that is not on the page cannot survive in a summary.",
        fix: "Add the exact phrase to the page, or choose a phrase that occurs there.",
        wrong in "page.html": "<p>The light is red and stands over the water.</p>",
        right: "<p>It shows a red light over the sound.</p>",
    }
    MARKER_HIDDEN = "SX095" "spxi-marker-hidden" (advice, "D70") {
        title: "marker occurs only in metadata of the page",
        why: "The specification requires the marker in rendered text, because summaries are made from rendered text.",
        fix: "Add the phrase to the visible text of the page.",
        wrong in "page.html": r#"<meta name="description" content="a red light over the sound">"#,
        right: "<p>It shows a red light over the sound.</p>",
    }
    MARKER_NEAR = "SX096" "spxi-marker-near" (advice, "D70") {
        title: "marker occurs on the page with different letters or spacing",
        why: "Markers are compared letter by letter.",
        fix: "Copy the phrase exactly as the page writes it.",
        wrong in "page.html": "<p>It shows A Red Light over the Sound.</p>",
        right: "<p>It shows a red light over the sound.</p>",
    }
    STALE = "SX097" "spxi-stale" (advice, "SPX-070") {
        title: "index is older than the newest page of the sitemap",
        why: "Rule 8 of the specification requires a current index. The index may describe an earlier version of the pages.",
        fix: "Update the index whenever a page changes.",
        wrong: r#"`"dateModified": "2026-05-02"` in the index, `<lastmod>2026-06-01</lastmod>` in the sitemap."#,
        right: "An index that is updated with every build.",
    }
    SURFACE_LACKING = "SX098" "spxi-surface-lacking" (advice, "SPX-071") {
        title: "page of the sitemap is not a surface of the index",
        why: "Rule 9 of the specification requires every page of the sitemap as a surface.",
        fix: "Add the page to `spxi:hasSurface`. Files such as llms.txt are not pages and need not be in the sitemap.",
        wrong: "`https://lights.example/west` in sitemap.xml, but not in `spxi:hasSurface`.",
        right: r#"`{"@type": "WebPage", "@id": "https://lights.example/west", "name": "West Light"}` in `spxi:hasSurface`."#,
    }
    SITEMAP_LINK_MISSING = "SX099" "spxi-sitemap-link-missing" (advice, "SPX-041") {
        title: "sitemap entry does not link to the index",
        why: "Crawlers that read the sitemap do not find the entity of the page.",
        fix: "Add `xhtml:link` with rel alternate, type application/ld+json and hreflang x-spxi.",
        wrong in "sitemap.xml": "<url><loc>https://lights.example/north</loc></url>",
        right: r#"<url><loc>https://lights.example/north</loc><xhtml:link rel="alternate" hreflang="x-spxi" type="application/ld+json" href="https://lights.example/spxi-index.jsonld"/></url>"#,
    }
    SITEMAP_LINK_FORM = "SX100" "spxi-sitemap-link-form" (warning, "SPX-042") {
        title: "link from the sitemap to the index has a wrong attribute",
        why: "Readers select the link by these attributes.",
        fix: "Write rel alternate, type application/ld+json, hreflang x-spxi and the full URL of the index.",
        wrong in "sitemap.xml": r#"<xhtml:link rel="alternate" hreflang="en" type="application/json" href="/spxi-index.jsonld"/>"#,
        right: r#"<xhtml:link rel="alternate" hreflang="x-spxi" type="application/ld+json" href="https://lights.example/spxi-index.jsonld"/>"#,
    }
    SITEMAP_MISSING = "SX101" "spxi-sitemap-missing" (warning, "SPX-048") {
        title: "site has an index but no sitemap.xml",
        why: "The index complements the sitemap and does not replace it.",
        fix: "Publish both the index and the sitemap.",
        wrong: "A site with `spxi-index.jsonld` but without `sitemap.xml`.",
        right: "A site with both files.",
    }
    ENTITY_UNLISTED = "SX102" "spxi-entity-unlisted" (advice, "SPX-073") {
        title: "page of the entity is not in the sitemap",
        why: "Each entity must be in the index and in the sitemap.",
        fix: "Add the page to sitemap.xml with the same URL as in the index.",
        wrong: "An entity at `https://lights.example/north` that sitemap.xml does not list.",
        right: "`<url><loc>https://lights.example/north</loc></url>` in sitemap.xml.",
    }
    HEAD_LINK_MISSING = "SX103" "spxi-head-link-missing" (advice, "SPX-059") {
        title: "head of the page does not link to the index",
        why: "Crawlers that start at a page do not find the index.",
        fix: "Add `<link rel=\"alternate\" type=\"application/ld+json\" href=\"/spxi-index.jsonld\">`.",
        wrong in "page.html": "<head><title>North Light</title></head>",
        right: r#"<head><title>North Light</title><link rel="alternate" type="application/ld+json" href="/spxi-index.jsonld"></head>"#,
    }
    LLMS_SILENT = "SX104" "spxi-llms-silent" (advice, "SPX-061") {
        title: "llms.txt does not link to the index",
        why: "AI systems that read llms.txt do not find the index.",
        fix: "Add a link to `/spxi-index.jsonld`.",
        wrong in "llms.txt": "# Lights of the sound",
        right:
            "# Lights of the sound",
            "",
            "- [Entities](https://lights.example/spxi-index.jsonld)",
    }
    ROBOTS_SITEMAP = "SX105" "spxi-robots-sitemap" (advice, "SPX-055") {
        title: "robots.txt does not list the sitemap",
        why: "According to the specification, crawlers find the sitemap in robots.txt.",
        fix: "Add a line `Sitemap: https://…/sitemap.xml`.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow:",
        right:
            "User-agent: *",
            "Disallow:",
            "Sitemap: https://lights.example/sitemap.xml",
    }
    ROBOTS_SILENT = "SX106" "spxi-robots-silent" (advice, "SPX-056") {
        title: "robots.txt has no Allow line for the index in a group of AI crawlers",
        why: "The Allow line tells AI crawlers that the index exists.",
        fix: "Add `Allow: /spxi-index.jsonld` to a group for AI crawlers. A crawler obeys only its own group, so copy all rules of the group for `*` into it.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /drafts/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
            "",
            "User-agent: GPTBot",
            "Disallow: /drafts/",
            "Allow: /spxi-index.jsonld",
    }
    ROBOTS_FORBIDS = "SX107" "spxi-robots-forbids" (warning, "SPX-056") {
        title: "robots.txt disallows the index for AI crawlers",
        why: "Crawlers that obey robots.txt never fetch the index.",
        fix: "Allow `/spxi-index.jsonld`, or do not publish the index.",
        wrong in "robots.txt":
            "User-agent: GPTBot",
            "Disallow: /",
        right:
            "User-agent: GPTBot",
            "Disallow: /",
            "Allow: /spxi-index.jsonld",
    }
    ROBOTS_PACKETS = "SX108" "spxi-robots-packets" (hint, "D80") {
        title: "robots.txt does not allow every packet for AI crawlers",
        why: "The pattern in the specification does not match the packet of the home page.",
        fix: "Add `Allow: /*/spxi-packet.jsonld` and `Allow: /spxi-packet.jsonld`.",
        wrong in "robots.txt":
            "User-agent: GPTBot",
            "Allow: /*/spxi-packet.jsonld",
        right:
            "User-agent: GPTBot",
            "Allow: /*/spxi-packet.jsonld",
            "Allow: /spxi-packet.jsonld",
    }

    SITEMAP_ELEMENT = "SX109" "spxi-sitemap-element" (warning, "SPX-046") {
        title: "sitemap contains an element of the SPXI vocabulary",
        why: "The sitemap schema has no such element. Crawlers reject the sitemap or ignore the element.",
        fix: "Move the SPXI data into the index. The sitemap contains only the link to the index.",
        wrong in "sitemap.xml": "<url><loc>https://lights.example/north</loc><spxi:canonicalName>North Light</spxi:canonicalName></url>",
        right: "<url><loc>https://lights.example/north</loc></url>",
    }

    NOT_A_PACKET = "SX120" "spxi-not-a-packet" (fatal, "D68") {
        title: "document is neither a page packet nor an indexed entity",
        why: "Many servers answer unknown URLs with an ordinary page, so readers accept only documents whose type is that of a page packet or of an indexed entity.",
        fix: "Give the root object the type `spxi:PagePacket`.",
        wrong in "spxi-packet.jsonld": r#"{"@context": "https://schema.org", "@type": "WebSite", "name": "Lights"}"#,
        right: r#"{"@context": {"@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#"}, "@type": "spxi:PagePacket", "@id": "https://lights.example/north/spxi-packet.jsonld", "url": "https://lights.example/north"}"#,
    }
    PACKET_OF_ANOTHER = "SX121" "spxi-packet-of-another" (fatal, "D68") {
        title: "packet belongs to another page",
        why: "Readers must not apply statements about one page to another page.",
        fix: "Write the URL of the packet as `@id` and the URL of its page as `url`.",
        wrong: r#"`/south/spxi-packet.jsonld` with `"url": "https://lights.example/north"`."#,
        right: r#"`/south/spxi-packet.jsonld` with `"url": "https://lights.example/south"`."#,
    }
    PACKET_ID_MISSING = "SX122" "spxi-packet-id-missing" (warning, "D68") {
        title: "packet has neither its own URL nor the URL of its page",
        why: "Readers cannot determine the page of the packet.",
        fix: "Write the URL of the packet as `@id` and the URL of its page as `url`.",
        wrong in "top of spxi-packet.jsonld": r#"{"@type": ["spxi:PagePacket", "WebPage"]}"#,
        right: r#"{"@type": ["spxi:PagePacket", "WebPage"], "@id": "https://lights.example/north/spxi-packet.jsonld", "url": "https://lights.example/north"}"#,
    }
}
