//! Reads code blocks and formulas.
//!
//! Input: a `pre`, `code`, `math` or math script element. Output: its source text and its language.
//! Leaves out line numbers, copy buttons and dropped elements.

use html5ever::local_name;
use rutter_page::{Block, CodeBlock, InlineMark};

use crate::blocks::BlockWalker;
use crate::dom::Dom;
use crate::hint::{self, ElementHints};
use crate::tag::Tag;
use crate::verdict::DropReason;

impl BlockWalker<'_> {
    /// Reads the caption of a code block into the open paragraph.
    fn code_caption(&mut self, at: u32) {
        let Some(caption) = self.frames.caption(at) else { return };
        let n_before = self.paragraph.text.len();
        if self.dom.item(caption).tag == Tag::Text {
            self.text(caption);
        } else {
            self.flow(caption);
        }
        let is_empty = self.paragraph.text.get(n_before..).is_none_or(|new| new.trim().is_empty());
        if is_empty {
            let words = self.dom.words(caption);
            self.paragraph.push(words.trim_end_matches(['#', '\u{b6}', ' ']));
        }
    }

    /// Reads code inside a table cell as lines of the cell: first the caption, then the code with
    /// its white space.
    pub(crate) fn code_line(&mut self, at: u32) {
        self.paragraph.line_break();
        let outer = std::mem::replace(&mut self.is_inside, true);
        self.code_caption(at);
        self.is_inside = outer;
        self.paragraph.line_break();
        let text = text(self.dom, at, self.dropped);
        self.paragraph.open(InlineMark::Code);
        self.paragraph.push_raw(&text);
        self.paragraph.close();
        self.paragraph.line_break();
    }

    pub(crate) fn code(&mut self, at: u32) {
        if is_gutter(self.dom, at) {
            return;
        }
        self.flush();
        let text = text(self.dom, at, self.dropped);
        if !text.trim().is_empty() {
            self.code_caption(at);
            self.flush();
            let language = language(self.dom, at).map(Into::into);
            let block = CodeBlock { language, code: text.into(), extra: Vec::new() };
            self.push(Block::Code(block), Vec::new());
        }
    }
}

