//! A table: the rules about pages that tell machines something else than people.

rutter_finding::rules! {
    /// An order to language models that people do not see.
    HIDDEN_ORDER = "SE001" "hidden-order" (warning, "D82")
        "text that the page hides tells language models what to do",
        "Whoever reads the page by machine is steered without the reader's knowledge; agents treat such sites as hostile.",
        "Take the text out, or say it where people can read it.";
    /// Characters that nobody sees.
    UNSEEN_CHARACTERS = "SE002" "unseen-characters" (advice, "D82")
        "text holds characters that nobody sees",
        "Machines read other words than people do.",
        "Take the characters out; editors can show them.";
    /// Much text that only machines get.
    HIDDEN_TEXT = "SE003" "hidden-text" (hint, "D82")
        "page hides a long text from people",
        "Crawlers that read the HTML take it for content; those that render it do not.",
        "Show the text, or leave it out of the page.";
}
