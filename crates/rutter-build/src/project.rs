//! Pass 2: one scan of ledger and pack writes everything but collections.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_arc::pointer::Pointer;
use rutter_finding::{Finding, Place, Rule};
use rutter_page::Digest;
use rutter_signpost::robots::{self, Wishes};

use crate::block;
use crate::chain::{Published, SitemapPart};
use crate::error::{At, BuildError};
use crate::feed::{self, Fed, Feed};
use crate::gate;
use crate::hosts;
use crate::inject;
use crate::inventory::{self, Names};
use crate::ledger::{Row, Rows, Sight};
use crate::listing::{self, Arrangement, Listing};
use crate::manifest::Whose;
use crate::own_marks;
use crate::pack::{Record, Records};
use crate::plan::{Host, Plan, Source};
use crate::private::Private;
use crate::publish::{Order, Put, Stage};
use crate::read::Tally;
use crate::rules;
use crate::section::Sections;
use crate::served::ServedWriter;
use crate::signs::{Finish, Layout, Sitemap, adverts};
use crate::site_sitemap::{Before, SiteSitemap, is_gzip};
use crate::spxi;

/// What the second pass works on.
pub(crate) struct Projecting<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) sections: &'p Sections,
    pub(crate) names: &'p Names,
    pub(crate) others: &'p [Box<str>],
    /// Folders of the site that cannot be read, with a slash at their ends.
    pub(crate) unreadable: &'p [String],
    pub(crate) ledger: &'p Path,
    pub(crate) pack: &'p Path,
    pub(crate) before: &'p Before,
    /// The sitemap that others wrote.
    pub(crate) theirs: &'p SiteSitemap,
    pub(crate) published: &'p Published,
    pub(crate) tallies: &'p [Tally],
    pub(crate) served: PathBuf,
    /// What only partners may read.
    pub(crate) private: PathBuf,
    /// Deltas for AI agents: those that are kept, and those that are made.
    pub(crate) deltas: (PathBuf, PathBuf),
    pub(crate) n_public: usize,
    /// Pages of entities that are public.
    pub(crate) entity_pages: BTreeSet<String>,
}

/// What a page is published with.
struct Seen {
    twin: Option<String>,
    packet: Option<String>,
    digest: Option<Digest>,
    /// Whether only those who are let in may see it.
    is_closed: bool,
}

type Tell<'t> = dyn FnMut(&str, &'static Rule, String) + 't;

/// The layers while pages go by.
struct Open<'p> {
    sitemap: Option<Sitemap<'p>>,
    listing: Option<Listing<'p>>,
    feed: Option<Feed<'p>>,
    private: Option<Private<'p>>,
    index: Option<spxi::Semantic<'p>>,
    served: ServedWriter,
    has_twins: bool,
}

impl<'p> Open<'p> {
    fn new(projecting: &'p Projecting<'p>, stage: &mut Stage) -> Result<Self, BuildError> {
        let Projecting { plan, published, before, others, .. } = *projecting;
        let layers = &plan.layers;
        let foreign = if layers.collections && !layers.separate_sitemap {
            adverts(plan, published, projecting.tallies)
        } else {
            Vec::new()
        };
        let arrangement = Arrangement {
            sections: projecting.sections,
            names: projecting.names,
            ledger: projecting.ledger,
            before,
        };
        let listing = if layers.llms { Some(Listing::new(plan, arrangement)?) } else { None };
        let deltas = projecting.deltas.clone();
        let feed = match &published.arc {
            Some(issue) => Some(Feed::open(plan, issue, others, deltas, stage)?),
            None => None,
        };
        Ok(Self {
            sitemap: layers.sitemap.then(|| {
                let layout = Layout::of(projecting.n_public, &foreign);
                Sitemap::new(plan, before, foreign, layout)
            }),
            listing,
            feed,
            private: Private::create(plan, &projecting.private)?,
            index: spxi::Semantic::new(plan, others, projecting.entity_pages.clone()),
            served: ServedWriter::create(&projecting.served, plan)?,
            has_twins: layers.twins.are_written(projecting.n_public)
                && (plan.source != Source::Markdown || plan.out.is_some()),
        })
    }