/// Returns the text of a code block with its white space, but without line numbers and buttons.
pub(crate) fn text(dom: &Dom, at: u32, dropped: &[Option<DropReason>]) -> String {
    let mut out = String::new();
    let end = dom.item(at).end;
    let mut here = at + 1;
    // End positions of the elements that end a line, the innermost last.
    let mut lines: Vec<u32> = Vec::new();
    while here < end {
        while lines.last().is_some_and(|end| *end <= here) {
            lines.pop();
            end_line(&mut out);
        }
        let item = dom.item(here);
        match item.tag {
            Tag::Text => out.push_str(dom.text(here)),
            Tag::Br => out.push('\n'),
            tag if tag.is_silent() || tag == Tag::Button || is_furniture(dom, here, dropped) => {
                here = item.end;
                continue;
            }
            tag if tag.is_block() => {
                end_line(&mut out);
                lines.push(item.end);
            }
            _ => {}
        }
        here += 1;
    }
    let text = out.trim_end();
    // A line break directly after `<pre>` is not text. The parser removes it, but keeps a line
    // break after the start tag of an element inside `pre`.
    let text = text.strip_prefix('\n').unwrap_or(text);
    // Searches for the first byte of U+00A0 and for a carriage return.
    if memchr::memchr2(0xc2, b'\r', text.as_bytes()).is_some() {
        return text.replace('\u{a0}', " ").replace("\r\n", "\n");
    }
    text.to_owned()
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn is_furniture(dom: &Dom, at: u32, dropped: &[Option<DropReason>]) -> bool {
    if dropped.get(at as usize).is_some_and(Option::is_some) {
        return true;
    }
    let mut is_unselectable = false;
    for (name, value) in dom.attributes(at) {
        match name {
            "class" => {
                let hints = hint::of_names(value);
                let is_number =
                    |token: &str| matches!(token, "ln" | "lnt" | "linenos" | "rouge-gutter");
                if hints.has(ElementHints::NUMBERS) && !hints.has(ElementHints::CONTENT)
                    || hints.has(ElementHints::BUTTONS) && hints.has(ElementHints::STRONG)
                    || value.split_ascii_whitespace().any(is_number)
                {
                    return true;
                }
            }
            "aria-hidden" => is_unselectable |= value == "true",
            "hidden" => is_unselectable = true,
            "style" => {
                is_unselectable |=
                    value.contains("user-select:none") || value.contains("user-select: none");
            }
            _ => {}
        }
    }
    is_unselectable
}

/// Returns whether a code block holds only line numbers, in a column beside the code.
pub(crate) fn is_gutter(dom: &Dom, at: u32) -> bool {
    let cell =
        dom.ancestors(at).skip(1).take(4).find(|up| matches!(dom.item(*up).tag, Tag::Td | Tag::Th));
    let Some(cell) = cell else { return false };
    let words = dom.words(at);
    let is_numbers =
        words.split_ascii_whitespace().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let row = dom.item(cell).parent;
    is_numbers
        && dom
            .children(row)
            .take(8)
            .filter(|cell| dom.subtree(*cell).take(200).any(|at| dom.item(at).tag == Tag::Pre))
            .count()
            == 2
}

/// Returns the programming language of a code block.
pub(crate) fn language(dom: &Dom, at: u32) -> Option<String> {
    let inner = dom.subtree(at).skip(1).find(|at| dom.item(*at).tag == Tag::Code);
    let outer = dom.ancestors(at).skip(1).take(8).take_while(|up| {
        // An ancestor with several blocks or much other content does not identify a language.
        let inside = dom.subtree(*up);
        inside.len() < 5000 && inside.filter(|at| dom.item(*at).tag == Tag::Pre).nth(2).is_none()
    });
    let places = inner.into_iter().chain([at]).chain(outer);
    let mut bare = None;
    for (n, place) in places.enumerate() {
        for (name, value) in dom.attributes(place) {
            match name {
                "data-lang" | "data-language" | "data-code-lang" => {
                    if let Some(language) = known(value) {
                        return Some(language);
                    }
                }
                "class" => match of_class(value, n <= 1) {
                    CodeClass::Named(language) => return known(&language),
                    CodeClass::Bare(language) => bare = bare.or(known(&language)),
                    CodeClass::Silent => {}
                },
                _ => {}
            }
        }
    }
    bare
}

enum CodeClass {
    /// A class with a language prefix, such as `language-rust`.
    Named(String),
    /// A language name without a prefix.
    Bare(String),
    Silent,
}

fn of_class(class: &str, is_close: bool) -> CodeClass {
    let mut brush = class.split([';', ' ']).skip_while(|part| !part.starts_with("brush:"));
    if let Some(first) = brush.next() {
        let value = first.trim_start_matches("brush:").trim();
        let value = if value.is_empty() { brush.next().unwrap_or("") } else { value };
        return CodeClass::Named(value.to_owned());
    }
    for token in class.split_ascii_whitespace() {
        for prefix in [
            "language-",
            "lang-",
            "highlight-source-",
            "highlight-text-",
            "highlight-",
            "src-",
            "listing-",
            "code-",
        ] {
            if let Some(language) = token.strip_prefix(prefix)
                && !matches!(
                    language,
                    "wrapper"
                        | "block"
                        | "box"
                        | "container"
                        | "content"
                        | "toolbar"
                        | "example"
                        | "header"
                        | "frame"
                        | "lines"
                        | "group"
                )
                && (is_close || !matches!(prefix, "code-" | "listing-" | "src-"))
            {
                return CodeClass::Named(language.to_owned());
            }
        }
    }
    let is_highlighter = |token: &str| {
        matches!(
            token,
            "sourceCode"
                | "hljs"
                | "prettyprint"
                | "src"
                | "rust-example-rendered"
                | "item-decl"
                | "CodeMirror"
                | "chroma"
                | "codehilite"
                | "highlight"
        )
    };
    if class.split_ascii_whitespace().any(is_highlighter) {
        let other = class
            .split_ascii_whitespace()
            .find(|token| !is_highlighter(token) && is_language(token));
        if let Some(language) = other {
            return CodeClass::Bare(language.to_owned());
        }
    }
    CodeClass::Silent
}

/// Returns whether a class without a prefix is the name of a programming language.
fn is_language(token: &str) -> bool {
    matches!(
        token,
        "bash"
            | "sh"
            | "shell"
            | "console"
            | "python"
            | "python3"
            | "py"
            | "rust"
            | "javascript"
            | "js"
            | "typescript"
            | "ts"
            | "java"
            | "c"
            | "cpp"
            | "csharp"
            | "go"
            | "ruby"
            | "php"
            | "perl"
            | "sql"
            | "html"
            | "xml"
            | "css"
            | "json"
            | "yaml"
            | "toml"
            | "ini"
            | "haskell"
            | "lua"
            | "kotlin"
            | "swift"
            | "scala"
            | "r"
            | "diff"
            | "makefile"
            | "dockerfile"
            | "powershell"
            | "elixir"
            | "erlang"
            | "clojure"
            | "lisp"
            | "scheme"
            | "ocaml"
            | "latex"
            | "tex"
            | "markdown"
            | "graphql"
            | "nix"
            | "zig"
            | "dart"
    )
}

/// Returns the language that a class or attribute names; `None` if the value means "no language".
fn known(value: &str) -> Option<String> {
    let value = value.trim().to_ascii_lowercase();
    let is_word = !value.is_empty()
        && value.len() <= 30
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "+-#._".contains(c));
    let is_none = matches!(
        value.as_str(),
        "default"
            | "none"
            | "text"
            | "plain"
            | "plaintext"
            | "nohighlight"
            | "txt"
            | "notranslate"
            | "auto"
            | "unknown"
    );
    (is_word && !is_none).then_some(value)
}

/// Returns the source of a formula: its `TeX` source if the page has it, otherwise its text.
pub(crate) fn math(dom: &Dom, at: u32) -> String {
    let tex = dom
        .subtree(at)
        .find(|at| dom.attribute(*at, "encoding").is_some_and(|encoding| encoding.contains("tex")));
    if let Some(tex) = tex {
        return dom.words(tex);
    }
    if let Some(alt) = dom.attribute(at, "alttext") {
        return alt.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    dom.words(at)
}

/// Returns the `TeX` source in a script element that a script such as `MathJax` would render.
pub(crate) fn math_script(dom: &Dom, at: u32) -> Option<String> {
    let kind = dom.attr(at, &local_name!("type"))?;
    kind.starts_with("math/tex").then(|| dom.words(at))
}
