//! Where an address leads: which file, in which forms, and who may have it.
//!
//! Names come from `path.rs`, files from the root, what is known of them from
//! the catalog and from their bytes. Everything here reads files, so it runs
//! on threads that may wait; what takes long, the hashing of large files, only
//! with leave ([`Leave::Hash`]), so that few do it at once.
//!
//! Refuses: to show a restricted file while it is not known whether it is one,
//! or under another spelling of its name than the one that is known, a compressed form that is not that of the file beside it, and to take a
//! failure of the machine for a file that is not there.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use bytes::Bytes;

use crate::beneath::{Identity, Links, Opened, is_absent};
use crate::catalog::{self, Catalog, Fact};
use crate::facts::{self, Facts, Need};
use crate::kind::{self, Kind};
use crate::path::{self, PathFault};
use crate::ready::{About, Ready, Role, read_small};
use crate::refusal::Refusal;
use crate::settings::Lifetimes;
use crate::shelf::Resolved;
use crate::site::{Site, identity_of, now};
use crate::squeeze;

/// Tries of a file that changes while it is read.
const TRIES: usize = 8;

/// What an address leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// With the files that were opened to find out.
    Files(Arc<Resolved>, AtHand),
    /// The address of a folder, with its slash.
    Moved(String),
    /// A large file that must be hashed first; whoever wants the same has the
    /// same number.
    Unread(u64),
}

/// Open files and their states.
pub(crate) type AtHand = Vec<(Identity, Arc<File>)>;

/// How much may be done to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    Look,
    /// Large files may be hashed.
    Hash,
}

/// What a name is.
enum Place {
    File(String, File, Identity),
    /// A folder with an index, asked for without its slash.
    Folder,
}

/// Why a try ended early.
enum Stop {
    Refused(Refusal),
    /// It changed while it was read.
    Changed,
    Unread(u64),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What was found in a file: its facts, and its bytes where they are few.
type Looked = (Facts, Option<Bytes>);

impl Site {
    /// Finds out where a path leads. Reads files: not for a thread that must
    /// not wait.
    pub(crate) fn resolve(&self, path: &str, leave: Leave) -> Result<Found, Refusal> {
        self.look_around(self.clock());
        for _ in 0..TRIES {
            let generation = self.0.generation.load(Ordering::Acquire);
            let catalog = self.catalog();
            match self.try_resolve(path, (&catalog, generation), leave) {
                Ok(found) => return Ok(found),
                Err(Stop::Unread(number)) => return Ok(Found::Unread(number)),
                Err(Stop::Refused(refusal)) => return Err(refusal),
                Err(Stop::Changed) => std::thread::yield_now(),
            }
        }
        Err(Refusal::Busy)
    }

