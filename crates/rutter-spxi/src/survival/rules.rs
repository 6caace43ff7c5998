//! Rules of layer SV: problems in survival histories and in the systems that answer.

rutter_finding::rules! {
    TORN = "SV001" "history-torn" (note, "D73") {
        title: "last line of the history file is incomplete and was moved to another file",
        why: "The test run was interrupted while it wrote this line. All earlier lines are complete.",
        fix: "Resume the run. It asks the question again.",
        wrong: "The last line of the history is incomplete.",
        right: "Run the same command again. It repeats the question.",
    }
    BROKEN = "SV002" "history-broken-line" (advice, "D73") {
        title: "line of the history file cannot be parsed and was left unchanged",
        why: "The history file holds the answers of all test runs. The answer in this line is missing in every summary.",
        fix: "Restore the line from a copy of the file.",
        wrong: "A line of the history that was edited by hand and is no longer JSON.",
        right: "The original line from a copy of the file.",
    }
    FEW_SYSTEMS = "SV003" "few-systems" (note, "SPX-078") {
        title: "fewer than three AI systems are asked",
        why: "With few systems, the habits of one system have a large effect on the result.",
        fix: "Configure three systems or more.",
        wrong: "One system: `--ask a=./ask-a.sh`.",
        right: "Three systems: `--ask a=./ask-a.sh --ask b=./ask-b.sh --ask c=./ask-c.sh`.",
    }
    NO_ANSWER = "SV004" "no-answer" (advice, "D73") {
        title: "AI system gave no answer, so no score is recorded",
        why: "A failure of the program that asks the system says nothing about the entity.",
        fix: "Check that the program runs on its own, then resume the run.",
        wrong: "A command that exits with status 1 and prints nothing.",
        right: "A command that prints the answer and exits with status 0.",
    }
    GIVEN_UP = "SV005" "system-given-up" (advice, "D73") {
        title: "AI system failed several times in a row and is not asked again in this run",
        why: "Further questions would probably fail too.",
        fix: "Check that the program runs on its own, then resume the run.",
        wrong: "A command that fails for every question.",
        right: "A command that was first tested by hand with one question.",
    }
    NOT_TEXT = "SV006" "answer-not-utf-8" (note, "D73") {
        title: "answer is not UTF-8; invalid bytes were replaced",
        why: "Claims that contain such bytes cannot be found in the answer.",
        fix: "Change the program that asks the AI system to write UTF-8.",
        wrong: "An answer in Latin-1.",
        right: "An answer in UTF-8.",
    }
    OTHER_CLAIMS = "SV007" "answer-of-other-claims" (note, "D73") {
        title: "answer was scored with other claims or scoring rules, and its text was not stored",
        why: "Without its text, the answer cannot be scored with the current claims, and a run does not ask the same question twice.",
        fix: "Start a new run.",
        wrong: "Markers were changed before a run with `--forget-answers` was resumed.",
        right: "A new run after the markers were changed.",
    }
    NO_CLAIMS = "SV008" "nothing-claimed" (advice, "D73") {
        title: "entity cannot be tested, because it lacks a name, a URL or claims",
        why: "The survival test asks AI systems about the entity by its name, and searches the answers for its claims: its markers and the sentences of the kernel.",
        fix: "Give the entity a name, a page and at least two markers.",
        wrong in "entities/low-light.toml": r#"name = "Low Light""#,
        right:
            r#"name = "Low Light""#,
            r#"page = "/museum/low-light.html""#,
            r#"markers = ["built in 1890", "tide clock"]"#,
    }
    SILENT_CHANGE = "SV009" "silent-state-change" (advice, "D73") {
        title: "survival rate of the claims changed by 0.3 or more between two runs",
        why: "The claims are the same in both runs, so the AI systems now answer differently.",
        fix: "Check that the markers are on the page, and repeat the run soon (SPX-075).",
        wrong: "80 % of the claims survive in April and 40 % in May, with the same claims.",
        right: "Rates that differ by less than 0.3.",
    }
}
