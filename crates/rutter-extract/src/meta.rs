//! Collects the metadata of a page and chooses between its sources.
//!
//! Input: the tree. Output: [`FoundMetadata`]: title, description, author, dates, language, image, links.
//! `docs/extraction-reference.md` lists the order of sources for each field; this module defines
//! it. Rejects values that do not parse and dates that contradict each other.

use html5ever::local_name;
use rutter_page::{LanguageTag, Timestamp};

use crate::address::BaseUrl;
use crate::date;
use crate::dom::Dom;
use crate::facts::{AlternateVersion, Facts, HeadLink, RobotsMeta};
use crate::json_ld::{self, JsonLd};
use crate::tag::Tag;
use crate::time_role::{TimeRole, is_bare_date, is_date_class, is_in_comment, role_of_time};
use crate::title::{unescape, without_site};

/// The metadata in the `meta`, `link` and `script` elements and in the body of a page.
#[derive(Debug, Default)]
pub(crate) struct FoundMetadata {
    /// Names (in lower case) and values of the `meta` elements, in document order.
    pub(crate) metas: Vec<(String, String)>,
    pub(crate) links: Vec<HeadLink>,
    pub(crate) json_ld: Vec<JsonLd>,
    pub(crate) title: Option<String>,
    pub(crate) base: Option<String>,
    pub(crate) lang: Option<String>,
    /// The first headings of level 1 and 2.
    pub(crate) headings: Vec<String>,
    /// Kinds and values of `itemprop` and `rel` attributes in the body.
    props: Vec<(&'static str, String)>,
    /// Number of entries of `props` before the first `h1`.
    n_before: usize,
    /// Number of elements that were examined as authors or dates.
    n_tried: usize,
    times: Vec<String>,
    /// Number of `time` elements that were examined.
    n_times: usize,
    /// Number of JSON-LD blocks that could not be parsed.
    pub(crate) n_broken: usize,
}

impl FoundMetadata {
    pub(crate) fn of(dom: &Dom, most_json: usize) -> Self {
        let mut found = Self::default();
        // Consecutive elements often have the same class.
        let mut last_class = ("", ClassKind::Other);
        let mut at = 0;
        while at < dom.len() {
            let item = dom.item(at);
            if item.tag == Tag::Text {
                at += 1;
                continue;
            }
            match item.tag {
                // Most elements have no metadata, so this case comes first.
                tag if !says_something(tag) => {}
                Tag::Html => {
                    found.lang = dom
                        .attr(at, &local_name!("lang"))
                        .or_else(|| dom.attribute(at, "xml:lang"))
                        .map(str::to_owned);
                }
                Tag::Title if found.title.is_none() => {
                    found.title = Some(dom.words(at)).filter(|title| !title.is_empty());
                }
                Tag::Base if found.base.is_none() => {
                    found.base = dom.attr(at, &local_name!("href")).map(str::to_owned);
                }
                Tag::Meta => found.meta(dom, at),
                Tag::Link => found.link(dom, at),
                Tag::Script => {
                    found.script(dom, at, most_json);
                    at = item.end;
                    continue;
                }
                Tag::Style | Tag::Svg => {
                    at = item.end;
                    continue;
                }
                Tag::H1 | Tag::H2 if found.headings.len() < 6 => {
                    if item.tag == Tag::H1 && found.n_before == 0 {
                        found.n_before = found.props.len();
                    }
                    found
                        .headings
                        .extend(Some(dom.words(at)).filter(|heading| !heading.is_empty()));
                }
                Tag::Time if found.n_times < 32 => {
                    found.n_times += 1;
                    let value = time_value(dom, at);
                    match role_of_time(dom, at) {
                        Some(TimeRole::Update) => found.props.push(("modified", value)),
                        Some(TimeRole::Publication) => found.times.push(value),
                        None => {}
                    }
                }
                _ => {}
            }
            if found.props.len() < 64 && found.n_tried < 256 {
                found.prop(dom, at, &mut last_class);
            }
            at += 1;
        }
        found
    }