    fn try_resolve(
        &self,
        path: &str,
        (catalog, generation): (&Catalog, u64),
        leave: Leave,
    ) -> Result<Found, Stop> {
        let started = self.clock();
        let Some(below) = catalog.below_mount(path) else {
            return Ok(Found::Moved(format!("{path}/")));
        };
        let links = if catalog.has_restricted() { Links::Never } else { Links::Inside };
        let (name, file, identity) = match self.find(below, links)? {
            Place::File(name, file, identity) => (name, file, identity),
            Place::Folder => return Ok(Found::Moved(format!("{path}/"))),
        };
        if !self.is_spelled(&name, catalog)? {
            return Err(Refusal::Missing.into());
        }
        let fact = fact_of(catalog, &name);
        let is_restricted = self.is_restricted(&name, &identity, catalog)?;
        let mut seen = vec![(name.clone(), Some(identity))];
        // Another form of the file, unless it is closed to those who may have this one.
        let mut form = |name: &str| -> Result<Option<(File, Identity)>, Stop> {
            // What is there and cannot be opened stays as it is, too.
            let before = self.0.root.glance(name);
            let opened = self.open_file(name, links)?;
            let identity = opened.as_ref().map(|(_, identity)| *identity);
            seen.push((name.to_owned(), identity.or(before)));
            let Some((file, identity)) = opened else { return Ok(None) };
            let is_shown = is_restricted || !self.is_restricted(name, &identity, catalog)?;
            let is_shown = is_shown && self.is_spelled(name, catalog)?;
            Ok(is_shown.then_some((file, identity)))
        };
        let coded_name = format!("{name}.gz");
        let has_coded = kind::has_coded_twin(&fact.media_type) && fact.coding.is_none();
        let coded = if has_coded { form(&coded_name)? } else { None };
        let twin_name = fact.twin.clone().filter(|_| fact.kind == Kind::Page && !is_restricted);
        let twin = match &twin_name {
            Some(name) => form(name)?.map(|opened| (name, opened)),
            None => None,
        };
        let looked = self.look(&file, identity, Need::of(&fact.media_type, fact.coding), leave)?;
        let coded = match coded {
            Some((file, identity)) => {
                let (facts, bytes) = self.look(&file, identity, Need::Gzip, leave)?;
                // One that holds another text is older or newer than the file.
                let is_same = facts.text.is_some() && facts.text == looked.0.stored;
                is_same.then_some((file, identity, (facts, bytes)))
            }
            None => None,
        };
        let coded = match coded {
            None if fact.coding.is_none() => {
                Self::squeeze((&file, identity), &fact.media_type, &looked, leave)?
            }
            coded => coded,
        };
        let role = match (&coded, fact.kind) {
            (Some(_), _) => Role::Plain,
            (None, Kind::Page) => Role::Page(twin.as_ref().map(|(name, _)| name.as_str())),
            _ => Role::Itself,
        };
        let mut at_hand = AtHand::new();
        let lifetimes = self.lifetimes(catalog);
        let mut make = |name: &str, role, fact: &Fact, (file, identity, looked), coding| {
            let (facts, bytes): Looked = looked;
            let was_there = catalog.describes(&identity);
            let dated = fact.dated.filter(|dated| dated.is_of(facts.stored, was_there));
            let about = About {
                name,
                mount: catalog.mount(),
                media_type: &fact.media_type,
                coding,
                kind: fact.kind,
                modified: dated.map_or_else(|| identity.modified_seconds(), |it| it.modified),
                expires: fact.expires,
                now: now(),
                is_restricted,
                is_as_built: fact.bytes.are(facts.stored),
                role,
            };
            at_hand.push((identity, Arc::new(file)));
            Ready::new(&about, identity, &facts, bytes, &lifetimes)
        };
        let plain = make(&name, role, &fact, (file, identity, looked), fact.coding);
        let gzip = coded.map(|coded| {
            // Its bytes are told of under its own name.
            let fact = Fact { bytes: fact_of(catalog, &coded_name).bytes, ..fact.clone() };
            make(&coded_name, Role::Coded, &fact, coded, Some(kind::Coding::Gzip))
        });
        let markdown = match twin {
            Some((name, (file, identity))) => {
                let fact = fact_of(catalog, name);
                let need = Need::of(&fact.media_type, None);
                let looked = self.look(&file, identity, need, leave)?;
                Some(make(name, Role::Twin, &fact, (file, identity, looked), None))
            }
            None => None,
        };
        let checked = AtomicU64::new(started);
        let resolved =
            Arc::new(Resolved { plain, gzip, markdown, is_restricted, seen, generation, checked });
        // What was opened before one publication must not be judged by the
        // next: a page may be closed in the one and open in the other. Where
        // there is no state and nothing is closed, there is nothing to judge.
        let is_judged = self.0.settings.state.is_some() || catalog.has_restricted();
        if is_judged && !is_restricted && !resolved.is_current(&self.0.root) {
            return Err(Stop::Changed);
        }
        self.0.shelf.put(&path::cache_key(path), &resolved);
        Ok(Found::Files(resolved, at_hand))
    }

    /// How long files may be kept: snapshots for the interval that was set,
    /// else for the one the build tells.
    fn lifetimes(&self, catalog: &Catalog) -> Lifetimes {
        let settings = &self.0.settings;
        let usual = settings.lifetimes.snapshot;
        let snapshot = settings.update.or(catalog.update).unwrap_or(usual);
        Lifetimes { snapshot, ..settings.lifetimes }
    }

    fn open_file(&self, name: &str, links: Links) -> Result<Option<(File, Identity)>, Refusal> {
        match self.0.root.open(name, links) {
            Ok(Opened::File(file, identity)) => Ok(Some((file, identity))),
            Ok(Opened::Folder) => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            Err(_) => Err(Refusal::Strained),
        }
    }

    /// The file an address means: itself, the index of a folder, or the page
    /// whose ending was left out.
    fn find(&self, below: &str, links: Links) -> Result<Place, Refusal> {
        let asked = path::read(below).map_err(|fault| match fault {
            PathFault::Bad => Refusal::Bad,
            PathFault::Hidden => Refusal::Missing,
        })?;
        let file = |name: String| match self.open_file(&name, links)? {
            Some((file, identity)) => Ok(Place::File(name, file, identity)),
            None => Err(Refusal::Missing),
        };
        let index = match asked.name.as_str() {
            "" => "index.html".to_owned(),
            name => format!("{name}/index.html"),
        };
        if asked.is_folder {
            return file(index);
        }
        match self.0.root.open(&asked.name, links) {
            Ok(Opened::File(file, identity)) => {
                return Ok(Place::File(asked.name, file, identity));
            }
            // A page and a folder may share a name.
            Ok(Opened::Folder) if self.open_file(&index, links)?.is_some() => {
                return Ok(Place::Folder);
            }
            Err(error) if !is_absent(&error) => return Err(Refusal::Strained),
            Ok(Opened::Folder) | Err(_) => {}
        }
        file(format!("{}.html", asked.name))
    }

