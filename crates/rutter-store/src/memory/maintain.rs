//! Registration, maintenance and check of a replica in memory.

use std::collections::BTreeMap;

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::SectionState;

use super::{MemoryState, MemoryStore, PageData, PublisherData, SectionData};
use crate::error::{QueryError, WriteError};
use crate::model::{Change, CheckDepth, Publisher, PublisherId};
use crate::store::StoreMaintenance;

impl StoreMaintenance for MemoryStore {
    fn register(&self, origin: &str, aliases: &[&str]) -> Result<PublisherId, WriteError> {
        let mut inner = self.lock();
        let has_aliases = !aliases.is_empty();
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let known = inner.publishers.values_mut().find(|data| data.publisher.origin == origin);
        if let Some(data) = known {
            if has_aliases {
                data.publisher.aliases = aliases;
            }
            return Ok(data.publisher.id);
        }
        inner.last_publisher += 1;
        let id = PublisherId(inner.last_publisher);
        let publisher = Publisher {
            id,
            origin: origin.to_owned(),
            aliases,
            paused_until: None,
            pages: 0,
            bytes: 0,
            lease: None,
        };
        let data = PublisherData {
            publisher,
            epoch: 0,
            is_leased: false,
            is_staging: false,
            pages: BTreeMap::new(),
            parts: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            taken: Vec::new(),
            arc: BTreeMap::new(),
            entities: Vec::new(),
            visit: None,
            state: None,
        };
        inner.publishers.insert(id, data);
        Ok(id)
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let young = inner.changes.iter().position(|change| oldest <= change.at);
        let n_old = young.unwrap_or(inner.changes.len());
        let old: Vec<Change> = inner.changes.drain(..n_old).collect();
        if let Some(last) = old.last() {
            inner.pruned = last.seq;
        }
        for data in inner.publishers.values_mut() {
            data.tombstones.retain(|_, tombstone| oldest <= tombstone.at);
        }
        let MemoryState { publishers, validators, notes, .. } = &mut *inner;
        let is_page = |publisher: &PublisherId, key: &str| {
            publishers.get(publisher).is_some_and(|data| data.pages.contains_key(key))
        };
        validators.retain(|url, (publisher, validator)| {
            oldest <= validator.checked || is_page(publisher, url)
        });
        notes.retain(|(_, url), (publisher, note)| oldest <= note.noted || is_page(publisher, url));
        Ok(())
    }

    fn check(&self, _: CheckDepth) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let mut faults = Vec::new();
        for data in inner.publishers.values() {
            for SectionData { section, members } in data.parts.values() {
                let mut state = SectionState::EMPTY;
                for (url, member) in members {
                    state.add(url, member.delivered);
                    if !data.pages.contains_key(url) {
                        faults.push(format!("section member without a page: {url}"));
                    }
                }
                if state != section.state || members.len() as u64 != section.pages {
                    let name = &section.name;
                    faults.push(format!("section with a wrong state or number of pages: {name}"));
                }
            }
            for kept in data.pages.values() {
                let PageData { row, line } = kept;
                let is_right =
                    line.as_ref().is_none_or(|it| LineDigest::of(it.as_bytes()) == row.digest);
                if !is_right || line.is_some() == row.withheld.is_some() {
                    faults.push(format!("{}: the content does not match the record", row.url));
                }
            }
        }
        Ok(faults)
    }
}
