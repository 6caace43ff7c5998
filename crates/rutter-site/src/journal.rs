//! The publication journal (`journal.json`): one step per line.
//!
//! As soon as the journal is on disk, the publication is decided: this process or the next one
//! completes the publication. Until then, no staged file may be deleted. A journal can be applied
//! repeatedly with the same result: if the staged file of a step is missing, the step was done
//! before, or another program deleted the file. Such a step is skipped; a state file that was lost
//! this way is returned, so that the next build writes everything again. The journal is read and
//! written line by line, so that memory does not grow with its length.
//!
//! A journal of another format and a damaged journal are rejected before any step is done.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::checksum::RecordChecksum;
use serde::{Deserialize, Serialize};

use crate::error::{IoErrorContext, StateError};
use crate::manifest::time_of;
use crate::paths::StatePaths;

const FORMAT: u32 = 4;
/// Format of older journals, which have no end line.
const UNSEALED: u32 = 3;

/// Maximum number of changed folders that are not synced to disk yet.
const MAX_UNSYNCED_FOLDERS: usize = 4096;

/// One step of a publication. The steps of a journal are in this order: moves, state files,
/// deletions, staging folders.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JournalStep {
    /// The first line of the journal: its format version.
    Format(u32),
    /// Moves a staged file into place. The move of a file comes before the moves of files that
    /// refer to it.
    Move {
        from: PathBuf,
        to: PathBuf,
        /// Size and modification time of the file that the staged file replaces; `None` if there is
        /// no such file.
        before: Option<(u64, u64)>,
    },
    /// Moves a state file into place, after all files that it describes.
    State {
        from: PathBuf,
        to: PathBuf,
        /// Size and modification time of the staged file, which the move preserves; `None` in
        /// journals of earlier versions.
        #[serde(default)]
        staged: Option<(u64, u64)>,
    },
    /// Deletes a file. Only journals of earlier versions contain this step.
    Remove(PathBuf),
    /// Deletes a file that is no longer published.
    Delete {
        path: PathBuf,
        /// Size and modification time of the file when the journal was written.
        before: Option<(u64, u64)>,
    },
    /// Deletes a staging folder of the publication.
    Stage(PathBuf),
    /// The last line of the journal: the number of lines before it and their digest.
    End(String),
}

/// Returns the size and modification time of a file; `None` if the file does not exist. Any other
/// I/O error is returned as an error.
fn file_stat(path: &Path) -> Result<Option<(u64, u64)>, StateError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some((metadata.len(), time_of(&metadata)))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StateError::Io(path.to_owned(), error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A journal that is being written and has no effect yet.
#[derive(Debug)]
pub struct JournalDraft {
    path: PathBuf,
    out: BufWriter<File>,
    seal: RecordChecksum,
    /// The target folder that was created last.
    folder: PathBuf,
    /// Number of files that are moved into place.
    pub moves: u64,
    /// Number of files that are deleted.
    pub removals: u64,
}

impl JournalDraft {
    /// Creates the draft in the state folder.
    pub fn create(paths: &StatePaths) -> Result<Self, StateError> {
        let path = paths.folder.join("journal.new");
        let out = BufWriter::with_capacity(64 << 10, File::create(&path).at(&path)?);
        let seal = RecordChecksum::default();
        let mut draft = Self { path, out, seal, folder: PathBuf::new(), moves: 0, removals: 0 };
        draft.push(&JournalStep::Format(FORMAT))?;
        Ok(draft)
    }

    fn push(&mut self, step: &JournalStep) -> Result<(), StateError> {
        let mut line = serde_json::to_string(step).expect("a step serializes to JSON");
        line.push('\n');
        self.seal.record(line.as_bytes());
        self.out.write_all(line.as_bytes()).at(&self.path)
    }

    /// Adds the move of a staged file to the journal. Errors that would prevent the move are found
    /// here, before the publication is decided.
    pub fn put(&mut self, from: PathBuf, to: PathBuf) -> Result<(), StateError> {
        if let Some(folder) = to.parent()
            && folder != self.folder
        {
            fs::create_dir_all(folder).at(folder)?;
            folder.clone_into(&mut self.folder);
        }
        if to.is_dir() {
            let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder has this name");
            return Err(StateError::Io(to, error));
        }
        self.moves += 1;
        let before = file_stat(&to)?;
        self.push(&JournalStep::Move { from, to, before })
    }

    /// Adds the move of a state file.
    pub fn state(&mut self, from: PathBuf, to: PathBuf) -> Result<(), StateError> {
        let staged = file_stat(&from)?;
        self.push(&JournalStep::State { from, to, staged })
    }

    /// Adds the deletion of a file that is no longer published.
    pub fn remove(&mut self, path: PathBuf) -> Result<(), StateError> {
        self.removals += 1;
        let before = file_stat(&path)?;
        self.push(&JournalStep::Delete { path, before })
    }

    /// Adds the deletion of a staging folder.
    pub fn stage(&mut self, folder: &Path) -> Result<(), StateError> {
        self.push(&JournalStep::Stage(folder.to_owned()))
    }

    /// Writes the journal to disk. After that, this process or the next one completes the
    /// publication.
    pub fn commit(mut self, paths: &StatePaths) -> Result<Journal, StateError> {
        let end = JournalStep::End(self.seal.to_text());
        self.push(&end)?;
        let Self { path, out, .. } = self;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error).at(&path)?;
        flush(paths, &path)?;
        file.sync_all().at(&path)?;
        let journal = paths.journal();
        fs::rename(&path, &journal).at(&journal)?;
        sync_folder(&paths.folder)?;
        Ok(Journal { path: journal })
    }
}

