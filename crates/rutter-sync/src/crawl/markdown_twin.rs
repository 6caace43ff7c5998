//! Fetches the Markdown twin of a page that was extracted with low confidence.
//!
//! The page waits for its Markdown twin, so that only one of the two versions becomes
//! visible.

use std::sync::Arc;

use rutter_fetch::{FetchError, FetchedResponse, Request, ResourceKind, ResponseBody, Url};
use rutter_page::PageUrl;
use rutter_store::{PageRow, UrlRecords};
use tokio::task::JoinSet;

use super::crawler::{CrawlRun, PageResponse};
use crate::consent::page_policy::key_of;
use crate::crawl::page::{self, FetchedPage};
use crate::crawl::page_writer::WriteCommand;
use crate::crawl::queue::CrawlTarget;
use crate::error::SyncError;
use crate::traffic::counted;

impl CrawlRun<'_, '_, '_> {
    /// Requests the Markdown twin of a page; the page waits for the response.
    pub(super) async fn request_twin(
        &mut self,
        page: Box<page::ExtractedPage>,
        twin: &str,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<(), SyncError> {
        let run = &*self.run;
        let key = key_of(twin)
            .filter(|key| run.page_policy.is_site_url(key) && !self.progress.is_stopped);
        let is_open = |key: &String| run.page_policy.judge(key).is_none();
        let Some(url) = key.filter(is_open).and_then(|key| Url::parse(&key).ok()) else {
            return self.workers.write(WriteCommand::Page(page)).await;
        };
        let row = run.context.row(&page.key)?;
        let site = Some(run.context.site.clone());
        let request = Request { site, ..Request::new(url.clone(), ResourceKind::Page) };
        let (client, traffic) = (run.context.client.clone(), Arc::clone(&run.context.traffic));
        let (lastmod, checksum) = (None, None);
        let target =
            CrawlTarget { url, lastmod, checksum, depth: 0, is_fresh: true, spelling_of: None };
        in_flight.spawn(async move {
            let response = counted(&traffic, client.fetch(&request)).await;
            PageResponse { target, row, instead_of: Some(page), response }
        });
        Ok(())
    }

    /// Handles the response to the request for a Markdown twin. If the response is
    /// unusable, the page is stored as extracted from HTML.
    pub(super) async fn handle_twin(
        &mut self,
        page: Box<page::ExtractedPage>,
        row: Option<PageRow>,
        response: Result<FetchedResponse, FetchError>,
    ) -> Result<(), SyncError> {
        let usable = match response {
            Ok(response) => {
                self.run.context.traffic.add_bytes(response.wire_bytes);
                let is_there = response.is_success() && response.body != ResponseBody::Absent;
                let is_markdown = page::kind(&response) == Some(page::TextFormat::Markdown);
                let found = key_of(response.url.as_str());
                let is_site_url = found.is_some_and(|key| self.run.page_policy.is_site_url(&key));
                Some(response).filter(|response| {
                    is_there && is_markdown && is_site_url && !self.is_soft_404(response, None)
                })
            }
            Err(_) => None,
        };
        match (usable, PageUrl::parse(page.key.clone())) {
            (Some(response), Ok(url)) => {
                let raw = self.fetched_page(url, response, row, UrlRecords::default());
                self.hand_over(FetchedPage { instead_of: Some(page), ..raw }, 0).await
            }
            _ => self.workers.write(WriteCommand::Page(page)).await,
        }
    }
}
