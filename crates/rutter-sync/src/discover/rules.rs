//! Rules of layer DC: problems in the files by which a site announces its layers.

rutter_finding::rules! {
    SITEMAP_LINE_UNUSABLE = "DC001" "sitemap-line-unusable" (warning, "D64") {
        title: "target of the Sitemap line is not a usable sitemap",
        why: "Crawlers that follow the line get an error, an HTML page or another type of file.",
        fix: "Correct the Sitemap line of robots.txt, or delete it.",
        wrong in "robots.txt": "Sitemap: https://harbour.example/old-sitemap.xml",
        right: "Sitemap: https://harbour.example/sitemap.xml",
    }
    TOO_MANY_SITEMAPS = "DC002" "too-many-sitemaps" (advice, "D17") {
        title: "site has more sitemaps than the limit",
        why: "Sitemaps above the limit are not read, so collections that only these sitemaps announce are not found.",
        fix: "Write the scp: elements into the first sitemap of the index.",
        wrong: "A sitemap index with a thousand sitemaps and the `scp:` elements in the last one.",
        right: "The `scp:` elements in `sitemap.xml`.",
    }
    SITEMAP_CYCLE = "DC003" "sitemap-cycle" (warning, "D17") {
        title: "sitemap index contains itself or is nested too deeply",
        why: "Crawlers stop at this index and do not find the sitemaps that it lists.",
        fix: "List only sitemaps with pages in an index.",
        wrong in "sitemap.xml": r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://harbour.example/sitemap.xml</loc></sitemap></sitemapindex>"#,
        right: r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://harbour.example/sitemap-pages.xml</loc></sitemap></sitemapindex>"#,
    }
    SOFT_404 = "DC004" "soft-404" (advice, "D74") {
        title: "server answers unknown URLs with a page and status 200",
        why: "Clients cannot determine which files exist, and may mistake this page for the file that they requested.",
        fix: "Answer unknown URLs with status 404.",
        wrong: "`GET /no-such-page` answered with `200 OK` and the home page.",
        right: "`GET /no-such-page` answered with `404 Not Found`.",
    }
    FOREIGN_COLLECTION = "DC005" "collection-on-foreign-host" (advice, "D13") {
        title: "collection is on a host that is not allowed, or at an http URL",
        why: "Crawlers fetch collections only from the hosts of the site, unless they are configured otherwise. Plain http is not secure.",
        fix: "Serve collections over https from the same site.",
        wrong in "advert in sitemap.xml": r#"<scp:collection url="http://files.example/docs.scp.zst" …/>"#,
        right: r#"<scp:collection url="https://harbour.example/scp/docs.scp.zst" …/>"#,
    }
    NOT_WHAT_IT_SAYS = "DC006" "announced-file-unusable" (warning, "D74") {
        title: "announced file is missing or has another type",
        why: "Clients that follow the announcement do not get the announced file.",
        fix: "Publish the file, or delete the announcement.",
        wrong: "`Allow: /spxi-index.jsonld` in robots.txt, and an HTML page at that URL.",
        right: "The index at that URL, or no such line.",
    }
    OUT_OF_BOUNDS = "DC007" "discovery-stopped" (note, "D17") {
        title: "discovery reached its limit of bytes, adverts or sitemaps and stopped",
        why: "Files that were not read may announce collections or other formats, which are then not used.",
        fix: "Raise the limits of discovery, or publish fewer and smaller sitemaps.",
        wrong: "Sitemaps of many megabytes before the first one that announces a collection.",
        right: "Small entry files: `robots.txt`, a sitemap index, `llms.txt`.",
    }
}
