//! Pass 4: what was staged is swapped in, all or nothing (design A6, D90).
//!
//! Files are written beside the target, flushed, entered into the journal, and
//! only then moved, what is named before what names it. Files whose bytes are
//! already there are not touched.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{Entry, Sorter};
use sha2::{Digest as _, Sha256};

use crate::error::{At, BuildError};
use crate::journal::{Draft, Journal};
use crate::manifest::{ListWriter, Manifest, Ours, Whose, digest_of, digest_of_file, time_of};
use crate::own_marks::OwnMarks;
use crate::state::{Lock, Paths, remove_folder, whole};
use crate::table::hash_of;

/// The stage inside a target on another disk than the state.
const ELSEWHERE: &str = ".rutter-stage";

/// When a file appears: what is named comes before what names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// Files of the site itself.
    Site,
    Collections,
    Twins,
    Deltas,
    Arc,
    Parts,
    Sitemap,
    Robots,
    Llms,
    /// Pages with links to all of these in their heads.
    Heads,
}

impl Order {
    const COUNT: usize = 10;
}

/// Why a file is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is staged.
    Staged,
    /// It is there already, byte for byte.
    Same,
    /// Somebody else's file is in the way.
    NotOurs,
    /// It would have to be put into a link of the owner's.
    Linked,
}

/// Files on their way to the output folder. Of each file only a hash of its
/// name stays in memory: there may be as many as the site has pages.
#[derive(Debug)]
pub(crate) struct Stage {
    target: PathBuf,
    /// Where files of the target are staged: on its file system.
    folder: PathBuf,
    /// The folder of the state.
    state: PathBuf,
    n_files: usize,
    n_staged: u64,
    /// Files of the site, without pages, that could not be copied.
    n_unread: u64,
    /// What is staged, a file and its name on each line, by when it appears.
    moves: [Option<BufWriter<File>>; Order::COUNT],
    old: Arc<Manifest>,
    /// Names that are given, as hashes.
    given: HashSet<u128>,
    /// What will be ours when this is published, until all of it is known.
    new: Option<Sorter>,
    may_replace: MayReplace,
    /// What is known of our files where the list of them is lost.
    marks: OwnMarks,
    /// Twins of ours that are in the target although no list names them.
    strays: Vec<String>,
}

/// Whose files may be replaced.
#[derive(Debug, Clone)]
pub(crate) enum MayReplace {
    /// Everybody's.
    All,
    /// Ours, and these.
    Ours(Vec<String>),
}

impl Stage {
    pub(crate) fn open(
        paths: &Paths,
        target: &Path,
        old: Arc<Manifest>,
        may_replace: MayReplace,
    ) -> Result<Self, BuildError> {
        let target = whole(target);
        let is_near = on_same_disk(&paths.folder, &target);
        let folder = if is_near { paths.stage() } else { target.join(ELSEWHERE) };
        Self::open_in(paths, target, folder, old, may_replace)
    }