    /// Finds in an open file what is to be said of it.
    fn look(
        &self,
        file: &File,
        identity: Identity,
        need: Need,
        leave: Leave,
    ) -> Result<Looked, Stop> {
        let failed = |_| Stop::Refused(Refusal::Internal);
        if identity.size <= self.0.settings.limits.small {
            // The tag is made of the very bytes that are kept.
            let bytes = read_small(file, &identity).map_err(failed)?.ok_or(Stop::Changed)?;
            let facts = facts::find(|| Bytes::as_ref(&bytes), need).map_err(failed)?;
            return Ok((facts, Some(bytes)));
        }
        if let Some(facts) = self.0.known.get(identity, need) {
            return Ok((facts, None));
        }
        if leave == Leave::Look {
            return Err(Stop::Unread(identity.inode));
        }
        let facts = self.0.known.find(file, identity, need).map_err(failed)?;
        facts.map(|facts| (facts, None)).ok_or(Stop::Changed)
    }

    /// The gzip form of text that has no file for it; large files take a while.
    fn squeeze(
        (file, identity): (&File, Identity),
        media_type: &str,
        (facts, bytes): &Looked,
        leave: Leave,
    ) -> Result<Option<(File, Identity, Looked)>, Stop> {
        let failed = |_| Stop::Refused(Refusal::Internal);
        if !squeeze::is_squeezed(media_type, &identity) {
            return Ok(None);
        }
        if bytes.is_none() && leave == Leave::Look {
            return Err(Stop::Unread(identity.inode));
        }
        let coded = squeeze::gzip(file, bytes.as_ref()).map_err(failed)?;
        if bytes.is_none() && !identity.is_unwritten(file).map_err(failed)? {
            return Err(Stop::Changed);
        }
        let Some(coded) = coded else { return Ok(None) };
        let file = file.try_clone().map_err(|_| Refusal::Strained)?;
        Ok(Some((file, identity, (squeeze::facts(facts, &coded), Some(coded)))))
    }

    /// Whether a name may be judged: what is closed is known by its name, so a
    /// file that was opened by another spelling of it must not pass for one
    /// that nobody closed. What the build told of is spelled as it told.
    fn is_spelled(&self, name: &str, catalog: &Catalog) -> Result<bool, Refusal> {
        if !catalog.has_restricted() || catalog.knows(name) {
            return Ok(true);
        }
        match self.0.root.is_spelled(name) {
            Ok(is_spelled) => Ok(is_spelled),
            Err(error) if is_absent(&error) => Ok(false),
            Err(_) => Err(Refusal::Strained),
        }
    }

    /// Whether a file needs a token. One that came after `served.json` may be
    /// described by a later one only: by the one in place, which may not have
    /// been read yet, or by that of a publication under way. Both are asked.
    fn is_restricted(
        &self,
        name: &str,
        identity: &Identity,
        catalog: &Catalog,
    ) -> Result<bool, Stop> {
        if catalog.is_restricted(name) {
            return Ok(true);
        }
        let Some(state) = self.0.settings.state.as_deref() else { return Ok(false) };
        if !catalog.is_there() || !catalog.may_precede(identity) {
            return Ok(false);
        }
        let served = state.join("served.json");
        let in_place = identity_of(&served);
        if in_place != catalog.identity && self.coming(&served)?.is_restricted(name) {
            return Ok(true);
        }
        if state.join("journal.json").exists() {
            // What it will say lies here, until it is in place.
            let next = self.coming(&state.join("next/served")).map_err(|_| Stop::Changed)?;
            if next.is_restricted(name) {
                return Ok(true);
            }
        }
        // A publication ends with its served.json in place and its journal
        // gone, so whoever finds no journal looks once more.
        if identity_of(&served) == in_place { Ok(false) } else { Err(Stop::Changed) }
    }

    /// A catalog that is not ours yet; of many who ask for it, one reads it.
    fn coming(&self, path: &Path) -> Result<Arc<Catalog>, Refusal> {
        let identity = identity_of(path).ok_or(Refusal::Busy)?;
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        // It keeps its bytes when it is moved into its place.
        if let Some((_, catalog)) = next.iter().find(|(known, _)| known.is_same_bytes(&identity)) {
            return Ok(Arc::clone(catalog));
        }
        let catalog = Arc::new(Catalog::load(path).map_err(|_| Refusal::Busy)?);
        self.0.metrics.read_ahead();
        if let Some(identity) = catalog.identity {
            // The one in place, and the one that is coming.
            next.truncate(1);
            next.insert(0, (identity, Arc::clone(&catalog)));
        }
        Ok(catalog)
    }
}

/// What is known of a file: by the build, where it knows, else by the name.
fn fact_of(catalog: &Catalog, name: &str) -> Fact {
    match catalog.get(name) {
        // Files of the owner that the build only copied.
        Some(told) if &*told.media_type == "application/octet-stream" => {
            let Fact { media_type, coding, kind, twin, .. } = guessed(name);
            Fact { media_type, coding, kind, twin, ..told }
        }
        Some(told) => told,
        None => guessed(name),
    }
}

fn guessed(name: &str) -> Fact {
    let (media_type, coding, kind) = kind::of(name);
    let twin = name.strip_suffix(".html").map(|stem| format!("{stem}.md"));
    let bytes = catalog::Bytes::default();
    Fact { media_type: media_type.into(), coding, kind, dated: None, bytes, expires: None, twin }
}
