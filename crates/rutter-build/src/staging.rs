//! Pass 4: publishes the staged files in one transaction (D90).
//!
//! Files are written to a staging folder on the file system of the output folder, synced to disk,
//! listed in the journal, and then moved to the output folder. A file is moved before the files
//! that refer to it. Files with unchanged bytes are not touched. A file that Rutter did not write
//! is overwritten only if the [`ReplacePolicy`] allows it.

mod kept;
mod swap;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{KeyedLine, LineSorter};
use rutter_site::{
    FileRecord, Manifest, Owner, STAGING_FOLDER, StatePaths, absolute_path, digest_of,
    digest_of_file, file_marks::FileMarks, remove_folder, remove_remote_stage, time_of,
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
    counts: StageCounts,
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

/// Numbers of files in a staging folder.
#[derive(Debug, Default)]
struct StageCounts {
    files: usize,
    staged: u64,
    /// Number of the site's files, except pages, that could not be copied.
    uncopied: u64,
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
            counts: StageCounts::default(),
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
        self.counts.files += 1;
        self.folder.join(self.counts.files.to_string())
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

    /// Counts a file of the site that could not be copied. Pages are not counted.
    pub(crate) fn count_uncopied(&mut self) {
        self.counts.uncopied += 1;
    }

    /// Returns the number of the site's files, except pages, that could not be copied.
    pub(crate) fn n_uncopied(&self) -> u64 {
        self.counts.uncopied
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
        self.counts.staged += 1;
        writeln!(out, "{file}\t{name}").at(&list)
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