    fn open_in(
        paths: &Paths,
        target: PathBuf,
        folder: PathBuf,
        old: Arc<Manifest>,
        may_replace: MayReplace,
    ) -> Result<Self, BuildError> {
        clear_elsewhere(paths);
        if folder != paths.stage() {
            // Whoever finds this state later must find the stage too.
            let note = paths.elsewhere();
            let text = serde_json::to_string(&folder).expect("a path is JSON");
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
            n_unread: 0,
            moves: Default::default(),
            old,
            given: HashSet::new(),
            new: Some(Sorter::new(&paths.folder)),
            may_replace,
            marks: OwnMarks::default(),
            strays: Vec::new(),
        })
    }

    /// Recognises files of ours by these marks where the list of them is lost.
    pub(crate) fn recognise(&mut self, marks: OwnMarks) {
        self.marks = marks;
    }

    /// Takes away these twins of ours, unless they are given again: the list
    /// that would name them is lost.
    pub(crate) fn take_away(&mut self, twins: Vec<String>) {
        self.strays = twins;
        self.strays.retain(|name| !self.given.contains(&hash_of(name)));
    }

    /// A name in the stage.
    pub(crate) fn fresh(&mut self) -> PathBuf {
        self.n_files += 1;
        self.folder.join(self.n_files.to_string())
    }

    /// Whether the owner lets ours stand in the place of this file.
    pub(crate) fn may_replace(&self, name: &str) -> bool {
        match &self.may_replace {
            MayReplace::All => true,
            MayReplace::Ours(others) => others.iter().any(|other| other == name),
        }
    }

    /// Whether the file that is there now was made by an earlier build.
    pub(crate) fn was_ours(&self, name: &str) -> bool {
        self.old.is_ours(&self.target, name)
    }

    /// Whether ours may stand there.
    fn is_free(&self, name: &str) -> bool {
        let is_there = fs::symlink_metadata(self.target.join(name)).is_ok();
        !is_there
            || self.may_replace(name)
            || self.old.is_ours(&self.target, name)
            || self.is_recognised(name)
    }

    /// Whether the list of our files is lost and the file has our mark.
    pub(crate) fn is_recognised(&self, name: &str) -> bool {
        self.old.is_empty() && self.marks.is_ours(&self.target, name)
    }

    /// Stages bytes.
    pub(crate) fn put(
        &mut self,
        order: Order,
        name: &str,
        bytes: &[u8],
    ) -> Result<Put, BuildError> {
        self.put_as(Whose::Made, order, name, bytes)
    }

    fn put_as(
        &mut self,
        whose: Whose,
        order: Order,
        name: &str,
        bytes: &[u8],
    ) -> Result<Put, BuildError> {
        let digest = Digest(Sha256::digest(bytes).into());
        let ours = Ours { whose, bytes: bytes.len() as u64, digest, time: 0 };
        if let Some(put) = self.known(name, &ours)? {
            return Ok(put);
        }
        let path = self.fresh();
        fs::write(&path, bytes).at(&path)?;
        self.enter(order, name, &path, &ours)?;
        Ok(Put::Staged)
    }

    /// Stages a file of the owner with something of ours in it. It stays the
    /// owner's: it is never taken away, and a link stays a link.
    pub(crate) fn put_beside(
        &mut self,
        order: Order,
        name: &str,
        bytes: &[u8],
    ) -> Result<Put, BuildError> {
        let path = self.target.join(name);
        if path.is_symlink() {
            let is_same = fs::read(&path).is_ok_and(|found| found == bytes);
            return Ok(if is_same { Put::Same } else { Put::Linked });
        }
        self.put_as(Whose::Beside, order, name, bytes)
    }

    /// Stages a file of the owner without what an earlier build put into it;
    /// from now on it is none of ours.
    pub(crate) fn give_back(
        &mut self,
        order: Order,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), BuildError> {
        let path = self.fresh();
        fs::write(&path, bytes).at(&path)?;
        self.queue(order, name, &path)
    }

    /// Whether something of ours was put into this file of the owner.
    pub(crate) fn was_beside(&self, name: &str) -> bool {
        self.old.get(name).is_some_and(|ours| ours.whose == Whose::Beside)
    }

    /// Stages a file that was written into the stage.
    pub(crate) fn take(
        &mut self,
        order: Order,
        name: &str,
        path: &Path,
    ) -> Result<Put, BuildError> {
        let digest = digest_of(path).at(path)?;
        let bytes = fs::metadata(path).at(path)?.len();
        let ours = Ours { whose: Whose::Made, bytes, digest, time: 0 };
        if let Some(put) = self.known(name, &ours)? {
            fs::remove_file(path).at(path)?;
            return Ok(put);
        }
        self.enter(order, name, path, &ours)?;
        Ok(Put::Staged)
    }

    /// Stages a copy of a file of ours; see [`Self::copy_file`].
    pub(crate) fn copy(
        &mut self,
        kind: (Whose, Order),
        name: &str,
        source: &Path,
        known: Option<Digest>,
    ) -> Result<Put, BuildError> {
        self.copy_file(kind, name, (source, File::open(source).at(source)?), known)
    }

    /// Stages a copy of an open file. Its digest, where it is known, spares a
    /// reading; else a file with the size and time of the last copy is taken
    /// for unchanged.
    pub(crate) fn copy_file(
        &mut self,
        (whose, order): (Whose, Order),
        name: &str,
        (source, mut file): (&Path, File),
        known: Option<Digest>,
    ) -> Result<Put, BuildError> {
        let metadata = file.metadata().at(source)?;
        let there = fs::symlink_metadata(self.target.join(name)).ok();
        if let (Some(ours), Some(there)) = (self.old.get(name), &there)
            && ours.bytes == metadata.len()
            && ours.bytes == there.len()
            && ours.time == time_of(there)
            && known.map_or(ours.time == time_of(&metadata), |known| known == ours.digest)
        {
            self.give(name, &ours)?;
            return Ok(Put::Same);
        }
        let digest = match known {
            Some(digest) => digest,
            None => {
                let digest = digest_of_file(&mut file).at(source)?;
                file.rewind().at(source)?;
                digest
            }
        };
        let ours = Ours { whose, bytes: metadata.len(), digest, time: 0 };
        if let Some(put) = self.known(name, &ours)? {
            return Ok(put);
        }
        let path = self.fresh();
        let mut copy = File::create(&path).at(&path)?;
        io::copy(&mut file, &mut copy).at(source)?;
        copy.set_permissions(metadata.permissions()).at(&path)?;
        // The time of the source tells later whether it is still the same.
        if let Ok(time) = metadata.modified() {
            copy.set_modified(time).at(&path)?;
        }
        self.enter(order, name, &path, &ours)?;
        Ok(Put::Staged)
    }

    /// Keeps a published file whose source cannot be read; returns whether
    /// there is one, with the wanted digest where one is wanted.
    pub(crate) fn keep(&mut self, name: &str, wanted: Option<Digest>) -> Result<bool, BuildError> {
        let Some(ours) = self.old.get(name) else { return Ok(false) };
        let is_wanted = wanted.is_none_or(|wanted| wanted == ours.digest);
        let is_there = fs::symlink_metadata(self.target.join(name)).is_ok();
        if !is_wanted || !is_there {
            return Ok(false);
        }
        if !self.has(name) {
            self.give(name, &ours)?;
        }
        Ok(true)
    }

    /// Keeps the copies of all files of the site below folders that cannot be
    /// read.
    pub(crate) fn keep_below(&mut self, folders: &[String]) -> Result<(), BuildError> {
        if folders.is_empty() {
            return Ok(());
        }
        let old = Arc::clone(&self.old);
        let is_below = |name: &str| folders.iter().any(|folder| name.starts_with(folder));
        for (name, ours) in old.iter() {
            if ours.whose == Whose::Site && is_below(name) {
                self.keep(name, None)?;
            }
        }
        Ok(())
    }

    /// Counts a file of the site, not a page, that could not be copied.
    pub(crate) fn count_unread(&mut self) {
        self.n_unread += 1;
    }

    /// How many those are.
    pub(crate) fn n_unread(&self) -> u64 {
        self.n_unread
    }

    /// Whether nothing is to be done for a file, or nothing may be.
    fn known(&mut self, name: &str, wanted: &Ours) -> Result<Option<Put>, BuildError> {
        // A name is given once: whoever came first has it.
        if self.has(name) {
            return Ok(Some(Put::NotOurs));
        }
        let path = self.target.join(name);
        let there = fs::symlink_metadata(&path);
        // In a folder that cannot be read, a file is what it was.
        if there.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
            && let Some(ours) = self.old.get(name).filter(|ours| ours.digest == wanted.digest)
        {
            self.give(name, &ours)?;
            return Ok(Some(Put::Same));
        }
        if let Ok(there) = &there
            && there.is_file()
            && there.len() == wanted.bytes
        {
            let time = time_of(there);
            let by_time = self.old.get(name).filter(|ours| ours.time == time);
            let found = match by_time {
                Some(ours) => ours.digest,
                None => digest_of(&path).at(&path)?,
            };
            if found == wanted.digest {
                self.give(name, &Ours { time, ..wanted.clone() })?;
                return Ok(Some(Put::Same));
            }
        }
        let is_free = wanted.whose == Whose::Beside || self.is_free(name);
        Ok((!is_free).then_some(Put::NotOurs))
    }

    /// Whether a name is given already.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.contains(&hash_of(name))
    }

    /// Enters a file into the list of ours.
    fn give(&mut self, name: &str, ours: &Ours) -> Result<(), BuildError> {
        if let Some(new) = &mut self.new
            && self.given.insert(hash_of(name))
        {
            let Entry { modified, .. } = Entry::empty();
            new.push(name, modified, ours.columns().as_bytes()).at(&self.state)?;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        order: Order,
        name: &str,
        path: &Path,
        ours: &Ours,
    ) -> Result<(), BuildError> {
        let time = fs::metadata(path).map_or(0, |metadata| time_of(&metadata));
        self.give(name, &Ours { time, ..ours.clone() })?;
        self.queue(order, name, path)
    }

    /// Remembers what is to be moved where.
    fn queue(&mut self, order: Order, name: &str, path: &Path) -> Result<(), BuildError> {
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

    /// Ends the entering of files and writes their list; hands each over, in
    /// the order of names.
    pub(crate) fn list(
        &mut self,
        take: &mut dyn FnMut(&str, &Ours) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let Some(new) = self.new.take() else { return Ok(()) };
        let mut sorted = new.finish().at(&self.state)?;
        let mut out = ListWriter::create(&self.files_new(), &self.target)?;
        let mut entry = Entry::empty();
        while sorted.next(&mut entry).at(&self.state)? {
            let columns = String::from_utf8_lossy(&entry.line);
            out.push(&entry.key, &columns)?;
            if let Some(ours) = Ours::of_columns(&columns) {
                take(&entry.key, &ours)?;
            }
        }
        out.finish()
    }

    fn files_new(&self) -> PathBuf {
        self.state.join("files.new")
    }

    /// Names of files that were ours and are no longer wanted.
    fn unwanted(&self) -> Vec<&str> {
        let listed = self.old.iter().map(|(name, _)| name).filter(|name| !self.has(name));
        let listed = listed.filter(|name| self.old.is_ours(&self.target, name));
        listed.chain(self.strays.iter().map(String::as_str)).collect()
    }

    /// Whether publishing would change no file.
    pub(crate) fn is_idle(&self) -> bool {
        self.n_staged == 0 && self.unwanted().is_empty()
    }

    /// Publishes what was staged and listed; `state` are files of the state,
    /// staged and final.
    ///
    /// Gives how many files were written and taken away.
    pub(crate) fn publish(
        mut self,
        paths: &Paths,
        state: Vec<(PathBuf, PathBuf)>,
        left_behind: &[PathBuf],
    ) -> Result<(u64, u64), BuildError> {
        self.list(&mut |_, _| Ok(()))?;
        let unwanted: Vec<String> = self.unwanted().into_iter().map(str::to_owned).collect();
        let mut draft = Draft::create(paths)?;
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
        draft.commit(paths)?.redo()?;
        clear_elsewhere(paths);
        remove_empty_folders(&self.target, unwanted.iter().map(String::as_str));
        Ok((written, deleted))
    }

    /// Nothing is published; the stage goes.
    pub(crate) fn forget(self) {
        drop(fs::remove_dir_all(&self.folder));
        drop(fs::remove_file(self.files_new()));
        drop(fs::remove_file(self.state.join("stage.path")));
    }
}

/// A file in the stage that is written bit by bit.
pub(crate) fn create(path: &Path) -> Result<BufWriter<File>, BuildError> {
    Ok(BufWriter::with_capacity(256 << 10, File::create(path).at(path)?))
}

/// Ends the writing of such a file.
pub(crate) fn close(mut out: BufWriter<File>, path: &Path) -> Result<(), BuildError> {
    out.flush().at(path)
}

/// Finishes a publication that was interrupted, or deletes what an interrupted
/// build left; returns whether a publication was finished.
pub fn recover(state: &Path) -> Result<bool, BuildError> {
    if !state.is_dir() {
        return Ok(false);
    }
    let paths = Paths::new(state);
    let _lock = Lock::take(&paths)?;
    roll_forward(&paths)
}

/// The same for whoever holds the lock.
pub(crate) fn roll_forward(paths: &Paths) -> Result<bool, BuildError> {
    let Some(journal) = Journal::load(paths)? else {
        drop(fs::remove_dir_all(paths.stage()));
        clear_elsewhere(paths);
        return Ok(false);
    };
    journal.redo()?;
    clear_elsewhere(paths);
    Ok(true)
}

/// Takes away a stage on another disk, and the note that names it.
fn clear_elsewhere(paths: &Paths) {
    let note = paths.elsewhere();
    let Ok(text) = fs::read(&note) else { return };
    let folder: Option<PathBuf> = serde_json::from_slice(&text).ok();
    // Nothing but a stage of ours goes, whatever the note says.
    if let Some(folder) = folder.filter(|folder| folder.ends_with(ELSEWHERE)) {
        drop(fs::remove_dir_all(folder));
    }
    drop(fs::remove_file(note));
}

/// Folders that held nothing but files we took away.
fn remove_empty_folders<'n>(target: &Path, names: impl Iterator<Item = &'n str>) {
    for name in names {
        let mut folder = target.join(name);
        // Not further than the target, and only what is empty.
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
    fn ours_a_stage_on_another_disk_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(&folder.path().join("state"));
        let target = folder.path().join("out");
        for folder in [&paths.folder, &target] {
            fs::create_dir_all(folder).unwrap();
        }
        let open = |stage: &Path| {
            let may_replace = MayReplace::Ours(Vec::new());
            Stage::open_in(&paths, target.clone(), stage.to_owned(), Arc::default(), may_replace)
        };
        let stage = target.join(ELSEWHERE);
        // A build that ends here was killed.
        open(&stage).unwrap().put(Order::Site, "a.txt", b"a").unwrap();
        assert!(stage.join("1").exists());
        assert!(!recover(&paths.folder).unwrap());
        assert!(!stage.exists() && !paths.elsewhere().exists());
        // One that is published leaves nothing either.
        let mut staged = open(&stage).unwrap();
        staged.put(Order::Site, "a.txt", b"a").unwrap();
        assert_eq!(staged.publish(&paths, Vec::new(), &[]).unwrap(), (1, 0));
        assert!(target.join("a.txt").exists() && !stage.exists());
        assert!(!paths.elsewhere().exists());
        // A note that names anything else is not followed.
        fs::write(paths.elsewhere(), serde_json::to_vec(&target).unwrap()).unwrap();
        recover(&paths.folder).unwrap();
        assert!(target.join("a.txt").exists());
    }
}
