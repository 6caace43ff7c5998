//! Reads pictures, videos and audio.
//!
//! Input: an `img`, `picture`, `video`, `audio` or `iframe` element. Output: an image, video or
//! audio block with captions, chapters and transcript. Rejects placeholders, counters, spacers and
//! icons.

use html5ever::local_name;
use rutter_page::{
    AudioBlock, Block, Caption, Chapter, HttpUrl, Icon, IconType, ImageBlock, MediaDuration,
    MediaLink, NameField, PixelLength, RecordingUrls, VideoBlock, WholeSeconds,
};

use crate::address::BaseUrl;
use crate::dom::Dom;
use crate::tag::Tag;

/// Returns the image that an element shows; `None` if it shows none, or only a decoration.
pub(crate) fn image(dom: &Dom, at: u32, base: &BaseUrl) -> Option<ImageBlock<'static>> {
    let img = if dom.item(at).tag == Tag::Picture {
        dom.subtree(at).find(|at| dom.item(*at).tag == Tag::Img)?
    } else {
        at
    };
    if is_decoration(dom, img) {
        return None;
    }
    let sources = || {
        let sources = dom.subtree(at).filter(|at| dom.item(*at).tag == Tag::Source);
        sources.into_iter().find_map(|source| source_set(dom, source, base))
    };
    let address =
        source(dom, img, base).or_else(sources).or_else(|| scriptless_source(dom, at, base))?;
    let alt = dom.attr(img, &local_name!("alt")).unwrap_or("");
    let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
    let url = HttpUrl::parse(address).ok()?;
    Some(ImageBlock { url, alt: alt.into(), extra: Vec::new() })
}

/// Returns the alternative text of an image that replaces text of at most three characters.
pub(crate) fn glyph(dom: &Dom, at: u32) -> Option<&str> {
    let alt = dom.attr(at, &local_name!("alt"))?;
    (0 < alt.chars().count() && alt.chars().count() <= 3).then_some(alt)
}

fn source(dom: &Dom, img: u32, base: &BaseUrl) -> Option<String> {
    let plain = dom.attr(img, &local_name!("src")).filter(|src| !is_placeholder(src));
    // Lazy-loading scripts take the image that readers see from one of these attributes.
    let lazy = [
        "data-src",
        "data-lazy-src",
        "data-original",
        "data-lazy",
        "data-hi-res-src",
        "data-url",
        "data-image",
    ]
    .iter()
    .find_map(|name| dom.attribute(img, name))
    .filter(|src| !is_placeholder(src));
    let address = plain.or(lazy).and_then(|src| base.resolve(src));
    address.or_else(|| source_set(dom, img, base))
}

/// Returns the URL of the image in a `noscript` element beside an image.
fn scriptless_source(dom: &Dom, at: u32, base: &BaseUrl) -> Option<String> {
    let parent = dom.item(at).parent;
    let is_wrapper = matches!(dom.items.get(parent as usize)?.tag, Tag::Span | Tag::Div);
    let around = is_wrapper.then_some(parent).into_iter().flat_map(|up| dom.following(up).take(2));
    let copy = dom
        .following(at)
        .take(2)
        .chain(around)
        .find(|beside| dom.item(*beside).tag == Tag::Noscript)?;
    let img = dom.subtree(copy).take(12).find(|at| dom.item(*at).tag == Tag::Img)?;
    source(dom, img, base)
}

