//! Removes a token from the token file and leaves the rest of the file unchanged.
//!
//! The new file replaces the old one atomically, with its owner and permissions, so a server never
//! reads a partial file.
//!
//! Rejects: an edit that would change or remove any other token.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::admission::token::{TokenError, Tokens};

/// Removes the token with this name from the file.
pub fn revoke_token(path: &Path, name: &str) -> Result<(), TokenError> {
    // A symbolic link to the file is kept.
    let path = path.canonicalize()?;
    let text = fs::read_to_string(&path)?;
    let before = Tokens::parse(&text)?;
    if before.grants().all(|grant| grant.name != name) {
        return Err(TokenError::NoSuch(name.to_owned()));
    }
    let left = without(&text, &before, name).ok_or_else(|| TokenError::Fixed(name.to_owned()))?;
    replace(&path, left.as_bytes())?;
    Ok(())
}

/// Returns the text without a token; `None` if the token is not a table of its own.
fn without(text: &str, before: &Tokens, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_head = |line: &&str| line.trim_start().starts_with('[');
    let heads = lines.iter().enumerate().filter(|(_, line)| is_head(line));
    // A multi-line string may look like a table header, so the result is parsed and compared.
    heads.map(|(at, _)| at).find_map(|start| {
        let body = lines.get(start + 1..)?;
        let end = body.iter().position(&is_head).unwrap_or(body.len());
        // Comments before the next table belong to it.
        let is_value = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
        let n_values = body.get(..end)?.iter().rposition(is_value).map_or(0, |at| at + 1);
        let rest = start + 1 + n_values;
        let left = [lines.get(..start)?, lines.get(rest..)?].concat().concat();
        let after = Tokens::parse(&left).ok()?;
        before.is_but(&after, name).then_some(left)
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = fs::metadata(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))?;
        // Without permission to change the owner, the current user owns the file.
        drop(std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid())));
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    let result = write();
    if result.is_err() {
        drop(fs::remove_file(&new));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> String {
        let hash = format!("sha256:{}", "ab".repeat(32));
        format!("[[token]]\nname = \"{name}\" # [x]\nhash = \"{hash}\"\nscopes = [\n\"entries\"]\n")
    }

    #[test] // ARC-064
    fn removes_a_token_and_keeps_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let [one, two, three] = ["one", "two", "three"].map(token);
        let text = format!("# ours\n\n{one}\n# of two\n{two}\n# of three\n{three}");
        let left = |name: &str| {
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            revoke_token(&path, name).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
            fs::read_to_string(&path).unwrap()
        };
        assert_eq!(left("one"), format!("# ours\n\n\n# of two\n{two}\n# of three\n{three}"));
        assert_eq!(left("two"), format!("# ours\n\n{one}\n# of two\n\n# of three\n{three}"));
        assert_eq!(left("three"), format!("# ours\n\n{one}\n# of two\n{two}\n# of three\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writes_nothing_if_the_token_is_ambiguous() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        assert!(matches!(revoke_token(&path, "one"), Err(TokenError::Io(_))));
        fs::write(&path, token("one")).unwrap();
        assert!(matches!(revoke_token(&path, "two"), Err(TokenError::NoSuch(_))));
        let hash = format!("sha256:{}", "ab".repeat(32));
        let inline =
            format!("token = [{{ name = \"one\", hash = \"{hash}\", scopes = [\"entries\"] }}]\n");
        fs::write(&path, &inline).unwrap();
        assert!(matches!(revoke_token(&path, "one"), Err(TokenError::Fixed(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), inline);
        // Text in another token that looks like a table header.
        let odd = token("one").replace("\"one\" # [x]", "'''\n[[token]]\nname = \"a\"\n'''");
        fs::write(&path, format!("{odd}{}", token("a"))).unwrap();
        revoke_token(&path, "a").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), odd);
    }
}
