//! A table: the rules about how clients behave.

rutter_finding::rules! {
    /// Many pages, no collection.
    PAGE_BY_PAGE = "LG001" "page-by-page" (advice, "SCP-206")
        "client reads everything page by page although collections exist",
        "Each page costs a request and is mostly sent unchanged; a collection holds all of them in one file.",
        "Tell the operator of the collections (robots.txt, sitemap.xml and llms.txt name them), or lower its rate.";
    /// Goes on after 429.
    IGNORES_RATE_LIMIT = "LG002" "ignores-rate-limit" (advice, "SCP-206")
        "client goes on although it was asked to wait",
        "429 says how long to wait; who goes on at once takes the server from others.",
        "Block the address for a while, or tell the operator; where the limit is too low for honest readers, raise it.";
    /// Knocks at closed doors.
    SCRAPES_CLOSED_PATHS = "LG003" "scrapes-closed-paths" (advice, "ARC-065")
        "client tries many paths that are closed",
        "Who asks for many pages that need a login, one after the other, looks for one that was left open.",
        "See that nothing there is open by mistake, and that no public list names these paths.";
    /// Answers 401; whether a token was shown is in no log.
    MANY_REFUSED_TOKENS = "LG004" "many-refused-tokens" (advice, "ARC-065")
        "client was refused a login again and again",
        "401 means no token or no valid one: it reads what is not for it, its token has run out and nobody looks, or somebody guesses.",
        "Where it is a partner, ask whether its token has run out; else see that no public list names these pages, or block the address.";
    /// The same collection, over and over.
    SAME_COLLECTION_AGAIN = "LG005" "same-collection-again" (advice, "SCP-206")
        "client downloads the same collection again and again",
        "A collection does not change until the next build; If-None-Match would have been answered without a body. Downloads that broke off count too: Range would have gone on with them.",
        "Tell the operator to send the ETag back and to take deltas, or lower its rate.";
}
