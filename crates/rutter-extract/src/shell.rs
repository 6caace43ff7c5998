//! Detects script shells: pages whose text appears only after scripts run.
//!
//! Input: the tree of a page. Output: the [`ShellSignals`] of the page and their score. The pass stops
//! as soon as the page has enough text of its own, which for most pages is near the top.
//! `docs/extraction-reference.md` lists the signals and their points.

mod embedded;
mod state;

pub(crate) use embedded::{EmbeddedPlace, EmbeddedText, find};

use html5ever::local_name;

use crate::dom::Dom;
use crate::tag::Tag;
use crate::visibility::{is_streamed, is_unrendered};

/// Minimum number of characters of own text with which a page is never a shell.
const ENOUGH: usize = 600;
/// Minimum number of characters of own text with which an empty mount element alone does not make a
/// page a shell: the element may be a widget on a short page.
const SOME: usize = 50;
/// Minimum score of a shell.
const THRESHOLD: i32 = 5;
/// Maximum number of bytes of a line that can be a request for scripts or a loading message.
const LONGEST_REQUEST: usize = 300;

/// The source of the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TextSource {
    /// The elements of the page.
    #[default]
    Elements,
    /// JSON-LD: `articleBody` or `text`.
    JsonLd,
    /// The state of a Next.js page, `__NEXT_DATA__`.
    NextData,
    /// The state of a Nuxt page, `__NUXT__` or `__NUXT_DATA__`.
    NuxtData,
    /// A `noscript` element.
    Noscript,
}

impl TextSource {
    /// Returns the display name of the source.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elements => "elements",
            Self::JsonLd => "JSON-LD",
            Self::NextData => "__NEXT_DATA__",
            Self::NuxtData => "__NUXT__",
            Self::Noscript => "noscript",
        }
    }
}

/// Requests to turn scripts on. Each is a phrase that a text about JavaScript does not contain.
const REQUESTS: [&str; 16] = [
    "activate javascript",
    "activer javascript",
    "allow javascript",
    "enable javascript",
    "javascript aktivieren",
    "javascript disabled",
    "javascript enabled",
    "javascript is disabled",
    "javascript is not enabled",
    "javascript is required",
    "javascript to be enabled",
    "javascript to run",
    "needs javascript",
    "requires javascript",
    "turn on javascript",
    "without javascript",
];

/// Prefixes of loading messages.
const LOADING: [&str; 12] = [
    "loading",
    "please wait",
    "just a moment",
    "one moment",
    "wird geladen",
    "bitte warten",
    "chargement",
    "cargando",
    "caricamento",
    "carregando",
    "\u{52a0}\u{8f7d}\u{4e2d}",
    "\u{8aad}\u{307f}\u{8fbc}\u{307f}\u{4e2d}",
];

/// Ids of mount elements: elements into which a framework writes the content.
const MOUNTS: [&str; 12] = [
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "__layout",
    "app-root",
    "react-root",
    "react-app",
    "svelte",
    "vue-app",
    "q-app",
];

/// Attributes of mount elements.
const MOUNT_ATTRIBUTES: [&str; 4] = ["data-reactroot", "data-v-app", "ng-view", "ui-view"];

/// Signals that the text of a page appears only after scripts run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a signal of its own")]
pub(crate) struct ShellSignals {
    /// Number of characters of own text: text outside menus, footers and `noscript`, without
    /// requests for scripts and loading messages. Counted up to a little over 600.
    pub(crate) own_chars: usize,
    /// Number of characters in menus and footers.
    pub(crate) frame_chars: usize,
    /// Whether some of the own text is in paragraphs, headings, lists or tables.
    pub(crate) has_prose: bool,
    /// Whether a mount element is empty.
    pub(crate) has_empty_mount: bool,
    /// Whether the page asks its readers to turn scripts on, in its text or in `noscript`.
    pub(crate) asks_for_scripts: bool,
    /// Whether the page shows a loading message or a loading indicator.
    pub(crate) is_loading: bool,
    /// Whether the page contains the state of a framework.
    pub(crate) has_payload: bool,
    /// Whether the page has a script that runs.
    pub(crate) has_script: bool,
    /// Whether a script of the page is a module or an application bundle.
    pub(crate) has_bundle: bool,
    /// Size of the inline scripts, in per cent of the page.
    pub(crate) script_share: usize,
    /// Whether the page shows images, videos or embedded pages.
    pub(crate) has_media: bool,
}

