//! Removes suggestions for misspelt arguments that are not similar to them.
//!
//! The argument parser compares words by their common letters and suggests `--spxi-agents` for
//! `--silent`. This module keeps a suggestion if few letters differ or if one word contains the
//! other.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

use crate::config::similarity::nearest;

/// Kinds of invalid input, each with the kind of suggestion that the argument parser makes for it.
const PAIRS: [(ContextKind, ContextKind); 3] = [
    (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
];

/// Minimum length of a word that is searched for inside another word.
const FEWEST_LETTERS: usize = 3;

/// Removes suggestions that are not similar to the typed word.
pub(crate) fn remove_dissimilar(error: &mut Error) {
    for (typed, suggested) in PAIRS {
        let Some(ContextValue::String(typed)) = error.get(typed) else { continue };
        let is_kept = |name: &str| is_similar(typed, name);
        let kept = match error.get(suggested) {
            Some(ContextValue::String(name)) => {
                is_kept(name).then(|| ContextValue::String(name.clone()))
            }
            Some(ContextValue::Strings(names)) => {
                let names: Vec<String> =
                    names.iter().filter(|name| is_kept(name)).cloned().collect();
                (!names.is_empty()).then_some(ContextValue::Strings(names))
            }
            _ => continue,
        };
        match kept {
            Some(kept) => drop(error.insert(suggested, kept)),
            None => {
                error.remove(suggested);
                // The usage line shows the suggested argument.
                error.remove(ContextKind::Usage);
            }
        }
    }
}

fn is_similar(typed: &str, name: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim_start_matches('-');
        text.split(['=', ' ']).next().unwrap_or_default().to_lowercase()
    };
    let (typed, name) = (plain(typed), plain(name));
    let contains = |one: &str, other: &str| FEWEST_LETTERS <= other.len() && one.contains(other);
    contains(&name, &typed) || contains(&typed, &name) || nearest(&typed, [name.as_str()]).is_some()
}

#[cfg(test)]
mod tests {
    use super::is_similar;

    #[test]
    fn distinguishes_similar_words_from_words_with_common_letters() {
        for (typed, name, wanted) in [
            ("--injcet", "--inject", true),
            ("--base", "--base-url", true),
            ("--sections=a", "--section <NAME>", true),
            ("jsonn", "json", true),
            ("--quiet", "--inject", false),
            ("--quiet", "--audit", false),
            ("--silent", "--spxi-agents", false),
            ("--", "--inject", false),
        ] {
            assert_eq!(is_similar(typed, name), wanted, "{typed} {name}");
        }
    }
}
