//! The parts of a page under construction: the page, its sections, groups, subgroups and blocks.

use rutter_page::JsonTree;

/// Maximum nesting depth of parts in a snapshot.
const MAX_PART_DEPTH: usize = 20;

/// Index of the part that is the page itself.
pub(super) const ROOT: usize = 0;

/// A part of the page under construction; the first one is the page itself.
#[derive(Default)]
pub(super) struct SnapshotPart {
    pub(super) name: String,
    /// Level of the part: 0 page, 1 section, 2 group, 3 subgroup, 4 block.
    pub(super) level: u8,
    /// Number of parts around this part, and the index of the innermost one.
    pub(super) depth: usize,
    pub(super) up: usize,
    pub(super) members: Vec<(String, JsonTree)>,
    pub(super) fields: Vec<JsonTree>,
    pub(super) actions: Vec<JsonTree>,
    pub(super) media: Vec<JsonTree>,
    pub(super) links: Vec<JsonTree>,
    pub(super) marks: Vec<JsonTree>,
    pub(super) withheld: Vec<JsonTree>,
    /// Indices of the parts directly inside this part.
    pub(super) parts: Vec<usize>,
}

/// All parts of a page, named by their index.
pub(super) struct PartTree(Vec<SnapshotPart>);

impl PartTree {
    /// Creates a tree that holds only the page.
    pub(super) fn new() -> Self {
        Self(vec![SnapshotPart::default()])
    }

    pub(super) fn get(&self, idx: usize) -> Option<&SnapshotPart> {
        self.0.get(idx)
    }

    pub(super) fn get_mut(&mut self, idx: usize) -> Option<&mut SnapshotPart> {
        self.0.get_mut(idx)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SnapshotPart> {
        self.0.iter()
    }

    /// Returns the unnamed part of a level inside the part `parent`; creates it if necessary.
    pub(super) fn nameless(&mut self, parent: usize, level: u8) -> usize {
        let inside = self.get(parent).map_or(&[][..], |part| &part.parts);
        let known = inside
            .iter()
            .copied()
            .find(|idx| self.get(*idx).is_some_and(|part| part.level == level && part.name == "_"));
        known.unwrap_or_else(|| self.add(parent, level, "_"))
    }

    /// Adds a part inside the part `parent` and returns its index.
    pub(super) fn add(&mut self, parent: usize, level: u8, name: &str) -> usize {
        let idx = self.0.len();
        let above = |at: usize| self.get(at).map_or((0, ROOT), |part| (part.depth, part.up));
        // Readers limit the nesting depth; deeper parts become siblings.
        let parent = if above(parent).0 < MAX_PART_DEPTH { parent } else { above(parent).1 };
        let depth = above(parent).0 + 1;
        self.0.push(SnapshotPart {
            name: name.to_owned(),
            level,
            depth,
            up: parent,
            ..SnapshotPart::default()
        });
        if let Some(parent) = self.get_mut(parent) {
            parent.parts.push(idx);
        }
        idx
    }

    /// Adds a member to a part. A second value under the same name turns the value into a list.
    pub(super) fn member(&mut self, part: usize, name: &str, value: JsonTree) {
        let Some(part) = self.get_mut(part) else { return };
        match part.members.iter_mut().find(|(known, _)| known == name) {
            None => part.members.push((name.to_owned(), value)),
            Some((_, JsonTree::List(items))) => items.push(value),
            Some((_, first)) => {
                let before = std::mem::replace(first, JsonTree::Null);
                *first = JsonTree::List(vec![before, value]);
            }
        }
    }

    /// Adds an item to a list of a part.
    pub(super) fn push(
        &mut self,
        part: usize,
        list: impl FnOnce(&mut SnapshotPart) -> &mut Vec<JsonTree>,
        item: JsonTree,
    ) {
        if let Some(part) = self.get_mut(part) {
            list(part).push(item);
        }
    }

    /// Returns the heading `title` of the page or of its first section.
    pub(super) fn title(&self) -> Option<&str> {
        let root = self.get(ROOT)?;
        let is_section = |idx: &&usize| self.get(**idx).is_some_and(|part| part.level == 1);
        let section = root.parts.iter().find(is_section).and_then(|idx| self.get(*idx));
        [Some(root), section].into_iter().flatten().find_map(|part| {
            let found = part.members.iter().find(|(name, _)| name == "title");
            let (_, value) = found?;
            value.as_str().or_else(|| value.items().first().and_then(JsonTree::as_str))
        })
    }

    /// Takes a part and the parts inside it out of the tree, as JSON.
    pub(super) fn tree_of(&mut self, idx: usize) -> JsonTree {
        let Some(part) = self.get_mut(idx) else { return JsonTree::Null };
        let part = std::mem::take(part);
        let mut members: Vec<(String, JsonTree)> = Vec::new();
        if part.level != 0 {
            members.push(("name".to_owned(), JsonTree::Text(part.name)));
        }
        members.extend(part.members);
        let media = match <[JsonTree; 1]>::try_from(part.media) {
            // A single media element is written as its URL.
            Ok([one]) => one.get("url").cloned().or(Some(JsonTree::List(vec![one]))),
            Err(many) if many.is_empty() => None,
            Err(many) => Some(JsonTree::List(many)),
        };
        members.extend(media.map(|media| ("media".to_owned(), media)));
        let lists = [
            ("fields", part.fields),
            ("actions", part.actions),
            ("links", part.links),
            ("marks", part.marks),
            ("withheld", part.withheld),
        ];
        for (name, items) in lists {
            if !items.is_empty() {
                members.push((name.to_owned(), JsonTree::List(items)));
            }
        }
        for (level, name) in [(4, "blocks"), (1, "sections"), (2, "groups"), (3, "subgroups")] {
            let of_level = |idx: &usize| self.get(*idx).is_some_and(|it| it.level == level);
            let inside: Vec<usize> = part.parts.iter().copied().filter(of_level).collect();
            if !inside.is_empty() {
                let items = inside.into_iter().map(|idx| self.tree_of(idx)).collect();
                members.push((name.to_owned(), JsonTree::List(items)));
            }
        }
        JsonTree::Map(members)
    }
}