impl ShellSignals {
    /// Returns the score of the page. A page with a score of at least [`THRESHOLD`] is a shell.
    pub(crate) fn score(&self) -> i32 {
        let is_announced = self.asks_for_scripts || self.is_loading || self.has_payload;
        if ENOUGH <= self.own_chars || !self.has_script || (SOME <= self.own_chars && !is_announced)
        {
            return 0;
        }
        let by_text = match self.own_chars {
            0 if self.frame_chars == 0 => 4,
            0..SOME => 2,
            SOME..200 => 1,
            _ => -2,
        };
        let points = |is_there: bool, points: i32| if is_there { points } else { 0 };
        by_text
            + points(self.has_empty_mount, 4)
            + points(self.asks_for_scripts, 3)
            + points(self.is_loading, 2)
            + points(self.has_payload, 1)
            + points(self.has_bundle, 1)
            + points(self.has_script, 1)
            + points(50 < self.script_share, 1)
            + points(self.has_prose, -3)
            + points(self.has_media, -3)
    }

    pub(crate) fn is_shell(&self) -> bool {
        THRESHOLD <= self.score()
    }

    /// Returns the signals that add points, as text for findings.
    pub(crate) fn shown(&self) -> String {
        let mut parts = vec![format!("{} characters of text", self.own_chars)];
        for (is_there, name) in [
            (self.has_empty_mount, "an empty element for scripts to fill"),
            (self.asks_for_scripts, "a request to turn scripts on"),
            (self.is_loading, "a sign of loading"),
            (self.has_payload, "the state of a framework"),
            (self.has_bundle, "a bundle of scripts"),
        ] {
            if is_there {
                parts.push(name.to_owned());
            }
        }
        parts.join(", ")
    }

    /// Collects the signals of a page of `n_bytes` bytes. A heading that repeats the title is not
    /// own text.
    pub(crate) fn of(dom: &Dom, n_bytes: usize, title: Option<&str>) -> Self {
        let mut scan = SignalScan { title: title.map(str::to_lowercase), ..SignalScan::default() };
        if let Some(body) = dom.body {
            scan.text(dom, body);
            if scan.signals.own_chars < ENOUGH {
                scan.scripts(dom, n_bytes);
            }
        }
        scan.signals
    }
}

/// State of the pass over a page that collects its signals.
#[derive(Default)]
struct SignalScan {
    signals: ShellSignals,
    /// The title of the page in lower case, until a heading repeats it.
    title: Option<String>,
    /// Text of the current line, and whether the line is prose.
    line: String,
    is_prose: bool,
    /// End of the menu or footer that contains the current item.
    frame_end: u32,
    /// End positions of the open mount elements, with the number of own characters before each.
    mounts: Vec<(u32, usize)>,
    /// Whether the server streamed the content of the mount elements after them.
    is_streamed: bool,
}

