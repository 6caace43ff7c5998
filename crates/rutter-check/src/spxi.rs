//! Judges what SPXI publishes: an index, a packet. Whatever needs the rest of
//! the site is told as not checked; [`check_folder`](crate::check_folder)
//! has it.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use rutter_finding::{FindingSink, Refusal};
use rutter_spxi::{
    Asked, Given, INDEX, LARGEST_INDEX, LARGEST_PACKET, PACKET, SPXI, judge_index, judge_packet,
};

use crate::signpost::read;
use crate::{Judging, Kind, Subject};

/// Sees by its name whether a file is one of SPXI.
pub(crate) fn kind_by_name(name: &str) -> Option<Kind> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.strip_suffix(".gz").unwrap_or(name) {
        INDEX => Some(Kind::SpxiIndex),
        PACKET => Some(Kind::SpxiPacket),
        _ => None,
    }
}

/// Sees by its first bytes whether a file is one of SPXI.
pub(crate) fn kind_by_content(start: &[u8]) -> Option<Kind> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_spxi = has(&[SPXI, "\"spxi:"]);
    if is_spxi && has(&["PagePacket\""]) {
        Some(Kind::SpxiPacket)
    } else if is_spxi
        && has(&["SemanticIndex\"", "hasEntity\"", "siteKernel\"", "HolographicKernel\""])
    {
        Some(Kind::SpxiIndex)
    } else if has(&["\"mp:IndexedEntity\"", "\"spxi:IndexedEntity\""]) {
        Some(Kind::SpxiPacket)
    } else {
        None
    }
}

/// The bytes of a file, or of what was compressed, up to a limit.
fn plain(subject: &Subject<'_>, most: u64) -> io::Result<Vec<u8>> {
    let bytes = read(subject, most)?;
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).take(most).read_to_end(&mut plain)?;
    Ok(plain)
}

/// Judges an index; gives the number of its entities.
pub(crate) fn index(
    subject: &Subject<'_>,
    judging: &Judging,
    sink: &mut dyn FindingSink,
) -> io::Result<Result<u64, Refusal>> {
    let bytes = plain(subject, LARGEST_INDEX as u64 + 1)?;
    let given = Given { now: judging.now, ..Given::default() };
    Ok(judge_index(&bytes, &given, sink).map(|judged| judged.index.entities.len() as u64))
}

/// Judges a packet; gives the number of its entities.
pub(crate) fn packet(
    subject: &Subject<'_>,
    judging: &Judging,
    sink: &mut dyn FindingSink,
) -> io::Result<Result<u64, Refusal>> {
    let bytes = plain(subject, LARGEST_PACKET as u64 + 1)?;
    let given = Given { now: judging.now, ..Given::default() };
    let packet = judge_packet(&bytes, &Asked::default(), &given, sink);
    Ok(packet.map(|packet| packet.about.len() as u64))
}
