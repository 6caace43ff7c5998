//! Rules of layer DC: problems in the files by which a site announces its layers.

rutter_finding::rules! {
    /// Target of the Sitemap line is not a usable sitemap.
    SITEMAP_LINE_UNUSABLE = "DC001" "sitemap-line-unusable" (warning, "D64")
        "target of the Sitemap line is not a usable sitemap",
        "Crawlers that follow the line get an error, an HTML page or another type of file.",
        "Correct the Sitemap line of robots.txt, or delete it.";
    /// Site has more sitemaps than the limit.
    TOO_MANY_SITEMAPS = "DC002" "too-many-sitemaps" (advice, "D17")
        "site has more sitemaps than the limit",
        "Sitemaps above the limit are not read, so collections that only these sitemaps announce are not found.",
        "Write the scp: elements into the first sitemap of the index.";
    /// Sitemap index contains itself or is nested too deeply.
    SITEMAP_CYCLE = "DC003" "sitemap-cycle" (warning, "D17")
        "sitemap index contains itself or is nested too deeply",
        "Crawlers stop at this index and do not find the sitemaps that it lists.",
        "List only sitemaps with pages in an index.";
    /// Server answers unknown URLs with a page and status 200.
    SOFT_404 = "DC004" "soft-404" (advice, "D74")
        "server answers unknown URLs with a page and status 200",
        "Clients cannot determine which files exist, and may mistake this page for the file that they requested.",
        "Answer unknown URLs with status 404.";
    /// Collection is on a host or scheme that is not allowed.
    FOREIGN_COLLECTION = "DC005" "collection-on-foreign-host" (advice, "D13")
        "collection is on a host or scheme that is not allowed",
        "Crawlers fetch collections only from the hosts of the site, unless they are configured otherwise. Plain http is not secure.",
        "Serve collections over https from the same site.";
    /// Announced file is missing or has another type.
    NOT_WHAT_IT_SAYS = "DC006" "announced-file-unusable" (warning, "D74")
        "announced file is missing or has another type",
        "Clients that follow the announcement do not get the announced file.",
        "Publish the file, or delete the announcement.";
    /// Discovery reached its limit and stopped.
    OUT_OF_BOUNDS = "DC007" "discovery-stopped" (note, "D17")
        "discovery reached its limit and stopped",
        "Discovery reads only a limited number of files and bytes per site.",
        "Raise the limits of discovery, or publish fewer and smaller sitemaps.";
}