    /// A page that is there: every layer says of it what it may.
    fn page(
        &mut self,
        projecting: &Projecting<'_>,
        (row, path): (&Row, Option<&str>),
        record: &Record,
        (stage, told): (&mut Stage, &mut Tell<'_>),
    ) -> Result<Seen, BuildError> {
        let plan = projecting.plan;
        if let Some(feed) = &mut self.feed {
            feed.page(row, Some(record))?;
        }
        if let Some(private) = &mut self.private {
            private.page(row, record)?;
        }
        let semantic = match &mut self.index {
            Some(index) => index.page((row, path), &record.meta, stage, told)?,
            None => spxi::Shown::default(),
        };
        let mut twin = None;
        if row.is_public() && self.has_twins {
            twin = projecting.twin(row, path, &record.markdown, stage, told)?;
        }
        if let Some(sitemap) = &mut self.sitemap
            && matches!(row.sight, Sight::Public | Sight::Listed)
        {
            sitemap.page(row, &record.meta, semantic.index, stage)?;
        }
        if let Some(listing) = &mut self.listing
            && row.is_public()
        {
            let shown = twin.as_deref().map(|twin| inventory::file_address(&plan.base, twin));
            let shown = shown.as_deref().unwrap_or(&row.url);
            listing.page((row, path), record, shown)?;
        }
        let is_closed = !row.is_public()
            && (record.meta.arc.needs_login || gate::is_restricted(plan, &row.url));
        let digest = Digest::parse(&record.meta.source);
        Ok(Seen { twin, packet: semantic.packet, digest, is_closed })
    }
}

impl Projecting<'_> {
    /// Whether there is a semantic index: one without entities says nothing.
    fn has_index(&self) -> bool {
        !self.entity_pages.is_empty()
    }

    /// Writes every layer; gives the files of the sitemap.
    pub(crate) fn run(
        &self,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Vec<SitemapPart>, BuildError> {
        let mut open = Open::new(self, stage)?;
        // Its head names what is only known in the end.
        let mut home = None;
        let mut rows = Rows::open(self.ledger)?;
        let mut records = Records::open(self.pack)?;
        let mut names = self.names.iter().peekable();
        while let Some(row) = rows.next()? {
            // What could not be read is part of the site all the same.
            while let Some(name) = names.next_if(|name| name.url < row.url.as_str()) {
                self.copy_unread(name.path, stage, told)?;
            }
            let name = names.next_if(|name| name.url == row.url);
            if row.sight == Sight::Gone {
                if let Some(feed) = &mut open.feed {
                    feed.page(&row, None)?;
                }
                continue;
            }
            let Some(record) = records.get(&row.url)? else {
                if let Some(name) = name {
                    self.copy_unread(name.path, stage, told)?;
                }
                continue;
            };
            let path = name.map(|name| name.path);
            let seen = open.page(self, (&row, path), record, (stage, told))?;
            match path {
                Some(path) if inventory::is_home(&self.plan.base, &row.url, Some(path)) => {
                    home = Some((row, path, seen));
                }
                Some(path) => {
                    let digest = self.page(&row, path, &seen, None, (stage, told))?;
                    serve(&mut open.served, (&row, path), &seen, digest)?;
                }
                None => {}
            }
        }
        for name in names {
            self.copy_unread(name.path, stage, told)?;
        }
        let Open { sitemap, listing, feed, private, index, mut served, .. } = open;
        let fed = match feed {
            Some(feed) => feed.finish(stage, told)?,
            None => Fed::default(),
        };
        if let Some((row, path, seen)) = home {
            let digest = self.page(&row, path, &seen, fed.pointer.as_ref(), (stage, told))?;
            serve(&mut served, (&row, path), &seen, digest)?;
        }
        if let Some(private) = private {
            private.finish()?;
        }
        self.copy_others(stage, told)?;
        if let Some(index) = index {
            index.finish(stage, told)?;
        }
        let parts = self.finish((sitemap, listing), &fed, served.all_closed(), stage, told)?;
        let is_page = |path: &str| {
            let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("html" | "htm" | "xhtml"))
        };
        stage.keep_below(self.unreadable)?;
        stage.list(&mut |path, file| {
            if is_page(path) { Ok(()) } else { served.file(path, file, self.published) }
        })?;
        served.finish()?;
        Ok(parts)
    }