impl SignalScan {
    /// Reads the text of the body, until the page has enough own text.
    fn text(&mut self, dom: &Dom, body: u32) {
        let mut at = body + 1;
        let end = dom.item(body).end;
        while at < end && self.signals.own_chars < ENOUGH {
            let item = dom.item(at);
            if self.frame_end != 0 && self.frame_end <= at {
                self.end_line(at);
                self.frame_end = 0;
            }
            self.close_mounts(at);
            if item.tag == Tag::Text {
                dom.append(at, &mut self.line);
                at += 1;
                continue;
            }
            if item.tag == Tag::Noscript {
                self.end_line(at);
                self.noscript(dom, at);
            }
            self.media(dom, at);
            let is_skipped = matches!(item.tag, Tag::Noscript | Tag::Button)
                || item.tag.is_silent()
                || is_unrendered(dom, at);
            if is_skipped {
                at = item.end;
                continue;
            }
            if item.tag.is_block() || item.tag == Tag::Br {
                self.end_line(at);
                self.is_prose = is_prose(item.tag);
            }
            self.element(dom, at, item.parent == body);
            at += 1;
        }
        self.end_line(end);
        self.close_mounts(end);
        if self.is_streamed {
            (self.signals.has_empty_mount, self.signals.is_loading) = (false, false);
        }
    }

    /// Updates the signals from the tag, the id and the classes of an element.
    fn element(&mut self, dom: &Dom, at: u32, is_in_body: bool) {
        let item = dom.item(at);
        if self.frame_end == 0 && is_frame(dom, at) {
            self.frame_end = item.end;
        }
        if is_mount(dom, at) || (is_in_body && item.tag == Tag::Custom) {
            // Flushes the line that was read before this element.
            self.end_line(at);
            self.mounts.push((item.end, self.signals.own_chars));
        }
        self.is_streamed |= is_streamed(dom, at);
        let class = dom.attr(at, &local_name!("class")).unwrap_or("");
        self.signals.is_loading |= class.len() < 200
            && item.end - at < 40
            && class.split_ascii_whitespace().any(is_loading_name);
    }

    fn close_mounts(&mut self, at: u32) {
        while let Some((_, before)) = self.mounts.pop_if(|(end, _)| *end <= at) {
            self.end_line(at);
            self.signals.has_empty_mount |= self.signals.own_chars == before;
        }
    }

    /// Counts the characters of the line that was read, or records the signal that the line is.
    fn end_line(&mut self, at: u32) {
        let line = self.line.trim();
        let (signals, is_short) = (&mut self.signals, line.len() < LONGEST_REQUEST);
        let lower = if is_short { line.to_lowercase() } else { String::new() };
        if line.is_empty() {
        } else if is_short && REQUESTS.iter().any(|request| lower.contains(request)) {
            signals.asks_for_scripts = true;
        } else if line.len() < 60 && LOADING.iter().any(|start| lower.starts_with(start)) {
            signals.is_loading = true;
        } else if self.title.take_if(|title| is_title(title, &lower)).is_some() {
        } else if at <= self.frame_end {
            signals.frame_chars += line.chars().count();
        } else {
            signals.own_chars += line.chars().take(2 * ENOUGH).count();
            signals.has_prose |= self.is_prose;
        }
        self.line.clear();
        self.is_prose = false;
    }

    fn noscript(&mut self, dom: &Dom, at: u32) {
        let mut text = String::new();
        for inside in dom.subtree(at).take(200) {
            dom.append_text(inside, &mut text);
        }
        let text = text.to_lowercase();
        let is_request = text.len() < LONGEST_REQUEST
            && (text.contains("javascript") || REQUESTS.iter().any(|it| text.contains(it)));
        self.signals.asks_for_scripts |= is_request;
    }

    fn media(&mut self, dom: &Dom, at: u32) {
        let is_dot = |name: &str| {
            let size = dom.attribute(at, name).and_then(|value| value.trim().parse::<u32>().ok());
            size.is_some_and(|size| size <= 2)
        };
        self.signals.has_media |= match dom.item(at).tag {
            Tag::Img | Tag::Iframe => {
                let is_seen = !is_dot("width") && !is_dot("height") && !is_unrendered(dom, at);
                is_seen && dom.attr(at, &local_name!("src")).is_some_and(|src| !src.is_empty())
            }
            Tag::Picture | Tag::Video | Tag::Audio | Tag::Object | Tag::Embed => true,
            _ => false,
        };
    }

