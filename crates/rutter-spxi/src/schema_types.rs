//! The types of schema.org, release [`RELEASE`], and the classification of entity types (D66).
//!
//! `cargo xtask schemaorg` generates the table: one line per type, with its parents, and with `!`
//! in front of data types.

use std::sync::LazyLock;

/// Release of schema.org that the table was generated from.
pub const RELEASE: &str = "30.0";

#[derive(Debug)]
struct SchemaType {
    name: &'static str,
    parents: &'static str,
    is_data: bool,
}

static KINDS: LazyLock<Vec<SchemaType>> = LazyLock::new(|| {
    let table = include_str!("schema_types.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, parents) = line.split_once(' ').unwrap_or((line, ""));
            match name.strip_prefix('!') {
                Some(name) => SchemaType { name, parents, is_data: true },
                None => SchemaType { name, parents, is_data: false },
            }
        })
        .collect()
});

fn find(name: &str) -> Option<&'static SchemaType> {
    let at = KINDS.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
    KINDS.get(at)
}

/// Returns whether `name` is a type of schema.org that an entity can have.
///
/// Data types such as `Text`, and members of enumerations, do not count, because an entity cannot
/// have them as its type.
///
/// ```
/// # use rutter_spxi::schema_types::is_type;
/// assert!(is_type("LandmarksOrHistoricalBuildings") && is_type("Thing"));
/// assert!(!is_type("Lighthouse") && !is_type("Abdomen") && !is_type("Text"));
/// ```
pub fn is_type(name: &str) -> bool {
    find(name).is_some_and(|kind| !kind.is_data)
}

/// Returns whether a name is a data type of schema.org.
pub fn is_data_type(name: &str) -> bool {
    find(name).is_some_and(|kind| kind.is_data)
}

/// Returns the direct parents of a type.
pub fn parents(name: &str) -> impl Iterator<Item = &'static str> {
    find(name).into_iter().flat_map(|kind| kind.parents.split_ascii_whitespace())
}

/// Returns whether the type `name` equals the type `of` or is one of its subtypes.
///
/// ```
/// # use rutter_spxi::schema_types::is_subtype;
/// assert!(is_subtype("AboutPage", "WebPage") && !is_subtype("WebPage", "AboutPage"));
/// ```
pub fn is_subtype(name: &str, of: &str) -> bool {
    // The table has no cycles; a test checks this.
    name == of && find(name).is_some() || parents(name).any(|parent| is_subtype(parent, of))
}