    fn meta(&mut self, dom: &Dom, at: u32) {
        let names = ["name", "property", "http-equiv", "itemprop"];
        let name = names.iter().find_map(|name| dom.attribute(at, name));
        let content = dom.attr(at, &local_name!("content"));
        if let (Some(name), Some(content)) = (name, content) {
            let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
            // One `meta` element may have several names; `dc:title` is stored as `dc.title`.
            for name in name.split_ascii_whitespace() {
                if !content.is_empty() && self.metas.len() < 1000 {
                    let name = name.to_ascii_lowercase();
                    let name =
                        name.strip_prefix("dc:").map(|rest| format!("dc.{rest}")).unwrap_or(name);
                    let name = name
                        .strip_prefix("dcterms:")
                        .map(|rest| format!("dcterms.{rest}"))
                        .unwrap_or(name);
                    self.metas.push((name, content.clone()));
                }
            }
        }
    }

    fn link(&mut self, dom: &Dom, at: u32) {
        let (Some(rel), Some(href)) =
            (dom.attr(at, &local_name!("rel")), dom.attr(at, &local_name!("href")))
        else {
            return;
        };
        let own = |name: &str| dom.attribute(at, name).map(|value| value.trim().to_owned());
        if self.links.len() < 1000 {
            self.links.push(HeadLink {
                rel: rel.to_ascii_lowercase(),
                href: href.to_owned(),
                hreflang: own("hreflang"),
                media_type: own("type"),
                title: own("title"),
            });
        }
    }

    fn script(&mut self, dom: &Dom, at: u32, most: usize) {
        let kind = dom.attr(at, &local_name!("type")).unwrap_or("");
        if !kind.trim().to_ascii_lowercase().starts_with("application/ld+json")
            || 64 <= self.json_ld.len()
        {
            return;
        }
        let source: String = dom.subtree(at).skip(1).map(|at| dom.text(at)).collect();
        match JsonLd::parse(&source, most) {
            Some(block) => self.json_ld.push(block),
            None if source.trim().is_empty() => {}
            None => self.n_broken += 1,
        }
    }

    fn prop<'d>(&mut self, dom: &'d Dom, at: u32, last_class: &mut (&'d str, ClassKind)) {
        for (name, value) in dom.atoms(at) {
            let kind = match *name {
                local_name!("itemprop") => match value.split_ascii_whitespace().next() {
                    Some("author") => "author",
                    Some("datePublished") => "published",
                    Some("dateModified") => "modified",
                    _ => continue,
                },
                local_name!("rel") if value == "author" && dom.item(at).tag == Tag::A => "author",
                local_name!("class") => {
                    if last_class.0 != value {
                        *last_class = (value, ClassKind::of(value));
                    }
                    match last_class.1 {
                        ClassKind::Other => continue,
                        ClassKind::Byline => "byline",
                        ClassKind::Date => {
                            self.n_tried += 1;
                            self.dated(dom, at);
                            continue;
                        }
                    }
                }
                _ => continue,
            };
            self.n_tried += 1;
            if kind != "author" && kind != "byline" && is_in_comment(dom, at) {
                continue;
            }
            let value = match kind {
                "published" | "modified" => dom
                    .attribute(at, "content")
                    .or_else(|| dom.attribute(at, "datetime"))
                    .map_or_else(|| dom.words(at), str::to_owned),
                _ => author_in(dom, at),
            };
            if !value.is_empty() && value.len() < 200 {
                self.props.push((kind, value));
            }
        }
    }

    /// Reads the date of an element whose class names a date, but which is not a `time` element.
    fn dated(&mut self, dom: &Dom, at: u32) {
        // A larger element is a list of dates or a part of the page.
        const MOST_ITEMS: u32 = 12;
        let is_small = dom.item(at).end - at <= MOST_ITEMS;
        // An element inside this one is more specific.
        let is_other = |inside: u32| {
            dom.item(inside).tag == Tag::Time
                || dom.attr(inside, &local_name!("class")).is_some_and(is_date_class)
        };
        if !is_small || dom.subtree(at).skip(1).any(is_other) || dom.item(at).tag == Tag::Time {
            return;
        }
        let text = dom.words(at);
        if !is_bare_date(&text) || date::parse(&text).is_none() {
            return;
        }
        match role_of_time(dom, at) {
            Some(TimeRole::Update) => self.props.push(("modified", text)),
            Some(TimeRole::Publication) => self.times.push(text),
            None => {}
        }
    }

