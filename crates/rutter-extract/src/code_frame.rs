//! Finds the frames around code blocks, as highlighters and site generators write them.
//!
//! Input: the code blocks of a region. Output: the caption of each block, and the elements to
//! skip: language names, buttons and line numbers. Rejects frames that hold more than one block or
//! other text.

use std::cell::OnceCell;

use html5ever::local_name;

use crate::code;
use crate::dom::Dom;
use crate::survey::{InheritedMarks, PageSurvey};
use crate::tag::Tag;

/// Maximum number of ancestors of a code block that can belong to its frame.
const FARTHEST: usize = 8;
/// Maximum number of children of a frame element, and of items in one child.
const MOST_CHILDREN: usize = 24;
const MOST_ITEMS: u32 = 200;
/// Maximum number of items in a column of line numbers.
const MOST_GUTTER: u32 = 2000;
/// Maximum number of characters around a code block inside its frame.
const MOST_CHARS: u32 = 200;

/// Texts of buttons beside code blocks.
const BUTTONS: &[&str] = &[
    "copied",
    "copied!",
    "copy",
    "copy code",
    "copy snippet",
    "copy to clipboard",
    "copy code to clipboard",
    "copy page",
    "click to copy",
    "expand",
    "collapse",
    "kopieren",
    "copier",
    "copiar",
    "open in playground",
    "run",
    "terminal window",
    "toggle word wrap",
    "view raw",
    "wrap",
];

/// Names of the same language, one line for each language. Names of products and shells that tell
/// one variant of an example from another are not in the list.
const SAME: &[&[&str]] = &[
    &["bash", "sh", "shell", "console", "terminal", "command line", "shell-session"],
    &["batch", "bat", "cmd"],
    &["c#", "csharp", "cs"],
    &["c++", "cpp", "cxx", "cc"],
    &["dockerfile", "docker"],
    &["f#", "fsharp", "fs"],
    &["go", "golang"],
    &["html", "markup"],
    &["javascript", "js", "jsx"],
    &["json", "jsonc", "json5"],
    &["latex", "tex"],
    &["makefile", "make"],
    &["markdown", "md", "mdx"],
    &["objective-c", "objectivec", "objc"],
    &["powershell", "ps1", "pwsh"],
    &["protobuf", "proto"],
    &["python", "py", "python3", "pycon"],
    &["restructuredtext", "rst"],
    &["ruby", "rb"],
    &["rust", "rs"],
    &["sass", "scss"],
    &["typescript", "ts", "tsx"],
    &["visual basic", "vb", "vbnet", "vb.net"],
    &["yaml", "yml"],
];
/// Labels of code blocks without a language.
const NO_LANGUAGE: &[&str] = &["code", "plain", "plain text", "plaintext", "text", "txt"];

/// The captions of the code blocks of a page.
#[derive(Debug, Default)]
pub(crate) struct CodeCaptions {
    /// Pairs of a code block and its caption, sorted by block.
    captions: Vec<(u32, u32)>,
}

impl CodeCaptions {
    /// Finds the frames of the code blocks below `roots`. Adds to `skipped` the elements without
    /// content, and the captions, because captions are read together with their blocks.
    pub(crate) fn of(
        dom: &Dom,
        survey: &PageSurvey,
        roots: &[u32],
        skipped: &mut Vec<u32>,
    ) -> Self {
        let mut frames = Self::default();
        for root in roots {
            for at in dom.subtree(*root) {
                if dom.item(at).tag != Tag::Pre || code::is_gutter(dom, at) {
                    continue;
                }
                let frame = CodeFrame::of(dom, survey, at, *root);
                skipped.extend(frame.skipped);
                if let Some(caption) = frame.caption {
                    frames.captions.push((at, caption));
                    skipped.push(caption);
                }
            }
        }
        frames
    }

    /// Returns the caption of a code block, which is an element or a text.
    pub(crate) fn caption(&self, pre: u32) -> Option<u32> {
        let idx = self.captions.binary_search_by_key(&pre, |(pre, _)| *pre).ok()?;
        self.captions.get(idx).map(|(_, caption)| *caption)
    }
}

