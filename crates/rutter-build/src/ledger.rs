//! The ledger: what was published and when, one plain row per URL.
//!
//! Tab-separated, sorted by the bytes of the URL, one line per page, so that
//! one edited page is one changed line. It is read and written as a stream.
//! The last line has the number of rows and the digest of all lines before it.
//!
//! Rejects lines it cannot parse, rows out of order, an empty file, and a file
//! that ends early or was changed. Files of format 1 have no last line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_extract::VersionId;
use rutter_page::seal::Seal;
use rutter_page::{LineDigest, Timestamp};

use crate::error::{At, BuildError};

/// First line of the file: what it is, its version, its columns.
const HEADING: &str = "# rutter ledger 2: url state section digest modified recorded first-seen removed template dated arc";

/// The heading of files without a last line.
const UNSEALED: &str = "# rutter ledger 1: url state section digest modified recorded first-seen removed template dated arc";

/// What begins the last line.
const END: &str = "# end ";

/// How long a page that went away is remembered, in days (D26).
pub(crate) const REMEMBERED_DAYS: i64 = 400;

/// The digest of a line that was never published and is not known.
pub(crate) const UNKNOWN: LineDigest = LineDigest([0; 16]);

/// Who may see a page (D85).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Everybody, in every layer.
    Public,
    /// In the sitemap, but not for AI.
    Listed,
    /// Its address only, where a layer has a way to say so.
    Bare,
    /// Nobody.
    Hidden,
    /// It went away.
    Gone,
}

impl Sight {
    const ALL: [Self; 5] = [Self::Public, Self::Listed, Self::Bare, Self::Hidden, Self::Gone];

    /// Whether something made of its text may be shown.
    pub(crate) fn is_full(self) -> bool {
        matches!(self, Self::Public)
    }

    /// Whether the sitemap names its address.
    pub(crate) fn is_listed(self) -> bool {
        matches!(self, Self::Public | Self::Listed)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Listed => "listed",
            Self::Bare => "bare",
            Self::Hidden => "hidden",
            Self::Gone => "gone",
        }
    }
}

/// Where the first date of a page came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dated {
    /// The page says it.
    Page,
    /// The sitemap that was there before us.
    Sitemap,
    /// The site's history.
    Git,
    /// We saw it for the first time.
    Seen,
    /// A published collection, after the state was lost.
    Collection,
}

impl Dated {
    const ALL: [Self; 5] = [Self::Page, Self::Sitemap, Self::Git, Self::Seen, Self::Collection];

    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sitemap => "sitemap",
            Self::Git => "git",
            Self::Seen => "seen",
            Self::Collection => "collection",
        }
    }
}

/// What is known of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) sight: Sight,
    pub(crate) section: String,
    /// Of its line; also of one that never left.
    pub(crate) digest: LineDigest,
    /// What its line says.
    pub(crate) modified: Timestamp,
    /// When we first published this version.
    pub(crate) recorded: Timestamp,
    pub(crate) first_seen: Timestamp,
    pub(crate) removed: Option<Timestamp>,
    /// The template version it was read with.
    pub(crate) template: Option<VersionId>,
    pub(crate) dated: Dated,
    /// For the layer of that name: what it last said, and when.
    pub(crate) arc: String,
}

impl Row {
    pub(crate) fn is_public(&self) -> bool {
        self.sight == Sight::Public
    }

    fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let time = |text: &str| Timestamp::parse(text).ok();
        let or_none = |text: &str| (text != "-").then(|| text.to_owned());
        let row = Self {
            url: next()?.to_owned(),
            sight: next().and_then(|name| Sight::ALL.into_iter().find(|it| it.name() == name))?,
            section: next()?.to_owned(),
            digest: LineDigest::parse(next()?)?,
            modified: time(next()?)?,
            recorded: time(next()?)?,
            first_seen: time(next()?)?,
            removed: match or_none(next()?) {
                Some(text) => Some(time(&text)?),
                None => None,
            },
            template: match or_none(next()?) {
                Some(text) => Some(VersionId(text.parse().ok()?)),
                None => None,
            },
            dated: next().and_then(|name| Dated::ALL.into_iter().find(|it| it.name() == name))?,
            arc: next()?.to_owned(),
        };
        columns.next().is_none().then_some(row)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let removed = self.removed.map_or_else(|| "-".to_owned(), |time| time.to_string());
        let template = self.template.map_or_else(|| "-".to_owned(), |id| id.0.to_string());
        let (sight, dated) = (self.sight.name(), self.dated.name());
        writeln!(
            out,
            "{}\t{sight}\t{}\t{}\t{}\t{}\t{}\t{removed}\t{template}\t{dated}\t{}",
            self.url,
            self.section,
            self.digest,
            self.modified,
            self.recorded,
            self.first_seen,
            self.arc,
        )
    }
}

/// Reads rows in order.
#[derive(Debug)]
pub(crate) struct Rows {
    path: PathBuf,
    input: Option<BufReader<File>>,
    line: String,
    n_line: u64,
    last: String,
    seal: Seal,
    /// Whether the last line is still to come.
    is_sealed: bool,
}

