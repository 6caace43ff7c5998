//! Publishes the staged files: manifest, journal, moves (D90).

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rutter_scp::KeyedLine;
use rutter_site::{FileRecord, JournalDraft, ManifestWriter, StatePaths, remove_remote_stage};

use super::{StagingArea, close};
use crate::error::{BuildError, IoErrorContext};

impl StagingArea {
    /// Writes the new manifest and passes each file to `take` in the order of their names. No file
    /// can be staged after that.
    pub(crate) fn list(
        &mut self,
        take: &mut dyn FnMut(&str, &FileRecord) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let Some(new) = self.new.take() else { return Ok(()) };
        let mut sorted = new.finish().at(&self.state)?;
        let mut out = ManifestWriter::create(&self.files_new(), &self.target)?;
        let mut entry = KeyedLine::empty();
        while sorted.next(&mut entry).at(&self.state)? {
            let columns = String::from_utf8_lossy(&entry.line);
            out.push(&entry.key, &columns)?;
            if let Some(record) = FileRecord::of_columns(&columns) {
                take(&entry.key, &record)?;
            }
        }
        Ok(out.finish()?)
    }

    fn files_new(&self) -> PathBuf {
        self.state.join("files.new")
    }

    /// Returns the names of the files that Rutter wrote and no longer publishes.
    fn unwanted(&self) -> Vec<&str> {
        let listed = self.old.iter().map(|(name, _)| name).filter(|name| !self.has(name));
        let listed = listed.filter(|name| self.old.is_own_file(&self.target, name));
        listed.chain(self.strays.iter().map(String::as_str)).collect()
    }

    /// Returns whether this publication would change no file.
    pub(crate) fn has_no_changes(&self) -> bool {
        self.counts.staged == 0 && self.unwanted().is_empty()
    }

    /// Publishes the staged files and the state files. `state` holds the staged and the final path
    /// of each state file.
    ///
    /// Returns how many files were written and deleted.
    pub(crate) fn publish(
        mut self,
        paths: &StatePaths,
        state: Vec<(PathBuf, PathBuf)>,
        left_behind: &[PathBuf],
    ) -> Result<(u64, u64), BuildError> {
        self.list(&mut |_, _| Ok(()))?;
        let unwanted: Vec<String> = self.unwanted().into_iter().map(str::to_owned).collect();
        let mut draft = JournalDraft::create(paths)?;
        for (order, out) in std::mem::take(&mut self.moves).into_iter().enumerate() {
            let Some(out) = out else { continue };
            let list = self.folder.join(format!("moves-{order}"));
            close(out, &list)?;
            for line in BufReader::new(File::open(&list).at(&list)?).lines() {
                let line = line.at(&list)?;
                if let Some((file, name)) = line.split_once('\t') {
                    draft.put(self.folder.join(file), self.target.join(name))?;
                }
            }
        }
        for (from, to) in state {
            draft.state(from, to)?;
        }
        draft.state(self.files_new(), paths.files())?;
        for name in &unwanted {
            draft.remove(self.target.join(name))?;
        }
        for path in left_behind {
            draft.remove(path.clone())?;
        }
        draft.stage(&self.folder)?;
        let (written, deleted) = (draft.moves, draft.removals);
        draft.commit(paths)?.apply()?;
        remove_remote_stage(paths);
        remove_empty_folders(&self.target, unwanted.iter().map(String::as_str));
        Ok((written, deleted))
    }

    /// Deletes the staging folder without publishing.
    pub(crate) fn discard(self) {
        drop(fs::remove_dir_all(&self.folder));
        drop(fs::remove_file(self.files_new()));
        drop(fs::remove_file(self.state.join("stage.path")));
    }
}

/// Deletes the folders of deleted files that are now empty.
fn remove_empty_folders<'n>(target: &Path, names: impl Iterator<Item = &'n str>) {
    for name in names {
        let mut folder = target.join(name);
        // The loop ends at the output folder and at the first folder that is not empty.
        while folder.pop() && folder != target && fs::remove_dir(&folder).is_ok() {}
    }
}