    /// Returns the first value of the first of these names that has a value.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            self.metas.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
        })
    }

    fn prop_of(&self, kind: &str) -> Option<&str> {
        // Values after the first `h1` belong to the page more often than values before it.
        let after = self.props.get(self.n_before..).unwrap_or_default().iter();
        after.chain(&self.props).find(|(found, _)| *found == kind).map(|(_, value)| value.as_str())
    }

    pub(crate) fn title(&self) -> Option<String> {
        let stated = self.json_ld_title().or_else(|| {
            self.first(&[
                "dc.title",
                "dcterms.title",
                "og:title",
                "twitter:title",
                "citation_title",
                "parsely-title",
            ])
            .map(str::to_owned)
        });
        let site = self.site_name();
        let bare = |title: &str| without_site(&unescape(title), site.as_deref(), &self.headings);
        let stated = stated.as_deref().map(bare).filter(|stated| !stated.is_empty());
        stated
            .or_else(|| self.title.as_deref().map(bare))
            .or_else(|| self.headings.first().cloned())
    }

    /// Returns the title in JSON-LD. Some sites put a description into `headline`; then `name` is
    /// the title if the `title` element begins with it.
    fn json_ld_title(&self) -> Option<String> {
        let headline = json_ld::text(&self.json_ld, &["headline"])?;
        let name = json_ld::text(&self.json_ld, &["name"]);
        let title = self.title.as_deref().unwrap_or("");
        let is_titled = |text: &str| title.to_lowercase().starts_with(&text.to_lowercase());
        match name {
            Some(name) if !is_titled(&headline) && is_titled(&name) => Some(name),
            _ => Some(headline),
        }
    }

    pub(crate) fn description(&self) -> Option<String> {
        let stated = self.first(&[
            "description",
            "og:description",
            "twitter:description",
            "dc.description",
            "dcterms.description",
        ]);
        stated
            .map(str::to_owned)
            .or_else(|| json_ld::text(&self.json_ld, &["description"]))
            .map(|text| unescape(&text))
    }

    pub(crate) fn author(&self) -> Option<String> {
        let is_name =
            |name: &&str| !name.contains("://") && !name.starts_with('@') && name.len() < 200;
        json_ld::people(&self.json_ld, "author")
            .or_else(|| {
                self.first(&[
                    "dc.creator",
                    "dcterms.creator",
                    "author",
                    "article:author",
                    "og:article:author",
                    "parsely-author",
                    "citation_author",
                    "sailthru.author",
                    "byl",
                ])
                .filter(is_name)
                .map(str::to_owned)
            })
            .or_else(|| self.prop_of("author").filter(is_name).map(str::to_owned))
            .or_else(|| self.prop_of("byline").map(only_name))
            .map(|name| without_by(&unescape(&name)))
            .filter(|name| !name.is_empty())
    }

    /// Returns the declared publication date and its source. A `time` element in running text does
    /// not count.
    pub(crate) fn published(&self) -> Option<(Timestamp, String)> {
        const METAS: [&str; 18] = [
            "article:published_time",
            "og:article:published_time",
            "datepublished",
            "parsely-pub-date",
            "dc.date.issued",
            "dcterms.created",
            "dcterms.issued",
            "dc.date",
            "dcterms.date",
            "citation_publication_date",
            "citation_date",
            "publish_date",
            "publish-date",
            "pubdate",
            "sailthru.date",
            "date",
            "article.published",
            "created",
        ];
        let by = |text: &str| text.to_owned();
        json_ld::date(&self.json_ld, "datePublished")
            .map(|time| (time, by("JSON-LD datePublished")))
            .or_else(|| {
                let name = METAS.iter().find(|name| self.date(&[name]).is_some())?;
                Some((self.date(&[name])?, format!("meta {name}")))
            })
            .or_else(|| {
                let values = self.props.iter().filter(|(kind, _)| *kind == "published");
                let time = first_day(values.map(|(_, value)| value))?;
                Some((time, by("itemprop datePublished")))
            })
            .or_else(|| Some((only_day(self.times.iter())?, by("time element"))))
    }

    pub(crate) fn modified(&self) -> Option<Timestamp> {
        json_ld::date(&self.json_ld, "dateModified")
            .or_else(|| {
                self.date(&[
                    "article:modified_time",
                    "og:updated_time",
                    "og:article:modified_time",
                    "datemodified",
                    "dcterms.modified",
                    "dc.date.modified",
                    "last-modified",
                    "lastmod",
                    "revised",
                    "article.updated",
                ])
            })
            .or_else(|| self.prop_of("modified").and_then(date::parse))
    }

    fn date(&self, names: &[&str]) -> Option<Timestamp> {
        names.iter().find_map(|name| self.first(&[name]).and_then(date::parse))
    }

    /// Returns the language that the page declares.
    pub(crate) fn language(&self) -> Option<LanguageTag<'static>> {
        let declared = [
            self.lang.as_deref(),
            self.first(&["content-language"]),
            self.first(&["og:locale", "language", "dc.language", "dcterms.language"]),
        ];
        declared.into_iter().flatten().find_map(|text| {
            let first = text.split([',', ';']).next().unwrap_or("").trim().replace('_', "-");
            let tag = LanguageTag::parse(first)?;
            (tag.as_str() != "und").then(|| tag.canonical()).filter(LanguageTag::is_regular)
        })
    }

    pub(crate) fn site_name(&self) -> Option<String> {
        self.first(&["og:site_name", "application-name", "apple-mobile-web-app-title"])
            .map(str::to_owned)
            .or_else(|| json_ld::name_of(&self.json_ld, "WebSite"))
            .or_else(|| json_ld::inner_name(&self.json_ld, "publisher"))
            .map(|name| unescape(&name))
    }

    fn image(&self, base: &BaseUrl) -> Option<String> {
        let stated = self.first(&[
            "og:image",
            "og:image:url",
            "og:image:secure_url",
            "twitter:image",
            "twitter:image:src",
        ]);
        stated
            .map(str::to_owned)
            .or_else(|| json_ld::image(&self.json_ld))
            .and_then(|src| base.resolve(&src))
    }

    fn keywords(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut add = |word: &str| {
            let word = word.trim();
            if !word.is_empty()
                && word.len() <= 100
                && found.len() < 100
                && !found.iter().any(|known| known.eq_ignore_ascii_case(word))
            {
                found.push(word.to_owned());
            }
        };
        for (name, value) in &self.metas {
            match name.as_str() {
                "keywords" | "news_keywords" => value.split([',', ';']).for_each(&mut add),
                "article:tag" | "article:section" => add(value),
                _ => {}
            }
        }
        for word in json_ld::keywords(&self.json_ld) {
            add(&word);
        }
        found
    }

    fn robots(&self) -> Vec<RobotsMeta> {
        let is_agent = |name: &str| {
            name == "robots"
                || name.ends_with("bot")
                || name.ends_with("-extended")
                || name == "googlebot-news"
                || name == "slurp"
        };
        let named = self.metas.iter().filter(|(name, _)| is_agent(name));
        named
            .map(|(name, value)| RobotsMeta {
                agent: name.clone(),
                directives: value
                    .split(',')
                    .map(|word| word.trim().to_ascii_lowercase())
                    .filter(|word| !word.is_empty())
                    .collect(),
            })
            .collect()
    }

    /// Returns the metadata that is not part of the page object.
    pub(crate) fn facts(&self, base: &BaseUrl) -> Facts {
        let canonical = self
            .links
            .iter()
            .find(|link| link.has("canonical"))
            .and_then(|link| base.resolve(&link.href));
        let alternates = self.links.iter().filter(|link| link.has("alternate"));
        let alternates = alternates.filter_map(|link| {
            Some(AlternateVersion {
                href: base.resolve(&link.href)?,
                hreflang: link.hreflang.clone(),
                media_type: link.media_type.clone(),
            })
        });
        let refresh = self.first(&["refresh"]);
        let published = self.published();
        Facts {
            canonical,
            published: published.as_ref().map(|(time, _)| *time),
            published_by: published.map(|(_, by)| by),
            asks_for_password: false,
            modified: self.modified(),
            language: self.language(),
            site_name: self.site_name(),
            image: self.image(base),
            keywords: self.keywords(),
            robots: self.robots(),
            alternates: alternates.collect(),
            // `give` moves these values here after the last use of `FoundMetadata`.
            head_links: Vec::new(),
            metas: Vec::new(),
            json_ld: self.json_ld.iter().map(|block| block.source.clone()).collect(),
            refresh: refresh.map(str::to_owned),
            leads_to: refresh.and_then(target_of).and_then(|target| base.resolve(target)),
        }
    }

    /// Moves links and `meta` values into `facts`. Consumes `self`, so that nothing is copied.
    pub(crate) fn give(self, base: &BaseUrl, facts: &mut Facts) {
        let links = self.links.into_iter();
        let links =
            links.filter_map(|link| Some(HeadLink { href: base.resolve(&link.href)?, ..link }));
        facts.head_links = links.collect();
        facts.metas = self.metas;
    }

    pub(crate) fn schema(&self) -> Option<String> {
        json_ld::schema(&self.json_ld)
    }
}

