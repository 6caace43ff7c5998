//! Files of the site owner, and published files whose source cannot be read.

use std::fs::{self};
use std::sync::Arc;

use rutter_page::Digest;
use rutter_site::Owner;

use super::{PublishOrder, StagingArea};
use crate::error::{BuildError, IoErrorContext};

impl StagingArea {
    /// Stages a file of the site owner without the block of an earlier build. The manifest no
    /// longer lists the file.
    pub(crate) fn restore_original(
        &mut self,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), BuildError> {
        let path = self.new_path();
        fs::write(&path, bytes).at(&path)?;
        self.queue(order, name, &path)
    }

    /// Returns whether an earlier build added a block to this file of the site owner.
    pub(crate) fn was_shared(&self, name: &str) -> bool {
        self.old.get(name).is_some_and(|record| record.owner == Owner::Shared)
    }

    /// Keeps the published version of a file whose source cannot be read. Returns whether there is
    /// a published version and, if `wanted` is given, whether it has that digest.
    pub(crate) fn keep(&mut self, name: &str, wanted: Option<Digest>) -> Result<bool, BuildError> {
        let Some(record) = self.old.get(name) else { return Ok(false) };
        let is_wanted = wanted.is_none_or(|wanted| wanted == record.digest);
        let is_there = fs::symlink_metadata(self.target.join(name)).is_ok();
        if !is_wanted || !is_there {
            return Ok(false);
        }
        if !self.has(name) {
            self.record(name, &record)?;
        }
        Ok(true)
    }

    /// Keeps the published copies of all files of the site below unreadable folders.
    pub(crate) fn keep_below(&mut self, folders: &[String]) -> Result<(), BuildError> {
        if folders.is_empty() {
            return Ok(());
        }
        let old = Arc::clone(&self.old);
        let is_below = |name: &str| folders.iter().any(|folder| name.starts_with(folder));
        for (name, record) in old.iter() {
            if record.owner == Owner::Site && is_below(name) {
                self.keep(name, None)?;
            }
        }
        Ok(())
    }
}
