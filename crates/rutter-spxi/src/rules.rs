//! Rules of layer SX: problems in semantic indexes, packets and the links to them.

rutter_finding::rules! {
    /// File is not a single JSON document.
    NOT_JSON = "SX001" "spxi-not-json" (fatal, "SPX-063")
        "file is not a single JSON document",
        "JSON-LD is JSON. Readers interpret a broken file differently or reject it.",
        "Write the file with a JSON library. JSON allows neither NaN nor Infinity nor comments.";
    /// File is not UTF-8.
    NOT_UTF8 = "SX002" "spxi-not-utf-8" (fatal, "SPX-063")
        "file is not UTF-8",
        "JSON must be UTF-8. Any other encoding would be a guess.",
        "Save the file as UTF-8.";
    /// File is larger than the limit.
    TOO_LARGE = "SX003" "spxi-too-large" (fatal, "D89")
        "file is larger than the limit",
        "Readers limit an index to 5 MB and a packet to 1 MB.",
        "Omit unimportant surfaces, or move details into packets.";
    /// File ends before the document is complete.
    TRUNCATED = "SX004" "spxi-truncated" (fatal, "SPX-063")
        "file ends before the document is complete",
        "The missing part may contain negative tags, which state what an entity is not.",
        "Publish the file again. Write it to a temporary file first, then rename it.";
    /// Value is nested too deeply.
    TOO_DEEP = "SX005" "spxi-too-deep" (fatal, "D89")
        "value is nested too deeply",
        "Deep nesting costs memory, and an index needs only a few levels.",
        "Flatten the document.";
    /// Document contains no semantic index.
    NOT_AN_INDEX = "SX006" "spxi-not-an-index" (fatal, "SPX-051")
        "document contains no semantic index",
        "Neither the types nor the members show that the document describes a site.",
        "Give the root object the type `spxi:SemanticIndex`.";
    /// File begins with a byte order mark.
    BOM = "SX007" "spxi-bom" (advice, "SPX-063")
        "file begins with a byte order mark",
        "Most JSON parsers reject the byte order mark.",
        "Save the file as UTF-8 without a byte order mark.";
    /// Member occurs twice in one object; the last value is used.
    KEY_TWICE = "SX008" "spxi-member-twice" (warning, "SPX-063")
        "member occurs twice in one object; the last value is used",
        "JSON parsers disagree on which value counts, so different readers get different documents.",
        "Delete one of the two members.";
    /// A JSON-LD 1.1 processor rejects the document.
    NOT_JSON_LD = "SX009" "spxi-not-json-ld" (judge, "SPX-063")
        "a JSON-LD 1.1 processor rejects the document",
        "Rule 1 of the specification requires that every JSON-LD 1.1 processor can read the index.",
        "Look at the error of the processor. A common cause is a keyword with a value of the wrong type.";

    /// `@context` is missing; the usual meanings are assumed.
    CONTEXT_MISSING = "SX010" "spxi-context-missing" (warning, "SPX-010")
        "`@context` is missing; the usual meanings are assumed",
        "Without a context, a JSON-LD processor cannot assign a meaning to any name in the document.",
        "Write `\"@context\": {\"@vocab\": \"https://schema.org/\", \"spxi\": \"https://spxi.dev/vocabulary#\"}`.";
    /// Context of the index is a URL, which is not fetched.
    CONTEXT_REMOTE = "SX011" "spxi-context-remote" (warning, "SPX-010")
        "context of the index is a URL, which is not fetched",
        "No server publishes the vocabulary, so the specification requires an inline context. A remote context also lets another party change the meaning of the index.",
        "Write the context into the document.";
    /// Context of the packet is a URL, which is not fetched.
    PACKET_CONTEXT_REMOTE = "SX012" "spxi-packet-context-remote" (advice, "D75")
        "context of the packet is a URL, which is not fetched",
        "Names that only the context at this URL defines are ignored.",
        "Write the context into the packet.";
    /// Terms of the context are defined in a cycle or too deeply.
    CONTEXT_LOOP = "SX013" "spxi-context-loop" (warning, "D75")
        "terms of the context are defined in a cycle or too deeply",
        "Processors reject a cycle, and no vocabulary needs a long chain of prefixes.",
        "Define every prefix by its full URL.";
    /// Part of the context is malformed and is ignored.
    CONTEXT_FORM = "SX014" "spxi-context-form" (warning, "SPX-063")
        "part of the context is malformed and is ignored",
        "A context is an object, or a list of objects, that maps terms to URLs.",
        "Write each term as a member with its URL as a string.";
    /// Context references schema.org by URL instead of `@vocab`.
    CONTEXT_BY_NAME = "SX015" "spxi-context-by-name" (advice, "SPX-010")
        "context references schema.org by URL instead of `@vocab`",
        "A processor must fetch and trust a large document to read a small one.",
        "Write `\"@vocab\": \"https://schema.org/\"` in the context.";
    /// Prefix does not expand to the URL of its vocabulary; the right URL is assumed.
    PREFIX = "SX016" "spxi-prefix" (warning, "SPX-009")
        "prefix does not expand to the URL of its vocabulary; the right URL is assumed",
        "A JSON-LD processor assigns the names to another vocabulary or to none.",
        "Write `\"spxi\": \"https://spxi.dev/vocabulary#\"` in the context.";
    /// Name is not defined in the context and is read as a schema.org name.
    TERM_UNDEFINED = "SX017" "spxi-term-undefined" (advice, "SPX-063")
        "name is not defined in the context and is read as a schema.org name",
        "A JSON-LD processor drops such a member silently.",
        "Write `\"@vocab\": \"https://schema.org/\"` in the context, or a prefix before the name.";

    /// Document is an array instead of an object.
    ROOT_LIST = "SX020" "spxi-root-list" (warning, "SPX-051")
        "document is an array instead of an object",
        "Readers look for the members of the index in the root object.",
        "Publish the index object alone.";
    /// Index is inside `@graph`.
    ROOT_GRAPH = "SX021" "spxi-root-graph" (hint, "SPX-051")
        "index is inside `@graph`",
        "JSON-LD allows this, but readers without a JSON-LD processor look for the members in the root object.",
        "Publish the index object alone, with its entities inside.";
    /// Root object is not of type `spxi:SemanticIndex`.
    ROOT_TYPE = "SX022" "spxi-root-type" (warning, "SPX-051")
        "root object is not of type `spxi:SemanticIndex`",
        "Readers that check the type do not recognise the index.",
        "Write `\"@type\": \"spxi:SemanticIndex\"`.";
    /// Document contains more than one semantic index; the first is used.
    TWO_INDEXES = "SX023" "spxi-two-indexes" (warning, "SPX-011")
        "document contains more than one semantic index; the first is used",
        "A site has one index. Two indexes may contradict each other.",
        "Merge the indexes.";
    /// Member `spxi:protocolVersion` is missing.
    VERSION_MISSING = "SX024" "spxi-version-missing" (warning, "SPX-019")
        "member `spxi:protocolVersion` is missing",
        "The version tells readers which rules apply to the index.",
        "Write `\"spxi:protocolVersion\": \"EA-SPXI-SITEMAP-01 v1.0\"`.";
    /// `spxi:protocolVersion` differs from the version in the specification.
    VERSION_OTHER = "SX025" "spxi-version-other" (warning, "SPX-019")
        "`spxi:protocolVersion` differs from the version in the specification",
        "Readers that compare the version do not recognise the protocol.",
        "Write `\"EA-SPXI-SITEMAP-01 v1.0\"` exactly.";
    /// Member `spxi:siteKernel` is missing.
    KERNEL_MISSING = "SX026" "spxi-kernel-missing" (warning, "SPX-016")
        "member `spxi:siteKernel` is missing",
        "The kernel is the statement that should survive when everything else about the site is cut.",
        "Write a `spxi:HolographicKernel` with a summary of at most 100 words.";
    /// Member `spxi:hasEntity` is missing.
    ENTITIES_MISSING = "SX027" "spxi-entities-missing" (warning, "SPX-017")
        "member `spxi:hasEntity` is missing",
        "An index without entities describes nothing.",
        "List the entities of the site.";
    /// Member `spxi:hasSurface` is missing.
    SURFACES_MISSING = "SX028" "spxi-surfaces-missing" (advice, "SPX-018")
        "member `spxi:hasSurface` is missing",
        "Readers cannot learn the purpose of each page.",
        "List the pages of the site.";
    /// Member `spxi:protocolDoi` is missing.
    PROTOCOL_DOI_MISSING = "SX029" "spxi-protocol-doi-missing" (hint, "SPX-020")
        "member `spxi:protocolDoi` is missing",
        "The DOI identifies the specification permanently. The deployed indexes do not agree on one DOI.",
        "Write the DOI of the specification that you followed, if it resolves.";
    /// `spxi:protocolDoi` is not a DOI.
    PROTOCOL_DOI_FORM = "SX030" "spxi-protocol-doi-form" (advice, "D78")
        "`spxi:protocolDoi` is not a DOI",
        "Readers cannot resolve the value.",
        "Write the DOI as `10.…/…`.";
    /// Member `dateModified` is missing.
    MODIFIED_MISSING = "SX031" "spxi-modified-missing" (advice, "D76")
        "member `dateModified` is missing",
        "Readers cannot determine whether the index is newer than the pages.",
        "Write the time of the last change of the index.";
    /// `dateModified` is not a valid date.
    MODIFIED_FORM = "SX032" "spxi-modified-form" (advice, "D76")
        "`dateModified` is not a valid date",
        "Readers cannot compare the date of the index with the dates of the pages.",
        "Write a date such as `2026-05-01`, or a date-time with a time zone.";
    /// Index is larger than 100,000 bytes.
    INDEX_LARGE = "SX033" "spxi-index-large" (advice, "SPX-054")
        "index is larger than 100,000 bytes",
        "According to the specification, an index should fit into one response.",
        "Omit optional members of the surfaces.";
    /// Member has the wrong type and is ignored.
    MEMBER_FORM = "SX034" "spxi-member-type" (warning, "SPX-063")
        "member has the wrong type and is ignored",
        "Readers cannot use the member.",
        "Use the type that the specification describes.";
    /// Member is a single value instead of a list.
    NOT_A_LIST = "SX035" "spxi-not-a-list" (advice, "SPX-024")
        "member is a single value instead of a list",
        "JSON-LD treats a single value like a list with one element, but programs that read plain JSON expect a list.",
        "Write the value as a list with one element.";
    /// `@id` of the index is not `/spxi-index.jsonld` at the root of the site.
    INDEX_ID_FORM = "SX036" "spxi-index-id" (advice, "SPX-011")
        "`@id` of the index is not `/spxi-index.jsonld` at the root of the site",
        "Readers request the index at `/spxi-index.jsonld`.",
        "Write `https://`, the host and `/spxi-index.jsonld`.";
    /// Object does not have the type that the specification requires.
    NODE_TYPE = "SX037" "spxi-class" (warning, "SPX-012")
        "object does not have the type that the specification requires",
        "Readers that check the type do not recognise the object.",
        "Write the type: `spxi:IndexedEntity`, `spxi:HolographicKernel`, `spxi:DisambiguationEntry` or `WebPage`.";

    /// Kernel has no `spxi:compressionSurvivalSummary`.
    SUMMARY_MISSING = "SX040" "spxi-summary-missing" (warning, "SPX-032")
        "kernel has no `spxi:compressionSurvivalSummary`",
        "The summary is the main content of a kernel.",
        "Write at most 100 words that should survive when everything else about the site is cut.";
    /// `spxi:compressionSurvivalSummary` has more than 100 words.
    SUMMARY_LONG = "SX041" "spxi-summary-long" (warning, "SPX-069")
        "`spxi:compressionSurvivalSummary` has more than 100 words",
        "Other programs cut a longer summary at an arbitrary point.",
        "Shorten the summary to 100 words. In scripts without spaces, words are counted by the boundaries of UAX #29.";
    /// Kernel has no `spxi:kernelSpecification`.
    SPECIFICATION_MISSING = "SX042" "spxi-specification-missing" (hint, "SPX-033")
        "kernel has no `spxi:kernelSpecification`",
        "A DOI shows that the text is deposited in an archive.",
        "Write the DOI of the deposit, if there is one.";
    /// `spxi:kernelSpecification` is not a DOI.
    SPECIFICATION_FORM = "SX043" "spxi-specification-form" (advice, "SPX-033")
        "`spxi:kernelSpecification` is not a DOI",
        "The content at other URLs can change.",
        "Write the DOI as `10.…/…`.";

    /// Entity has no `@id`.
    ENTITY_ID_MISSING = "SX050" "spxi-entity-id-missing" (warning, "SPX-021")
        "entity has no `@id`",
        "Readers cannot determine the page of the entity.",
        "Write the canonical URL of the page.";
    /// `@id` of the entity is not an absolute http or https URL.
    ENTITY_ID_FORM = "SX051" "spxi-entity-id-form" (warning, "SPX-021")
        "`@id` of the entity is not an absolute http or https URL",
        "Readers cannot fetch the page of the entity.",
        "Write the full URL, beginning with https://.";
    /// Entity belongs to another site.
    ENTITY_HOST = "SX052" "spxi-entity-host" (advice, "D88")
        "entity belongs to another site",
        "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        "Give the entity a page on this site, or delete it from this index.";
    /// Two entities have the same `@id`.
    ENTITY_TWICE = "SX053" "spxi-entity-twice" (warning, "SPX-021")
        "two entities have the same `@id`",
        "JSON-LD merges them into one entity with both descriptions.",
        "Distinguish them by a fragment, for example `#light`.";
    /// Entity has no `spxi:entityType`.
    TYPE_MISSING = "SX054" "spxi-entity-type-missing" (warning, "SPX-022")
        "entity has no `spxi:entityType`",
        "Readers cannot determine what kind of thing the entity is.",
        "Write a schema.org type, such as `Organization`.";
    /// `spxi:entityType` is neither a schema.org type nor a documented type.
    TYPE_UNKNOWN = "SX055" "spxi-entity-type-unknown" (warning, "SPX-068")
        "`spxi:entityType` is neither a schema.org type nor a documented type",
        "Readers cannot look up the meaning of the type.",
        "Write a schema.org type, or the URL that documents your own type.";
    /// Entity has no `spxi:canonicalName`.
    NAME_MISSING = "SX056" "spxi-name-missing" (warning, "SPX-023")
        "entity has no `spxi:canonicalName`",
        "The name is the main way to identify the entity.",
        "Write the primary name of the entity.";
    /// Entity has no `spxi:negativeTag`.
    TAGS_MISSING = "SX057" "spxi-tags-missing" (warning, "SPX-024")
        "entity has no `spxi:negativeTag`",
        "Negative tags state what the entity is not. The specification requires them first.",
        "List what the entity is mistaken for. Begin each text with `NOT `.";
    /// Negative tag is not `NOT`, a space and the name of something else.
    TAG_FORM = "SX058" "spxi-tag-form" (warning, "SPX-065")
        "negative tag is not `NOT`, a space and the name of something else",
        "Programs recognise exclusions by the four characters `NOT `. A tag without a name after these characters excludes nothing.",
        "Write N, O, T in capital letters and one plain space, then the name of the other entity.";
    /// Negative tag is longer than 200 characters.
    TAG_LONG = "SX059" "spxi-tag-long" (warning, "SPX-052")
        "negative tag is longer than 200 characters",
        "Readers cut or drop the tag.",
        "Shorten the tag, or split it.";
    /// Entity has fewer than three negative tags.
    TAGS_FEW = "SX060" "spxi-tags-few" (advice, "D78")
        "entity has fewer than three negative tags",
        "In their protocol for web sites, the authors of SPXI ask for negative tags for three similar entities.",
        "Add other things that the entity is mistaken for, if there are any.";
    /// Entity has fewer than two semantic integrity markers.
    MARKERS_FEW = "SX061" "spxi-markers-few" (warning, "SPX-026")
        "entity has fewer than two semantic integrity markers",
        "With a single phrase, loss and paraphrase cannot be distinguished.",
        "Write at least two phrases that occur on the page of the entity.";
    /// Semantic integrity marker is longer than 200 characters.
    MARKER_LONG = "SX062" "spxi-marker-long" (warning, "SPX-053")
        "semantic integrity marker is longer than 200 characters",
        "Summaries do not repeat such a long phrase.",
        "Choose a shorter phrase of the page.";
    /// `spxi:basinState` is not one of the five allowed values and is ignored.
    BASIN_WORD = "SX063" "spxi-basin-state" (warning, "SPX-037")
        "`spxi:basinState` is not one of the five allowed values and is ignored",
        "Other documents of the same authors use other values, some of them with the opposite meaning.",
        "Write sovereign, contested, captured, fragmented or ghost.";
    /// `spxi:bdrEstimate` is not a number from 0.0 to 1.0 and is ignored.
    BDR_FORM = "SX064" "spxi-bdr" (warning, "SPX-067")
        "`spxi:bdrEstimate` is not a number from 0.0 to 1.0 and is ignored",
        "Rule 5 of the specification requires a number in this range.",
        "Write a number without quotes, or omit the member if nothing was measured.";
    /// `spxi:verificationLevel` is not one of the four allowed values.
    VERIFICATION_WORD = "SX065" "spxi-verification-level" (warning, "SPX-038")
        "`spxi:verificationLevel` is not one of the four allowed values",
        "Another draft of the same authors uses other values.",
        "Write self_attested, assembly_attested, doi_anchored or institutionally_certified.";
    /// Entity has the level doi_anchored but no DOI.
    DOI_ABSENT = "SX066" "spxi-doi-absent" (advice, "D77")
        "entity has the level doi_anchored but no DOI",
        "Readers cannot verify the claim.",
        "Write the DOI in `sameAs`, or use the level self_attested.";
    /// `spxi:packetRef` is neither an absolute URL nor a DOI.
    PACKET_REF_FORM = "SX067" "spxi-packet-ref" (warning, "SPX-030")
        "`spxi:packetRef` is neither an absolute URL nor a DOI",
        "Readers cannot fetch the packet.",
        "Write the full URL of the packet.";
    /// Entity has no `spxi:packetRef`.
    PACKET_REF_MISSING = "SX068" "spxi-packet-ref-missing" (hint, "SPX-030")
        "entity has no `spxi:packetRef`",
        "Readers look for the packet next to the page, or not at all.",
        "Publish a packet and write its URL as `spxi:packetRef`.";
    /// Entity has no `spxi:verificationLevel`.
    VERIFICATION_MISSING = "SX069" "spxi-verification-missing" (hint, "SPX-029")
        "entity has no `spxi:verificationLevel`",
        "Readers cannot determine how the claim was verified.",
        "Write self_attested, unless another party verified the entity.";
    /// Entity has no `spxi:disambiguationMatrix`.
    MATRIX_MISSING = "SX070" "spxi-matrix-missing" (hint, "SPX-031")
        "entity has no `spxi:disambiguationMatrix`",
        "Negative tags state what the entity is not. The matrix states how to distinguish the entity from other entities.",
        "Write one entry for each entity that this entity is mistaken for.";

    /// Entity has no `spxi:basinState`.
    BASIN_MISSING = "SX071" "spxi-basin-state-missing" (hint, "SPX-027")
        "entity has no `spxi:basinState`",
        "Readers cannot determine how well AI systems resolve the entity today.",
        "Ask AI systems about the entity and write the result. Omit the member until then.";
    /// Entity has no `spxi:bdrEstimate`.
    BDR_MISSING = "SX072" "spxi-bdr-missing" (hint, "SPX-028")
        "entity has no `spxi:bdrEstimate`",
        "Readers cannot determine which share of the entity's claims survives in answers.",
        "Estimate the ratio from recorded answers. Omit the member until there are recorded answers.";

    /// Entry of the matrix has no `spxi:collidesWith`.
    COLLIDES_MISSING = "SX075" "spxi-collides-missing" (warning, "SPX-034")
        "entry of the matrix has no `spxi:collidesWith`",
        "Readers cannot determine what the entity is mistaken for.",
        "Write the name or the URL of the other entity.";
    /// Entry of the matrix has no `spxi:distinguishingAttribute`.
    ATTRIBUTE_MISSING = "SX076" "spxi-attribute-missing" (warning, "SPX-035")
        "entry of the matrix has no `spxi:distinguishingAttribute`",
        "Readers cannot distinguish the two entities.",
        "Write a property that only one of the two entities has.";
    /// `spxi:collisionRisk` is not high, medium or low and is ignored.
    RISK_WORD = "SX077" "spxi-collision-risk" (warning, "SPX-036")
        "`spxi:collisionRisk` is not high, medium or low and is ignored",
        "Readers cannot compare other values.",
        "Write high, medium or low.";
    /// Entry of the matrix has no `spxi:collisionRisk`.
    RISK_MISSING = "SX078" "spxi-risk-missing" (hint, "SPX-036")
        "entry of the matrix has no `spxi:collisionRisk`",
        "Readers cannot determine which confusion is most likely.",
        "Write high, medium or low.";

    /// Surface has no `@id`.
    SURFACE_ID_MISSING = "SX080" "spxi-surface-id-missing" (warning, "SPX-018")
        "surface has no `@id`",
        "Readers cannot determine the page of the surface.",
        "Write the URL of the page.";
    /// `@id` of the surface is not an absolute http or https URL.
    SURFACE_ID_FORM = "SX081" "spxi-surface-id-form" (warning, "SPX-018")
        "`@id` of the surface is not an absolute http or https URL",
        "Readers cannot compare the surface with the sitemap.",
        "Write the full URL, beginning with https://.";
    /// Page is listed twice as a surface.
    SURFACE_TWICE = "SX082" "spxi-surface-twice" (advice, "SPX-018")
        "page is listed twice as a surface",
        "Readers disagree on which of the two surfaces counts.",
        "Delete one of the two surfaces.";
    /// Surface belongs to another site.
    SURFACE_HOST = "SX083" "spxi-surface-host" (advice, "D88")
        "surface belongs to another site",
        "A site can make statements only about its own pages. `www.example.com` and `example.com` are different hosts.",
        "List the page in the index of its own site.";

    /// Some rules were not checked because they need the rest of the site.
    NOT_CHECKED = "SX090" "spxi-not-checked" (hint, "D65")
        "some rules were not checked because they need the rest of the site",
        "The check cannot report problems for these rules.",
        "Check the folder of the site or the live site.";
    /// Page of the entity is not reachable.
    UNREACHABLE = "SX091" "spxi-entity-unreachable" (warning, "SPX-064")
        "page of the entity is not reachable",
        "Rule 2 of the specification requires a reachable page as evidence.",
        "Publish the page, or correct the URL.";
    /// URL of the entity redirects to another URL.
    REDIRECTED = "SX092" "spxi-entity-redirected" (advice, "D65")
        "URL of the entity redirects to another URL",
        "A URL that redirects is not the canonical URL.",
        "Write the target URL of the redirect.";
    /// Page of the entity has no element with this id.
    FRAGMENT_ABSENT = "SX093" "spxi-fragment-absent" (hint, "D65")
        "page of the entity has no element with this id",
        "The URL leads to the page, but not to a position on it.",
        "Give an element the id that follows the `#`.";
    /// Marker does not occur on the page of its entity.
    MARKER_ABSENT = "SX094" "spxi-marker-absent" (advice, "SPX-066")
        "marker does not occur on the page of its entity",
        "Rule 4 of the specification requires every marker on the page. A phrase that is not on the page cannot survive in a summary.",
        "Add the exact phrase to the page, or choose a phrase that occurs there.";
    /// Marker occurs only in metadata of the page.
    MARKER_HIDDEN = "SX095" "spxi-marker-hidden" (advice, "D70")
        "marker occurs only in metadata of the page",
        "The specification requires the marker in rendered text, because summaries are made from rendered text.",
        "Add the phrase to the visible text of the page.";
    /// Marker occurs on the page with different letters or spacing.
    MARKER_NEAR = "SX096" "spxi-marker-near" (advice, "D70")
        "marker occurs on the page with different letters or spacing",
        "Markers are compared letter by letter.",
        "Copy the phrase from the page.";
    /// Index is older than the newest page of the sitemap.
    STALE = "SX097" "spxi-stale" (advice, "SPX-070")
        "index is older than the newest page of the sitemap",
        "Rule 8 of the specification requires a current index. The index may describe an earlier version of the pages.",
        "Update the index whenever a page changes.";
    /// Page of the sitemap is not a surface of the index.
    SURFACE_LACKING = "SX098" "spxi-surface-lacking" (advice, "SPX-071")
        "page of the sitemap is not a surface of the index",
        "Rule 9 of the specification requires every page of the sitemap as a surface.",
        "Add the page to `spxi:hasSurface`. Files such as llms.txt are not pages and need not be in the sitemap.";
    /// Sitemap entry does not link to the index.
    SITEMAP_LINK_MISSING = "SX099" "spxi-sitemap-link-missing" (advice, "SPX-041")
        "sitemap entry does not link to the index",
        "Crawlers that read the sitemap do not find the entity of the page.",
        "Add `xhtml:link` with rel alternate, type application/ld+json and hreflang x-spxi.";
    /// Link from the sitemap to the index has a wrong attribute.
    SITEMAP_LINK_FORM = "SX100" "spxi-sitemap-link-form" (warning, "SPX-042")
        "link from the sitemap to the index has a wrong attribute",
        "Readers select the link by these attributes.",
        "Write rel alternate, type application/ld+json, hreflang x-spxi and the full URL of the index.";
    /// Site has an index but no sitemap.xml.
    SITEMAP_MISSING = "SX101" "spxi-sitemap-missing" (warning, "SPX-048")
        "site has an index but no sitemap.xml",
        "The index complements the sitemap and does not replace it.",
        "Publish both the index and the sitemap.";
    /// Page of the entity is not in the sitemap.
    ENTITY_UNLISTED = "SX102" "spxi-entity-unlisted" (advice, "SPX-073")
        "page of the entity is not in the sitemap",
        "Each entity must be in the index and in the sitemap.",
        "Add the page to sitemap.xml with the same URL as in the index.";
    /// Head of the page does not link to the index.
    HEAD_LINK_MISSING = "SX103" "spxi-head-link-missing" (advice, "SPX-059")
        "head of the page does not link to the index",
        "Crawlers that start at a page do not find the index.",
        "Add `<link rel=\"alternate\" type=\"application/ld+json\" href=\"/spxi-index.jsonld\">`.";
    /// Llms.txt does not link to the index.
    LLMS_SILENT = "SX104" "spxi-llms-silent" (advice, "SPX-061")
        "llms.txt does not link to the index",
        "AI systems that read llms.txt do not find the index.",
        "Add a link to `/spxi-index.jsonld`.";
    /// Robots.txt does not list the sitemap.
    ROBOTS_SITEMAP = "SX105" "spxi-robots-sitemap" (advice, "SPX-055")
        "robots.txt does not list the sitemap",
        "According to the specification, crawlers find the sitemap in robots.txt.",
        "Add a line `Sitemap: https://…/sitemap.xml`.";
    /// Robots.txt has no Allow line for the index in a group of AI crawlers.
    ROBOTS_SILENT = "SX106" "spxi-robots-silent" (advice, "SPX-056")
        "robots.txt has no Allow line for the index in a group of AI crawlers",
        "The Allow line tells AI crawlers that the index exists.",
        "Add `Allow: /spxi-index.jsonld` to a group for AI crawlers, and copy all rules of `*` into that group.";
    /// Robots.txt disallows the index for AI crawlers.
    ROBOTS_FORBIDS = "SX107" "spxi-robots-forbids" (warning, "SPX-056")
        "robots.txt disallows the index for AI crawlers",
        "Crawlers that obey robots.txt never fetch the index.",
        "Allow `/spxi-index.jsonld`, or do not publish the index.";
    /// Robots.txt does not allow every packet for AI crawlers.
    ROBOTS_PACKETS = "SX108" "spxi-robots-packets" (hint, "D80")
        "robots.txt does not allow every packet for AI crawlers",
        "The pattern in the specification does not match the packet of the home page.",
        "Add `Allow: /*/spxi-packet.jsonld` and `Allow: /spxi-packet.jsonld`.";

    /// Sitemap contains an element of the SPXI vocabulary.
    SITEMAP_ELEMENT = "SX109" "spxi-sitemap-element" (warning, "SPX-046")
        "sitemap contains an element of the SPXI vocabulary",
        "The sitemap schema has no such element. Crawlers reject the sitemap or ignore the element.",
        "Write everything except the link into the index.";

    /// Document is neither a page packet nor an indexed entity.
    NOT_A_PACKET = "SX120" "spxi-not-a-packet" (fatal, "D68")
        "document is neither a page packet nor an indexed entity",
        "Many servers answer unknown URLs with an ordinary page, so readers accept only a typed packet.",
        "Give the root object the type `spxi:PagePacket`.";
    /// Packet belongs to another page.
    PACKET_OF_ANOTHER = "SX121" "spxi-packet-of-another" (fatal, "D68")
        "packet belongs to another page",
        "Statements about one page must not be applied to another page.",
        "Write the URL of the packet as `@id` and the URL of its page as `url`.";
    /// Packet has neither its own URL nor the URL of its page.
    PACKET_ID_MISSING = "SX122" "spxi-packet-id-missing" (warning, "D68")
        "packet has neither its own URL nor the URL of its page",
        "Readers cannot determine the page of the packet.",
        "Write the URL of the packet as `@id` and the URL of its page as `url`.";
}