/// Returns the first date if all dates are on the same day.
fn only_day<'v>(values: impl Iterator<Item = &'v String>) -> Option<Timestamp> {
    let mut times = values.filter_map(|time| date::parse(time));
    let first = times.next()?;
    let day = |time: Timestamp| time.unix_seconds().div_euclid(86_400);
    times.all(|time| day(time) == day(first)).then_some(first)
}

/// Returns the first date if no other date is earlier, as in a forum thread.
fn first_day<'v>(values: impl Iterator<Item = &'v String>) -> Option<Timestamp> {
    let mut times = values.filter_map(|time| date::parse(time));
    let first = times.next()?;
    times.all(|time| first <= time).then_some(first)
}

/// Returns the date of a `time` element; an empty text if its visible text shows another day.
fn time_value(dom: &Dom, at: u32) -> String {
    let shown = dom.words(at);
    let Some(stated) = dom.attribute(at, "datetime") else { return shown };
    let other = date::parse(&shown).filter(|_| is_bare_date(&shown));
    match (date::parse(stated), other) {
        (Some(stated), Some(shown)) if 86_400 * 2 < stated.seconds_since(shown).abs() => {
            String::new()
        }
        _ => stated.to_owned(),
    }
}

/// The kind of metadata that the class of an element indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClassKind {
    Other,
    Byline,
    Date,
}

