//! Pass 4: publishes the staged files in one transaction (D90).
//!
//! Files are written to a staging folder on the file system of the output folder, synced to disk,
//! listed in the journal, and then moved to the output folder. A file is moved before the files
//! that refer to it. Files with unchanged bytes are not touched. A file that Rutter did not write
//! is overwritten only if the [`ReplacePolicy`] allows it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{KeyedLine, LineSorter};
use rutter_site::{
    FileRecord, JournalDraft, Manifest, ManifestWriter, Owner, STAGING_FOLDER, StatePaths,
    absolute_path, digest_of, digest_of_file, file_marks::FileMarks, remove_folder,
    remove_remote_stage, time_of,
};
use sha2::{Digest as _, Sha256};

use crate::error::{BuildError, IoErrorContext};
use crate::name_table::hash_of;

/// Group of a file in the order of publication: a file is published before the files that refer to
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PublishOrder {
    /// Copies of the site's own files.
    Site,
    Collections,
    Twins,
    Deltas,
    Arc,
    Parts,
    Sitemap,
    Robots,
    Llms,
    /// Pages with links to artifacts in their heads.
    Heads,
}

impl PublishOrder {
    const COUNT: usize = 10;
}

/// Result of staging a file for publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StageResult {
    /// The file is staged.
    Staged,
    /// The published file already has the same bytes.
    Unchanged,
    /// A file that Rutter did not write has this name and blocks the artifact.
    ForeignFile,
    /// The existing file is a symbolic link of the site owner.
    Symlink,
}

/// The files that a build stages for publication. Only a hash of each file's name is kept in
/// memory, because there may be as many files as pages.
#[derive(Debug)]
pub(crate) struct StagingArea {
    target: PathBuf,
    /// The staging folder, on the file system of the output folder.
    folder: PathBuf,
    /// The state folder.
    state: PathBuf,
    n_files: usize,
    n_staged: u64,
    /// Number of the site's files, except pages, that could not be copied.
    n_uncopied: u64,
    /// Lists of staged files by order of publication; each line has a staged file and its name.
    moves: [Option<BufWriter<File>>; PublishOrder::COUNT],
    old: Arc<Manifest>,
    /// Hashes of the names of all files that are already part of this publication.
    used_names: HashSet<u128>,
    /// Records of the files of this publication; `None` after they were written to the manifest.
    new: Option<LineSorter>,
    may_replace: ReplacePolicy,
    /// Marks that identify files of Rutter if the manifest is lost.
    marks: FileMarks,
    /// Markdown twins in the output folder that Rutter wrote and no manifest lists.
    strays: Vec<String>,
}

/// Which existing files a build may overwrite.
#[derive(Debug, Clone)]
pub(crate) enum ReplacePolicy {
    /// A build may overwrite all files.
    All,
    /// A build may overwrite the files that Rutter wrote and the files with these names.
    Own(Vec<String>),
}

impl StagingArea {
    pub(crate) fn open(
        paths: &StatePaths,
        target: &Path,
        old: Arc<Manifest>,
        may_replace: ReplacePolicy,
    ) -> Result<Self, BuildError> {
        let target = absolute_path(target);
        let is_same_disk = on_same_disk(&paths.folder, &target);
        let folder = if is_same_disk { paths.stage() } else { target.join(STAGING_FOLDER) };
        Self::open_in_folder(paths, target, folder, old, may_replace)
    }

    fn open_in_folder(
        paths: &StatePaths,
        target: PathBuf,
        folder: PathBuf,
        old: Arc<Manifest>,
        may_replace: ReplacePolicy,
    ) -> Result<Self, BuildError> {
        remove_remote_stage(paths);
        if folder != paths.stage() {
            // The note tells a later process, which knows only the state folder, where the staging
            // folder is.
            let note = paths.stage_note();
            let text = serde_json::to_string(&folder).expect("a path serializes to JSON");
            fs::write(&note, text).at(&note)?;
        }
        remove_folder(&folder)?;
        fs::create_dir_all(&folder).at(&folder)?;
        Ok(Self {
            target,
            folder,
            state: paths.folder.clone(),
            n_files: 0,
            n_staged: 0,
            n_uncopied: 0,
            moves: Default::default(),
            old,
            used_names: HashSet::new(),
            new: Some(LineSorter::new(&paths.folder)),
            may_replace,
            marks: FileMarks::default(),
            strays: Vec::new(),
        })
    }