/// Returns the URL of the largest image in a `srcset` (HTML, section 4.8.4.2.1).
fn source_set(dom: &Dom, at: u32, base: &BaseUrl) -> Option<String> {
    let set = ["srcset", "data-srcset", "data-lazy-srcset"]
        .iter()
        .find_map(|name| dom.attribute(at, name))?;
    let mut best: Option<(f32, &str)> = None;
    let mut rest = set;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (src, behind) = rest.split_at(end);
        if src.is_empty() {
            break;
        }
        // A comma directly after the URL ends the candidate.
        let (size, next) = if src.ends_with(',') {
            ("", behind)
        } else {
            behind.split_once(',').unwrap_or((behind, ""))
        };
        rest = next;
        let src = src.trim_end_matches(',');
        if is_placeholder(src) {
            continue;
        }
        let size = size.trim().trim_end_matches(['w', 'x', 'h']).parse().unwrap_or(1.0);
        if best.is_none_or(|(largest, _)| largest < size) {
            best = Some((size, src));
        }
    }
    best.and_then(|(_, src)| base.resolve(src))
}

fn is_placeholder(src: &str) -> bool {
    let src = src.trim();
    if src.is_empty() || src.starts_with("data:") || src.starts_with("about:") {
        return true;
    }
    // Only the file name is compared, because paths of image services contain such words.
    let path = src.split(['?', '#']).next().unwrap_or(src);
    let lower = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    [
        "placeholder",
        "spacer.",
        "blank.gif",
        "pixel.gif",
        "transparent.gif",
        "-pixel.gif",
        "1x1.",
        "vide.gif",
    ]
    .iter()
    .any(|word| lower.contains(word))
        || lower.starts_with("empty.")
}

/// Returns whether an image is a counter, a spacer or an icon.
fn is_decoration(dom: &Dom, at: u32) -> bool {
    let size = |name: &str| {
        let value = dom.attribute(at, name)?;
        value.trim_end_matches("px").trim().parse::<u32>().ok()
    };
    // A size of 0 is not a real size.
    let is_tiny = |pixels: Option<u32>| pixels.is_some_and(|pixels| (1..=24).contains(&pixels));
    if is_tiny(size("width")) || is_tiny(size("height")) {
        return true;
    }
    let src = dom.attr(at, &local_name!("src")).unwrap_or("");
    if src.contains("avatar") {
        return true;
    }
    let class = dom.attr(at, &local_name!("class")).unwrap_or("");
    let role = dom.attr(at, &local_name!("role")).unwrap_or("");
    role == "presentation"
        || class.split_ascii_whitespace().any(|token| {
            matches!(token, "emoji" | "icon" | "wp-smiley" | "avatar") || token.ends_with("-icon")
        })
}

/// Returns the video or audio recording that an element plays.
pub(crate) fn recording(dom: &Dom, at: u32, base: &BaseUrl) -> Option<Block<'static>> {
    match dom.item(at).tag {
        Tag::Video => film(dom, at, base),
        Tag::Audio => sound(dom, at, base),
        _ => embedded(dom, at, base),
    }
}

fn film(dom: &Dom, at: u32, base: &BaseUrl) -> Option<Block<'static>> {
    let url = addresses(dom, at, base, "video/mp4")?;
    let poster = dom.attribute(at, "poster").and_then(|src| base.resolve(src));
    let icon = poster.and_then(|poster| HttpUrl::parse(poster).ok()).map(|url| Icon {
        kind: Some(IconType::Image),
        url: Some(url),
        extra: Vec::new(),
    });
    let pixels = |name: &str| {
        dom.attribute(at, name).and_then(|value| value.trim().parse().ok()).map(PixelLength)
    };
    let name = name(dom, at, url.first());
    let captions = captions(dom, at, base);
    Some(Block::Video(Box::new(VideoBlock {
        name: name.into(),
        url,
        duration: duration(dom, at),
        width: pixels("width"),
        height: pixels("height"),
        icon,
        summary: None,
        captions: (!captions.is_empty()).then_some(captions),
        chapters: None,
        transcript: None,
        extra: Vec::new(),
    })))
}

fn sound(dom: &Dom, at: u32, base: &BaseUrl) -> Option<Block<'static>> {
    let url = addresses(dom, at, base, "audio/mpeg")?;
    let name = name(dom, at, url.first());
    let stated =
        |name: &str| dom.attribute(at, name).map(|value| NameField(value.to_owned().into()));
    Some(Block::Audio(Box::new(AudioBlock {
        name: name.into(),
        url,
        duration: duration(dom, at),
        icon: None,
        summary: None,
        attributed_to: stated("data-creator"),
        part_of: stated("data-series"),
        chapters: None,
        transcript: None,
        extra: Vec::new(),
    })))
}

