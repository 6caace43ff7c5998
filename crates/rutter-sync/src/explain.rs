//! Explains why a sync stores a page or not, with every statement about the use of the
//! page.
//!
//! Input: a page URL. Output: a [`UsageExplanation`]. The function requests robots.txt and,
//! if that is allowed, the page; it does not change the replica.

use std::sync::Arc;

use rutter_arc::ArcEntry;
use rutter_extract::{ExtractOptions as Reading, html, markdown};
use rutter_fetch::{FailureCause, Request, ResourceKind, Url, redact_url};
use rutter_page::PageUrl;
use rutter_store::PageRow;

use crate::consent::page_policy::origin_of;
use crate::consent::{self, StatementSource, UsageStatement, UsageVerdict};
use crate::crawl::no_page::NoPageReason;
use crate::crawl::page;
use crate::error::SyncError;
use crate::syncer::Syncer;
use crate::traffic::{TrafficCounter, counted};

/// Statements about the use of a page, and the verdict that follows from them.
#[derive(Debug, Clone)]
pub struct UsageExplanation {
    /// The page URL.
    pub url: String,
    /// All statements that were found, in the order of their sources.
    pub statements: Vec<UsageStatement>,
    /// Sources without a statement, each with the reason.
    pub unavailable: Vec<(StatementSource, String)>,
    /// Combined effect of all statements.
    pub verdict: UsageVerdict,
    /// What the server sends instead of a page; `None` if it sends a page or was not asked.
    pub no_page: Option<String>,
    /// Why the request for the page failed; `None` if it did not fail.
    pub fetch_failure: Option<String>,
    /// Row of the page in the replica, if the replica has the page.
    pub row: Option<PageRow>,
}

impl Syncer {
    /// Returns what each source states about the use of a page, and the verdict that
    /// follows.
    ///
    /// The page itself is requested if the statements allow it. The replica does not
    /// change.
    pub async fn explain(&self, url: &Url) -> Result<UsageExplanation, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        Box::pin(counted(&traffic, self.explain_counted(url))).await
    }

    async fn explain_counted(&self, url: &Url) -> Result<UsageExplanation, SyncError> {
        let page = PageUrl::parse(url.as_str().to_owned())
            .map_err(|_| SyncError::Site(redact_url(url)))?;
        // While a site is paused, no request is sent to it, not even for an explanation.
        let origin = origin_of(url).ok_or_else(|| SyncError::Site(redact_url(url)))?;
        let now = self.client.environment().clock.now();
        let paused = self.store.publisher(&origin)?.and_then(|known| known.paused_until);
        if let Some(until) = paused.filter(|until| now < *until) {
            return Err(SyncError::Paused { origin, until });
        }
        let token = self.client.settings().robots_token().to_owned();
        let mut statements = Vec::new();
        let mut unavailable = Vec::new();
        let rules = self.client.robots_rules(url).await?;
        let target = format!(
            "{}{}",
            url.path(),
            url.query().map(|query| format!("?{query}")).unwrap_or_default()
        );
        statements.push(consent::of_robots(rules.forbids(&token, &target).as_ref()));
        if let Some(file) = self.client.robots_file(url).await {
            statements.extend(consent::RobotsSignals::of_robots(&file.body, &token).about(&target));
        }
        match self.store.arc_entry(page.key())? {
            Some(row) => match ArcEntry::from_json(&row.json) {
                Some(entry) => statements.extend(consent::of_arc(&entry)),
                None => unavailable.push((
                    StatementSource::ArcIndexable,
                    "the ARC entry cannot be read".to_owned(),
                )),
            },
            None => {
                let why =
                    "the replica has no ARC entry of the page: ARC neither allows nor forbids it";
                unavailable.push((StatementSource::ArcIndexable, why.to_owned()));
            }
        }
        let mut response = LivePageResult::default();
        if consent::join(&statements).may_fetch {
            response = self.ask_page(url, &page, &token, &mut statements, &mut unavailable).await?;
        } else {
            for source in [StatementSource::Meta, StatementSource::Tag, StatementSource::Signal] {
                unavailable.push((source, "the page is not requested".to_owned()));
            }
        }
        let verdict = consent::join(&statements);
        let row = self.store.page(page.key())?;
        let url = page.key().to_owned();
        let LivePageResult { no_page, fetch_failure } = response;
        Ok(UsageExplanation { url, statements, unavailable, verdict, no_page, fetch_failure, row })
    }

    /// Requests the page and adds the statements of its response to `statements`.
    async fn ask_page(
        &self,
        url: &Url,
        page: &PageUrl<'static>,
        token: &str,
        statements: &mut Vec<UsageStatement>,
        unavailable: &mut Vec<(StatementSource, String)>,
    ) -> Result<LivePageResult, SyncError> {
        let response = match self.client.fetch(&Request::new(url.clone(), ResourceKind::Page)).await
        {
            Ok(response) => response,
            Err(error) => {
                if let FailureCause::Refused(_) = error.cause {
                    return Err(error.into());
                }
                let why = error.cause.to_string();
                unavailable.push((StatementSource::Meta, why.clone()));
                return Ok(LivePageResult { fetch_failure: Some(why), no_page: None });
            }
        };
        statements.extend(consent::of_fields(&response.fields, token, response.at));
        let text = response.decoded_body(ResourceKind::Page).unwrap_or_default();
        let options = Reading {
            charset: response.fields.charset(),
            ..Reading::new(page.clone(), response.at)
        };
        let kind = page::kind(&response);
        let read = match kind {
            Some(page::TextFormat::Markdown) => markdown(&text, &options),
            _ => html(&text, &options),
        };
        statements.extend(consent::of_page(&read, token, response.at));
        let is_site_url = response.url.origin() == url.origin();
        let no_page = if !response.is_success() {
            Some(format!("status {}", response.status))
        } else if !is_site_url {
            Some(format!("redirects to {}", redact_url(&response.url)))
        } else if kind.is_none() {
            Some(page::not_a_page(&response).to_string())
        } else if read.page.content.is_empty() {
            Some(NoPageReason::Empty.to_string())
        } else if read.only_leads_on() {
            Some(NoPageReason::Onward.to_string())
        } else {
            None
        };
        unavailable.extend(no_page.clone().map(|why| (StatementSource::Meta, why)));
        Ok(LivePageResult { no_page, fetch_failure: None })
    }
}

/// Result of requesting a page for an explanation.
#[derive(Debug, Default)]
struct LivePageResult {
    no_page: Option<String>,
    fetch_failure: Option<String>,
}