/// The frame of one code block: its caption and the elements to skip.
struct CodeFrame<'f> {
    dom: &'f Dom,
    survey: &'f PageSurvey,
    pre: u32,
    /// Programming language of the code block, computed on first use.
    language: OnceCell<Option<String>>,
    caption: Option<u32>,
    skipped: Vec<u32>,
}

impl<'f> CodeFrame<'f> {
    fn of(dom: &'f Dom, survey: &'f PageSurvey, pre: u32, root: u32) -> Self {
        let language = OnceCell::new();
        let mut frame = Self { dom, survey, pre, language, caption: None, skipped: Vec::new() };
        let mut top = pre;
        for up in dom.ancestors(pre).skip(1).take(FARTHEST) {
            let before = (frame.caption, frame.skipped.len());
            if up == root || !frame.takes(up, top) {
                (frame.caption, _) = before;
                frame.skipped.truncate(before.1);
                break;
            }
            top = up;
        }
        frame.take_label_before(top);
        frame
    }

    /// Returns whether an element holds only the code block and the parts of its frame.
    fn takes(&mut self, up: u32, inner: u32) -> bool {
        let Self { dom, survey, pre, .. } = *self;
        let tag = dom.item(up).tag;
        let is_cell = matches!(tag, Tag::Table | Tag::Tbody | Tag::Tr | Tag::Td);
        if !is_cell && !matches!(tag, Tag::Div | Tag::Figure | Tag::Custom | Tag::Span) {
            return false;
        }
        let around = survey.sum(dom, up).chars - survey.sum(dom, pre).chars;
        // A column of line numbers may have more characters than `MOST_CHARS`.
        if !is_cell && tag != Tag::Figure && MOST_CHARS < around {
            return false;
        }
        let mut children = dom.children(up);
        for child in children.by_ref().take(MOST_CHILDREN) {
            if child == inner {
                continue;
            }
            let is_taken = if is_cell { self.is_gutter(child) } else { self.take(child) };
            if !is_taken {
                return false;
            }
        }
        children.next().is_none()
    }

    /// Adds an element beside the code block to the frame; returns `false` if it does not belong to
    /// the frame.
    fn take(&mut self, at: u32) -> bool {
        let Self { dom, survey, .. } = *self;
        let item = dom.item(at);
        if MOST_ITEMS < item.end - at {
            return self.is_gutter(at);
        }
        if item.tag == Tag::Button || survey.marks(at).has(InheritedMarks::UNSEEN) {
            return true;
        }
        let words = dom.words(at);
        if words.is_empty() {
            return !dom.subtree(at).any(|at| matches!(dom.item(at).tag, Tag::Img | Tag::Video));
        }
        // A heading is never a caption: it belongs to a section, even if the section is only a code
        // block.
        let has_heading = || dom.subtree(at).any(|at| dom.item(at).tag.heading().is_some());
        if !is_line(item.tag) || MOST_CHARS < survey.sum(dom, at).chars || has_heading() {
            return self.is_gutter(at);
        }
        if self.is_furniture(&words) {
            self.skipped.push(at);
            return true;
        }
        let parts = self.parts(at);
        let has_furniture = parts
            .iter()
            .any(|part| dom.item(*part).tag != Tag::Text && self.is_furniture(&dom.words(*part)));
        if has_furniture || (parts.len() == 1 && dom.item(parts[0]).tag != Tag::Text) {
            let is_caption = !has_furniture && is_caption(dom, at);
            if !is_caption {
                return parts.into_iter().all(|part| self.take(part));
            }
        }
        let is_caption = is_caption(dom, at) || is_file_name(&words);
        if is_caption && self.caption.is_none() {
            self.caption = Some(at);
            return true;
        }
        false
    }

    /// Returns the visible children of an element that have text.
    fn parts(&self, at: u32) -> Vec<u32> {
        let Self { dom, survey, .. } = *self;
        let is_seen = |child: &u32| {
            let tag = dom.item(*child).tag;
            tag != Tag::Button
                && !survey.marks(*child).has(InheritedMarks::UNSEEN)
                && !dom.words(*child).is_empty()
        };
        dom.children(at).filter(is_seen).collect()
    }