    /// Sets the marks that identify the files of Rutter, for a build that has lost the manifest.
    pub(crate) fn recognise(&mut self, marks: FileMarks) {
        self.marks = marks;
    }

    /// Sets the Markdown twins that the publication deletes unless it writes them again. Builds
    /// that have lost the manifest use this.
    pub(crate) fn remove_strays(&mut self, twins: Vec<String>) {
        self.strays = twins;
        self.strays.retain(|name| !self.used_names.contains(&hash_of(name)));
    }

    /// Returns an unused path in the staging folder.
    pub(crate) fn new_path(&mut self) -> PathBuf {
        self.n_files += 1;
        self.folder.join(self.n_files.to_string())
    }

    /// Returns whether the policy allows overwriting this file.
    pub(crate) fn may_replace(&self, name: &str) -> bool {
        match &self.may_replace {
            ReplacePolicy::All => true,
            ReplacePolicy::Own(others) => others.iter().any(|other| other == name),
        }
    }

    /// Returns whether an earlier build wrote the existing file and it is unchanged since then.
    pub(crate) fn was_own_file(&self, name: &str) -> bool {
        self.old.is_own_file(&self.target, name)
    }

    /// Returns whether an artifact may be written under this name.
    fn is_free(&self, name: &str) -> bool {
        let is_there = fs::symlink_metadata(self.target.join(name)).is_ok();
        !is_there
            || self.may_replace(name)
            || self.old.is_own_file(&self.target, name)
            || self.is_recognised(name)
    }

    /// Returns whether the manifest is lost and the file has a mark of Rutter.
    pub(crate) fn is_recognised(&self, name: &str) -> bool {
        self.old.is_empty() && self.marks.is_own_file(&self.target, name)
    }

