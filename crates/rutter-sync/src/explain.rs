//! Why a page is used or not: every source that says something about it.

use std::sync::Arc;

use rutter_arc::Entry;
use rutter_extract::{Options as Reading, html, markdown};
use rutter_fetch::{Cause, Request, Url, What, shown};
use rutter_page::PageUrl;
use rutter_store::PageRow;

use crate::consent::{self, Origin, Statement, Verdict};
use crate::error::VisitError;
use crate::gate::origin_of;
use crate::page;
use crate::tally::{Tally, counted};
use crate::visit::Visitor;

/// What is said about a page, and what follows.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The page.
    pub url: String,
    /// Everything that was said.
    pub statements: Vec<Statement>,
    /// Places that could not be asked, and why.
    pub silent: Vec<(Origin, String)>,
    /// What follows.
    pub verdict: Verdict,
    /// What the site answers instead of a page, where it does.
    pub no_page: Option<String>,
    /// Why the page could not be asked, where that was tried.
    pub unasked: Option<String>,
    /// The page as it is in the replica.
    pub row: Option<PageRow>,
}

impl Visitor {
    /// Says which source says what about a page, and what follows. Asks the
    /// page itself where that is allowed; changes nothing.
    pub async fn explain(&self, url: &Url) -> Result<Explanation, VisitError> {
        let tally = Arc::new(Tally::default());
        Box::pin(counted(&tally, self.explain_counted(url))).await
    }

    async fn explain_counted(&self, url: &Url) -> Result<Explanation, VisitError> {
        let page =
            PageUrl::parse(url.as_str().to_owned()).map_err(|_| VisitError::Site(shown(url)))?;
        // A site that wants to be left alone is, also by whoever only asks.
        let origin = origin_of(url).ok_or_else(|| VisitError::Site(shown(url)))?;
        let now = self.client.means().clock.now();
        let paused = self.store.publisher(&origin)?.and_then(|known| known.paused_until);
        if let Some(until) = paused.filter(|until| now < *until) {
            return Err(VisitError::Paused { origin, until });
        }
        let token = self.client.settings().token().to_owned();
        let mut statements = Vec::new();
        let mut silent = Vec::new();
        let rules = self.client.robots(url).await?;
        let target = format!(
            "{}{}",
            url.path(),
            url.query().map(|query| format!("?{query}")).unwrap_or_default()
        );
        statements.push(consent::of_robots(rules.forbids(&token, &target).as_ref()));
        if let Some(file) = self.client.robots_file(url).await {
            statements.extend(consent::Signals::of_robots(&file.body, &token).about(&target));
        }
        match self.store.arc_entry(page.key())? {
            Some(row) => match Entry::from_json(&row.json) {
                Some(entry) => statements.extend(consent::of_arc(&entry)),
                None => silent.push((Origin::ArcIndexable, "its entry cannot be read".to_owned())),
            },
            None => {
                let why = "no entry in the replica: neither allowed nor forbidden";
                silent.push((Origin::ArcIndexable, why.to_owned()));
            }
        }
        let mut answer = Answered::default();
        if consent::join(&statements).asks {
            answer = self.ask_page(url, &page, &token, &mut statements, &mut silent).await?;
        } else {
            for origin in [Origin::Meta, Origin::Tag, Origin::Signal] {
                silent.push((origin, "the page is not asked for".to_owned()));
            }
        }
        let verdict = consent::join(&statements);
        let row = self.store.page(page.key())?;
        let url = page.key().to_owned();
        let Answered { no_page, unasked } = answer;
        Ok(Explanation { url, statements, silent, verdict, no_page, unasked, row })
    }

    /// Asks the page what it says of itself.
    async fn ask_page(
        &self,
        url: &Url,
        page: &PageUrl<'static>,
        token: &str,
        statements: &mut Vec<Statement>,
        silent: &mut Vec<(Origin, String)>,
    ) -> Result<Answered, VisitError> {
        let answer = match self.client.fetch(&Request::new(url.clone(), What::Page)).await {
            Ok(answer) => answer,
            Err(error) => {
                if let Cause::Refused(_) = error.cause {
                    return Err(error.into());
                }
                let why = error.cause.to_string();
                silent.push((Origin::Meta, why.clone()));
                return Ok(Answered { unasked: Some(why), no_page: None });
            }
        };
        statements.extend(consent::of_fields(&answer.fields, token, answer.at));
        let text = answer.text(What::Page).unwrap_or_default();
        let options =
            Reading { charset: answer.fields.charset(), ..Reading::new(page.clone(), answer.at) };
        let kind = page::kind(&answer);
        let read = match kind {
            Some(page::Text::Markdown) => markdown(&text, &options),
            _ => html(&text, &options),
        };
        statements.extend(consent::of_page(&read, token, answer.at));
        let is_ours = answer.url.origin() == url.origin();
        let no_page = if !answer.is_new() {
            Some(format!("status {}", answer.status))
        } else if !is_ours {
            Some(format!("it leads to {}", shown(&answer.url)))
        } else if kind.is_none() {
            Some(page::not_a_page(&answer).to_string())
        } else if read.page.content.is_empty() {
            Some(page::NoPage::Empty.to_string())
        } else if read.only_leads_on() {
            Some(page::NoPage::Onward.to_string())
        } else {
            None
        };
        silent.extend(no_page.clone().map(|why| (Origin::Meta, why)));
        Ok(Answered { no_page, unasked: None })
    }
}

/// What became of asking a page.
#[derive(Debug, Default)]
struct Answered {
    no_page: Option<String>,
    unasked: Option<String>,
}
