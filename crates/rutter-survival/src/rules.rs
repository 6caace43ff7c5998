//! A table: the rules about histories of answers and those who answer.

rutter_finding::rules! {
    /// The run that wrote it was killed.
    TORN = "SV001" "history-torn" (note, "D73")
        "last line of the history is cut off; it is set aside",
        "A run was stopped while it wrote; earlier lines are whole.",
        "Nothing: resume the run, and the question is asked again.";
    /// Somebody edited the file.
    BROKEN = "SV002" "history-broken-line" (advice, "D73")
        "line of the history cannot be read; it is left as it is",
        "What it said is missing in every summary.",
        "Restore the line from a copy of the file.";
    /// Not enough witnesses.
    FEW_SYSTEMS = "SV003" "few-systems" (note, "SPX-078")
        "fewer than three systems are asked",
        "One system's habits are then a large part of the result.",
        "Name three systems or more.";
    /// No answer came.
    NO_ANSWER = "SV004" "no-answer" (advice, "D73")
        "system gave no answer; nothing is counted",
        "A failure of a program says nothing about an entity.",
        "See that the program runs by itself, then resume the run.";
    /// It failed time after time.
    GIVEN_UP = "SV005" "system-given-up" (advice, "D73")
        "system failed several times in a row; it is not asked again in this run",
        "Every further question would wait for nothing.",
        "See that the program runs by itself, then resume the run.";
    /// Bytes that are no text.
    NOT_TEXT = "SV006" "answer-not-utf-8" (note, "D73")
        "answer is not UTF-8; what is no text is replaced",
        "Words with such bytes cannot be found.",
        "Let the program write UTF-8.";
    /// What was counted is no longer what is claimed.
    OTHER_CLAIMS = "SV007" "answer-of-other-claims" (note, "D73")
        "answer of this run was counted by other claims or rules, and its text is not kept",
        "It cannot be counted anew, and the same question is not asked twice.",
        "Begin a new run.";
    /// Nothing to measure.
    NO_CLAIMS = "SV008" "nothing-claimed" (advice, "D73")
        "entity has no name, no address, or no marker and no kernel",
        "Nothing of it could survive.",
        "Give the entity a name and at least two markers.";
    /// A jump nobody announced.
    SILENT_CHANGE = "SV009" "silent-state-change" (advice, "D73")
        "share of surviving claims moved by 0.3 or more between two runs",
        "The claims are the same, so the system changed.",
        "Check the markers on the page, and ask again soon (SPX-075).";
}