/// Returns the schema.org type with the most similar name, if there is a similar one.
///
/// ```
/// # use rutter_spxi::schema_types::nearest;
/// assert_eq!(nearest("organisation"), Some("Organization"));
/// assert_eq!(nearest("Zeppelin"), None);
/// ```
pub fn nearest(name: &str) -> Option<&'static str> {
    const MAX_LENGTH: usize = 64;
    if MAX_LENGTH < name.len() || name.is_empty() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let most = (name.len() / 4).min(2);
    let types = KINDS.iter().filter(|kind| !kind.is_data);
    types
        .filter(|kind| kind.name.len().abs_diff(name.len()) <= most)
        .map(|kind| (distance(&kind.name.to_ascii_lowercase(), &name), kind.name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// Returns the edit distance of two words.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (b, above) in other.bytes().zip(row.iter_mut().skip(1)) {
            let cost = (corner + usize::from(a != b)).min(left + 1).min(*above + 1);
            corner = *above;
            *above = cost;
            left = cost;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Classification of the value of `spxi:entityType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityType<'t> {
    /// A type of schema.org, by its bare name.
    Schema(&'t str),
    /// A custom type that is documented.
    Custom,
    /// A data type of schema.org, such as text, number or date.
    Data,
    /// A type that is not documented anywhere.
    Unknown,
}

/// Classifies the value of `spxi:entityType`.
///
/// Accepted forms are a bare name, `schema:Name` or the URL of a type; an absolute IRI of another
/// vocabulary; a name with a prefix that `is_prefix` knows; and a name that `is_listed` (D66).
pub fn entity_type(
    text: &str,
    is_prefix: impl Fn(&str) -> bool,
    is_listed: impl Fn(&str) -> bool,
) -> EntityType<'_> {
    let roots = ["schema:", "https://schema.org/", "http://schema.org/", "https://www.schema.org/"];
    let bare = roots.iter().find_map(|root| text.strip_prefix(root));
    let name = bare.unwrap_or(text);
    if is_type(name) {
        EntityType::Schema(name)
    } else if is_data_type(name) {
        EntityType::Data
    } else if is_listed(text) {
        EntityType::Custom
    } else if bare.is_some() {
        EntityType::Unknown
    } else {
        match text.split_once(':') {
            Some((_, rest)) if rest.is_empty() || text.contains(char::is_whitespace) => {
                EntityType::Unknown
            }
            Some(("http" | "https", rest)) if 2 < rest.len() && rest.starts_with("//") => {
                EntityType::Custom
            }
            Some(("urn", rest)) if rest.contains(':') => EntityType::Custom,
            Some((prefix, _)) if is_prefix(prefix) => EntityType::Custom,
            _ => EntityType::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THING: &str = "Thing";

    #[test] // SPX-068
    fn table_is_sorted_and_every_type_descends_from_thing() {
        assert!(KINDS.windows(2).all(|pair| matches!(pair, [a, b] if a.name < b.name)));
        let n_types = KINDS.iter().filter(|kind| !kind.is_data).count();
        assert_eq!((n_types, KINDS.len()), (935, 955));
        // A medical specialty, and a business that offers it.
        assert!(is_subtype("Dermatology", "MedicalBusiness"));
        for kind in KINDS.iter().filter(|kind| !kind.is_data) {
            // A cycle would overflow the stack.
            assert!(is_subtype(kind.name, THING), "{}", kind.name);
            assert!(kind.name == THING || parents(kind.name).all(is_type), "{}", kind.name);
        }
        for kind in KINDS.iter().filter(|kind| kind.is_data) {
            assert!(!is_subtype(kind.name, THING), "{}", kind.name);
        }
        assert_eq!(parents("LocalBusiness").collect::<Vec<_>>(), ["Organization", "Place"]);
    }

    #[test] // SPX-022, SPX-068, C05, D66
    fn entity_type_is_from_schema_org_or_documented() {
        let of = |text| entity_type(text, |prefix| prefix == "port", |name| name == "Beacon");
        for text in
            ["Person", "schema:Person", "http://schema.org/Person", "https://schema.org/Person"]
        {
            assert_eq!(of(text), EntityType::Schema("Person"), "{text}");
        }
        assert_eq!(of("Thing"), EntityType::Schema("Thing"));
        for text in
            ["https://harbour.example/types#Beacon", "port:Beacon", "Beacon", "urn:x:beacon"]
        {
            assert_eq!(of(text), EntityType::Custom, "{text}");
        }
        for text in ["Text", "schema:Number", "https://schema.org/URL", "Boolean"] {
            assert_eq!(of(text), EntityType::Data, "{text}");
        }
        for text in [
            "DataVisualization",
            "Abdomen",
            "person",
            "",
            "schema:Beakon",
            "pier:Beacon",
            "https://schema.org/Beakon",
            "https://",
            "port:",
            "a light house",
            "https:// x",
        ] {
            assert_eq!(of(text), EntityType::Unknown, "{text}");
        }
    }

    #[test] // SPX-068
    fn misspelt_type_gets_a_suggestion() {
        for (name, hint) in [
            ("Organisation", Some("Organization")),
            ("person", Some("Person")),
            ("Preson", None),
            ("Reserch", None),
            ("CreativeWrok", Some("CreativeWork")),
            ("", None),
        ] {
            assert_eq!(nearest(name), hint, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