    /// Collects signals from the scripts of the page and from `link` elements that preload scripts.
    fn scripts(&mut self, dom: &Dom, n_bytes: usize) {
        let mut n_inside = 0;
        for at in (0..dom.len()).filter(|at| dom.item(*at).tag == Tag::Link) {
            let rel = dom.attr(at, &local_name!("rel")).unwrap_or("");
            let is_script = rel == "modulepreload"
                || (rel == "preload" && dom.attribute(at, "as") == Some("script"));
            self.signals.has_script |= is_script;
            self.signals.has_bundle |= is_script;
        }
        for at in (0..dom.len()).filter(|at| dom.item(*at).tag == Tag::Script) {
            let kind = dom.attr(at, &local_name!("type")).unwrap_or("").trim().to_ascii_lowercase();
            let is_run = kind.is_empty() || kind == "module" || kind.ends_with("javascript");
            let signals = &mut self.signals;
            signals.has_script |= is_run;
            signals.has_bundle |= kind == "module";
            if let Some(src) = dom.attr(at, &local_name!("src")) {
                signals.has_bundle |= is_run && is_bundle(src);
                continue;
            }
            let text = dom.children(at).map(|inside| dom.text(inside)).next().unwrap_or("");
            let id = dom.attr(at, &local_name!("id")).unwrap_or("");
            signals.has_payload |= state::is_state(id, text);
            if !kind.ends_with("ld+json") {
                n_inside += text.len();
            }
        }
        self.signals.script_share = 100 * n_inside / n_bytes.max(1);
    }
}

/// Returns whether a line is the title of the page, with or without the name of the site.
fn is_title(title: &str, line: &str) -> bool {
    let is_line = |part: &str| part.trim() == line;
    is_line(title) || title.split(['|', '-', '\u{2013}', '\u{2014}', '\u{b7}']).any(is_line)
}

fn is_prose(tag: Tag) -> bool {
    tag.heading().is_some()
        || matches!(tag, Tag::P | Tag::Li | Tag::Td | Tag::Th | Tag::Dd | Tag::Dt | Tag::Blockquote)
        || matches!(tag, Tag::Pre | Tag::Figcaption | Tag::Address)
}

fn is_frame(dom: &Dom, at: u32) -> bool {
    matches!(dom.item(at).tag, Tag::Nav | Tag::Footer)
        || matches!(
            dom.attr(at, &local_name!("role")),
            Some("navigation" | "contentinfo" | "banner")
        )
}

fn is_mount(dom: &Dom, at: u32) -> bool {
    matches!(dom.item(at).tag, Tag::Div | Tag::Main | Tag::Section | Tag::Custom)
        && dom.attributes(at).any(|(name, value)| {
            (name == "id" && MOUNTS.contains(&value)) || MOUNT_ATTRIBUTES.contains(&name)
        })
}

/// Returns whether a class names a loading indicator, such as `spinner` or `loader-inner`.
fn is_loading_name(class: &str) -> bool {
    ["spinner", "loader", "loading", "preloader", "skeleton", "splash"].iter().any(|name| {
        let start = class.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
        start
            && class.get(name.len()..).is_some_and(|it| it.is_empty() || it.starts_with(['-', '_']))
    })
}

/// Returns whether a script is an application bundle, by its URL.
fn is_bundle(src: &str) -> bool {
    let path = src.split(['?', '#']).next().unwrap_or("").to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or("");
    let starts = ["app", "bundle", "chunk", "index", "main", "polyfills", "runtime", "vendor"];
    ["/_next/", "/_nuxt/", "/static/js/"].iter().any(|part| path.contains(part))
        || name.contains("bundle")
        || name.contains("chunk")
        || starts.iter().any(|start| {
            name.strip_prefix(start)
                .is_some_and(|rest| rest.starts_with(['.', '-', '_', '~']) && rest.contains(".js"))
        })
}

#[cfg(test)]
mod tests;