impl ClassKind {
    fn of(class: &str) -> Self {
        if is_byline(class) {
            Self::Byline
        } else if is_date_class(class) {
            Self::Date
        } else {
            Self::Other
        }
    }
}

/// Returns whether an element with this tag can hold metadata of the page.
fn says_something(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Html
            | Tag::Title
            | Tag::Base
            | Tag::Meta
            | Tag::Link
            | Tag::Script
            | Tag::Style
            | Tag::Svg
            | Tag::H1
            | Tag::H2
            | Tag::Time
    )
}

fn is_byline(class: &str) -> bool {
    class.len() < 60
        && class.split_ascii_whitespace().any(|token| {
            token.ends_with("byline")
                || matches!(
                    token,
                    "byline"
                        | "author"
                        | "p-author"
                        | "author-name"
                        | "byline__name"
                        | "byline__author"
                        | "entry-author"
                        | "post-author"
                        | "article-author"
                        | "article__author"
                )
        })
}

/// Returns the author's name in an element about the author.
fn author_in(dom: &Dom, at: u32) -> String {
    let name = dom.subtree(at).find(|at| dom.attribute(*at, "itemprop") == Some("name"));
    if let Some(name) = name {
        return dom.attribute(name, "content").map_or_else(|| dom.words(name), str::to_owned);
    }
    match dom.attribute(at, "content") {
        Some(content) => content.to_owned(),
        None => dom.words(at),
    }
}

/// Returns the name in a byline, which may also contain a date or a role.
fn only_name(byline: &str) -> String {
    let is_end = |c: char| c.is_ascii_digit() || "\u{2022}|\u{b7}/\n".contains(c);
    let name = byline.split(is_end).next().unwrap_or("").trim();
    let n_words = name.split_whitespace().count();
    if n_words <= 8 { name.to_owned() } else { String::new() }
}

/// Returns a byline without a first word such as "By".
fn without_by(name: &str) -> String {
    let name = name.trim();
    for by in ["By ", "by ", "BY ", "Von ", "von ", "Por ", "por ", "Par ", "par "] {
        if let Some(rest) = name.strip_prefix(by) {
            return rest.trim().to_owned();
        }
    }
    name.trim_end_matches([',', '|', '\u{b7}']).trim().to_owned()
}

/// Returns the URL in a refresh value such as `5; url=/there` or `5; /there`.
fn target_of(refresh: &str) -> Option<&str> {
    let (_, rest) = refresh.split_once([';', ','])?;
    let named = rest.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("url"));
    let target = named.map_or(rest, |(_, target)| target).trim();
    let target = target.trim_matches(['"', '\'']);
    (!target.is_empty()).then_some(target)
}
