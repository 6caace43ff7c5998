//! Explains a rule: why it matters, a wrong and a right example, and how to fix the problem.

use rutter_finding::{Rule, RuleExample, Strictness};

/// Returns the explanation of a rule as Markdown.
pub fn explain(rule: &Rule) -> String {
    let severity = |mode| match rule.severity(mode) {
        None => "not reported".to_owned(),
        Some(severity) if rule.is_fatal() => format!("{}, the file is rejected", severity.name()),
        Some(severity) => severity.name().to_owned(),
    };
    format!(
        "## {} {}\n\n{}.\n\n{}\n\n{}**What to do:** {}\n\n\
         Severity when reading: {}.\nSeverity when checking: {}.\nClause: {}.\n",
        rule.code,
        rule.name,
        capitalised(rule.title),
        rule.why,
        examples(&rule.example),
        rule.fix,
        severity(Strictness::Lenient),
        severity(Strictness::Strict),
        rule.clause,
    )
}

/// Returns both examples as Markdown with a final empty line.
fn examples(example: &RuleExample) -> String {
    let place = match example.place.rsplit_once(' ') {
        None if example.place.is_empty() => String::new(),
        None => format!(" (`{}`)", example.place),
        Some((part, file)) => format!(" ({part} `{file}`)"),
    };
    let fenced = |text: &str| {
        if example.place.is_empty() {
            format!("{text}\n\n")
        } else {
            format!("```text\n{text}\n```\n\n")
        }
    };
    format!("Wrong{place}:\n\n{}Right:\n\n{}", fenced(example.wrong), fenced(example.right))
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    rutter_finding::rules! {
        IN_FILE = "RB999" "in-file" (fatal, "D01") {
            title: "line is wrong",
            why: "It is.",
            fix: "Correct it.",
            wrong in "entry of robots.txt":
                "a",
                "b",
            right: "c",
        }
    }

    #[test]
    fn shows_examples_of_a_file_as_code_and_others_as_prose() {
        let text = explain(&IN_FILE);
        assert_eq!(
            text,
            "## RB999 in-file\n\nLine is wrong.\n\nIt is.\n\n\
             Wrong (entry of `robots.txt`):\n\n```text\na\nb\n```\n\n\
             Right:\n\n```text\nc\n```\n\n**What to do:** Correct it.\n\n\
             Severity when reading: error, the file is rejected.\n\
             Severity when checking: error, the file is rejected.\nClause: D01.\n"
        );
        let prose = examples(&RuleExample { place: "", wrong: "No.", right: "Yes." });
        assert_eq!(prose, "Wrong:\n\nNo.\n\nRight:\n\nYes.\n\n");
        assert_eq!(ALL.len(), 1);
    }
}
