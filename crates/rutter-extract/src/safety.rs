//! Rules of layer SE: pages that show programs a different text than people.
//!
//! Input: none; a table of codes, severities and texts. [`honesty`](crate::honesty()) reports them.

rutter_finding::rules! {
    /// Hidden text on the page gives instructions to language models.
    HIDDEN_ORDER = "SE001" "hidden-order" (warning, "D82")
        "hidden text on the page gives instructions to language models",
        "People cannot see the text that steers the program. Agents treat such sites as hostile.",
        "Delete the text, or show it to people.";
    /// Text contains invisible characters.
    UNSEEN_CHARACTERS = "SE002" "unseen-characters" (advice, "D82")
        "text contains invisible characters",
        "Programs read a different text than people.",
        "Delete the characters. Most editors can display them.";
    /// Page hides a long text from people.
    HIDDEN_TEXT = "SE003" "hidden-text" (hint, "D82")
        "page hides a long text from people",
        "Crawlers that read the HTML treat the text as content. Crawlers that render the page do not.",
        "Show the text, or delete it.";
}
