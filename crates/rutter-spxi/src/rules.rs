//! A table: the rules about semantic indexes, packets and how a site names them.

rutter_finding::rules! {
    /// Something else, or broken.
    NOT_JSON = "SX001" "spxi-not-json" (fatal, "SPX-063")
        "file is not one JSON document",
        "Every reader of JSON-LD begins with JSON; what is broken is read differently by everybody, or not at all.",
        "Write the file with a JSON library. NaN, Infinity and comments are no JSON.";
    /// Bytes that are no text.
    NOT_UTF8 = "SX002" "spxi-not-utf-8" (fatal, "SPX-063")
        "file is not UTF-8",
        "JSON on the web is UTF-8; any other reading of the bytes is a guess.",
        "Save the file as UTF-8.";
    /// More than we take.
    TOO_LARGE = "SX003" "spxi-too-large" (fatal, "D89")
        "file is larger than the limit",
        "A reader has to stop somewhere: at 5 MB for an index and 1 MB for a packet.",
        "Leave out surfaces nobody needs to know about, or move details into packets.";
    /// The end is missing.
    TRUNCATED = "SX004" "spxi-truncated" (fatal, "SPX-063")
        "file ends in the middle of the document",
        "What is missing may say what an entity is not.",
        "Publish the file again, by writing it beside its place and renaming it.";
    /// Brackets in brackets.
    TOO_DEEP = "SX005" "spxi-too-deep" (fatal, "D89")
        "value is nested too deeply",
        "Nesting costs readers memory; no index needs more than a few levels.",
        "Flatten the document.";
    /// Nothing we know.
    NOT_AN_INDEX = "SX006" "spxi-not-an-index" (fatal, "SPX-051")
        "no object of the document is a semantic index",
        "Neither a type nor a member says that the document speaks about a site.",
        "Give the root object the type `spxi:SemanticIndex`.";
    /// A byte order mark.
    BOM = "SX007" "spxi-bom" (advice, "SPX-063")
        "file begins with a byte order mark",
        "Most JSON readers refuse it.",
        "Save the file as UTF-8 without a byte order mark.";
    /// Twice the same name.
    KEY_TWICE = "SX008" "spxi-member-twice" (warning, "SPX-063")
        "member stands twice in one object; the last one is read",
        "Readers differ in which of the two they take, so two readers see two documents.",
        "Keep one of the two.";
    /// A processor of JSON-LD refuses it.
    NOT_JSON_LD = "SX009" "spxi-not-json-ld" (judge, "SPX-063")
        "a JSON-LD 1.1 processor refuses the document",
        "Rule 1 of the specification: any such processor must be able to read the index.",
        "See what the processor says; often a keyword has a value of the wrong type.";

    /// No context.
    CONTEXT_MISSING = "SX010" "spxi-context-missing" (warning, "SPX-010")
        "there is no `@context`; names are read as usual",
        "Without it no name in the document has a meaning to a JSON-LD processor.",
        "Write `\"@context\": {\"@vocab\": \"https://schema.org/\", \"spxi\": \"https://spxi.dev/vocabulary#\"}`.";
    /// A context somewhere else.
    CONTEXT_REMOTE = "SX011" "spxi-context-remote" (warning, "SPX-010")
        "context of the index lies at an address; it is not fetched",
        "The vocabulary is not served anywhere, so the specification asks for an inline context; an address also lets somebody else change what the index says.",
        "Write the context into the document.";
    /// A context of a packet somewhere else.
    PACKET_CONTEXT_REMOTE = "SX012" "spxi-packet-context-remote" (advice, "D75")
        "context of the packet lies at an address; it is not fetched",
        "Names that only that context explains are not understood.",
        "Write the context into the packet.";
    /// Definitions in a circle, or a long row.
    CONTEXT_LOOP = "SX013" "spxi-context-loop" (warning, "D75")
        "terms of the context are defined in a circle or too deeply",
        "A processor refuses a circle, and no vocabulary needs a long row of prefixes.",
        "Define every prefix by its address.";
    /// A context that is none.
    CONTEXT_FORM = "SX014" "spxi-context-form" (warning, "SPX-063")
        "part of the context has a wrong form; it is ignored",
        "A context is an object, or a list of objects, of terms and their addresses.",
        "Write terms as names with addresses in quotes.";
    /// The vocabulary of schema.org by its address.
    CONTEXT_BY_NAME = "SX015" "spxi-context-by-name" (advice, "SPX-010")
        "schema.org is named by its address instead of `@vocab`",
        "A processor has to fetch and trust a large document to read a small one.",
        "Write `\"@vocab\": \"https://schema.org/\"` in the context.";
    /// A prefix without its address.
    PREFIX = "SX016" "spxi-prefix" (warning, "SPX-009")
        "prefix does not stand for the address of its vocabulary; it is read as if",
        "To a processor the names are those of another vocabulary, or of none.",
        "Write `\"spxi\": \"https://spxi.dev/vocabulary#\"` in the context.";
    /// A name no processor understands.
    TERM_UNDEFINED = "SX017" "spxi-term-undefined" (advice, "SPX-063")
        "name means nothing in the context; it is read as one of schema.org",
        "A JSON-LD processor drops such a member in silence.",
        "Write `\"@vocab\": \"https://schema.org/\"` in the context, or a prefix before the name.";

    /// A list at the top.
    ROOT_LIST = "SX020" "spxi-root-list" (warning, "SPX-051")
        "document is a list instead of one object",
        "Readers look for the members of the index at the top.",
        "Publish the index object alone.";
    /// A graph at the top.
    ROOT_GRAPH = "SX021" "spxi-root-graph" (hint, "SPX-051")
        "index stands inside `@graph`",
        "JSON-LD allows it; readers that are no processors look for members at the top.",
        "Publish the index object alone, with its entities inside.";
    /// Another type.
    ROOT_TYPE = "SX022" "spxi-root-type" (warning, "SPX-051")
        "root object is not of type `spxi:SemanticIndex`",
        "Readers that go by the type do not see an index.",
        "Write `\"@type\": \"spxi:SemanticIndex\"`.";
    /// More than one.
    TWO_INDEXES = "SX023" "spxi-two-indexes" (warning, "SPX-011")
        "document holds more than one semantic index; the first is read",
        "There is one index for a site; two may contradict each other.",
        "Join them.";
    /// No version.
    VERSION_MISSING = "SX024" "spxi-version-missing" (warning, "SPX-019")
        "member `spxi:protocolVersion` is missing",
        "The version tells readers which rules the index follows.",
        "Write `\"spxi:protocolVersion\": \"EA-SPXI-SITEMAP-01 v1.0\"`.";
    /// Another version.
    VERSION_OTHER = "SX025" "spxi-version-other" (warning, "SPX-019")
        "`spxi:protocolVersion` is not the one of the specification",
        "Readers that compare it take the index for one of another protocol.",
        "Write `\"EA-SPXI-SITEMAP-01 v1.0\"`, letter by letter.";
    /// No kernel.
    KERNEL_MISSING = "SX026" "spxi-kernel-missing" (warning, "SPX-016")
        "member `spxi:siteKernel` is missing",
        "The kernel is what is to remain of the site when everything else is cut.",
        "Write a `spxi:HolographicKernel` with a summary of at most 100 words.";
    /// No entities.
    ENTITIES_MISSING = "SX027" "spxi-entities-missing" (warning, "SPX-017")
        "member `spxi:hasEntity` is missing",
        "An index without entities says nothing about anybody.",
        "List the entities of the site.";
    /// No surfaces.
    SURFACES_MISSING = "SX028" "spxi-surfaces-missing" (advice, "SPX-018")
        "member `spxi:hasSurface` is missing",
        "Readers do not learn what each page is for.",
        "List the pages of the site.";
    /// No DOI of the specification.
    PROTOCOL_DOI_MISSING = "SX029" "spxi-protocol-doi-missing" (hint, "SPX-020")
        "member `spxi:protocolDoi` is missing",
        "It names the specification for good; the deployed indexes do not agree on one.",
        "Write the DOI of the specification you followed, where it resolves.";
    /// A DOI that is none.
    PROTOCOL_DOI_FORM = "SX030" "spxi-protocol-doi-form" (advice, "D78")
        "`spxi:protocolDoi` is not a DOI",
        "Readers cannot look it up.",
        "Write it as `10.…/…`.";
    /// No date.
    MODIFIED_MISSING = "SX031" "spxi-modified-missing" (advice, "D76")
        "member `dateModified` is missing",
        "Readers cannot tell whether the index is younger than the pages.",
        "Write when the index changed last.";
    /// A date that is none.
    MODIFIED_FORM = "SX032" "spxi-modified-form" (advice, "D76")
        "`dateModified` is not a date",
        "It cannot be compared with the dates of the pages.",
        "Write a date such as `2026-05-01` or a time with its zone.";
    /// Larger than one should be.
    INDEX_LARGE = "SX033" "spxi-index-large" (advice, "SPX-054")
        "index is larger than 100,000 bytes",
        "The specification wants an index to fit into one answer.",
        "Leave out optional members of surfaces.";
    /// A wrong type.
    MEMBER_FORM = "SX034" "spxi-member-type" (warning, "SPX-063")
        "member has a wrong type; it is ignored",
        "Readers cannot use it.",
        "Give it the type that the specification names.";
    /// One value where the specification shows a list.
    NOT_A_LIST = "SX035" "spxi-not-a-list" (advice, "SPX-024")
        "member is a single value instead of a list",
        "To JSON-LD both are the same; to programs that read the JSON as it is, they are not.",
        "Put the value into brackets.";
    /// An address that is not the index's.
    INDEX_ID_FORM = "SX036" "spxi-index-id" (advice, "SPX-011")
        "`@id` of the index is not its address at the root of the site",
        "Readers look for it at `/spxi-index.jsonld`.",
        "Write `https://`, the host and `/spxi-index.jsonld`.";
    /// An object of another class.
    NODE_TYPE = "SX037" "spxi-class" (warning, "SPX-012")
        "object is not of the class the specification names",
        "Readers that go by classes do not see it.",
        "Write the type: `spxi:IndexedEntity`, `spxi:HolographicKernel`, `spxi:DisambiguationEntry` or `WebPage`.";

    /// No text.
    SUMMARY_MISSING = "SX040" "spxi-summary-missing" (warning, "SPX-032")
        "kernel has no `spxi:compressionSurvivalSummary`",
        "The summary is all a kernel is about.",
        "Write at most 100 words that are to remain of the site.";
    /// Too many words.
    SUMMARY_LONG = "SX041" "spxi-summary-long" (warning, "SPX-069")
        "`spxi:compressionSurvivalSummary` has more than 100 words",
        "What is longer gets cut by others, where they like.",
        "Shorten it to 100 words. Scripts without spaces are counted by the boundaries of UAX #29.";
    /// No deposit.
    SPECIFICATION_MISSING = "SX042" "spxi-specification-missing" (hint, "SPX-033")
        "kernel has no `spxi:kernelSpecification`",
        "A DOI shows that the text was deposited somewhere.",
        "Write the DOI of the deposit, where there is one.";
    /// A deposit that is none.
    SPECIFICATION_FORM = "SX043" "spxi-specification-form" (advice, "SPX-033")
        "`spxi:kernelSpecification` is not a DOI",
        "Other addresses can change what they show.",
        "Write it as `10.…/…`.";

    /// No address.
    ENTITY_ID_MISSING = "SX050" "spxi-entity-id-missing" (warning, "SPX-021")
        "entity has no `@id`",
        "Nobody can tell which page speaks of it.",
        "Write the canonical address of its page.";
    /// An address that is none.
    ENTITY_ID_FORM = "SX051" "spxi-entity-id-form" (warning, "SPX-021")
        "`@id` of the entity is not an absolute http or https address",
        "It cannot be reached, so it says nothing.",
        "Write the whole address, beginning with https://.";
    /// Somebody else's entity.
    ENTITY_HOST = "SX052" "spxi-entity-host" (advice, "D88")
        "entity belongs to another site",
        "A site can speak for its own pages only, and `www` is another host.",
        "Give the entity a page on this site, or leave it to its own.";
    /// Two entities of one address.
    ENTITY_TWICE = "SX053" "spxi-entity-twice" (warning, "SPX-021")
        "two entities have the same `@id`",
        "To JSON-LD they are one entity with both descriptions.",
        "Tell them apart by a fragment, such as `#light`.";
    /// No type.
    TYPE_MISSING = "SX054" "spxi-entity-type-missing" (warning, "SPX-022")
        "entity has no `spxi:entityType`",
        "Readers do not learn what kind of thing it is.",
        "Write a type of schema.org, such as `Organization`.";
    /// A type nobody knows.
    TYPE_UNKNOWN = "SX055" "spxi-entity-type-unknown" (warning, "SPX-068")
        "`spxi:entityType` is neither a type of schema.org nor a documented one",
        "Readers cannot look up what it means.",
        "Write a type of schema.org, or the address of your own type's description.";
    /// No name.
    NAME_MISSING = "SX056" "spxi-name-missing" (warning, "SPX-023")
        "entity has no `spxi:canonicalName`",
        "The name is what it is told apart by.",
        "Write its primary name.";
    /// No tags.
    TAGS_MISSING = "SX057" "spxi-tags-missing" (warning, "SPX-024")
        "entity has no `spxi:negativeTag`",
        "What it is not is the first thing the specification wants to be said.",
        "Write what it is mistaken for, each text beginning with `NOT `.";
    /// A tag that does not begin as it must.
    TAG_FORM = "SX058" "spxi-tag-form" (warning, "SPX-065")
        "negative tag is not `NOT`, a space and what the entity is not",
        "Programs tell exclusions by these four characters; alone they exclude nothing.",
        "Begin with N, O, T in capitals and one plain space, then name the other entity.";
    /// A long tag.
    TAG_LONG = "SX059" "spxi-tag-long" (warning, "SPX-052")
        "negative tag has more than 200 characters",
        "Readers cut or drop it.",
        "Shorten it, or divide it.";
    /// Few tags.
    TAGS_FEW = "SX060" "spxi-tags-few" (advice, "D78")
        "entity has fewer than three negative tags",
        "The authors' protocol for web sites asks for three neighbours.",
        "Add what else it is mistaken for, as far as there is something.";
    /// Few markers.
    MARKERS_FEW = "SX061" "spxi-markers-few" (warning, "SPX-026")
        "entity has fewer than two semantic integrity markers",
        "With one phrase nobody can tell loss from paraphrase.",
        "Write at least two phrases that stand on its page.";
    /// A long marker.
    MARKER_LONG = "SX062" "spxi-marker-long" (warning, "SPX-053")
        "semantic integrity marker has more than 200 characters",
        "No summary keeps so long a phrase.",
        "Choose a shorter phrase of the page.";
    /// A state nobody defined.
    BASIN_WORD = "SX063" "spxi-basin-state" (warning, "SPX-037")
        "`spxi:basinState` is not one of the five words; it is ignored",
        "Other documents of the same authors use other words, some with opposite meaning.",
        "Write sovereign, contested, captured, fragmented or ghost.";
    /// A share that is none.
    BDR_FORM = "SX064" "spxi-bdr" (warning, "SPX-067")
        "`spxi:bdrEstimate` is not a number from 0.0 to 1.0; it is ignored",
        "Rule 5 of the specification.",
        "Write a number without quotes, or leave it out where nothing was measured.";
    /// A level nobody defined.
    VERIFICATION_WORD = "SX065" "spxi-verification-level" (warning, "SPX-038")
        "`spxi:verificationLevel` is not one of the four words",
        "Another draft of the same authors has other words.",
        "Write self_attested, assembly_attested, doi_anchored or institutionally_certified.";
    /// A DOI is claimed and none is there.
    DOI_ABSENT = "SX066" "spxi-doi-absent" (advice, "D77")
        "entity claims to be doi_anchored and names no DOI",
        "Nobody can follow the claim.",
        "Put the DOI into `sameAs`, or write self_attested.";
    /// A packet address that is none.
    PACKET_REF_FORM = "SX067" "spxi-packet-ref" (warning, "SPX-030")
        "`spxi:packetRef` is neither an absolute address nor a DOI",
        "Readers cannot follow it.",
        "Write the whole address of the packet.";
    /// No packet.
    PACKET_REF_MISSING = "SX068" "spxi-packet-ref-missing" (hint, "SPX-030")
        "entity has no `spxi:packetRef`",
        "Readers look for the packet beside the page, or not at all.",
        "Publish a packet and name it.";
    /// No level.
    VERIFICATION_MISSING = "SX069" "spxi-verification-missing" (hint, "SPX-029")
        "entity has no `spxi:verificationLevel`",
        "Readers do not learn who stands behind the claim.",
        "Write self_attested, unless somebody else verified it.";
    /// No matrix.
    MATRIX_MISSING = "SX070" "spxi-matrix-missing" (hint, "SPX-031")
        "entity has no `spxi:disambiguationMatrix`",
        "Negative tags say what it is not; the matrix says how to tell.",
        "Write an entry for each entity it is mistaken for.";

    /// No state.
    BASIN_MISSING = "SX071" "spxi-basin-state-missing" (hint, "SPX-027")
        "entity has no `spxi:basinState`",
        "Readers do not learn how well AI systems resolve the entity today.",
        "Ask the AI systems and write the result; leave the member out until then.";
    /// No ratio.
    BDR_MISSING = "SX072" "spxi-bdr-missing" (hint, "SPX-028")
        "entity has no `spxi:bdrEstimate`",
        "Readers do not learn how much of the entity survives in answers.",
        "Estimate it from recorded answers; leave it out while there are none.";

    /// Nothing to collide with.
    COLLIDES_MISSING = "SX075" "spxi-collides-missing" (warning, "SPX-034")
        "entry of the matrix has no `spxi:collidesWith`",
        "Nobody learns what the entity is mistaken for.",
        "Write the name or the address of the other.";
    /// Nothing to tell apart by.
    ATTRIBUTE_MISSING = "SX076" "spxi-attribute-missing" (warning, "SPX-035")
        "entry of the matrix has no `spxi:distinguishingAttribute`",
        "Nobody learns how to tell the two apart.",
        "Write what one has and the other has not.";
    /// A risk nobody defined.
    RISK_WORD = "SX077" "spxi-collision-risk" (warning, "SPX-036")
        "`spxi:collisionRisk` is not high, medium or low; it is ignored",
        "Readers cannot compare it.",
        "Write high, medium or low.";
    /// No risk.
    RISK_MISSING = "SX078" "spxi-risk-missing" (hint, "SPX-036")
        "entry has no `spxi:collisionRisk`",
        "Readers cannot tell which confusion to guard against first.",
        "Write high, medium or low.";

    /// No address.
    SURFACE_ID_MISSING = "SX080" "spxi-surface-id-missing" (warning, "SPX-018")
        "surface has no `@id`",
        "Nobody can tell which page is meant.",
        "Write the address of the page.";
    /// An address that is none.
    SURFACE_ID_FORM = "SX081" "spxi-surface-id-form" (warning, "SPX-018")
        "`@id` of the surface is not an absolute http or https address",
        "It cannot be compared with the sitemap.",
        "Write the whole address, beginning with https://.";
    /// Twice the same page.
    SURFACE_TWICE = "SX082" "spxi-surface-twice" (advice, "SPX-018")
        "page is listed twice as a surface",
        "Readers differ in which of the two they take.",
        "Keep one of the two.";
    /// Somebody else's page.
    SURFACE_HOST = "SX083" "spxi-surface-host" (advice, "D88")
        "surface belongs to another site",
        "A site can speak for its own pages only, and `www` is another host.",
        "List the page in the index of its own site.";

    /// What nobody looked at.
    NOT_CHECKED = "SX090" "spxi-not-checked" (hint, "D65")
        "some rules need the rest of the site and were not checked",
        "That nothing was found there does not mean that all is well.",
        "Check the folder of the site, or the site itself.";
    /// No page.
    UNREACHABLE = "SX091" "spxi-entity-unreachable" (warning, "SPX-064")
        "page of the entity cannot be reached",
        "Rule 2 of the specification: an address that leads nowhere proves nothing.",
        "Publish the page, or correct the address.";
    /// A page elsewhere.
    REDIRECTED = "SX092" "spxi-entity-redirected" (advice, "D65")
        "address of the entity leads to another one",
        "It is not the canonical address then.",
        "Write the address it leads to.";
    /// A place on the page that is not there.
    FRAGMENT_ABSENT = "SX093" "spxi-fragment-absent" (hint, "D65")
        "page of the entity has no element of this name",
        "The address leads to the page and not to a place on it.",
        "Give an element the id that stands behind the `#`.";
    /// A marker nobody can read.
    MARKER_ABSENT = "SX094" "spxi-marker-absent" (advice, "SPX-066")
        "marker does not stand on the page of its entity",
        "Rule 4 of the specification: what is not there cannot survive.",
        "Write the phrase on the page, word for word, or choose one that is there.";
    /// A marker only programs read.
    MARKER_HIDDEN = "SX095" "spxi-marker-hidden" (advice, "D70")
        "marker stands in metadata of the page only",
        "The specification asks for rendered text, and that is what gets summarised.",
        "Write the phrase where people read it.";
    /// A marker in other letters.
    MARKER_NEAR = "SX096" "spxi-marker-near" (advice, "D70")
        "marker stands on the page in other letters",
        "Markers are compared letter by letter.",
        "Copy the phrase from the page.";
    /// Older than the pages.
    STALE = "SX097" "spxi-stale" (advice, "SPX-070")
        "index is older than the latest page of the sitemap",
        "Rule 8 of the specification: what it says may no longer be so.",
        "Write the index again whenever a page changes.";
    /// A page the index is silent about.
    SURFACE_LACKING = "SX098" "spxi-surface-lacking" (advice, "SPX-071")
        "page of the sitemap is no surface of the index",
        "Rule 9 of the specification.",
        "Add the page to `spxi:hasSurface`. Files such as llms.txt are no pages and need not stand in the sitemap.";
    /// No link to the index.
    SITEMAP_LINK_MISSING = "SX099" "spxi-sitemap-link-missing" (advice, "SPX-041")
        "entry of the sitemap does not link to the index",
        "Crawlers that read the sitemap do not learn that the page has an entity.",
        "Add `xhtml:link` with rel alternate, type application/ld+json and hreflang x-spxi.";
    /// A link that is not as it must be.
    SITEMAP_LINK_FORM = "SX100" "spxi-sitemap-link-form" (warning, "SPX-042")
        "link of the sitemap to the index has a wrong attribute",
        "Readers select the link by these attributes.",
        "Write rel alternate, type application/ld+json, hreflang x-spxi and the whole address of the index.";
    /// No sitemap.
    SITEMAP_MISSING = "SX101" "spxi-sitemap-missing" (warning, "SPX-048")
        "there is no sitemap.xml beside the index",
        "The index adds to the sitemap and does not replace it.",
        "Publish both.";
    /// An entity without an entry.
    ENTITY_UNLISTED = "SX102" "spxi-entity-unlisted" (advice, "SPX-073")
        "page of the entity does not stand in the sitemap",
        "A new entity belongs into both.",
        "Add the page to sitemap.xml, as it is written in the index.";
    /// No link in a page.
    HEAD_LINK_MISSING = "SX103" "spxi-head-link-missing" (advice, "SPX-059")
        "page does not link to the index in its head",
        "Crawlers that start at a page do not find the index.",
        "Add `<link rel=\"alternate\" type=\"application/ld+json\" href=\"/spxi-index.jsonld\">`.";
    /// No word in llms.txt.
    LLMS_SILENT = "SX104" "spxi-llms-silent" (advice, "SPX-061")
        "llms.txt does not name the index",
        "AI systems that read it do not find the index.",
        "Add a link to `/spxi-index.jsonld`.";
    /// No sitemap in robots.txt.
    ROBOTS_SITEMAP = "SX105" "spxi-robots-sitemap" (advice, "SPX-055")
        "robots.txt does not name the sitemap",
        "The specification wants crawlers to find the sitemap there.",
        "Add a line `Sitemap: https://…/sitemap.xml`.";
    /// No sign in robots.txt.
    ROBOTS_SILENT = "SX106" "spxi-robots-silent" (advice, "SPX-056")
        "robots.txt does not name the index to AI crawlers",
        "An Allow line is a sign that the index exists.",
        "Add `Allow: /spxi-index.jsonld` to a group for AI crawlers, with all rules of `*` copied into it.";
    /// The index is forbidden.
    ROBOTS_FORBIDS = "SX107" "spxi-robots-forbids" (warning, "SPX-056")
        "robots.txt forbids AI crawlers to fetch the index",
        "Those who obey never read it.",
        "Allow `/spxi-index.jsonld`, or do not publish it.";
    /// Packets that are not allowed.
    ROBOTS_PACKETS = "SX108" "spxi-robots-packets" (hint, "D80")
        "robots.txt does not name every packet to AI crawlers",
        "The pattern of the specification misses the packet of the home page.",
        "Add `Allow: /*/spxi-packet.jsonld` and `Allow: /spxi-packet.jsonld`.";

    /// Elements of SPXI in a sitemap.
    SITEMAP_ELEMENT = "SX109" "spxi-sitemap-element" (warning, "SPX-046")
        "sitemap has an element of the SPXI vocabulary",
        "A sitemap is a fixed form; crawlers refuse or ignore what does not belong to it.",
        "Keep everything but the link in the index.";

    /// Not a packet.
    NOT_A_PACKET = "SX120" "spxi-not-a-packet" (fatal, "D68")
        "document is neither a page packet nor an indexed entity",
        "Many hosts answer unknown addresses with some page; only a packet is taken for one.",
        "Give the root object the type `spxi:PagePacket`.";
    /// A packet of something else.
    PACKET_OF_ANOTHER = "SX121" "spxi-packet-of-another" (fatal, "D68")
        "packet belongs to another page",
        "What is said about one page must not be taken for another.",
        "Let `@id` be the address of the packet and `url` that of its page.";
    /// No address of a packet.
    PACKET_ID_MISSING = "SX122" "spxi-packet-id-missing" (warning, "D68")
        "packet names neither itself nor its page",
        "Readers cannot tell which page it belongs to.",
        "Write `@id` with the address of the packet and `url` with that of its page.";
}