/// Syncs all staged files that the journal names to disk, before the journal itself takes effect.
fn flush(paths: &StatePaths, draft: &Path) -> Result<(), StateError> {
    #[cfg(target_os = "linux")]
    {
        let mut folders = vec![paths.folder.clone()];
        for_each_step(draft, &mut |step| {
            if let JournalStep::Stage(folder) = step {
                folders.push(folder);
            }
            Ok(())
        })?;
        for folder in &folders {
            let file = File::open(folder).at(folder)?;
            rustix::fs::syncfs(&file).map_err(io::Error::from).at(folder)?;
        }
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = paths;
        for_each_step(draft, &mut |step| match step {
            JournalStep::Move { from, .. } | JournalStep::State { from, .. } => {
                File::open(&from).and_then(|file| file.sync_all()).at(&from)
            }
            _ => Ok(()),
        })
    }
}

/// A complete journal on disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// Loads the journal of an unfinished publication; `None` if there is none.
    pub fn load(paths: &StatePaths) -> Result<Option<Self>, StateError> {
        let path = paths.journal();
        // The journal is created by a rename, so it is complete or does not exist.
        match fs::symlink_metadata(&path) {
            Ok(_) => {
                // All steps are parsed before the first one is done, so that a damaged journal has
                // no effect.
                for_each_step(&path, &mut |_| Ok(()))?;
                Ok(Some(Self { path }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StateError::Io(path, error)),
        }
    }

    /// Does the remaining steps of the publication and returns the state files that were lost.
    pub fn apply(self) -> Result<Vec<PathBuf>, StateError> {
        let mut changed_folders = ChangedFolders::default();
        let mut stages = Vec::new();
        let mut lost = Vec::new();
        for_each_step(&self.path, &mut |step| {
            match step {
                JournalStep::Format(_) | JournalStep::End(_) => {}
                JournalStep::Move { from, to, before } => {
                    // If another program has written the target file since the journal was written,
                    // that file is kept.
                    let now = file_stat(&to)?;
                    if file_stat(&from)?.is_some() && (now.is_none() || now == before) {
                        changed_folders.rename(&from, &to)?;
                    }
                }
                JournalStep::State { from, to, staged } => {
                    let now = file_stat(&to)?;
                    if file_stat(&from)?.is_some() {
                        changed_folders.rename(&from, &to)?;
                    } else if now.is_none() || (staged.is_some() && now != staged) {
                        lost.push(to);
                    }
                }
                JournalStep::Remove(path) => changed_folders.remove(&path)?,
                JournalStep::Delete { path, before } => {
                    // If another program has written the file since the journal was written, the
                    // file is kept.
                    if before.is_some() && file_stat(&path)? == before {
                        changed_folders.remove(&path)?;
                    }
                }
                JournalStep::Stage(folder) => stages.push(folder),
            }
            Ok(())
        })?;
        changed_folders.sync()?;
        // The list of lost files is written before the journal is deleted, so that the next build
        // knows that state files are missing.
        if let (false, Some(folder)) = (lost.is_empty(), self.path.parent()) {
            mark_incomplete(folder, &lost)?;
        }
        fs::remove_file(&self.path).at(&self.path)?;
        for stage in &stages {
            // All files were moved out of the staging folder, so an error here loses nothing.
            drop(fs::remove_dir_all(stage));
        }
        Ok(lost)
    }
}

/// Records that state files were lost, so that the next build compares all files.
fn mark_incomplete(folder: &Path, lost: &[PathBuf]) -> Result<(), StateError> {
    let path = StatePaths::new(folder).incomplete();
    let mut text = String::new();
    for path in lost {
        text.push_str(&path.to_string_lossy());
        text.push('\n');
    }
    fs::write(&path, text).at(&path)
}

/// Reads a journal line by line and passes each step to `take`.
fn for_each_step(
    path: &Path,
    take: &mut dyn FnMut(JournalStep) -> Result<(), StateError>,
) -> Result<(), StateError> {
    let input = BufReader::with_capacity(64 << 10, File::open(path).at(path)?);
    let mut seal = RecordChecksum::default();
    // `is_sealed`: whether the end line is still expected, which is also true for an empty file.
    let (mut is_sealed, mut n_lines) = (true, 0);
    for (n, line) in (1..).zip(input.lines()) {
        n_lines = n;
        let line = line.at(path)?;
        let step = serde_json::from_str(&line);
        let step = step.map_err(|_| StateError::Damaged(path.to_owned(), n))?;
        if let JournalStep::End(end) = &step {
            if *end != seal.to_text() {
                return Err(StateError::Damaged(path.to_owned(), n));
            }
            is_sealed = false;
        }
        seal.record(line.as_bytes());
        seal.update(b"\n");
        match step {
            JournalStep::Format(FORMAT) if n == 1 => {}
            JournalStep::Format(UNSEALED) if n == 1 => is_sealed = false,
            JournalStep::Format(_) => return Err(StateError::NewerFormat(path.to_owned())),
            _ if n == 1 => return Err(StateError::Damaged(path.to_owned(), n)),
            step => take(step)?,
        }
    }
    if is_sealed { Err(StateError::Damaged(path.to_owned(), n_lines)) } else { Ok(()) }
}

/// Folders with renamed files that are not synced to disk yet.
#[derive(Debug, Default)]
struct ChangedFolders {
    folders: Vec<PathBuf>,
}

impl ChangedFolders {
    /// Moves a file and records its new folder as changed.
    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StateError> {
        if let Some(folder) = to.parent()
            && self.folders.last().is_none_or(|last| last != folder)
        {
            if MAX_UNSYNCED_FOLDERS <= self.folders.len() {
                self.sync()?;
            }
            fs::create_dir_all(folder).at(folder)?;
            self.folders.push(folder.to_owned());
        }
        fs::rename(from, to).at(to)
    }

    /// Deletes a file. All changed folders are synced before, so that the files that replace it are
    /// safely on disk.
    fn remove(&mut self, path: &Path) -> Result<(), StateError> {
        self.sync()?;
        match fs::remove_file(path) {
            Ok(()) => Ok(()),
            Err(error) if is_absent(&error) || path.is_dir() => Ok(()),
            Err(error) => Err(StateError::Io(path.to_owned(), error)),
        }
    }

    /// Syncs all changed folders to disk.
    fn sync(&mut self) -> Result<(), StateError> {
        self.folders.sort();
        self.folders.dedup();
        for folder in self.folders.drain(..) {
            sync_folder(&folder)?;
        }
        Ok(())
    }
}

/// Syncs a folder to disk, so that the names of its files survive a crash.
pub fn sync_folder(folder: &Path) -> Result<(), StateError> {
    #[cfg(unix)]
    File::open(folder).and_then(|file| file.sync_all()).at(folder)?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applies_whole_journal_and_rejects_damaged_ones() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StatePaths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("state/stage")).unwrap();
        fs::write(at("old.txt"), "old").unwrap();
        let mut draft = JournalDraft::create(&paths).unwrap();
        for n in 0..3 {
            fs::write(at(&format!("state/stage/{n}")), n.to_string()).unwrap();
            draft.put(at(&format!("state/stage/{n}")), at(&format!("out/{n}/x.html"))).unwrap();
        }
        draft.remove(at("old.txt")).unwrap();
        draft.stage(&at("state/stage")).unwrap();
        assert_eq!((draft.moves, draft.removals), (3, 1));
        drop(draft.commit(&paths).unwrap());
        let journal = fs::read_to_string(paths.journal()).unwrap();

        // Journals of another format and damaged journals are not applied.
        let cut: String = journal.split_inclusive('\n').take(3).collect();
        for (text, is_newer) in [
            ("{\"format\":9}\n", true),
            ("{\"format\":3}\n{}\n", false),
            (cut.as_str(), false),
            (&*journal.replace("old.txt", "new.txt"), false),
            ("", false),
        ] {
            fs::write(paths.journal(), text).unwrap();
            let error = Journal::load(&paths).unwrap_err();
            assert_eq!(matches!(error, StateError::NewerFormat(_)), is_newer, "{error}");
            assert_eq!(matches!(error, StateError::Damaged(..)), !is_newer, "{error}");
            assert!(paths.journal().exists() && at("state/stage/0").exists());
        }

        fs::write(paths.journal(), journal).unwrap();
        assert!(Journal::load(&paths).unwrap().unwrap().apply().unwrap().is_empty());
        assert_eq!(fs::read_to_string(at("out/2/x.html")).unwrap(), "2");
        assert!(!at("old.txt").exists() && !at("state/stage").exists());
        assert!(Journal::load(&paths).unwrap().is_none());
    }

    #[test]
    fn keeps_file_written_after_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StatePaths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(&paths.folder).unwrap();
        for name in ["same.md", "newer.md", "folder.md", "gone.md"] {
            fs::write(at(name), "old").unwrap();
        }
        let mut draft = JournalDraft::create(&paths).unwrap();
        for name in ["same.md", "newer.md", "folder.md", "gone.md", "later.md"] {
            draft.remove(at(name)).unwrap();
        }
        let journal = draft.commit(&paths).unwrap();
        fs::write(at("newer.md"), "written by the owner").unwrap();
        fs::write(at("later.md"), "written by the owner").unwrap();
        fs::remove_file(at("folder.md")).unwrap();
        fs::create_dir(at("folder.md")).unwrap();
        fs::remove_file(at("gone.md")).unwrap();
        assert!(journal.apply().unwrap().is_empty());
        assert!(!at("same.md").exists());
        assert!(at("newer.md").is_file() && at("later.md").is_file() && at("folder.md").is_dir());
    }

    #[test]
    fn skips_step_without_staged_file() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StatePaths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        let prepare = |is_old: bool| {
            drop(fs::remove_dir_all(&paths.folder));
            fs::create_dir_all(at("state/next")).unwrap();
            for name in ["a", "b", "c"] {
                if is_old {
                    fs::write(at(&format!("state/{name}.json")), "old, longer").unwrap();
                }
                fs::write(at(&format!("state/next/{name}")), name).unwrap();
            }
            let mut draft = JournalDraft::create(&paths).unwrap();
            for name in ["a", "b", "c"] {
                let (from, to) = (format!("state/next/{name}"), format!("state/{name}.json"));
                draft.state(at(&from), at(&to)).unwrap();
            }
            draft.put(at("state/next/none"), at("out/none")).unwrap();
            draft.commit(&paths).unwrap()
        };
        let text = |name: &str| fs::read_to_string(at(&format!("state/{name}.json"))).ok();
        let old = |is_old: bool| is_old.then(|| "old, longer".to_owned());
        for is_old in [true, false] {
            // The step was done before the process ended.
            let journal = prepare(is_old);
            fs::rename(at("state/next/b"), at("state/b.json")).unwrap();
            assert!(journal.apply().unwrap().is_empty());
            assert_eq!(["a", "b", "c"].map(text), ["a", "b", "c"].map(|it| Some(it.to_owned())));
            assert!(!paths.incomplete().exists() && !at("out/none").exists());
            // Another program deleted the staged file: the previous state file stays.
            let journal = prepare(is_old);
            fs::remove_file(at("state/next/b")).unwrap();
            assert_eq!(journal.apply().unwrap(), [at("state/b.json")]);
            assert_eq!(["a", "c"].map(text), ["a", "c"].map(|it| Some(it.to_owned())));
            assert_eq!(text("b"), old(is_old));
            assert!(fs::read_to_string(paths.incomplete()).unwrap().contains("b.json"));
            assert!(Journal::load(&paths).unwrap().is_none());
        }
    }
}
