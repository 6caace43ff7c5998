//! Queries about pages in memory.

use std::collections::BTreeMap;

use rutter_page::PageUrl;

use super::{MemoryStore, PageData};
use crate::error::{PageLine, QueryError};
use crate::model::DamagedPage;
use crate::model::{
    PageCount, PagePosition, PageRow, PageSelection, PageTotals, PublisherId, Tombstone,
    WithheldReason,
};
use crate::sqlite::origin_of;
use crate::store::PageQueries;

impl PageQueries for MemoryStore {
    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError> {
        Ok(self.lock().find(key).map(|kept| kept.row.clone()))
    }

    fn line(&self, key: &str) -> Result<Option<String>, QueryError> {
        Ok(self.lock().find(key).and_then(|kept| kept.line.clone()))
    }

    fn rows(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let pages = inner.select(selection, after, most);
        Ok(pages.into_iter().map(|kept| Ok(kept.row.clone())).collect())
    }

    fn lines(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError> {
        let inner = self.lock();
        let selection = PageSelection { with_withheld: false, ..*selection };
        let pages = inner.select(&selection, after, most).into_iter();
        Ok(pages.filter_map(|kept| Some(Ok((kept.row.clone(), kept.line.clone()?)))).collect())
    }

    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError> {
        let inner = self.lock();
        let all =
            inner.publishers.get(&publisher).into_iter().flat_map(|it| it.tombstones.values());
        let behind = all.filter(|it| after.is_none_or(|after| after < it.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError> {
        let inner = self.lock();
        let key = PageUrl::parse(key).map_or_else(|_| key.to_owned(), |url| url.key().to_owned());
        let origin = origin_of(&key);
        let own = inner.publishers.values().find(|data| data.publisher.origin == origin);
        let own = own.and_then(|data| data.tombstones.get(&key));
        let any = || inner.publishers.values().find_map(|data| data.tombstones.get(&key));
        Ok(own.or_else(any).cloned())
    }

    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError> {
        let inner = self.lock();
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        for kept in
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.pages.values())
        {
            let PageData { row, .. } = kept;
            let words = (row.source.word(), row.withheld.map(WithheldReason::word));
            *counts.entry((words, row.source, row.withheld)).or_default() += 1;
        }
        let counts = counts.into_iter();
        Ok(counts
            .map(|((_, source, withheld), pages)| PageCount { source, withheld, pages })
            .collect())
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        let inner = self.lock();
        let totals = inner.publishers.get(&publisher).map(|data| PageTotals {
            pages: data.pages.len() as u64,
            withheld: data.pages.values().filter(|it| it.row.withheld.is_some()).count() as u64,
        });
        Ok(totals)
    }
}
