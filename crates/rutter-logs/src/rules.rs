//! Rules of layer LG: problems in the behaviour of clients, found in access logs.

rutter_finding::rules! {
    /// Client fetches page by page although collections exist.
    PAGE_BY_PAGE = "LG001" "page-by-page" (advice, "SCP-206")
        "client fetches page by page although collections exist",
        "Each page costs a request, and most pages are unchanged. A collection contains all pages in one file.",
        "Tell the operator of the client about the collections (robots.txt, sitemap.xml and llms.txt reference them), or limit the request rate.";
    /// Client ignores status 429.
    IGNORES_RATE_LIMIT = "LG002" "ignores-rate-limit" (advice, "SCP-206")
        "client ignores status 429",
        "Status 429 asks the client to wait. A client that continues takes server capacity from other clients.",
        "Block the IP address for some time, or contact the operator of the client. If the request rate limit is too low for well-behaved clients, raise it.";
    /// Client requests many restricted paths.
    SCRAPES_CLOSED_PATHS = "LG003" "scrapes-closed-paths" (advice, "ARC-065")
        "client requests many restricted paths",
        "A client that requests one restricted page after another may be looking for an unprotected one.",
        "Check that no restricted page is accessible, and that no public file lists restricted paths.";
    /// Client was rejected with status 401 many times.
    MANY_REFUSED_TOKENS = "LG004" "many-refused-tokens" (advice, "ARC-065")
        "client was rejected with status 401 many times",
        "Status 401 means that the token was missing or invalid. The token may have expired, or the client may be guessing tokens.",
        "If the client is a partner, ask whether its token has expired. Otherwise check that no public file lists restricted pages, or block the IP address.";
    /// Client downloads the same collection repeatedly.
    SAME_COLLECTION_AGAIN = "LG005" "same-collection-again" (advice, "SCP-206")
        "client downloads the same collection repeatedly",
        "A collection changes only with a build. To a request with If-None-Match, the server answers without a body if the file is unchanged. Interrupted downloads count too, because the client could continue them with Range.",
        "Ask the operator of the client to send the ETag in If-None-Match and to use deltas, or limit the request rate.";
}
