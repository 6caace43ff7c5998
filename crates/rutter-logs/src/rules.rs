//! Rules of layer LG: problems in the behaviour of clients, found in access logs.

rutter_finding::rules! {
    PAGE_BY_PAGE = "LG001" "page-by-page" (advice, "SCP-206") {
        title: "client fetches page by page although collections exist",
        why: "Each page costs a request, and most pages are unchanged. A collection contains all pages in one file.",
        fix: "Tell the operator of the client about the collections (robots.txt, sitemap.xml and llms.txt reference them), or limit the request rate.",
        wrong in "access.log": "GET /tides.html, GET /berths.html, GET /museum/ … from one agent, all pages every day",
        right: "GET /scp/all-delta-20260501T120000Z.scp.zst",
    }
    IGNORES_RATE_LIMIT = "LG002" "ignores-rate-limit" (advice, "SCP-206") {
        title: "client ignores status 429",
        why: "Status 429 asks the client to wait. A client that continues takes server capacity from other clients.",
        fix: "Block the IP address for some time, or contact the operator of the client. If the request rate limit is too low for well-behaved clients, raise it.",
        wrong in "access.log": "429 with Retry-After: 60, and the next request a second later",
        right: "429 with Retry-After: 60, and the next request a minute later",
    }
    SCRAPES_CLOSED_PATHS = "LG003" "scrapes-closed-paths" (advice, "ARC-065") {
        title: "client requests many restricted paths",
        why: "A client that requests one restricted page after another may be looking for an unprotected one.",
        fix: "Check that no restricted page is accessible, and that no public file lists restricted paths.",
        wrong in "access.log": "GET /members/1 401, GET /members/2 401, GET /members/3 401 …",
        right: "GET /members/ 401, and no further requests",
    }
    MANY_REFUSED_TOKENS = "LG004" "many-refused-tokens" (advice, "ARC-065") {
        title: "client was rejected with status 401 many times",
        why: "Status 401 means that the token was missing or invalid. The token may have expired, or the client may be guessing tokens.",
        fix: "If the client is a partner, ask whether its token has expired. Otherwise check that no public file lists restricted pages, or block the IP address.",
        wrong in "access.log": "GET /arc-api/v1/pages 401, again and again with the same token",
        right: "GET /arc-api/v1/pages 200, with a new token after the first 401",
    }
    SAME_COLLECTION_AGAIN = "LG005" "same-collection-again" (advice, "SCP-206") {
        title: "client downloads the same collection repeatedly",
        why: "A collection changes only with a build. If the client sends If-None-Match and the file is unchanged, the server answers without a body. Interrupted downloads count too, because the client could continue them with Range.",
        fix: "Ask the operator of the client to send the ETag in If-None-Match and to use deltas, or limit the request rate.",
        wrong in "access.log": "GET /scp/all-snapshot.scp.zst 200, ten times a day",
        right: "GET /scp/all-snapshot.scp.zst 304, because If-None-Match was sent",
    }
}
