//! Chooses the values of a page's metadata between their sources.
//!
//! `docs/extraction-reference.md` lists the order of sources for each field; this module defines
//! it. Rejects values that do not parse and dates that contradict each other.

use rutter_page::{LanguageTag, Timestamp};

use super::FoundMetadata;
use super::byline::{only_name, without_by};
use crate::address::BaseUrl;
use crate::date;
use crate::facts::{AlternateVersion, HeadLink, PageStatements, RobotsMeta};
use crate::json_ld;
use crate::title::{unescape, without_site};

impl FoundMetadata {
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
    pub(crate) fn facts(&self, base: &BaseUrl) -> PageStatements {
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
        PageStatements {
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
    pub(crate) fn give(self, base: &BaseUrl, facts: &mut PageStatements) {
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

/// Returns the URL in a refresh value such as `5; url=/there` or `5; /there`.
fn target_of(refresh: &str) -> Option<&str> {
    let (_, rest) = refresh.split_once([';', ','])?;
    let named = rest.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("url"));
    let target = named.map_or(rest, |(_, target)| target).trim();
    let target = target.trim_matches(['"', '\'']);
    (!target.is_empty()).then_some(target)
}