    /// Returns whether an element holds the line numbers of the code block.
    fn is_gutter(&self, at: u32) -> bool {
        let dom = self.dom;
        if MOST_GUTTER < dom.item(at).end - at {
            return false;
        }
        let mut is_pre = false;
        for here in dom.subtree(at) {
            match dom.item(here).tag {
                Tag::Pre => is_pre = true,
                Tag::Text => {
                    let is_number = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
                    if !dom.text(here).bytes().all(is_number) {
                        return false;
                    }
                }
                _ => {}
            }
        }
        is_pre || dom.item(at).tag == Tag::Text
    }

    /// Skips an element directly before the frame that holds the name of the language.
    fn take_label_before(&mut self, top: u32) {
        let dom = self.dom;
        let is_space = |at: &u32| dom.item(*at).tag == Tag::Text && dom.text(*at).trim().is_empty();
        let Some(before) = dom.preceding(top).take(3).find(|at| !is_space(at)) else { return };
        let item = dom.item(before);
        if matches!(item.tag, Tag::Div | Tag::Span)
            && item.end - before < 16
            && (item.tag.is_block() || self.begins_line(before))
            && self.is_furniture(&dom.words(before))
        {
            self.skipped.push(before);
        }
    }

    /// Returns whether an inline element is the first on its line.
    fn begins_line(&self, at: u32) -> bool {
        let dom = self.dom;
        let is_space = |at: &u32| dom.item(*at).tag == Tag::Text && dom.text(*at).trim().is_empty();
        match dom.preceding(at).take(3).find(|at| !is_space(at)) {
            Some(before) => dom.item(before).tag.is_block() || dom.item(before).tag == Tag::Br,
            None => dom.item(dom.item(at).parent).tag.is_block(),
        }
    }

    /// Returns whether a text consists of the language of the code block, button labels, or both.
    /// The name of another language is content, because it may tell one code block from the next.
    fn is_furniture(&self, words: &str) -> bool {
        if 40 < words.len() {
            return false;
        }
        let words = words.to_lowercase();
        let mut rest = words.as_str();
        while let Some(shorter) = BUTTONS.iter().find_map(|button| {
            let shorter = rest.strip_suffix(button)?;
            (shorter.is_empty() || shorter.ends_with(' ')).then(|| shorter.trim_end())
        }) {
            rest = shorter;
        }
        rest.is_empty() || self.is_own_language(rest)
    }

    fn is_own_language(&self, name: &str) -> bool {
        let language = self.language.get_or_init(|| code::language(self.dom, self.pre));
        let Some(language) = language.as_deref() else { return NO_LANGUAGE.contains(&name) };
        let is_same = |names: &&[&str]| names.contains(&language) && names.contains(&name);
        language == name || SAME.iter().any(is_same)
    }
}

/// Returns whether an element can be a line of a frame.
fn is_line(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Text
            | Tag::Div
            | Tag::Span
            | Tag::Figcaption
            | Tag::Header
            | Tag::Custom
            | Tag::A
            | Tag::B
            | Tag::Strong
            | Tag::Em
            | Tag::I
            | Tag::Small
            | Tag::Code
            | Tag::Label
    )
}

/// Returns whether an element is a caption by its tag or its class.
fn is_caption(dom: &Dom, at: u32) -> bool {
    if dom.item(at).tag == Tag::Figcaption {
        return true;
    }
    let Some(class) = dom.attr(at, &local_name!("class")) else { return false };
    class.split_ascii_whitespace().any(|token| {
        let token = token.to_ascii_lowercase();
        ["filename", "file-name", "title", "caption"].iter().any(|name| token.contains(name))
    })
}

/// Returns whether a text looks like the name or path of a file.
fn is_file_name(words: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "._-/\\@~+[]()".contains(c);
    if 100 < words.len() || !words.chars().all(is_path) {
        return false;
    }
    let Some((stem, ending)) = words.rsplit_once('.') else { return words.contains('/') };
    let is_ending = (1..=10).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic());
    is_ending && (!stem.is_empty() || words.len() > 2)
}