/// Returns the video of an embedded player. An `iframe` is a player if it may fill the screen or
/// play automatically, or if its URL is that of a player.
fn embedded(dom: &Dom, at: u32, base: &BaseUrl) -> Option<Block<'static>> {
    let src = ["src", "data-src", "data-lazy-src", "data"]
        .iter()
        .find_map(|name| dom.attribute(at, name))?;
    let address = base.resolve(src)?;
    let (_, rest) = address.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let is_player = dom.attribute(at, "allowfullscreen").is_some()
        || dom
            .attribute(at, "allow")
            .is_some_and(|allow| allow.contains("autoplay") || allow.contains("fullscreen"))
        || path.starts_with("embed/")
        || path.contains("/embed/")
        || host.starts_with("player.");
    if !is_player || path.is_empty() {
        return None;
    }
    let name = name(dom, at, &address);
    let url = RecordingUrls::One(HttpUrl::parse(address).ok()?);
    Some(Block::Video(Box::new(VideoBlock {
        name: name.into(),
        url,
        duration: None,
        width: None,
        height: None,
        icon: None,
        summary: None,
        captions: None,
        chapters: None,
        transcript: None,
        extra: Vec::new(),
    })))
}

fn addresses(dom: &Dom, at: u32, base: &BaseUrl, usual: &str) -> Option<RecordingUrls<'static>> {
    let mut found: Vec<MediaLink<'static>> = Vec::new();
    let own = dom.attr(at, &local_name!("src")).or_else(|| dom.attribute(at, "data-src"));
    let sources = dom.subtree(at).filter(|at| dom.item(*at).tag == Tag::Source);
    let all = own.map(|src| (src, None)).into_iter().chain(sources.filter_map(|at| {
        let src = dom.attr(at, &local_name!("src"))?;
        Some((src, dom.attr(at, &local_name!("type"))))
    }));
    for (src, kind) in all {
        let Some(href) = base.resolve(src).and_then(|url| HttpUrl::parse(url).ok()) else {
            continue;
        };
        let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        let media_type = kind.filter(|kind| kind.contains('/')).unwrap_or(usual).to_owned();
        found.push(MediaLink { href, media_type: media_type.into(), rel: None, extra: Vec::new() });
    }
    match found.len() {
        0 => None,
        1 => found.pop().map(|link| RecordingUrls::One(link.href)),
        _ => Some(RecordingUrls::Many(found)),
    }
}

fn captions(dom: &Dom, at: u32, base: &BaseUrl) -> Vec<Caption<'static>> {
    let tracks = dom.subtree(at).filter(|at| dom.item(*at).tag == Tag::Track);
    let caption = |at: u32| {
        let kind = dom.attribute(at, "kind").unwrap_or("subtitles");
        if !matches!(kind, "subtitles" | "captions") {
            return None;
        }
        let url = HttpUrl::parse(base.resolve(dom.attr(at, &local_name!("src"))?)?).ok()?;
        let language = dom.attribute(at, "srclang")?.to_owned();
        let label = dom.attr(at, &local_name!("label")).unwrap_or(&language).to_owned();
        Some(Caption { language: language.into(), url, label: label.into(), extra: Vec::new() })
    };
    tracks.filter_map(caption).collect()
}

