//! The journal: what a publication moves where, a step on each line. Once it
//! is on disk, the publication happens, in this process or in the next
//! (design: redo is idempotent, a staged file that is missing was moved
//! already). It is written and read as a stream, however many files it names.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{At, BuildError};
use crate::manifest::time_of;
use crate::state::Paths;

const FORMAT: u32 = 3;

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
    /// A state file, after everything it speaks of.
    State { from: PathBuf, to: PathBuf },
    /// A file nobody names any more.
    Remove(PathBuf),
    /// A folder with staged files.
    Stage(PathBuf),
}

fn stat(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.len(), time_of(&metadata)))
}

/// A journal that is being written: nothing is promised yet.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    out: BufWriter<File>,
    /// The folder that was last seen to be there.
    folder: PathBuf,
    pub(crate) moves: u64,
    pub(crate) removals: u64,
}

impl Draft {
    pub(crate) fn create(paths: &Paths) -> Result<Self, BuildError> {
        let path = paths.folder.join("journal.new");
        let out = BufWriter::with_capacity(64 << 10, File::create(&path).at(&path)?);
        let mut draft = Self { path, out, folder: PathBuf::new(), moves: 0, removals: 0 };
        draft.push(&Step::Format(FORMAT))?;
        Ok(draft)
    }

    fn push(&mut self, step: &Step) -> Result<(), BuildError> {
        let line = serde_json::to_string(step).expect("a step is JSON");
        writeln!(self.out, "{line}").at(&self.path)
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
        let before = stat(&to);
        self.push(&Step::Move { from, to, before })
    }

    pub(crate) fn state(&mut self, from: PathBuf, to: PathBuf) -> Result<(), BuildError> {
        self.push(&Step::State { from, to })
    }

    pub(crate) fn remove(&mut self, path: PathBuf) -> Result<(), BuildError> {
        self.removals += 1;
        self.push(&Step::Remove(path))
    }

    pub(crate) fn stage(&mut self, folder: &Path) -> Result<(), BuildError> {
        self.push(&Step::Stage(folder.to_owned()))
    }

    /// Puts the journal on disk: from here on the publication happens.
    pub(crate) fn commit(self, paths: &Paths) -> Result<Journal, BuildError> {
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

    /// Does what is left to do.
    pub(crate) fn redo(self) -> Result<(), BuildError> {
        let mut touched = Touched::default();
        let mut stages = Vec::new();
        each(&self.path, &mut |step| {
            match step {
                Step::Format(_) => {}
                Step::Move { from, to, before } => {
                    // Somebody wrote there since: that is newer than what we have.
                    let now = stat(&to);
                    if from.exists() && (now.is_none() || now == before) {
                        touched.rename(&from, &to)?;
                    }
                }
                Step::State { from, to } => {
                    if from.exists() || !to.exists() {
                        touched.rename(&from, &to)?;
                    }
                }
                Step::Remove(path) => {
                    touched.sync()?;
                    match fs::remove_file(&path) {
                        Ok(()) => {}
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(BuildError::Io(path, error)),
                    }
                }
                Step::Stage(folder) => stages.push(folder),
            }
            Ok(())
        })?;
        touched.sync()?;
        fs::remove_file(&self.path).at(&self.path)?;
        for stage in &stages {
            // Only litter is left there.
            drop(fs::remove_dir_all(stage));
        }
        Ok(())
    }
}

/// Reads a journal, step by step.
fn each(
    path: &Path,
    take: &mut dyn FnMut(Step) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let input = BufReader::with_capacity(64 << 10, File::open(path).at(path)?);
    for (n, line) in (1..).zip(input.lines()) {
        let step = serde_json::from_str(&line.at(path)?);
        let step = step.map_err(|_| BuildError::State(path.to_owned(), n))?;
        match step {
            Step::Format(FORMAT) if n == 1 => {}
            Step::Format(_) => return Err(BuildError::Newer(path.to_owned())),
            _ if n == 1 => return Err(BuildError::State(path.to_owned(), n)),
            step => take(step)?,
        }
    }
    Ok(())
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
        for (text, is_newer) in [("{\"format\":4}\n", true), ("{\"format\":3}\n{}\n", false)] {
            fs::write(paths.journal(), text).unwrap();
            let error = Journal::load(&paths).unwrap_err();
            assert_eq!(matches!(error, BuildError::Newer(_)), is_newer, "{error}");
            assert_eq!(matches!(error, BuildError::State(_, 2)), !is_newer, "{error}");
            assert!(paths.journal().exists() && at("state/stage/0").exists());
        }

        fs::write(paths.journal(), journal).unwrap();
        Journal::load(&paths).unwrap().unwrap().redo().unwrap();
        assert_eq!(fs::read_to_string(at("out/2/x.html")).unwrap(), "2");
        assert!(!at("old.txt").exists() && !at("state/stage").exists());
        assert!(Journal::load(&paths).unwrap().is_none());
    }
}
