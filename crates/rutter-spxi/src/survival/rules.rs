//! Rules of layer SV: problems in survival histories and in the systems that answer.

rutter_finding::rules! {
    /// Last line of the history is incomplete and was moved to another file.
    TORN = "SV001" "history-torn" (note, "D73")
        "last line of the history is incomplete and was moved to another file",
        "The run was interrupted while it wrote this line. All earlier lines are complete.",
        "Resume the run. It asks the question again.";
    /// Line of the history cannot be parsed and was left unchanged.
    BROKEN = "SV002" "history-broken-line" (advice, "D73")
        "line of the history cannot be parsed and was left unchanged",
        "The answer in this line is missing in every summary.",
        "Restore the line from a copy of the file.";
    /// Fewer than three systems are asked.
    FEW_SYSTEMS = "SV003" "few-systems" (note, "SPX-078")
        "fewer than three systems are asked",
        "The habits of one system have a large effect on the result.",
        "Configure three systems or more.";
    /// System gave no answer, so no score is recorded.
    NO_ANSWER = "SV004" "no-answer" (advice, "D73")
        "system gave no answer, so no score is recorded",
        "A run in which the program fails says nothing about the entity.",
        "Check that the program runs on its own, then resume the run.";
    /// System failed several times in a row and is not asked again in this run.
    GIVEN_UP = "SV005" "system-given-up" (advice, "D73")
        "system failed several times in a row and is not asked again in this run",
        "Every further question would only wait for the next failure.",
        "Check that the program runs on its own, then resume the run.";
    /// Answer is not UTF-8; invalid bytes were replaced.
    NOT_TEXT = "SV006" "answer-not-utf-8" (note, "D73")
        "answer is not UTF-8; invalid bytes were replaced",
        "Claims that contain such bytes cannot be found in the answer.",
        "Change the program to write UTF-8.";
    /// Answer was scored with other claims or rules, and its text was not stored.
    OTHER_CLAIMS = "SV007" "answer-of-other-claims" (note, "D73")
        "answer was scored with other claims or rules, and its text was not stored",
        "The answer cannot be scored again, and a run does not ask the same question twice.",
        "Start a new run.";
    /// Entity has no name, no URL, or neither a marker nor a kernel.
    NO_CLAIMS = "SV008" "nothing-claimed" (advice, "D73")
        "entity has no name, no URL, or neither a marker nor a kernel",
        "Without claims there is nothing to measure.",
        "Give the entity a name and at least two markers.";
    /// Survival rate of the claims changed by 0.3 or more between two runs.
    SILENT_CHANGE = "SV009" "silent-state-change" (advice, "D73")
        "survival rate of the claims changed by 0.3 or more between two runs",
        "The claims are the same in both runs, so the system changed.",
        "Check the markers on the page and repeat the run soon (SPX-075).";
}
