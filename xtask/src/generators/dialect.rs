//! Translates the shared pages into the Markdown dialect of a generator.
//!
//! Shared pages use a few lines of their own: `@note TEXT`, `@tip TEXT` and `@caution TEXT`;
//! `@caption NAME` before a code block; `@term NAME` with `@means TEXT` below it; `@rollback` for the
//! section that several pages repeat.

use std::fmt::Write;

/// How a generator writes note, tip and caution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Admonition {
    /// `!!! note`, the text indented.
    Indented,
    /// A code fence with the directive `{note}`.
    Directive,
    /// `:::note`.
    Colons,
    /// `> [!NOTE]`.
    Alert,
    /// A paragraph followed by `{: .note }`.
    Class,
    /// `<aside class="note">`.
    Aside,
    /// A shortcode of the site's templates.
    Shortcode,
}

/// How a generator writes the caption of a code block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Caption {
    /// `title="NAME"` after the language.
    Title,
    /// `{title="NAME"}` after the language.
    Attribute,
    /// The directive `{code-block}` with the option `:caption:`.
    Option,
    /// A code group with one entry, `[NAME]` after the language.
    Group,
    /// A paragraph in bold before the block.
    Paragraph,
}

/// How a generator writes definition lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Definitions {
    /// `: TEXT` below the term.
    Colon,
    /// `<dl>`.
    Html,
}

/// How pages link to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// To source files; the generator resolves them.
    Sources,
    /// To the folders that the generator makes of pages.
    Folders,
}

#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) admonition: Admonition,
    pub(super) caption: Caption,
    pub(super) definitions: Definitions,
    pub(super) links: Links,
    pub(super) has_front_matter: bool,
    /// Whether the title of a page must be repeated as its first heading.
    pub(super) has_headings: bool,
}

impl Dialect {
    /// Translates a page with front matter; `rollback` is the repeated section.
    pub(super) fn translate(self, page: &str, rollback: &str) -> String {
        let page = page.replace("@rollback", rollback.trim_end());
        let (front, body) = split(&page);
        let mut out = String::new();
        if self.has_front_matter {
            writeln!(out, "---\n{front}\n---").expect("strings grow");
        }
        if self.has_headings {
            let title = front.lines().find_map(|line| line.strip_prefix("title: "));
            writeln!(out, "# {}\n", title.unwrap_or_default()).expect("strings grow");
        }
        out + &self.body(body)
    }

    fn body(self, body: &str) -> String {
        let mut out = String::new();
        let mut caption: Option<&str> = None;
        let mut is_group = false;
        let lines: Vec<&str> = body.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let directive = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
            let text = match directive {
                Some((kind @ ("note" | "tip" | "caution"), text)) => self.admonition(kind, text),
                Some(("term", term)) => {
                    let is_first = !lines.get(..at).is_some_and(ends_in_definition);
                    self.term(term, is_first)
                }
                Some(("means", text)) => {
                    let is_last = !lines.get(at + 1..).is_some_and(begins_with_definition);
                    self.meaning(text, is_last)
                }
                Some(("caption", name)) => {
                    caption = Some(name);
                    continue;
                }
                _ => match (line.strip_prefix("```"), caption) {
                    (Some(language), Some(name)) => {
                        is_group = self.caption == Caption::Group;
                        caption = None;
                        self.fence(language, name)
                    }
                    (Some(""), None) if is_group => {
                        is_group = false;
                        "```\n\n:::".to_owned()
                    }
                    _ => self.link(line),
                },
            };
            out.push_str(&text);
            out.push('\n');
        }
        out
    }

    fn link(self, line: &str) -> String {
        match self.links {
            Links::Sources => line.to_owned(),
            Links::Folders => {
                line.replace("](backup.md)", "](../backup/)").replace("](tides.md)", "](../tides/)")
            }
        }
    }

    fn admonition(self, kind: &str, text: &str) -> String {
        let name = format!("{}{}", kind.get(..1).unwrap_or_default().to_uppercase(), &kind[1..]);
        match self.admonition {
            Admonition::Indented => {
                let class = if kind == "caution" { "warning" } else { kind };
                format!("!!! {class} \"{name}\"\n\n    {text}")
            }
            Admonition::Directive => format!("```{{{kind}}}\n{text}\n```"),
            Admonition::Colons => format!(":::{kind}\n\n{text}\n\n:::"),
            Admonition::Alert => format!("> [!{}]\n> {text}", kind.to_uppercase()),
            Admonition::Class => format!("{text}\n{{: .{kind} }}"),
            Admonition::Aside => {
                format!("<aside class=\"{kind}\"><strong>{name}</strong>\n\n{text}\n\n</aside>")
            }
            Admonition::Shortcode => format!("{{% aside(kind=\"{kind}\") %}}\n{text}\n{{% end %}}"),
        }
    }

    fn fence(self, language: &str, name: &str) -> String {
        match self.caption {
            Caption::Title => format!("```{language} title=\"{name}\""),
            Caption::Attribute => format!("```{language} {{title=\"{name}\"}}"),
            Caption::Option => format!("```{{code-block}} {language}\n:caption: {name}\n"),
            Caption::Group => format!("::: code-group\n\n```{language} [{name}]"),
            Caption::Paragraph => format!("**{name}**\n\n```{language}"),
        }
    }

    fn term(self, term: &str, is_first: bool) -> String {
        match self.definitions {
            Definitions::Colon => term.to_owned(),
            Definitions::Html => {
                format!("{}<dt>{term}</dt>", if is_first { "<dl>\n" } else { "" })
            }
        }
    }

    fn meaning(self, text: &str, is_last: bool) -> String {
        match self.definitions {
            Definitions::Colon => format!(":   {text}"),
            Definitions::Html => {
                format!("<dd>{text}</dd>{}", if is_last { "\n</dl>\n" } else { "" })
            }
        }
    }
}

/// Whether the last line with text is a definition.
fn ends_in_definition(lines: &[&str]) -> bool {
    lines.iter().rev().find(|line| !line.is_empty()).is_some_and(|line| line.starts_with("@means"))
}

/// Whether the first line with text begins a definition.
fn begins_with_definition(lines: &[&str]) -> bool {
    lines.iter().find(|line| !line.is_empty()).is_some_and(|line| line.starts_with("@term"))
}

/// Front matter and body of a page.
pub(super) fn split(page: &str) -> (&str, &str) {
    let rest = page.strip_prefix("---\n").unwrap_or(page);
    rest.split_once("\n---\n").unwrap_or(("", rest))
}

/// The words that a reader of a shared page sees, in order, in lower case.
pub(super) fn visible_words(page: &str, rollback: &str) -> Vec<String> {
    let page = page.replace("@rollback", rollback);
    let (_, body) = split(&page);
    let is_written = |line: &&str| !line.starts_with("|---");
    let lines = body.lines().filter(is_written).map(|line| {
        let line = line.strip_prefix("```").map_or(line, |_| "");
        let text = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
        without_targets(text.map_or(line, |(_, text)| text))
    });
    words(&lines.collect::<Vec<_>>().join("\n"))
}

/// A text without the targets of its links.
pub(super) fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(' ');
        out.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    out
}

/// The words of a text in lower case: runs of letters and digits.
pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
