//! A table: the rules about what a site says of its own offers.

rutter_finding::rules! {
    /// A Sitemap line that leads to no sitemap.
    SITEMAP_LINE_UNUSABLE = "DC001" "sitemap-line-unusable" (warning, "D64")
        "Sitemap line leads to nothing that can be used",
        "Crawlers that follow it get an error, a page for people, or a file of another kind.",
        "Correct the line, or delete it.";
    /// More than is followed.
    TOO_MANY_SITEMAPS = "DC002" "too-many-sitemaps" (advice, "D17")
        "more sitemaps than are followed",
        "The rest is not looked at; what is announced only there is not found.",
        "Put the scp: elements into the first sitemap of the index.";
    /// An index that names itself, or too many floors of indexes.
    SITEMAP_CYCLE = "DC003" "sitemap-cycle" (warning, "D17")
        "sitemap index leads back to itself or is too deep",
        "Crawlers stop here; sitemaps behind it are not found.",
        "Let an index name only sitemaps with pages.";
    /// A host with a page for every address.
    SOFT_404 = "DC004" "soft-404" (advice, "D74")
        "unknown addresses are answered with a page and status 200",
        "Nobody can tell which files exist; crawlers take the page for the file they asked for.",
        "Answer unknown addresses with status 404.";
    /// A collection on a host that is not the site's.
    FOREIGN_COLLECTION = "DC005" "collection-on-foreign-host" (advice, "D13")
        "collection lies where it may not be fetched from",
        "A crawler keeps to the hosts of the site, unless told otherwise; plain http is not safe.",
        "Serve collections by https from the same site.";
    /// A file that is announced and is something else.
    NOT_WHAT_IT_SAYS = "DC006" "announced-file-unusable" (warning, "D74")
        "announced file is missing or is something else",
        "Whoever follows the announcement finds nothing.",
        "Publish the file, or take the announcement away.";
    /// The walk was stopped by its bounds.
    OUT_OF_BOUNDS = "DC007" "discovery-stopped" (note, "D17")
        "looking around stopped at its bounds",
        "The number of files or bytes for one site was used up.",
        "Raise the bounds, or publish fewer and smaller entry files.";
}
