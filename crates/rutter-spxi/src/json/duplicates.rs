//! Finds duplicate members of objects, reports them, and keeps the last member of each name.

use std::borrow::Cow;
use std::collections::HashSet;

use rutter_finding::{Finding, FindingSink, Place};

use super::{JsonValue, push_step};
use crate::rules;

/// Finds duplicate members of all objects and keeps the last member of each name.
pub(super) struct DuplicateMembers<'s> {
    pub(super) path: String,
    pub(super) n_told: usize,
    pub(super) sink: &'s mut dyn FindingSink,
}

impl DuplicateMembers<'_> {
    /// Maximum number of duplicate members that are reported.
    const MOST: usize = 1000;

    pub(super) fn mend(&mut self, value: &mut JsonValue<'_>) {
        let length = self.path.len();
        match value {
            JsonValue::List(items) => {
                for (n, item) in items.iter_mut().enumerate() {
                    if matches!(item, JsonValue::List(_) | JsonValue::Map(_)) {
                        push_step(&mut self.path, &n.to_string());
                        self.mend(item);
                        self.path.truncate(length);
                    }
                }
            }
            JsonValue::Map(members) => {
                let again: HashSet<String> =
                    twice(members).into_iter().map(str::to_owned).collect();
                if !again.is_empty() {
                    self.leave_last(members, &again);
                }
                for (key, item) in members {
                    if matches!(item, JsonValue::List(_) | JsonValue::Map(_)) {
                        push_step(&mut self.path, key);
                        self.mend(item);
                        self.path.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }

    fn leave_last(
        &mut self,
        members: &mut Vec<(Cow<'_, str>, JsonValue<'_>)>,
        again: &HashSet<String>,
    ) {
        let length = self.path.len();
        let mut reported: HashSet<String> = HashSet::new();
        for (key, _) in members.iter() {
            if again.contains(key.as_ref())
                && reported.insert(key.to_string())
                && self.n_told < Self::MOST
            {
                self.n_told += 1;
                push_step(&mut self.path, key);
                let place = Place { line: None, pointer: self.path.clone() };
                self.sink.report(Finding::new(&rules::KEY_TWICE, place, ""));
                self.path.truncate(length);
            }
        }
        let mut kept: HashSet<String> = HashSet::new();
        members.reverse();
        members.retain(|(key, _)| !again.contains(key.as_ref()) || kept.insert(key.to_string()));
        members.reverse();
    }
}

/// Returns the names that occur more than once among the members of an object.
fn twice<'m>(members: &'m [(Cow<'_, str>, JsonValue<'_>)]) -> Vec<&'m str> {
    const FEW: usize = 16;
    let is_clean = members.len() <= FEW
        && members
            .iter()
            .enumerate()
            .all(|(n, (key, _))| members.iter().take(n).all(|(other, _)| other != key));
    if is_clean {
        return Vec::new();
    }
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    let pairs = keys.iter().zip(keys.iter().skip(1));
    let mut found: Vec<&str> = pairs.filter(|(a, b)| a == b).map(|(key, _)| *key).collect();
    found.dedup();
    found
}
