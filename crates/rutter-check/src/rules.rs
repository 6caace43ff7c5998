//! A table: the rules about what layers say of the same page, about what no
//! layer may give away, and about how a server hands the files out.

rutter_finding::rules! {
    /// A file or folder that cannot be read.
    UNREADABLE = "XL001" "cannot-be-read" (warning, "D65")
        "file or folder cannot be read",
        "What cannot be read here cannot be judged, and a server may fail on it, too.",
        "Make it readable for whoever publishes the site.";
    /// A name that no address can have.
    ODD_NAME = "XL002" "name-without-address" (advice, "D30")
        "file name is not UTF-8",
        "No address leads to the file in the same way on every host.",
        "Rename the file; UTF-8 names of ordinary characters are safe.";
    /// The site is larger than what is looked at.
    STOPPED = "XL003" "not-all-was-looked-at" (note, "D89")
        "a limit was reached; the rest was not looked at",
        "What lies beyond the limit may be right or wrong.",
        "Raise the limit where it is a setting, or check the parts of the site one by one.";
    /// A page beyond the limit.
    PAGE_TOO_LARGE = "XL004" "page-too-large-to-read" (advice, "D89")
        "page is larger than readers take",
        "Crawlers cut such pages off or leave them out.",
        "Divide the page.";
    /// The address of the site is not known.
    ADDRESS_UNKNOWN = "XL005" "address-unknown" (hint, "D92")
        "address of the site is not known, so addresses were not followed",
        "Without it no layer can be compared with another.",
        "Give --base-url https://example.com, or write `base-url` in rutter.toml.";
    /// Layers that are not there.
    LAYER_MISSING = "XL006" "layer-missing" (hint, "D84")
        "site does not have this layer",
        "Machines that look for it fall back to reading every page.",
        "`rutter build` writes it.";
    /// Sitemaps that lead back to themselves.
    SITEMAP_LOOP = "XL007" "sitemap-loop" (warning, "D17")
        "index of sitemaps names another index, or itself",
        "Crawlers follow one level only, and some go around in circles.",
        "Name sitemaps of pages only.";

    /// The sitemap names what is not there.
    LISTED_ABSENT = "XL010" "listed-page-absent" (warning, "SPX-039")
        "sitemap names a page that does not exist",
        "Crawlers ask for it in vain, and trust the sitemap less.",
        "Take the entry out, or publish the page.";
    /// A page that the sitemap does not name.
    UNLISTED = "XL011" "page-unlisted" (advice, "D84")
        "page is not in the sitemap",
        "Crawlers find it late or never.",
        "Add it to the sitemap; mark it noindex if it is not for everybody.";
    /// A closed page in the sitemap.
    LISTED_CLOSED = "XL012" "listed-page-closed" (warning, "D85")
        "sitemap names a page that is not meant to be indexed",
        "The sitemap invites everybody to what the page, robots.txt or ARC keeps closed.",
        "Take the entry out, or open the page.";
    /// A link of the sitemap to a page that is not there.
    ALTERNATE_ABSENT = "XL013" "alternate-page-absent" (warning, "SPX-042")
        "sitemap links to another form of a page that does not exist",
        "Crawlers ask for it in vain.",
        "Correct the link, or publish what it names.";
    /// Languages that do not lead back.
    ALTERNATE_ONE_WAY = "XL014" "alternate-one-way" (advice, "SPX-042")
        "page of another language does not link back",
        "Search engines ignore such links unless both pages have them.",
        "Link the pages to each other.";

    /// A collection delivers a page that is not there.
    DELIVERED_ABSENT = "XL020" "delivered-page-absent" (warning, "D84")
        "collection delivers a page that does not exist",
        "Readers keep and quote a page nobody can open.",
        "Build again: removed pages leave the collections.";
    /// A page that no collection has.
    NOT_DELIVERED = "XL021" "page-not-delivered" (advice, "D84")
        "page is in no collection",
        "Readers of collections never see it.",
        "Build again; mark it noindex if it is not for everybody.";
    /// A collection delivers what the sitemap does not name.
    DELIVERED_UNLISTED = "XL022" "delivered-page-unlisted" (advice, "D84")
        "collection delivers a page that the sitemap does not name",
        "One inventory should feed both; the two have come apart.",
        "Build again.";
    /// The collection's text is not that of the page.
    DELIVERED_STALE = "XL023" "delivered-page-stale" (advice, "D84")
        "collection holds another text than the page",
        "Readers answer with what the page no longer says.",
        "Build again.";
    /// The page changed since the build.
    CHANGED_SINCE = "XL024" "changed-since-build" (advice, "D84")
        "page changed since the layers were built",
        "Collections, sitemaps and twins tell of the page as it was.",
        "Build again.";
    /// Most of a page is missing from the collection.
    DELIVERED_SHORT = "XL025" "delivered-page-short" (advice, "SCP-051")
        "collection has less than half of the page's text",
        "People read more than machines get.",
        "Build again; see `rutter extract --explain` for what was left out.";
    /// A section and the whole disagree.
    SECTIONS_DIFFER = "XL026" "sections-differ" (warning, "D24")
        "two sections hold the same page with different content",
        "Which of the two a reader keeps depends on the order of reading.",
        "Build again, so that all sections are of one moment.";
    /// Two codings of one collection.
    CODINGS_DIFFER = "XL027" "codings-differ" (warning, "D08")
        "files with the same name in two codings hold different text",
        "What a reader gets depends on the coding it asks for.",
        "Write both from the same text.";
    /// Pages of `all` that no section has, or the reverse.
    SECTION_PAGES = "XL028" "section-count-differs" (advice, "D20")
        "sitemap gives another number of pages for the section than its snapshot has",
        "Readers choose by that number what to fetch.",
        "Build again.";
    /// A date in a collection that the sitemap contradicts.
    DATE_DIFFERS = "XL030" "dates-differ" (advice, "D84")
        "layers give different dates for the same page",
        "Readers that go by one date miss changes that another tells of.",
        "Write all dates from one inventory: build again.";
    /// A page from the future.
    DATE_FUTURE = "XL031" "date-in-future" (advice, "D26")
        "sitemap says that a page changed in the future",
        "Crawlers ignore such dates, some ignore all dates of the file.",
        "Set the clock, or correct the date.";
    /// Titles that differ.
    TITLE_DIFFERS = "XL032" "titles-differ" (advice, "D84")
        "layers give different titles for the same page",
        "The page is quoted under a name it does not have.",
        "Build again; the title of the page counts.";
    /// Languages that differ.
    LANGUAGE_DIFFERS = "XL033" "languages-differ" (advice, "D84")
        "layers give different languages for the same page",
        "The page is offered to people who cannot read it.",
        "Correct `lang` of the page, or build again.";
    /// The page wants to be known by another address.
    CANONICAL_ELSEWHERE = "XL034" "canonical-elsewhere" (advice, "D30")
        "page that layers name by this address says that its address is another",
        "Readers take it for a copy and drop one of the two.",
        "Name pages by their canonical address.";
    /// The canonical address does not exist.
    CANONICAL_ABSENT = "XL035" "canonical-absent" (warning, "D30")
        "page says that its address is one that does not exist",
        "Search engines look for the page where it is not.",
        "Correct the canonical link.";

    /// An ARC entry for what is not there.
    ARC_ABSENT = "XL040" "arc-page-absent" (warning, "D84")
        "ARC sitemap names a page that does not exist",
        "Agents ask for it in vain.",
        "Build again: removed pages leave the sitemap, and stay in the dated deltas.";
    /// A page without ARC entry.
    ARC_MISSING = "XL041" "arc-page-missing" (advice, "D84")
        "page has no entry in the ARC sitemap",
        "Agents do not know whether they may use it.",
        "Build again.";
    /// A checksum of something else.
    ARC_CHECKSUM = "XL042" "arc-checksum-differs" (advice, "D51")
        "checksum in the ARC sitemap is neither that of the delivered page nor that of the file",
        "Agents that compare checksums keep an old copy, or fetch without need.",
        "Build again.";
    /// ARC forbids and the page allows, or the reverse.
    CONSENT_DIFFERS = "XL043" "consent-differs" (warning, "D85")
        "page is closed by itself or by robots.txt, and the ARC sitemap says it may be indexed",
        "Agents that read one of the two do what the other forbids.",
        "Say the same in both; the most restrictive counts.";
    /// ARC closes a page that collections deliver.
    CLOSED_IN_ARC = "XL044" "closed-in-arc-only" (advice, "D85")
        "ARC sitemap closes a page that nothing else closes",
        "Crawlers that do not know ARC index the page.",
        "Mark the page itself noindex or noai, or open it.";
    /// Copies of the ARC sitemap that differ.
    ARC_COPIES = "XL045" "arc-copies-differ" (warning, "D54")
        "copy of the ARC sitemap says something else than arc-sitemap.json",
        "Which one an agent obeys depends on where it looks.",
        "Write all forms from one inventory: build again.";
    /// A delta contradicts the sitemap.
    ARC_DELTA = "XL046" "arc-delta-contradicts" (warning, "D60")
        "dated delta contradicts the ARC sitemap",
        "Who follows the deltas ends elsewhere than who reads the whole.",
        "Build again.";
    /// A day that is announced and not there.
    ARC_DAY_ABSENT = "XL047" "arc-day-absent" (warning, "D60")
        "dated delta that the ARC sitemap announces does not exist",
        "Agents cannot tell whether a change is missing.",
        "Build again, or correct `deltas`.";
    /// The sitemap is older than what it tells of.
    ARC_OLD = "XL048" "arc-older-than-pages" (advice, "D84")
        "ARC sitemap was generated before a page in it changed",
        "The file is older than what it tells of.",
        "Build again.";

    /// A surface for what is not there.
    SURFACE_ABSENT = "XL050" "surface-absent" (warning, "SPX-018")
        "semantic index names a page that does not exist",
        "Readers of the index ask for it in vain.",
        "Build again.";
    /// A surface that is closed.
    SURFACE_CLOSED = "XL051" "surface-closed" (warning, "D85")
        "semantic index names a page that is not meant to be indexed",
        "The index invites everybody to what the page, robots.txt or ARC keeps closed.",
        "Take the page out of the index, or open it.";
    /// A surface that the sitemap does not name.
    SURFACE_UNLISTED = "XL052" "surface-unlisted" (advice, "SPX-071")
        "semantic index names a page that the sitemap does not name",
        "One inventory should feed both; the two have come apart.",
        "Build again.";
    /// A packet that nobody leads to.
    PACKET_ALONE = "XL053" "packet-alone" (advice, "D68")
        "packet belongs to no entity of the index",
        "It tells of something the index has forgotten.",
        "Delete it, or declare the entity.";
    /// A packet and its entity disagree.
    PACKET_DIFFERS = "XL054" "packet-differs" (advice, "D68")
        "packet gives the entity another name or type than the index",
        "Which of the two is believed depends on which is read.",
        "Build again.";
    /// A reference to a packet that is not there.
    PACKET_ABSENT = "XL055" "packet-absent" (warning, "SPX-030")
        "index refers to a packet that does not exist",
        "Readers ask for it in vain.",
        "Build again, or take the reference out.";

    /// A twin of nothing.
    TWIN_ALONE = "XL060" "twin-alone" (advice, "D84")
        "Markdown twin belongs to no page",
        "It tells of a page that is gone.",
        "Delete it.";
    /// A page without twin.
    TWIN_MISSING = "XL061" "twin-missing" (hint, "D84")
        "page has no Markdown twin, and most pages have one",
        "Agents that ask for Markdown get an error here.",
        "Build again.";
    /// A twin of an older page.
    TWIN_STALE = "XL062" "twin-stale" (advice, "D84")
        "Markdown twin holds another text than the page",
        "Agents that read Markdown answer with what the page no longer says.",
        "Build again.";
    /// A twin with another title.
    TWIN_TITLE = "XL063" "twin-title-differs" (advice, "D84")
        "Markdown twin has another title than the page",
        "The page is quoted under a name it does not have.",
        "Build again.";
    /// A link to a twin that is not there.
    TWIN_LINK = "XL064" "twin-link-absent" (warning, "D83")
        "page links to a Markdown twin that does not exist",
        "Agents ask for it in vain.",
        "Build again, or take the link out.";

    /// An advert for what is not there.
    ADVERT_ABSENT = "XL070" "advertised-file-absent" (warning, "SCP-117")
        "sitemap advertises a collection that does not exist",
        "Readers ask for it in vain and fall back to reading every page.",
        "Build again, so that sitemap and files are of one moment.";
    /// A collection nobody knows of.
    UNADVERTISED = "XL071" "collection-unadvertised" (advice, "SCP-117")
        "collection is not advertised in the sitemap",
        "Nobody finds it.",
        "Build again, or delete the file.";
    /// An advert that has expired.
    ADVERT_EXPIRED = "XL072" "advert-expired" (advice, "D28")
        "advertised collection has expired",
        "Readers leave it aside.",
        "Build again: due snapshots are made anew.";
    /// A chain with a gap.
    CHAIN_GAP = "XL073" "chain-gap" (warning, "D95")
        "deltas of a section do not follow each other",
        "Readers that followed them must fetch the whole section again.",
        "Build again with the state at hand, so that the chain goes on.";
    /// A delta begins after the snapshot ended.
    DELTA_GAP = "XL074" "delta-gap" (warning, "D25")
        "delta begins later than what comes before it ended",
        "Changes in between are lost for readers who follow deltas.",
        "Let each delta begin where the last collection ended.";
    /// An advert without its section.
    SECTION_ABSENT = "XL075" "section-without-snapshot" (warning, "SCP-114")
        "sitemap announces a section that has no snapshot",
        "Readers that begin now have nothing to begin with.",
        "Publish a snapshot of the section.";
    /// A collection whose section nobody announces.
    SECTION_UNKNOWN = "XL076" "section-unannounced" (advice, "SCP-114")
        "advertised collection belongs to a section that is not announced",
        "Readers do not know how large it is and how often it changes.",
        "Announce the section.";
    /// A coding that is not announced.
    CODING_UNKNOWN = "XL077" "coding-unannounced" (advice, "SCP-113")
        "advertised collection has a coding that `scp:compression` does not name",
        "Readers that choose by coding do not see it.",
        "Name the coding.";

    /// A link of a machine file that leads nowhere.
    LINK_BROKEN = "XL080" "machine-link-broken" (warning, "D82")
        "file for machines links to what does not exist",
        "Agents follow the link in vain.",
        "Correct the link, or publish what it names.";
    /// A link of llms.txt to a closed page.
    LINK_CLOSED = "XL081" "machine-link-closed" (warning, "D85")
        "file for machines links to a page that is not meant to be indexed",
        "The link invites agents to what the page, robots.txt or ARC keeps closed.",
        "Take the link out, or open the page.";
    /// A sitemap line of robots.txt that leads nowhere.
    ROBOTS_SITEMAP = "XL082" "robots-sitemap-absent" (warning, "SPX-048")
        "robots.txt names a sitemap that does not exist",
        "Crawlers ask for it in vain, and may miss the one that does.",
        "Correct the line.";
    /// A sitemap that robots.txt does not name.
    ROBOTS_SILENT = "XL083" "robots-without-sitemap" (advice, "SPX-048")
        "robots.txt does not name the sitemap",
        "Crawlers that look there do not find it.",
        "Add a `Sitemap:` line.";
    /// robots.txt forbids what is advertised.
    ROBOTS_FORBIDS = "XL084" "machine-file-disallowed" (warning, "D93")
        "robots.txt forbids everybody a file that is announced",
        "Crawlers that obey never fetch it.",
        "Allow it.";
    /// The sitemap's site is another than the folder's.
    OTHER_SITE = "XL085" "other-site" (warning, "D92")
        "file speaks of another site",
        "Readers ignore what a site says about another.",
        "Build with the right address.";
    /// No sitemap announces any collection.
    NOT_ANNOUNCED = "XL086" "collections-not-announced" (judge, "SCP-106")
        "no sitemap announces the collections of the site",
        "Readers find collections by the `scp:` elements of sitemap.xml only.",
        "Build again; `rutter build` writes the elements. Check that their namespace is https://scp-protocol.org/schemas/sitemap/1.0.";
    /// A link inside the site that leads to nothing.
    DEAD_LINK = "XL087" "dead-link" (advice, "D84")
        "page links to a page or file of the site that does not exist",
        "People and crawlers that follow the link get an error.",
        "Correct the link, or publish what it names. A redirect in `_redirects` counts as an answer.";
    /// An image that is not there.
    MISSING_IMAGE = "XL088" "missing-image" (advice, "D84")
        "page shows an image of the site that does not exist",
        "People see a gap, and collections name an image that cannot be fetched.",
        "Correct the address, or publish the image.";

    /// A closed page in a collection.
    CLOSED_DELIVERED = "SE010" "closed-page-delivered" (warning, "D85")
        "collection delivers a page that is not meant to be indexed",
        "Inclusion in a collection is consent; collections are copied by many and cannot be called back.",
        "Build again, and publish the new collections at once.";
    /// A twin of a closed page.
    CLOSED_TWIN = "SE011" "closed-page-twin" (warning, "D85")
        "page that is not meant to be indexed has a public Markdown twin",
        "The twin carries the text without whatever keeps the page closed.",
        "Delete the twin.";
    /// Text of a closed page elsewhere.
    CLOSED_TEXT = "SE012" "closed-text-elsewhere" (warning, "D85")
        "file holds text of a page that is not meant to be indexed",
        "What is closed in one place is open in another.",
        "Take the text out, and find out how it got there.";
    /// Text only machines get in a collection.
    MACHINE_ONLY = "SE013" "machine-only-text" (warning, "SCP-051")
        "collection holds a text that the page does not show",
        "Machines are told what people cannot see; readers treat such collections as hostile.",
        "Build again; if it stays, find out who wrote it.";
    /// Text only machines get in a twin.
    TWIN_ONLY = "SE014" "twin-only-text" (warning, "D82")
        "Markdown twin holds a text that the page does not show",
        "Machines are told what people cannot see.",
        "Build again; if it stays, find out who wrote it.";
    /// An order to models in a machine file.
    ORDER = "SE015" "order-to-models" (warning, "D82")
        "file for machines tells language models what to do",
        "Text of a site is data; agents treat sites that give orders as hostile.",
        "Take the text out.";
    /// Unseen characters in a machine file.
    UNSEEN = "SE016" "unseen-characters-in-file" (advice, "D82")
        "file for machines holds characters that nobody sees",
        "Machines read other words than people do.",
        "Take the characters out; editors can show them.";
    /// A secret in a published file.
    SECRET = "SE017" "secret-published" (warning, "SCP-201")
        "file holds what looks like a secret",
        "Whoever finds it can use it; it must be taken for lost.",
        "Withdraw the secret, then take it out.";
    /// The state of the build lies in the open.
    STATE_PUBLISHED = "SE018" "state-published" (advice, "D94")
        "state of the build lies in the folder that is published",
        "It tells what was left out, and why.",
        "Name another folder with --state.";

    /// A wrong media type.
    MEDIA_TYPE = "HP001" "wrong-media-type" (advice, "SCP-144")
        "server gives another media type than the file has",
        "Readers that go by the type do not read the file.",
        "Set the type; `rutter build --headers` writes a file for your host.";
    /// No validators.
    NO_VALIDATOR = "HP002" "no-validator" (advice, "SCP-149")
        "answer has neither ETag nor Last-Modified",
        "Whoever comes back must fetch the whole file again.",
        "Let the server send ETag or Last-Modified.";
    /// A host that says yes to everything.
    SOFT_404 = "HP003" "answers-everything" (advice, "D74")
        "server answers a path that cannot exist with 200",
        "Nobody can tell what is there: files that do not exist seem to.",
        "Answer unknown paths with 404.";
    /// A file that is not what its name says.
    NOT_WHAT_IT_SAYS = "HP004" "page-instead-of-file" (warning, "D74")
        "server gives a page for people where a file for machines is announced",
        "Readers refuse it, or worse, believe it.",
        "Publish the file, and answer with 404 what does not exist.";
    /// An announced file that fails.
    STATUS = "HP005" "announced-file-fails" (warning, "D65")
        "server does not give a file that is announced",
        "Readers ask for it in vain.",
        "Publish the file, or take the announcement back.";
    /// A wrong coding.
    CODING = "HP006" "wrong-coding" (advice, "D05")
        "server names another coding than the bytes have",
        "Readers decode twice, or not at all.",
        "Send `Content-Encoding` only where it is true.";
    /// A redirect where an address should be final.
    REDIRECT = "HP007" "announced-address-moves" (advice, "D65")
        "announced address sends readers elsewhere",
        "Each reader asks twice; the address is not the canonical one.",
        "Announce the address it leads to.";
    /// A validator that does not work.
    NOT_CONDITIONAL = "HP008" "validator-without-effect" (advice, "SCP-152")
        "server sends the whole file although its validator was given back",
        "Validators that save nothing cost both sides the whole file each time.",
        "Answer with 304 where nothing changed.";
    /// A header that contradicts.
    HEADER_ROBOTS = "HP009" "header-forbids-page" (warning, "D58")
        "server sends `X-Robots-Tag: noindex` for a page that layers offer",
        "The most restrictive counts: the page is not indexed.",
        "Say the same in both.";
    /// A base URL without https.
    NOT_HTTPS = "HP010" "not-https" (advice, "SCP-196")
        "base URL is not https",
        "Readers refuse sitemaps and collections without https: others on the network can change them.",
        "Publish the site over https, and use its https URL as base URL.";
}
