//! Checks a single SPXI index or packet.
//!
//! Rules that need the rest of the site are reported as not checked;
//! [`check_folder`](crate::check_folder) checks them.

use rutter_report::FileKind;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use rutter_finding::{FindingSink, Refusal};
use rutter_spxi::{
    CheckInput, INDEX_FILE, MAX_INDEX_BYTES, MAX_PACKET_BYTES, PACKET_FILE, PacketSelector, SPXI,
    check_index, check_packet,
};

use crate::signpost::read;
use crate::{CheckOptions, CheckTarget};

/// Detects an SPXI file by its name.
pub(crate) fn kind_by_name(name: &str) -> Option<FileKind> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.strip_suffix(".gz").unwrap_or(name) {
        INDEX_FILE => Some(FileKind::SpxiIndex),
        PACKET_FILE => Some(FileKind::SpxiPacket),
        _ => None,
    }
}

/// Detects an SPXI file by its first bytes.
pub(crate) fn kind_by_content(start: &[u8]) -> Option<FileKind> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_spxi = has(&[SPXI, "\"spxi:"]);
    if is_spxi && has(&["PagePacket\""]) {
        Some(FileKind::SpxiPacket)
    } else if is_spxi
        && has(&["SemanticIndex\"", "hasEntity\"", "siteKernel\"", "HolographicKernel\""])
    {
        Some(FileKind::SpxiIndex)
    } else if has(&["\"mp:IndexedEntity\"", "\"spxi:IndexedEntity\""]) {
        Some(FileKind::SpxiPacket)
    } else {
        None
    }
}

/// Returns the decompressed bytes of a file of up to `most` bytes.
fn plain(subject: &CheckTarget<'_>, most: u64) -> io::Result<Vec<u8>> {
    let bytes = read(subject, most)?;
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).take(most).read_to_end(&mut plain)?;
    Ok(plain)
}

/// Checks an SPXI index; returns the number of its entities.
pub(crate) fn index(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
    sink: &mut dyn FindingSink,
) -> io::Result<Result<u64, Refusal>> {
    let bytes = plain(subject, MAX_INDEX_BYTES as u64 + 1)?;
    let given = CheckInput { now: check_options.now, ..CheckInput::default() };
    Ok(check_index(&bytes, &given, sink).map(|judged| judged.index.entities.len() as u64))
}

/// Checks an SPXI packet; returns the number of its entities.
pub(crate) fn packet(
    subject: &CheckTarget<'_>,
    check_options: &CheckOptions,
    sink: &mut dyn FindingSink,
) -> io::Result<Result<u64, Refusal>> {
    let bytes = plain(subject, MAX_PACKET_BYTES as u64 + 1)?;
    let given = CheckInput { now: check_options.now, ..CheckInput::default() };
    let packet = check_packet(&bytes, &PacketSelector::default(), &given, sink);
    Ok(packet.map(|packet| packet.about.len() as u64))
}
