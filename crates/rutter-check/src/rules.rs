//! Rules of layers XL, SE and HP: layers that contradict each other, content
//! that must not be published, and HTTP responses with wrong headers or files.

rutter_finding::rules! {
    /// File or folder cannot be read.
    UNREADABLE = "XL001" "cannot-be-read" (warning, "D65")
        "file or folder cannot be read",
        "Rutter cannot check the file, and a web server may fail to read it too.",
        "Make the file readable for the user that publishes the site.";
    /// File name is not UTF-8.
    ODD_NAME = "XL002" "name-without-address" (advice, "D30")
        "file name is not UTF-8",
        "No URL leads to this file on every host.",
        "Rename the file with a valid UTF-8 name.";
    /// A limit was reached, so the rest was not checked.
    STOPPED = "XL003" "not-all-was-looked-at" (note, "D89")
        "a limit was reached, so the rest was not checked",
        "Problems after the limit are not reported.",
        "Raise the limit if it is configurable, or check the parts of the site one by one.";
    /// Page is larger than readers accept.
    PAGE_TOO_LARGE = "XL004" "page-too-large-to-read" (advice, "D89")
        "page is larger than readers accept",
        "Crawlers truncate or skip such pages.",
        "Split the page.";
    /// URL of the site is unknown, so links were not checked.
    ADDRESS_UNKNOWN = "XL005" "address-unknown" (hint, "D92")
        "URL of the site is unknown, so links were not checked",
        "Without the URL of the site, layers cannot be compared with each other.",
        "Set `base-url` in rutter.toml, for example to `https://example.com`.";
    /// Site does not publish this layer.
    LAYER_MISSING = "XL006" "layer-missing" (hint, "D84")
        "site does not publish this layer",
        "Programs that look for this layer must read every page instead.",
        "Run `rutter build`, which writes the layer.";
    /// Sitemap index contains another index or itself.
    SITEMAP_LOOP = "XL007" "sitemap-loop" (warning, "D17")
        "sitemap index contains another index or itself",
        "Crawlers follow one level only, and some follow a cycle without end.",
        "List only sitemaps with pages.";

    /// Sitemap lists a page that does not exist.
    LISTED_ABSENT = "XL010" "listed-page-absent" (warning, "SPX-039")
        "sitemap lists a page that does not exist",
        "Crawlers request the page, get an error and trust the sitemap less.",
        "Delete the entry, or publish the page.";
    /// Page is not in the sitemap.
    UNLISTED = "XL011" "page-unlisted" (advice, "D84")
        "page is not in the sitemap",
        "Crawlers find the page late or never.",
        "Add the page to the sitemap, or mark it noindex.";
    /// Sitemap lists a page that must not be indexed.
    LISTED_CLOSED = "XL012" "listed-page-closed" (warning, "D85")
        "sitemap lists a page that must not be indexed",
        "The sitemap invites crawlers to a page that the page itself, robots.txt or ARC restricts.",
        "Delete the entry, or remove the restriction.";
    /// Alternate link in the sitemap leads to a page that does not exist.
    ALTERNATE_ABSENT = "XL013" "alternate-page-absent" (warning, "SPX-042")
        "alternate link in the sitemap leads to a page that does not exist",
        "Crawlers request the page and get an error.",
        "Correct the link, or publish the page.";
    /// Page in another language does not link back.
    ALTERNATE_ONE_WAY = "XL014" "alternate-one-way" (advice, "SPX-042")
        "page in another language does not link back",
        "Search engines ignore such links unless both pages link to each other.",
        "Link each of the two pages to the other page.";

    /// Collection contains a page that does not exist.
    DELIVERED_ABSENT = "XL020" "delivered-page-absent" (warning, "D84")
        "collection contains a page that does not exist",
        "Readers store and quote a page that people cannot open.",
        "Build the site again. The build removes deleted pages from the collections.";
    /// Page is not in any collection.
    NOT_DELIVERED = "XL021" "page-not-delivered" (advice, "D84")
        "page is not in any collection",
        "Readers of collections never get the page.",
        "Build the site again, or mark the page noindex.";
    /// Collection contains a page that is not in the sitemap.
    DELIVERED_UNLISTED = "XL022" "delivered-page-unlisted" (advice, "D84")
        "collection contains a page that is not in the sitemap",
        "The collection and the sitemap were written from different lists of pages.",
        "Build the site again.";
    /// Text of the page in the collection differs from the page.
    DELIVERED_STALE = "XL023" "delivered-page-stale" (advice, "D84")
        "text of the page in the collection differs from the page",
        "Readers use outdated content.",
        "Build the site again.";
    /// Page changed after the layers were built.
    CHANGED_SINCE = "XL024" "changed-since-build" (advice, "D84")
        "page changed after the layers were built",
        "Collections, sitemaps and Markdown twins describe an earlier version of the page.",
        "Build the site again.";
    /// Collection contains less than half of the text of the page.
    DELIVERED_SHORT = "XL025" "delivered-page-short" (advice, "SCP-051")
        "collection contains less than half of the text of the page",
        "Readers of the collection miss content that people can read.",
        "Build the site again. `rutter extract` explains which text was dropped.";
    /// Two sections contain the same page with different content.
    SECTIONS_DIFFER = "XL026" "sections-differ" (warning, "D24")
        "two sections contain the same page with different content",
        "The order in which a reader reads the sections decides which version it keeps.",
        "Build the site again, so that all sections have the same version.";
    /// Files with the same name in two codings have different content.
    CODINGS_DIFFER = "XL027" "codings-differ" (warning, "D08")
        "files with the same name in two codings have different content",
        "The content depends on the coding that a reader requests.",
        "Compress the same text in both codings.";
    /// Page count of the section in the sitemap differs from its snapshot.
    SECTION_PAGES = "XL028" "section-count-differs" (advice, "D20")
        "page count of the section in the sitemap differs from its snapshot",
        "Readers use the page count to decide what to fetch.",
        "Build the site again.";
    /// Layers give different dates for the same page.
    DATE_DIFFERS = "XL030" "dates-differ" (advice, "D84")
        "layers give different dates for the same page",
        "Readers that use one of the dates miss changes that another date shows.",
        "Build the site again, so that all layers have the same date.";
    /// Modification time in the sitemap is in the future.
    DATE_FUTURE = "XL031" "date-in-future" (advice, "D26")
        "modification time in the sitemap is in the future",
        "Crawlers ignore such a date, and some ignore all dates of the file.",
        "Correct the clock or the date.";
    /// Layers give different titles for the same page.
    TITLE_DIFFERS = "XL032" "titles-differ" (advice, "D84")
        "layers give different titles for the same page",
        "The page is quoted with a title that it does not have.",
        "Build the site again. The title of the HTML page counts.";
    /// Layers give different languages for the same page.
    LANGUAGE_DIFFERS = "XL033" "languages-differ" (advice, "D84")
        "layers give different languages for the same page",
        "Search engines offer the page to people who cannot read it.",
        "Correct `lang` of the page, or build the site again.";
    /// Layers list a page whose canonical link has another URL.
    CANONICAL_ELSEWHERE = "XL034" "canonical-elsewhere" (advice, "D30")
        "layers list a page whose canonical link has another URL",
        "Readers treat one of the two URLs as a copy and drop it.",
        "List pages with their canonical URL.";
    /// Canonical link of the page leads to a URL that does not exist.
    CANONICAL_ABSENT = "XL035" "canonical-absent" (warning, "D30")
        "canonical link of the page leads to a URL that does not exist",
        "Search engines request the page at a URL that returns an error.",
        "Correct the canonical link.";

    /// ARC sitemap lists a page that does not exist.
    ARC_ABSENT = "XL040" "arc-page-absent" (warning, "D84")
        "ARC sitemap lists a page that does not exist",
        "Agents request the page and get an error.",
        "Build the site again. The build removes deleted pages from the sitemap and lists them in the dated deltas.";
    /// Page has no entry in the ARC sitemap.
    ARC_MISSING = "XL041" "arc-page-missing" (advice, "D84")
        "page has no entry in the ARC sitemap",
        "Agents do not know whether they may use the page.",
        "Build the site again.";
    /// Checksum in the ARC sitemap matches neither the page in the collection nor the HTML file.
    ARC_CHECKSUM = "XL042" "arc-checksum-differs" (advice, "D51")
        "checksum in the ARC sitemap matches neither the page in the collection nor the HTML file",
        "Agents that compare checksums keep an old copy or fetch the page without need.",
        "Build the site again.";
    /// Page or robots.txt restricts the page, but the ARC sitemap allows indexing.
    CONSENT_DIFFERS = "XL043" "consent-differs" (warning, "D85")
        "page or robots.txt restricts the page, but the ARC sitemap allows indexing",
        "An agent that reads only one of the two statements acts against the other statement.",
        "Make both statements agree. The most restrictive statement counts.";
    /// Only the ARC sitemap restricts this page.
    CLOSED_IN_ARC = "XL044" "closed-in-arc-only" (advice, "D85")
        "only the ARC sitemap restricts this page",
        "Crawlers that do not read ARC index the page.",
        "Mark the page itself as noindex or noai, or remove the restriction in ARC.";
    /// Copy of the ARC sitemap differs from arc-sitemap.json.
    ARC_COPIES = "XL045" "arc-copies-differ" (warning, "D54")
        "copy of the ARC sitemap differs from arc-sitemap.json",
        "The file that an agent reads decides which version it obeys.",
        "Build the site again, so that all formats have the same content.";
    /// Dated delta contradicts the ARC sitemap.
    ARC_DELTA = "XL046" "arc-delta-contradicts" (warning, "D60")
        "dated delta contradicts the ARC sitemap",
        "An agent that follows the deltas gets a different result than an agent that reads the full sitemap.",
        "Build the site again.";
    /// Dated delta that the ARC sitemap announces does not exist.
    ARC_DAY_ABSENT = "XL047" "arc-day-absent" (warning, "D60")
        "dated delta that the ARC sitemap announces does not exist",
        "Agents cannot determine whether a change is missing.",
        "Build the site again, or correct `deltas`.";
    /// ARC sitemap was generated before one of its pages changed.
    ARC_OLD = "XL048" "arc-older-than-pages" (advice, "D84")
        "ARC sitemap was generated before one of its pages changed",
        "The file may describe an earlier version of the page.",
        "Build the site again.";

    /// Semantic index lists a page that does not exist.
    SURFACE_ABSENT = "XL050" "surface-absent" (warning, "SPX-018")
        "semantic index lists a page that does not exist",
        "Readers of the index request the page and get an error.",
        "Build the site again.";
    /// Semantic index lists a page that must not be indexed.
    SURFACE_CLOSED = "XL051" "surface-closed" (warning, "D85")
        "semantic index lists a page that must not be indexed",
        "The index invites readers to a page that the page itself, robots.txt or ARC restricts.",
        "Delete the page from the index, or remove the restriction.";
    /// Semantic index lists a page that is not in the sitemap.
    SURFACE_UNLISTED = "XL052" "surface-unlisted" (advice, "SPX-071")
        "semantic index lists a page that is not in the sitemap",
        "The index and the sitemap were written from different lists of pages.",
        "Build the site again.";
    /// Packet does not belong to an entity of the index.
    PACKET_ALONE = "XL053" "packet-alone" (advice, "D68")
        "packet does not belong to an entity of the index",
        "The packet describes an entity that the index no longer contains.",
        "Delete the packet, or declare the entity.";
    /// Packet and index give the entity different names or types.
    PACKET_DIFFERS = "XL054" "packet-differs" (advice, "D68")
        "packet and index give the entity different names or types",
        "The file that a reader uses decides which value it sees.",
        "Build the site again.";
    /// Index references a packet that does not exist.
    PACKET_ABSENT = "XL055" "packet-absent" (warning, "SPX-030")
        "index references a packet that does not exist",
        "Readers request the packet and get an error.",
        "Build the site again, or delete the reference.";

    /// Markdown twin does not belong to a page.
    TWIN_ALONE = "XL060" "twin-alone" (advice, "D84")
        "Markdown twin does not belong to a page",
        "The twin describes a page that was removed.",
        "Delete the twin.";
    /// Page has no Markdown twin, although most pages have one.
    TWIN_MISSING = "XL061" "twin-missing" (hint, "D84")
        "page has no Markdown twin, although most pages have one",
        "Agents that request Markdown get an error for this page.",
        "Build the site again.";
    /// Text of the Markdown twin differs from the page.
    TWIN_STALE = "XL062" "twin-stale" (advice, "D84")
        "text of the Markdown twin differs from the page",
        "Agents that read Markdown use outdated content.",
        "Build the site again.";
    /// Title of the Markdown twin differs from the page.
    TWIN_TITLE = "XL063" "twin-title-differs" (advice, "D84")
        "title of the Markdown twin differs from the page",
        "The page is quoted with a title that it does not have.",
        "Build the site again.";
    /// Page links to a Markdown twin that does not exist.
    TWIN_LINK = "XL064" "twin-link-absent" (warning, "D83")
        "page links to a Markdown twin that does not exist",
        "Agents request the twin and get an error.",
        "Build the site again, or delete the link.";

    /// Sitemap advertises a collection that does not exist.
    ADVERT_ABSENT = "XL070" "advertised-file-absent" (warning, "SCP-117")
        "sitemap advertises a collection that does not exist",
        "Readers request the collection, get an error and must read every page instead.",
        "Build the site again, so that the sitemap and the collections match.";
    /// Collection is not advertised in the sitemap.
    UNADVERTISED = "XL071" "collection-unadvertised" (advice, "SCP-117")
        "collection is not advertised in the sitemap",
        "Readers do not find the collection.",
        "Build the site again, or delete the file.";
    /// Advertised collection has expired.
    ADVERT_EXPIRED = "XL072" "advert-expired" (advice, "D28")
        "advertised collection has expired",
        "Readers skip an expired collection.",
        "Build the site again. The build replaces expired snapshots.";
    /// Deltas of a section do not form a chain.
    CHAIN_GAP = "XL073" "chain-gap" (warning, "D95")
        "deltas of a section do not form a chain",
        "Readers that followed the deltas must download the whole section again.",
        "Build the site again with the existing state folder, which continues the chain.";
    /// Delta begins later than the end of the previous collection.
    DELTA_GAP = "XL074" "delta-gap" (warning, "D25")
        "delta begins later than the end of the previous collection",
        "Readers that follow the deltas miss the changes in between.",
        "Set `since` of each delta to the `generated` time of the previous collection.";
    /// Sitemap announces a section without a snapshot.
    SECTION_ABSENT = "XL075" "section-without-snapshot" (warning, "SCP-114")
        "sitemap announces a section without a snapshot",
        "New readers have no starting point for this section.",
        "Publish a snapshot of the section.";
    /// Advertised collection belongs to a section that is not announced.
    SECTION_UNKNOWN = "XL076" "section-unannounced" (advice, "SCP-114")
        "advertised collection belongs to a section that is not announced",
        "Readers do not know the size of the section and how often it changes.",
        "Announce the section.";
    /// Coding of the advertised collection is missing in `scp:compression`.
    CODING_UNKNOWN = "XL077" "coding-unannounced" (advice, "SCP-113")
        "coding of the advertised collection is missing in `scp:compression`",
        "Readers that choose a collection by its coding skip this file.",
        "Add the coding to `scp:compression`.";

    /// Machine-readable file links to a page or file that does not exist.
    LINK_BROKEN = "XL080" "machine-link-broken" (warning, "D82")
        "machine-readable file links to a page or file that does not exist",
        "Agents follow the link and get an error.",
        "Correct the link, or publish the target.";
    /// Machine-readable file links to a page that must not be indexed.
    LINK_CLOSED = "XL081" "machine-link-closed" (warning, "D85")
        "machine-readable file links to a page that must not be indexed",
        "The link invites agents to a page that the page itself, robots.txt or ARC restricts.",
        "Delete the link, or remove the restriction.";
    /// Robots.txt lists a sitemap that does not exist.
    ROBOTS_SITEMAP = "XL082" "robots-sitemap-absent" (warning, "SPX-048")
        "robots.txt lists a sitemap that does not exist",
        "Crawlers request the sitemap, get an error and may miss the existing one.",
        "Correct the line.";
    /// Robots.txt does not list the sitemap.
    ROBOTS_SILENT = "XL083" "robots-without-sitemap" (advice, "SPX-048")
        "robots.txt does not list the sitemap",
        "Crawlers that look for the sitemap in robots.txt do not find it.",
        "Add a `Sitemap:` line.";
    /// Robots.txt disallows an announced file for all crawlers.
    ROBOTS_FORBIDS = "XL084" "machine-file-disallowed" (warning, "D93")
        "robots.txt disallows an announced file for all crawlers",
        "Crawlers that obey robots.txt never fetch the file.",
        "Allow the file.";
    /// File describes another site.
    OTHER_SITE = "XL085" "other-site" (warning, "D92")
        "file describes another site",
        "Readers ignore statements of one site about another.",
        "Build the site with the correct base URL.";
    /// No sitemap announces the collections of the site.
    NOT_ANNOUNCED = "XL086" "collections-not-announced" (judge, "SCP-106")
        "no sitemap announces the collections of the site",
        "Readers find collections only by the `scp:` elements of sitemap.xml.",
        "Build the site again. `rutter build` writes the elements. Check that their namespace is https://scp-protocol.org/schemas/sitemap/1.0.";
    /// Page links to a page or file of the site that does not exist.
    DEAD_LINK = "XL087" "dead-link" (advice, "D84")
        "page links to a page or file of the site that does not exist",
        "People and crawlers that follow the link get an error.",
        "Correct the link, or publish the target. A redirect in `_redirects` counts as a valid target.";
    /// Page references an image of the site that does not exist.
    MISSING_IMAGE = "XL088" "missing-image" (advice, "D84")
        "page references an image of the site that does not exist",
        "The page shows a broken image, and collections reference an image that cannot be fetched.",
        "Correct the URL, or publish the image.";
    /// Share of extracted main text is below the minimum of this run.
    LOW_COVERAGE = "XL089" "low-coverage" (warning, "D45")
        "share of extracted main text is below the minimum of this run",
        "Machine-readable layers lack text that people can read in the `<main>` element.",
        "Let `rutter extract` explain which text is dropped, and mark or configure this text as described in docs/extraction.md.";

    /// Collection contains a page that must not be indexed.
    CLOSED_DELIVERED = "SE010" "closed-page-delivered" (warning, "D85")
        "collection contains a page that must not be indexed",
        "Publishing a page in a collection is consent. Collections are copied and cannot be recalled.",
        "Build the site again, and publish the new collections immediately.";
    /// Page that must not be indexed has a public Markdown twin.
    CLOSED_TWIN = "SE011" "closed-page-twin" (warning, "D85")
        "page that must not be indexed has a public Markdown twin",
        "The twin contains the text without the restrictions of the page.",
        "Delete the twin.";
    /// File contains text of a page that must not be indexed.
    CLOSED_TEXT = "SE012" "closed-text-elsewhere" (warning, "D85")
        "file contains text of a page that must not be indexed",
        "The restriction of the page has no effect on this file.",
        "Delete the text, and find out how it got into the file.";
    /// Collection contains text that the page does not show.
    MACHINE_ONLY = "SE013" "machine-only-text" (warning, "SCP-051")
        "collection contains text that the page does not show",
        "The collection tells programs something that people cannot see. Readers treat such collections as hostile.",
        "Build the site again. If the text remains, find out where it comes from.";
    /// Markdown twin contains text that the page does not show.
    TWIN_ONLY = "SE014" "twin-only-text" (warning, "D82")
        "Markdown twin contains text that the page does not show",
        "The twin tells programs something that people cannot see.",
        "Build the site again. If the text remains, find out where it comes from.";
    /// Machine-readable file gives instructions to language models.
    ORDER = "SE015" "order-to-models" (warning, "D82")
        "machine-readable file gives instructions to language models",
        "The text of a site is data. Agents treat sites that give instructions as hostile.",
        "Delete the text.";
    /// Machine-readable file contains invisible characters.
    UNSEEN = "SE016" "unseen-characters-in-file" (advice, "D82")
        "machine-readable file contains invisible characters",
        "Programs read a different text than people.",
        "Delete the characters. Most editors can display them.";
    /// File contains a probable secret.
    SECRET = "SE017" "secret-published" (warning, "SCP-201")
        "file contains a probable secret",
        "Everyone who reads the file can use the secret. Treat it as compromised.",
        "Revoke the secret, then delete it from the file.";
    /// State of the build is inside the published folder.
    STATE_PUBLISHED = "SE018" "state-published" (advice, "D94")
        "state of the build is inside the published folder",
        "The state shows which pages were excluded, and why.",
        "Choose another folder with `state` in rutter.toml.";

    /// Server sends a wrong media type for the file.
    MEDIA_TYPE = "HP001" "wrong-media-type" (advice, "SCP-144")
        "server sends a wrong media type for the file",
        "Readers that check the media type ignore the file.",
        "Configure the media type. With `headers` in rutter.toml, `rutter build` writes a configuration file for your host.";
    /// Response has neither ETag nor Last-Modified.
    NO_VALIDATOR = "HP002" "no-validator" (advice, "SCP-149")
        "response has neither ETag nor Last-Modified",
        "Readers must download the whole file again each time.",
        "Configure the server to send ETag or Last-Modified.";
    /// Server answers a nonexistent path with status 200.
    SOFT_404 = "HP003" "answers-everything" (advice, "D74")
        "server answers a nonexistent path with status 200",
        "Readers cannot determine which files exist.",
        "Answer unknown paths with status 404.";
    /// Server sends an HTML page instead of an announced file.
    NOT_WHAT_IT_SAYS = "HP004" "page-instead-of-file" (warning, "D74")
        "server sends an HTML page instead of an announced file",
        "Readers reject the page or misread it as the announced file.",
        "Publish the file, and answer paths that do not exist with status 404.";
    /// Server does not deliver an announced file.
    STATUS = "HP005" "announced-file-fails" (warning, "D65")
        "server does not deliver an announced file",
        "Readers request the file and get an error.",
        "Publish the file, or delete the announcement.";
    /// `Content-Encoding` does not match the bytes.
    CODING = "HP006" "wrong-coding" (advice, "D05")
        "`Content-Encoding` does not match the bytes",
        "Readers decompress twice or not at all.",
        "Send `Content-Encoding` only when the server compressed the file.";
    /// Announced URL redirects.
    REDIRECT = "HP007" "announced-address-moves" (advice, "D65")
        "announced URL redirects",
        "Each reader needs two requests, and the announced URL is not the canonical one.",
        "Announce the target URL of the redirect.";
    /// Server sends the whole file although the validator matches.
    NOT_CONDITIONAL = "HP008" "validator-without-effect" (advice, "SCP-152")
        "server sends the whole file although the validator matches",
        "Without conditional responses each check costs a full download.",
        "Answer with status 304 when the file is unchanged.";
    /// Server sends `X-Robots-Tag: noindex` for a page that layers contain.
    HEADER_ROBOTS = "HP009" "header-forbids-page" (warning, "D58")
        "server sends `X-Robots-Tag: noindex` for a page that layers contain",
        "The most restrictive statement counts, so the page is not indexed.",
        "Remove the header, or exclude the page from the layers.";
    /// Base URL does not use https.
    NOT_HTTPS = "HP010" "not-https" (advice, "SCP-196")
        "base URL does not use https",
        "Readers reject sitemaps and collections over plain http, because others on the network can change them.",
        "Publish the site over https, and use its https URL as base URL.";
}
