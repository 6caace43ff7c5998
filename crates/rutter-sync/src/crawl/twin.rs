//! Twins in Markdown of pages that could be read with little certainty: the
//! page waits for its twin, so that only one of them is ever seen.

use std::sync::Arc;

use rutter_fetch::{Body, FetchError, Fetched, Request, Url, What};
use rutter_page::PageUrl;
use rutter_store::PageRow;
use tokio::task::JoinSet;

use super::{Asked, Walk};
use crate::error::VisitError;
use crate::frontier::Target;
use crate::gate::key_of;
use crate::page::{self, Raw};
use crate::tally::counted;
use crate::writer::Write;

impl Walk<'_, '_, '_> {
    /// Asks for the twin of a page that was read; the page waits for it.
    pub(super) async fn ask_twin(
        &mut self,
        page: Box<page::Ready>,
        twin: &str,
        asking: &mut JoinSet<Asked>,
    ) -> Result<(), VisitError> {
        let visit = &*self.visit;
        let key = key_of(twin).filter(|key| visit.gate.is_ours(key) && !self.is_stopped);
        let is_open = |key: &String| visit.gate.judge(key).is_none();
        let Some(url) = key.filter(is_open).and_then(|key| Url::parse(&key).ok()) else {
            return self.crew.write(Write::Page(page)).await;
        };
        let row = visit.row(&page.key)?;
        let site = Some(visit.site.clone());
        let request = Request { site, ..Request::new(url.clone(), What::Page) };
        let (client, tally) = (visit.visitor.client.clone(), Arc::clone(&visit.tally));
        let (lastmod, checksum) = (None, None);
        let target = Target { url, lastmod, checksum, depth: 0, is_fresh: true, spelling_of: None };
        asking.spawn(async move {
            let answer = counted(&tally, client.fetch(&request)).await;
            Asked { target, row, instead_of: Some(page), answer }
        });
        Ok(())
    }

    /// The twin came, or did not: then the page stays as it was read.
    pub(super) async fn take_twin(
        &mut self,
        page: Box<page::Ready>,
        row: Option<PageRow>,
        answer: Result<Fetched, FetchError>,
    ) -> Result<(), VisitError> {
        let usable = match answer {
            Ok(answer) => {
                self.visit.tally.add_bytes(answer.wire_bytes);
                let is_there = answer.is_new() && answer.body != Body::Nothing;
                let is_markdown = page::kind(&answer) == Some(page::Text::Markdown);
                let found = key_of(answer.url.as_str());
                let is_ours = found.is_some_and(|key| self.visit.gate.is_ours(&key));
                Some(answer).filter(|answer| {
                    is_there && is_markdown && is_ours && !self.is_lost(answer, None)
                })
            }
            Err(_) => None,
        };
        match (usable, PageUrl::parse(page.key.clone())) {
            (Some(answer), Ok(url)) => {
                let raw = self.raw(url, answer, row, Vec::new());
                self.hand_over(Raw { instead_of: Some(page), ..raw }, 0).await
            }
            _ => self.crew.write(Write::Page(page)).await,
        }
    }
}