    fn twin(
        &self,
        row: &Row,
        path: Option<&str>,
        markdown: &[u8],
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Option<String>, BuildError> {
        let Some(twin) = inventory::twin(&self.plan.base, &row.url, path) else { return Ok(None) };
        // A page of Markdown is its own twin; a file of the owner stays.
        if path == Some(twin.as_str()) {
            return Ok(Some(twin));
        }
        let is_owners = self.others.binary_search_by(|name| (**name).cmp(twin.as_str())).is_ok();
        // In the site's own folder, a twin whose list is lost looks like the owner's.
        let is_recognised = self.plan.out.is_none() && stage.is_recognised(&twin);
        if is_owners && !stage.may_replace(&twin) && !is_recognised {
            told(&twin, &rules::NOT_OURS, String::new());
            return Ok(None);
        }
        match stage.put(Order::Twins, &twin, &own_marks::twin(markdown))? {
            put @ (Put::NotOurs | Put::Linked) => {
                say_taken(&twin, put, told);
                Ok(None)
            }
            Put::Staged | Put::Same => Ok(Some(twin)),
        }
    }

    /// The page itself: copied where there is a folder of its own, with links
    /// in its head where they are wanted. Gives the digest of what is there then.
    fn page(
        &self,
        row: &Row,
        path: &str,
        seen: &Seen,
        pointer: Option<&Pointer>,
        (stage, told): (&mut Stage, &mut Tell<'_>),
    ) -> Result<Option<Digest>, BuildError> {
        let source = self.plan.site.join(path);
        let is_html = self.plan.source == Source::Html;
        let injected = if self.plan.layers.inject && is_html && row.is_public() {
            // One that cannot be read has been told of.
            let bytes = rutter_root::read(&self.plan.site, path).unwrap_or_default();
            let injected = inject::with(&bytes, &self.links(seen, pointer));
            if injected.is_none() && !bytes.is_empty() {
                told(path, &rules::NO_HEAD, String::new());
            }
            injected
        } else {
            None
        };
        let mut digest = injected.as_deref().map_or(seen.digest, |bytes| Some(Digest::of(bytes)));
        match (self.plan.out.is_some(), injected) {
            (true, Some(bytes)) => say_taken(path, stage.put(Order::Heads, path, &bytes)?, told),
            (true, None) => {
                let missing = self.copy(path, seen.digest, stage, told)?;
                // Entry files name only what is there.
                if let Some(why) = missing.filter(|_| row.sight.is_listed()) {
                    return Err(BuildError::Unreadable(path.to_owned(), why));
                }
            }
            (false, Some(bytes)) => {
                say_taken(path, stage.put_beside(Order::Heads, path, &bytes)?, told);
            }
            (false, None) if is_html && stage.was_beside(path) && !source.is_symlink() => {
                match rutter_root::read(&self.plan.site, path) {
                    Ok(bytes) => {
                        if let Cow::Owned(bytes) = inject::without(&bytes) {
                            digest = Some(Digest::of(&bytes));
                            stage.give_back(Order::Heads, path, &bytes)?;
                        }
                    }
                    Err(_) => drop(stage.keep(path, None)?),
                }
            }
            (false, None) => {}
        }
        Ok(digest)
    }

    fn links(&self, seen: &Seen, pointer: Option<&Pointer>) -> Vec<String> {
        let base = self.plan.base.path();
        let mut links = Vec::new();
        let mut alternate = |kind: &str, file: &str| {
            let address = inventory::file_address(&self.plan.base, file);
            let href = address.get(self.plan.base.origin().len()..).unwrap_or(&address);
            let href = href.replace('&', "&amp;");
            links.push(format!("<link rel=\"alternate\" type=\"{kind}\" href=\"{href}\">"));
        };
        if let Some(twin) = &seen.twin {
            alternate("text/markdown", twin);
        }
        if self.has_index() {
            alternate("application/ld+json", rutter_spxi::INDEX);
        }
        if let Some(packet) = &seen.packet {
            alternate("application/ld+json", packet);
        }
        if self.plan.layers.llms {
            links.push(format!("<link rel=\"describedby\" href=\"{base}llms.txt\">"));
        }
        if self.plan.layers.sitemap {
            links.push(format!(
                "<link rel=\"sitemap\" type=\"application/xml\" href=\"{base}sitemap.xml\">"
            ));
        }
        links.extend(pointer.map(Pointer::to_script));
        links
    }

    fn copy_unread(
        &self,
        path: &str,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<(), BuildError> {
        if self.plan.out.is_some() {
            self.copy(path, None, stage, told)?;
        }
        Ok(())
    }

    /// A file of the site. One that cannot be read keeps its published copy;
    /// the reason is returned where it has none.
    fn copy(
        &self,
        path: &str,
        digest: Option<Digest>,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Option<String>, BuildError> {
        let source = self.plan.site.join(path);
        let copied = match rutter_root::open(&self.plan.site, path) {
            Ok(file) => stage.copy_file((Whose::Site, Order::Site), path, (&source, file), digest),
            Err(error) => Err(BuildError::Io(source.clone(), error)),
        };
        match copied {
            Ok(put) => say_taken(path, put, told),
            Err(BuildError::Io(place, error)) if place == source => {
                // A page was reported when it was read, and a whole folder before.
                let is_below = |folder: &String| path.starts_with(folder.as_str());
                if digest.is_none() && !self.unreadable.iter().any(is_below) {
                    told(path, &rules::UNREADABLE, error.to_string());
                    stage.count_unread();
                }
                let wanted = digest.filter(|_| !self.plan.layers.inject);
                let is_kept = stage.keep(path, wanted)?;
                return Ok((!is_kept).then(|| error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Pictures, styles and everything else of the site.
    fn copy_others(&self, stage: &mut Stage, told: &mut Tell<'_>) -> Result<(), BuildError> {
        if self.plan.out.is_none() {
            return Ok(());
        }
        for name in self.others {
            // What was told to be replaced is.
            if !is_made(self.plan, self.theirs, name) && !stage.has(name) {
                self.copy(name, None, stage, told)?;
            }
        }
        Ok(())
    }

    /// The files that name others come last.
    fn finish(
        &self,
        (sitemap, listing): (Option<Sitemap<'_>>, Option<Listing<'_>>),
        fed: &Fed,
        closed: (&[String], &[String]),
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Vec<SitemapPart>, BuildError> {
        let plan = self.plan;
        let mut sitemaps = Vec::new();
        let mut parts = Vec::new();
        if let Some(sitemap) = sitemap {
            let known = &self.published.sitemaps;
            let finish = Finish { name: "sitemap.xml", theirs: self.theirs, parts: known };
            let finished = sitemap.finish(finish, stage)?;
            parts = finished.parts;
            if let Some((taken, why)) = finished.taken {
                let ours = finished.name.as_ref().map(|name| format!("ours is {name}"));
                let details = [Some(why).filter(|why| !why.is_empty()), ours];
                let detail = details.into_iter().flatten().collect::<Vec<_>>().join("; ");
                told(&taken, &rules::NOT_OURS, detail);
            }
            sitemaps.extend(finished.name);
            if self.theirs.is_kept() {
                let entries = self.theirs.files.iter().filter(|file| file.is_entry);
                let plain =
                    entries.filter(|file| !is_gzip(Path::new(&file.name)) && file.n_pages != 0);
                sitemaps.extend(plain.map(|file| file.name.clone()));
            }
        }
        if plan.layers.separate_sitemap && plan.layers.collections {
            sitemaps.extend(self.separate(stage, told)?);
        }
        let main = sitemaps.first().cloned();
        if fed.has_sitemap && plan.arc.robots_line {
            // Behind those that every crawler can read (D64).
            sitemaps.push(feed::SITEMAP.to_owned());
        }
        if plan.layers.robots {
            self.robots(&sitemaps, stage, told)?;
        }
        if let Some(listing) = listing {
            let existing = self.owners("llms.txt", &block::MARKDOWN, stage);
            let indexes = listing::Indexes { sitemap: main.as_deref(), has_spxi: self.has_index() };
            let taken = listing.finish(indexes, self.published, existing.as_deref(), stage)?;
            for (name, put) in taken {
                say_taken(&name, put, told);
            }
        }
        if let Some(host) = plan.layers.headers {
            self.headers(host, closed, stage, told)?;
        }
        Ok(parts)
    }

    /// Collections in a sitemap of their own, with the start pages of sections
    /// as its entries (D16).
    fn separate(
        &self,
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<Option<String>, BuildError> {
        let plan = self.plan;
        let foreign = adverts(plan, self.published, self.tallies);
        let mut sitemap = Sitemap::new(plan, self.before, foreign, Layout::Together);
        let starts: Vec<String> = self
            .sections
            .names()
            .iter()
            .map(|name| match self.sections.prefix(name) {
                Some(prefix) => format!("{}{prefix}", plan.base.origin()),
                None => plan.base.as_str().to_owned(),
            })
            .collect();
        let mut rows = Rows::open(self.ledger)?;
        let mut first = None;
        let mut n_entries = 0;
        while let Some(row) = rows.next()? {
            // Where addresses have no final slash, neither has the start of a section.
            let is_start =
                |start: &String| *start == row.url || start.strip_suffix('/') == Some(&row.url);
            if row.is_public() && starts.iter().any(is_start) {
                sitemap.page(&row, &crate::pack::Meta::default(), None, stage)?;
                n_entries += 1;
            }
            if first.is_none() && row.is_public() {
                first = Some(row);
            }
        }
        // The schema asks for at least one page.
        if let (0, Some(row)) = (n_entries, first) {
            sitemap.page(&row, &crate::pack::Meta::default(), None, stage)?;
        }
        let theirs = SiteSitemap::default();
        let finish = Finish { name: "sitemap-scp.xml", theirs: &theirs, parts: &[] };
        let finished = sitemap.finish(finish, stage)?;
        if let Some((taken, why)) = finished.taken {
            told(&taken, &rules::NOT_OURS, why);
        }
        Ok(finished.name)
    }

    /// What the owner wrote into a file that we add to; `None` where the file
    /// is ours alone.
    fn owners(&self, name: &str, marks: &block::Marks, stage: &Stage) -> Option<String> {
        let text = String::from_utf8(rutter_root::read(&self.plan.site, name).ok()?).ok()?;
        let is_whole =
            (self.plan.out.is_none() && stage.was_ours(name)) || text.contains(listing::WHOLE);
        let own = block::without(&text, marks);
        (!is_whole && !own.trim().is_empty()).then_some(text)
    }

    fn robots(
        &self,
        sitemaps: &[String],
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<(), BuildError> {
        let plan = self.plan;
        let wishes = Wishes {
            sitemaps: sitemaps.iter().map(|name| plan.base.join(name)).collect(),
            crawl_delay: plan.layers.crawl_delay,
            group: spxi::group(plan).filter(|_| self.has_index()),
            ..Wishes::default()
        };
        if !plan.base.is_root() {
            let lines: Vec<String> =
                wishes.sitemaps.iter().map(|url| format!("Sitemap: {url}")).collect();
            told("robots.txt", &rules::UNDER_A_PATH, lines.join(", "));
            return Ok(());
        }
        let existing = rutter_root::read(&plan.site, "robots.txt").ok();
        let merged = robots::merge(existing.as_deref(), &wishes);
        let is_owners = existing.as_ref().is_some_and(|text| {
            let text = String::from_utf8_lossy(text);
            // An empty file is the owner's, too.
            block::within(&text, &block::HASH).is_none()
                || !block::without(&text, &block::HASH).trim().is_empty()
        });
        if is_owners && plan.out.is_none() {
            say_taken("robots.txt", stage.put_beside(Order::Robots, "robots.txt", &merged)?, told);
        } else {
            say_taken("robots.txt", stage.put(Order::Robots, "robots.txt", &merged)?, told);
        }
        Ok(())
    }

    fn headers(
        &self,
        host: Host,
        closed: (&[String], &[String]),
        stage: &mut Stage,
        told: &mut Tell<'_>,
    ) -> Result<(), BuildError> {
        let text = hosts::headers(self.plan, host, closed);
        match host {
            Host::Netlify => {
                let existing = self.owners("_headers", &block::HASH, stage);
                let merged = block::merged(existing.as_deref().unwrap_or(""), &text, &block::HASH);
                let put = if existing.is_some() && self.plan.out.is_none() {
                    stage.put_beside(Order::Robots, "_headers", merged.as_bytes())?
                } else {
                    stage.put(Order::Robots, "_headers", merged.as_bytes())?
                };
                say_taken("_headers", put, told);
            }
            // For the server's own configuration, not for visitors.
            Host::Nginx => {
                let path = self.plan.state.join("nginx.conf");
                fs::write(&path, text).at(&path)?;
            }
        }
        Ok(())
    }
}

/// Tells a server of a page.
fn serve(
    served: &mut ServedWriter,
    (row, path): (&Row, &str),
    seen: &Seen,
    digest: Option<Digest>,
) -> Result<(), BuildError> {
    if row.is_public() {
        served.page((row, path), seen.twin.as_deref(), digest)
    } else if seen.is_closed {
        served.closed((row, path), digest)
    } else {
        Ok(())
    }
}

/// Tells where somebody else's file is in the way.
pub(crate) fn say_taken(path: &str, put: Put, told: &mut Tell<'_>) {
    match put {
        Put::NotOurs => told(path, &rules::NOT_OURS, String::new()),
        Put::Linked => told(path, &rules::LINKED, String::new()),
        Put::Staged | Put::Same => {}
    }
}

/// Whether we make a file of this name ourselves, so that the site's own is
/// not copied.
pub(crate) fn is_made(plan: &Plan, theirs: &SiteSitemap, name: &str) -> bool {
    let layers = &plan.layers;
    match name {
        "sitemap.xml" => layers.sitemap && !theirs.is_kept(),
        "robots.txt" => layers.robots && plan.base.is_root(),
        "llms.txt" => layers.llms,
        "_headers" => layers.headers == Some(Host::Netlify),
        name => layers.sitemap && theirs.is_replaced(name),
    }
}

/// A finding about a file as a whole.
pub(crate) fn finding(rule: &'static Rule, detail: String) -> Finding {
    Finding::new(rule, Place::WHOLE, detail)
}