/// Returns the name of a recording: its title, else its caption, else its file name.
fn name(dom: &Dom, at: u32, url: &str) -> String {
    let own = ["title", "aria-label", "data-title"].iter().find_map(|name| dom.attribute(at, name));
    let own = own.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    let figure = dom.ancestors(at).skip(1).take(3).find(|up| dom.item(*up).tag == Tag::Figure);
    let caption = || {
        let figure = figure?;
        let caption =
            dom.subtree(figure).take(200).find(|at| dom.item(*at).tag == Tag::Figcaption)?;
        Some(dom.words(caption))
    };
    let file = || {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        path.trim_end_matches('/').rsplit('/').next().unwrap_or(url).to_owned()
    };
    own.filter(|name| !name.is_empty())
        .or_else(|| caption().filter(|name| !name.is_empty()))
        .unwrap_or_else(file)
}

/// The elements of a figure that describe its recording.
pub(crate) struct RecordingParts {
    caption: Option<u32>,
    chapters: Option<u32>,
    transcript: Option<u32>,
}

impl RecordingParts {
    /// Returns the elements that were found.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        [self.caption, self.chapters, self.transcript].into_iter().flatten()
    }
}

/// Finds the caption, chapters and transcript of a recording in its figure.
pub(crate) fn parts(dom: &Dom, figure: u32) -> RecordingParts {
    let has_class = |at: u32, wanted: &str| {
        let class = dom.attr(at, &local_name!("class")).unwrap_or("");
        class.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(wanted))
    };
    let find = |is: &dyn Fn(u32) -> bool| dom.subtree(figure).skip(1).find(|at| is(*at));
    let is_list = |at: u32| matches!(dom.item(at).tag, Tag::Ol | Tag::Ul);
    RecordingParts {
        caption: find(&|at| dom.item(at).tag == Tag::Figcaption),
        chapters: find(&|at| {
            is_list(at) && has_class(at, "chapters") && !marks(dom, at).is_empty()
        }),
        transcript: find(&|at| has_class(at, "transcript")),
    }
}

/// Returns the chapters in a list whose items have a start time in seconds.
fn marks(dom: &Dom, list: u32) -> Vec<Chapter<'static>> {
    let items = dom.children(list).filter(|at| dom.item(*at).tag == Tag::Li);
    let chapter = |at: u32| {
        let time = dom.attribute(at, "data-time").or_else(|| dom.attribute(at, "data-start"))?;
        let time: f64 = time.trim().parse().ok()?;
        if !(0.0..1e9).contains(&time) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let time = WholeSeconds(time as u64);
        Some(Chapter { time, title: dom.words(at).into(), extra: Vec::new() })
    };
    items.map(chapter).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Adds the caption, chapters and transcript of a figure to its recording.
pub(crate) fn with_parts(
    dom: &Dom,
    block: Block<'static>,
    parts: &RecordingParts,
) -> Block<'static> {
    let words = |at: Option<u32>| at.map(|at| dom.words(at)).filter(|words| !words.is_empty());
    let own_summary = words(parts.caption);
    let transcript = parts.transcript.map(|at| {
        let label = dom.subtree(at).find(|at| dom.item(*at).tag == Tag::Summary);
        let all = dom.words(at);
        let label = label.map(|at| dom.words(at)).unwrap_or_default();
        all.strip_prefix(&label).unwrap_or(&all).trim().to_owned()
    });
    let transcript = transcript.filter(|words| !words.is_empty());
    let chapters = parts.chapters.map(|at| marks(dom, at)).filter(|marks| !marks.is_empty());
    match block {
        Block::Video(mut video) => {
            video.summary = own_summary.filter(|words| **words != *video.name).map(Into::into);
            video.chapters = chapters;
            video.transcript = transcript.map(Into::into);
            Block::Video(video)
        }
        Block::Audio(mut audio) => {
            audio.summary = own_summary.filter(|words| **words != *audio.name).map(Into::into);
            audio.chapters = chapters;
            audio.transcript = transcript.map(Into::into);
            Block::Audio(audio)
        }
        other => other,
    }
}

/// Returns the duration that an element states, in the form of SCP.
fn duration(dom: &Dom, at: u32) -> Option<MediaDuration<'static>> {
    MediaDuration::parse(dom.attribute(at, "data-duration")?.trim().to_owned())
}
