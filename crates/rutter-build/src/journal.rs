//! The journal: the steps of a publication, one per line.
//!
//! Once the journal is on disk, the publication happens, in this process or in
//! the next one; until it is done, no staged file may be deleted. Redoing it is
//! idempotent: a step whose staged file is missing was done before, or the file
//! was deleted by another program. Such a step is skipped and the others are
//! done; a state file that was lost this way is returned, so that the next
//! build writes everything again. Both ends stream.
//!
//! Rejects journals of another format and lines that cannot be parsed, before
//! it does anything.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::seal::Seal;
use serde::{Deserialize, Serialize};

use crate::error::{At, BuildError};
use crate::manifest::time_of;
use crate::state::Paths;

const FORMAT: u32 = 4;
/// The format of journals without a last line.
const UNSEALED: u32 = 3;

/// Folders that are remembered before their names are made safe.
const MOST_TOUCHED: usize = 4096;

/// What a publication does, one thing after another: moves, then state, then
/// removals, then stages.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Step {
    /// The first line.
    Format(u32),
    /// A staged file goes where it belongs, referenced before referring.
    Move {
        from: PathBuf,
        to: PathBuf,
        /// Size and time of the file it takes the place of.
        before: Option<(u64, u64)>,
    },
    /// A state file, after all files it describes.
    State {
        from: PathBuf,
        to: PathBuf,
        /// Size and time of the staged file, which a move keeps; earlier
        /// versions did not write it.
        #[serde(default)]
        staged: Option<(u64, u64)>,
    },
    /// A file that is no longer published; only read, in journals of earlier versions.
    Remove(PathBuf),
    /// A file that is no longer published.
    Delete {
        path: PathBuf,
        /// Its size and time when the journal was written.
        before: Option<(u64, u64)>,
    },
    /// A folder with staged files.
    Stage(PathBuf),
    /// The last line: number and digest of all lines before it.
    End(String),
}

