//! Row seals: each row is stored with a hash of its columns, which detects damage of the row.
//!
//! Input: the columns of a row, in a fixed order. Output: a number, which the SQL function
//! `row_seal` returns and the column `seal` stores. A seal detects accidents (a flipped bit, a row
//! edited by hand). It does not detect tampering, because the hash has no key.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rutter_page::LineDigest;

use crate::error::StorageError;

/// Registers the SQL function `row_seal` on a connection.
pub(super) fn register(connection: &Connection) -> Result<(), StorageError> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("row_seal", -1, flags, |context| {
        let mut bytes = Vec::with_capacity(256);
        for at in 0..context.len() {
            push(context.get_raw(at), &mut bytes);
        }
        Ok(seal(&bytes))
    })?;
    Ok(())
}

/// Appends a value with its type and length, so that different lists of values have different
/// bytes.
fn push(value: ValueRef<'_>, bytes: &mut Vec<u8>) {
    let mut put = |tag: u8, value: &[u8]| {
        bytes.push(tag);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    };
    match value {
        ValueRef::Null => put(0, &[]),
        ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
        ValueRef::Real(number) => put(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => put(3, text),
        ValueRef::Blob(blob) => put(4, blob),
    }
}

fn seal(bytes: &[u8]) -> i64 {
    let LineDigest(digest) = LineDigest::of(bytes);
    digest.iter().take(8).fold(0, |seal, byte| seal << 8 | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seal_depends_on_values_types_and_boundaries() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let of = |values: &str| -> i64 {
            let question = format!("SELECT row_seal({values})");
            connection.query_row(&question, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(of("'a', 1, NULL"), of("'a', 1, NULL"));
        let all = ["'a', 1, NULL", "'a', 1", "'a1', NULL", "'b', 1, NULL", "'a', '1', NULL"];
        let seals: std::collections::BTreeSet<i64> = all.into_iter().map(of).collect();
        assert_eq!(seals.len(), all.len());
    }
}