    /// Stages a file with these bytes.
    pub(crate) fn put(
        &mut self,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<StageResult, BuildError> {
        self.put_as(Owner::Rutter, order, name, bytes)
    }

    fn put_as(
        &mut self,
        owner: Owner,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<StageResult, BuildError> {
        let digest = Digest(Sha256::digest(bytes).into());
        let record = FileRecord { owner, bytes: bytes.len() as u64, digest, time: 0 };
        if let Some(put) = self.check_existing(name, &record)? {
            return Ok(put);
        }
        let path = self.new_path();
        fs::write(&path, bytes).at(&path)?;
        self.add(order, name, &path, &record)?;
        Ok(StageResult::Staged)
    }

    /// Stages a file of the site owner with a block of Rutter. The file still belongs to the site
    /// owner: it is never deleted, and a symbolic link is not replaced.
    pub(crate) fn put_shared(
        &mut self,
        order: PublishOrder,
        name: &str,
        bytes: &[u8],
    ) -> Result<StageResult, BuildError> {
        let path = self.target.join(name);
        if path.is_symlink() {
            let is_same = fs::read(&path).is_ok_and(|found| found == bytes);
            return Ok(if is_same { StageResult::Unchanged } else { StageResult::Symlink });
        }
        self.put_as(Owner::Shared, order, name, bytes)
    }

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

    /// Stages a file that was already written to the staging folder.
    pub(crate) fn take(
        &mut self,
        order: PublishOrder,
        name: &str,
        path: &Path,
    ) -> Result<StageResult, BuildError> {
        let digest = digest_of(path).at(path)?;
        let bytes = fs::metadata(path).at(path)?.len();
        let record = FileRecord { owner: Owner::Rutter, bytes, digest, time: 0 };
        if let Some(put) = self.check_existing(name, &record)? {
            fs::remove_file(path).at(path)?;
            return Ok(put);
        }
        self.add(order, name, path, &record)?;
        Ok(StageResult::Staged)
    }

    /// Stages a copy of a file; see [`Self::copy_file`].
    pub(crate) fn copy(
        &mut self,
        kind: (Owner, PublishOrder),
        name: &str,
        source: &Path,
        known: Option<Digest>,
    ) -> Result<StageResult, BuildError> {
        self.copy_file(kind, name, (source, File::open(source).at(source)?), known)
    }

    /// Stages a copy of an open file. If `known` is the digest of the file, the file is not read to
    /// compute it; without `known`, a file with the size and time of the last copy counts as
    /// unchanged.
    pub(crate) fn copy_file(
        &mut self,
        (owner, order): (Owner, PublishOrder),
        name: &str,
        (source, mut file): (&Path, File),
        known: Option<Digest>,
    ) -> Result<StageResult, BuildError> {
        let metadata = file.metadata().at(source)?;
        let there = fs::symlink_metadata(self.target.join(name)).ok();
        if let (Some(record), Some(there)) = (self.old.get(name), &there)
            && record.bytes == metadata.len()
            && record.bytes == there.len()
            && record.time == time_of(there)
            && known.map_or(record.time == time_of(&metadata), |known| known == record.digest)
        {
            self.record(name, &record)?;
            return Ok(StageResult::Unchanged);
        }
        let digest = match known {
            Some(digest) => digest,
            None => {
                let digest = digest_of_file(&mut file).at(source)?;
                file.rewind().at(source)?;
                digest
            }
        };
        let record = FileRecord { owner, bytes: metadata.len(), digest, time: 0 };
        if let Some(put) = self.check_existing(name, &record)? {
            return Ok(put);
        }
        let path = self.new_path();
        let mut copy = File::create(&path).at(&path)?;
        io::copy(&mut file, &mut copy).at(source)?;
        copy.set_permissions(metadata.permissions()).at(&path)?;
        // The copy has the time of its source, which shows later whether the source changed.
        if let Ok(time) = metadata.modified() {
            copy.set_modified(time).at(&path)?;
        }
        self.add(order, name, &path, &record)?;
        Ok(StageResult::Staged)
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

    /// Counts a file of the site that could not be copied. Pages are not counted.
    pub(crate) fn count_uncopied(&mut self) {
        self.n_uncopied += 1;
    }

    /// Returns the number of the site's files, except pages, that could not be copied.
    pub(crate) fn n_uncopied(&self) -> u64 {
        self.n_uncopied
    }

    /// Returns the result of staging a file if the file need not or must not be written; `None` if
    /// it must be written.
    fn check_existing(
        &mut self,
        name: &str,
        wanted: &FileRecord,
    ) -> Result<Option<StageResult>, BuildError> {
        // Each name is used once: a second file with the same name is blocked.
        if self.has(name) {
            return Ok(Some(StageResult::ForeignFile));
        }
        let path = self.target.join(name);
        let there = fs::symlink_metadata(&path);
        // A published file in an unreadable folder counts as unchanged.
        if there.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
            && let Some(record) = self.old.get(name).filter(|record| record.digest == wanted.digest)
        {
            self.record(name, &record)?;
            return Ok(Some(StageResult::Unchanged));
        }
        if let Ok(there) = &there
            && there.is_file()
            && there.len() == wanted.bytes
        {
            let time = time_of(there);
            let by_time = self.old.get(name).filter(|record| record.time == time);
            let found = match by_time {
                Some(record) => record.digest,
                None => digest_of(&path).at(&path)?,
            };
            if found == wanted.digest {
                self.record(name, &FileRecord { time, ..wanted.clone() })?;
                return Ok(Some(StageResult::Unchanged));
            }
        }
        let is_free = wanted.owner == Owner::Shared || self.is_free(name);
        Ok((!is_free).then_some(StageResult::ForeignFile))
    }

    /// Returns whether a file with this name is already part of this publication.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.used_names.contains(&hash_of(name))
    }

    /// Adds a file to the records of this publication.
    fn record(&mut self, name: &str, record: &FileRecord) -> Result<(), BuildError> {
        if let Some(new) = &mut self.new
            && self.used_names.insert(hash_of(name))
        {
            let KeyedLine { modified, .. } = KeyedLine::empty();
            new.push(name, modified, record.columns().as_bytes()).at(&self.state)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        order: PublishOrder,
        name: &str,
        path: &Path,
        record: &FileRecord,
    ) -> Result<(), BuildError> {
        let time = fs::metadata(path).map_or(0, |metadata| time_of(&metadata));
        self.record(name, &FileRecord { time, ..record.clone() })?;
        self.queue(order, name, path)
    }

    /// Adds a staged file to the list of files to move.
    fn queue(&mut self, order: PublishOrder, name: &str, path: &Path) -> Result<(), BuildError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let list = self.folder.join(format!("moves-{}", order as usize));
        let Some(moves) = self.moves.get_mut(order as usize) else { return Ok(()) };
        let out = match moves {
            Some(out) => out,
            None => moves.insert(create(&list)?),
        };
        self.n_staged += 1;
        writeln!(out, "{file}\t{name}").at(&list)
    }

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
        self.n_staged == 0 && self.unwanted().is_empty()
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

/// Creates a buffered file in the staging folder.
pub(crate) fn create(path: &Path) -> Result<BufWriter<File>, BuildError> {
    Ok(BufWriter::with_capacity(256 << 10, File::create(path).at(path)?))
}

/// Writes the buffered bytes of a file to it and closes it.
pub(crate) fn close(mut out: BufWriter<File>, path: &Path) -> Result<(), BuildError> {
    out.flush().at(path)
}

/// Deletes the folders of deleted files that are now empty.
fn remove_empty_folders<'n>(target: &Path, names: impl Iterator<Item = &'n str>) {
    for name in names {
        let mut folder = target.join(name);
        // The loop ends at the output folder and at the first folder that is not empty.
        while folder.pop() && folder != target && fs::remove_dir(&folder).is_ok() {}
    }
}

fn on_same_disk(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.dev());
        device(one).is_some() && device(one) == device(other)
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staging_folder_on_another_file_system_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StatePaths::new(&folder.path().join("state"));
        let target = folder.path().join("out");
        for folder in [&paths.folder, &target] {
            fs::create_dir_all(folder).unwrap();
        }
        let open = |stage: &Path| {
            let may_replace = ReplacePolicy::Own(Vec::new());
            StagingArea::open_in_folder(
                &paths,
                target.clone(),
                stage.to_owned(),
                Arc::default(),
                may_replace,
            )
        };
        let stage = target.join(STAGING_FOLDER);
        // The build is treated as killed after staging this file.
        open(&stage).unwrap().put(PublishOrder::Site, "a.txt", b"a").unwrap();
        assert!(stage.join("1").exists());
        assert!(!rutter_site::recover(&paths.folder).unwrap());
        assert!(!stage.exists() && !paths.stage_note().exists());
        // A publication leaves no staging folder.
        let mut staged = open(&stage).unwrap();
        staged.put(PublishOrder::Site, "a.txt", b"a").unwrap();
        assert_eq!(staged.publish(&paths, Vec::new(), &[]).unwrap(), (1, 0));
        assert!(target.join("a.txt").exists() && !stage.exists());
        assert!(!paths.stage_note().exists());
        // A note that names another folder is ignored.
        fs::write(paths.stage_note(), serde_json::to_vec(&target).unwrap()).unwrap();
        rutter_site::recover(&paths.folder).unwrap();
        assert!(target.join("a.txt").exists());
    }
}