/// Size and time of a file; `None` where there is none. A disk that does not
/// answer is an error, not a missing file.
fn stat(path: &Path) -> Result<Option<(u64, u64)>, BuildError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some((metadata.len(), time_of(&metadata)))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(BuildError::Io(path.to_owned(), error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A journal that is being written: nothing is promised yet.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    out: BufWriter<File>,
    seal: Seal,
    /// The folder that was last seen to be there.
    folder: PathBuf,
    pub(crate) moves: u64,
    pub(crate) removals: u64,
}

impl Draft {
    pub(crate) fn create(paths: &Paths) -> Result<Self, BuildError> {
        let path = paths.folder.join("journal.new");
        let out = BufWriter::with_capacity(64 << 10, File::create(&path).at(&path)?);
        let seal = Seal::default();
        let mut draft = Self { path, out, seal, folder: PathBuf::new(), moves: 0, removals: 0 };
        draft.push(&Step::Format(FORMAT))?;
        Ok(draft)
    }

    fn push(&mut self, step: &Step) -> Result<(), BuildError> {
        let mut line = serde_json::to_string(step).expect("a step is JSON");
        line.push('\n');
        self.seal.record(line.as_bytes());
        self.out.write_all(line.as_bytes()).at(&self.path)
    }

    /// A staged file; what could stop its move stops it before it is promised.
    pub(crate) fn put(&mut self, from: PathBuf, to: PathBuf) -> Result<(), BuildError> {
        if let Some(folder) = to.parent()
            && folder != self.folder
        {
            fs::create_dir_all(folder).at(folder)?;
            folder.clone_into(&mut self.folder);
        }
        if to.is_dir() {
            let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder is in the way");
            return Err(BuildError::Io(to, error));
        }
        self.moves += 1;
        let before = stat(&to)?;
        self.push(&Step::Move { from, to, before })
    }

    pub(crate) fn state(&mut self, from: PathBuf, to: PathBuf) -> Result<(), BuildError> {
        let staged = stat(&from)?;
        self.push(&Step::State { from, to, staged })
    }

    pub(crate) fn remove(&mut self, path: PathBuf) -> Result<(), BuildError> {
        self.removals += 1;
        let before = stat(&path)?;
        self.push(&Step::Delete { path, before })
    }

    pub(crate) fn stage(&mut self, folder: &Path) -> Result<(), BuildError> {
        self.push(&Step::Stage(folder.to_owned()))
    }

    /// Puts the journal on disk: from here on the publication happens.
    pub(crate) fn commit(mut self, paths: &Paths) -> Result<Journal, BuildError> {
        let end = Step::End(self.seal.to_text());
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

/// Everything the journal will name is on disk before the journal is.
fn flush(paths: &Paths, draft: &Path) -> Result<(), BuildError> {
    #[cfg(target_os = "linux")]
    {
        let mut folders = vec![paths.folder.clone()];
        each(draft, &mut |step| {
            if let Step::Stage(folder) = step {
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
        each(draft, &mut |step| match step {
            Step::Move { from, .. } | Step::State { from, .. } => {
                File::open(&from).and_then(|file| file.sync_all()).at(&from)
            }
            _ => Ok(()),
        })
    }
}

/// A publication that is promised.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
}

impl Journal {
    /// `None` where nothing is under way.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, BuildError> {
        let path = paths.journal();
        // A journal appears by being renamed, so it is whole or not there.
        match fs::symlink_metadata(&path) {
            Ok(_) => {
                // Nothing is done before all of it is understood.
                each(&path, &mut |_| Ok(()))?;
                Ok(Some(Self { path }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BuildError::Io(path, error)),
        }
    }

    /// Does what is left to do; returns the state files that were lost.
    pub(crate) fn redo(self) -> Result<Vec<PathBuf>, BuildError> {
        let mut touched = Touched::default();
        let mut stages = Vec::new();
        let mut lost = Vec::new();
        each(&self.path, &mut |step| {
            match step {
                Step::Format(_) | Step::End(_) => {}
                Step::Move { from, to, before } => {
                    // A file that was written there since is newer than ours.
                    let now = stat(&to)?;
                    if stat(&from)?.is_some() && (now.is_none() || now == before) {
                        touched.rename(&from, &to)?;
                    }
                }
                Step::State { from, to, staged } => {
                    let now = stat(&to)?;
                    if stat(&from)?.is_some() {
                        touched.rename(&from, &to)?;
                    } else if now.is_none() || (staged.is_some() && now != staged) {
                        lost.push(to);
                    }
                }
                Step::Remove(path) => touched.remove(&path)?,
                Step::Delete { path, before } => {
                    // A file that was written there since is not the one that was published.
                    if before.is_some() && stat(&path)? == before {
                        touched.remove(&path)?;
                    }
                }
                Step::Stage(folder) => stages.push(folder),
            }
            Ok(())
        })?;
        touched.sync()?;
        // Before the journal goes: the next build must know what is missing.
        if let (false, Some(folder)) = (lost.is_empty(), self.path.parent()) {
            mark_incomplete(folder, &lost)?;
        }
        fs::remove_file(&self.path).at(&self.path)?;
        for stage in &stages {
            // Nothing that is wanted is left there.
            drop(fs::remove_dir_all(stage));
        }
        Ok(lost)
    }
}

/// Notes that state files were lost, so that the next build is a whole one.
fn mark_incomplete(folder: &Path, lost: &[PathBuf]) -> Result<(), BuildError> {
    let path = Paths::new(folder).incomplete();
    let mut text = String::new();
    for path in lost {
        text.push_str(&path.to_string_lossy());
        text.push('\n');
    }
    fs::write(&path, text).at(&path)
}

/// Reads a journal, step by step.
fn each(
    path: &Path,
    take: &mut dyn FnMut(Step) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let input = BufReader::with_capacity(64 << 10, File::open(path).at(path)?);
    let mut seal = Seal::default();
    // Whether the last line is still to come; an empty file has not even a first.
    let (mut is_sealed, mut n_lines) = (true, 0);
    for (n, line) in (1..).zip(input.lines()) {
        n_lines = n;
        let line = line.at(path)?;
        let step = serde_json::from_str(&line);
        let step = step.map_err(|_| BuildError::State(path.to_owned(), n))?;
        if let Step::End(end) = &step {
            if *end != seal.to_text() {
                return Err(BuildError::State(path.to_owned(), n));
            }
            is_sealed = false;
        }
        seal.record(line.as_bytes());
        seal.update(b"\n");
        match step {
            Step::Format(FORMAT) if n == 1 => {}
            Step::Format(UNSEALED) if n == 1 => is_sealed = false,
            Step::Format(_) => return Err(BuildError::Newer(path.to_owned())),
            _ if n == 1 => return Err(BuildError::State(path.to_owned(), n)),
            step => take(step)?,
        }
    }
    if is_sealed { Err(BuildError::State(path.to_owned(), n_lines)) } else { Ok(()) }
}

/// Folders with new names in them.
#[derive(Debug, Default)]
struct Touched {
    folders: Vec<PathBuf>,
}

impl Touched {
    /// Moves a file and remembers its new folder.
    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), BuildError> {
        if let Some(folder) = to.parent()
            && self.folders.last().is_none_or(|last| last != folder)
        {
            if MOST_TOUCHED <= self.folders.len() {
                self.sync()?;
            }
            fs::create_dir_all(folder).at(folder)?;
            self.folders.push(folder.to_owned());
        }
        fs::rename(from, to).at(to)
    }

    /// Deletes a file, after the names of those that take its place are safe.
    fn remove(&mut self, path: &Path) -> Result<(), BuildError> {
        self.sync()?;
        match fs::remove_file(path) {
            Ok(()) => Ok(()),
            Err(error) if is_absent(&error) || path.is_dir() => Ok(()),
            Err(error) => Err(BuildError::Io(path.to_owned(), error)),
        }
    }

    /// Makes the names safe.
    fn sync(&mut self) -> Result<(), BuildError> {
        self.folders.sort();
        self.folders.dedup();
        for folder in self.folders.drain(..) {
            sync_folder(&folder)?;
        }
        Ok(())
    }
}

/// A name is only safe once its folder is.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), BuildError> {
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
    fn ours_a_journal_is_done_to_its_end_or_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("state/stage")).unwrap();
        fs::write(at("old.txt"), "old").unwrap();
        let mut draft = Draft::create(&paths).unwrap();
        for n in 0..3 {
            fs::write(at(&format!("state/stage/{n}")), n.to_string()).unwrap();
            draft.put(at(&format!("state/stage/{n}")), at(&format!("out/{n}/x.html"))).unwrap();
        }
        draft.remove(at("old.txt")).unwrap();
        draft.stage(&at("state/stage")).unwrap();
        assert_eq!((draft.moves, draft.removals), (3, 1));
        drop(draft.commit(&paths).unwrap());
        let journal = fs::read_to_string(paths.journal()).unwrap();

        // One of another version, and one that is broken, are left alone.
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
            assert_eq!(matches!(error, BuildError::Newer(_)), is_newer, "{error}");
            assert_eq!(matches!(error, BuildError::State(..)), !is_newer, "{error}");
            assert!(paths.journal().exists() && at("state/stage/0").exists());
        }

        fs::write(paths.journal(), journal).unwrap();
        assert!(Journal::load(&paths).unwrap().unwrap().redo().unwrap().is_empty());
        assert_eq!(fs::read_to_string(at("out/2/x.html")).unwrap(), "2");
        assert!(!at("old.txt").exists() && !at("state/stage").exists());
        assert!(Journal::load(&paths).unwrap().is_none());
    }

    #[test]
    fn a_file_that_was_written_since_the_journal_is_not_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(&paths.folder).unwrap();
        for name in ["same.md", "newer.md", "folder.md", "gone.md"] {
            fs::write(at(name), "old").unwrap();
        }
        let mut draft = Draft::create(&paths).unwrap();
        for name in ["same.md", "newer.md", "folder.md", "gone.md", "later.md"] {
            draft.remove(at(name)).unwrap();
        }
        let journal = draft.commit(&paths).unwrap();
        fs::write(at("newer.md"), "written by the owner").unwrap();
        fs::write(at("later.md"), "written by the owner").unwrap();
        fs::remove_file(at("folder.md")).unwrap();
        fs::create_dir(at("folder.md")).unwrap();
        fs::remove_file(at("gone.md")).unwrap();
        assert!(journal.redo().unwrap().is_empty());
        assert!(!at("same.md").exists());
        assert!(at("newer.md").is_file() && at("later.md").is_file() && at("folder.md").is_dir());
    }

    #[test]
    fn a_step_without_its_staged_file_is_skipped_and_the_others_are_done() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(&folder.path().join("state"));
        let at = |name: &str| folder.path().join(name);
        let lay = |is_old: bool| {
            drop(fs::remove_dir_all(&paths.folder));
            fs::create_dir_all(at("state/next")).unwrap();
            for name in ["a", "b", "c"] {
                if is_old {
                    fs::write(at(&format!("state/{name}.json")), "old, longer").unwrap();
                }
                fs::write(at(&format!("state/next/{name}")), name).unwrap();
            }
            let mut draft = Draft::create(&paths).unwrap();
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
            // Done before the process ended.
            let journal = lay(is_old);
            fs::rename(at("state/next/b"), at("state/b.json")).unwrap();
            assert!(journal.redo().unwrap().is_empty());
            assert_eq!(["a", "b", "c"].map(text), ["a", "b", "c"].map(|it| Some(it.to_owned())));
            assert!(!paths.incomplete().exists() && !at("out/none").exists());
            // Deleted by another program: the state before stays.
            let journal = lay(is_old);
            fs::remove_file(at("state/next/b")).unwrap();
            assert_eq!(journal.redo().unwrap(), [at("state/b.json")]);
            assert_eq!(["a", "c"].map(text), ["a", "c"].map(|it| Some(it.to_owned())));
            assert_eq!(text("b"), old(is_old));
            assert!(fs::read_to_string(paths.incomplete()).unwrap().contains("b.json"));
            assert!(Journal::load(&paths).unwrap().is_none());
        }
    }
}