impl Rows {
    /// A missing file has no rows.
    pub(crate) fn open(path: &Path) -> Result<Self, BuildError> {
        let input = match File::open(path) {
            Ok(file) => Some(BufReader::with_capacity(256 << 10, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(BuildError::Io(path.to_owned(), error)),
        };
        let path = path.to_owned();
        let mut rows = Self {
            path,
            input,
            line: String::new(),
            n_line: 0,
            last: String::new(),
            seal: Seal::default(),
            is_sealed: false,
        };
        if rows.input.is_some() {
            rows.read_line()?;
            rows.seal.update(rows.line.as_bytes());
            match rows.line.trim_end() {
                HEADING => rows.is_sealed = true,
                UNSEALED => {}
                other if other.starts_with("# rutter ledger ") => {
                    return Err(BuildError::Newer(rows.path));
                }
                _ => return Err(BuildError::State(rows.path, 1)),
            }
        }
        Ok(rows)
    }

    fn read_line(&mut self) -> Result<bool, BuildError> {
        let Some(input) = &mut self.input else { return Ok(false) };
        self.line.clear();
        self.n_line += 1;
        Ok(0 < input.read_line(&mut self.line).at(&self.path)?)
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, BuildError> {
        let is_over = !self.read_line()?;
        let broken = || BuildError::State(self.path.clone(), self.n_line);
        if is_over {
            // Cut at the end of a line.
            return if self.is_sealed { Err(broken()) } else { Ok(None) };
        }
        // A line that was not written to its end is no line.
        let line = self.line.strip_suffix('\n').ok_or_else(broken)?;
        if let Some(end) = line.strip_prefix(END).filter(|_| self.is_sealed) {
            if end != self.seal.to_text() || self.read_line()? {
                return Err(BuildError::State(self.path.clone(), self.n_line));
            }
            self.is_sealed = false;
            self.input = None;
            return Ok(None);
        }
        self.seal.record(self.line.as_bytes());
        let row = Row::parse(line).ok_or_else(broken)?;
        if row.url <= self.last {
            return Err(broken());
        }
        self.last.clone_from(&row.url);
        Ok(Some(row))
    }
}

/// Writes rows in order.
#[derive(Debug)]
pub(crate) struct RowsWriter {
    path: PathBuf,
    out: BufWriter<File>,
    seal: Seal,
    line: Vec<u8>,
}

impl RowsWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path).at(path)?);
        let heading = format!("{HEADING}\n");
        out.write_all(heading.as_bytes()).at(path)?;
        let mut seal = Seal::default();
        seal.update(heading.as_bytes());
        Ok(Self { path: path.to_owned(), out, seal, line: Vec::new() })
    }

    pub(crate) fn push(&mut self, row: &Row) -> Result<(), BuildError> {
        self.line.clear();
        row.write(&mut self.line).at(&self.path)?;
        self.seal.record(&self.line);
        self.out.write_all(&self.line).at(&self.path)
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        writeln!(self.out, "{END}{}", self.seal.to_text()).at(&self.path)?;
        self.out.flush().at(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let time = |text: &str| Timestamp::parse(text).unwrap();
        Row {
            url: "https://h.example/a".into(),
            sight: Sight::Public,
            section: "main".into(),
            digest: LineDigest::of(b"{}"),
            modified: time("2026-01-01T00:00:00Z"),
            recorded: time("2026-02-01T00:00:00Z"),
            first_seen: time("2026-02-01T00:00:00Z"),
            removed: None,
            template: Some(VersionId(7)),
            dated: Dated::Page,
            arc: "-".into(),
        }
    }

    #[test]
    fn ours_a_row_survives_writing_and_reading() {
        for row in [
            row(),
            Row { sight: Sight::Gone, removed: Some(row().recorded), template: None, ..row() },
        ] {
            let mut line = Vec::new();
            row.write(&mut line).unwrap();
            let line = String::from_utf8(line).unwrap();
            assert_eq!(Row::parse(line.trim_end()), Some(row));
        }
    }

    #[test]
    fn ours_a_broken_ledger_is_refused_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.tsv");
        let mut writer = RowsWriter::create(&path).unwrap();
        writer.push(&row()).unwrap();
        writer.finish().unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        for (text, line) in [
            (String::new(), 1),
            (format!("{good}nonsense\n"), 4),
            (good.replace("# end", "nonsense\n# end"), 3),
            (good.lines().take(2).collect::<Vec<_>>().join("\n"), 2),
            // Cut at the end of a line.
            (good.split_inclusive('\n').take(2).collect(), 3),
            (good.split_inclusive('\n').take(1).collect(), 2),
            (good.replace("/a\t", "/b\t"), 3),
            (good.replace("# end 1", "# end 2"), 3),
            (good.replace("# end", &format!("{}\n# end", good.lines().nth(1).unwrap())), 3),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut rows = match Rows::open(&path) {
                Ok(rows) => rows,
                Err(error) => {
                    assert!(matches!(error, BuildError::State(_, 1)) && line == 1, "{error}");
                    continue;
                }
            };
            let error = loop {
                match rows.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("a broken ledger was read"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, BuildError::State(_, found) if found == line), "{error}");
        }
        // Earlier versions wrote no last line.
        let old: Vec<&str> = good.lines().take(2).collect();
        let old = format!("{}\n", old.join("\n").replace("ledger 2", "ledger 1"));
        std::fs::write(&path, old).unwrap();
        let mut rows = Rows::open(&path).unwrap();
        assert!(rows.next().unwrap().is_some() && rows.next().unwrap().is_none());
        std::fs::write(&path, "# rutter ledger 9: x\n").unwrap();
        assert!(matches!(Rows::open(&path), Err(BuildError::Newer(_))));
    }
}
