//! Table of phrases at the start of headings and lines, in several languages: lists of other pages,
//! appeals, picture credits, bylines and dates.
//!
//! Input: the text of a heading or a line. Output: whether it starts with a phrase of one kind.
//! Callers need further evidence: links must follow such a heading, and such a line must be short.

use std::sync::LazyLock;

/// Prefixes of headings above links to other pages.
const ELSEWHERE: &[&str] = &[
    "on this page",
    "in this article",
    "jump to",
    "contents",
    "table of contents",
    "inhalt",
    "also read",
    "read also",
    "read more",
    "read next",
    "related",
    "more from",
    "more on",
    "more stories",
    "more news",
    "see also:",
    "you may also",
    "you might also",
    "recommended",
    "don't miss",
    "most read",
    "most popular",
    "latest news",
    "trending",
    "share this",
    "share:",
    "follow us",
    "tags:",
    "tags",
    "categories",
    "filed under",
    "topics:",
    "lesen sie auch",
    "lesen sie mehr",
    "lies auch",
    "lest auch",
    "mehr zum thema",
    "mehr dazu",
    "mehr von",
    "mehr aus",
    "mehr lesen",
    "weiterlesen",
    "weitere artikel",
    "weitere beitr",
    "weiterf\u{fc}hrende links",
    "mehr zu ",
    "weitere meldungen",
    "weitere news",
    "weitere themen",
    "weitere aktuelle",
    "weitere pressemitteilungen",
    "auch interessant",
    "das k\u{f6}nnte",
    "das k\u{f6}nnten",
    "passend dazu",
    "zum thema",
    "\u{e4}hnliche",
    "empfehlungen",
    "empfohlen",
    "schon gelesen",
    "top themen",
    "top-themen",
    "meistgelesen",
    "teilen",
    "news teilen",
    "artikel teilen",
    "schlagw",
    "themen:",
    "verwandte",
    "n\u{e4}chster beitrag",
    "vorheriger beitrag",
    "der n\u{e4}chste beitrag",
    "lesetipp",
    "siehe auch:",
    "lea tambi\u{e9}n",
    "lee tambi\u{e9}n",
    "lee adem\u{e1}s",
    "leer tambi\u{e9}n",
    "vea tambi\u{e9}n",
    "ver tambi\u{e9}n",
    "mira tambi\u{e9}n",
    "mire:",
    "mira:",
    "te puede interesar",
    "te podr\u{ed}a interesar",
    "le puede interesar",
    "relacionad",
    "temas relacionados",
    "noticias relacionadas",
    "m\u{e1}s noticias",
    "m\u{e1}s le\u{ed}d",
    "m\u{e1}s sobre",
    "contenido relacionado",
    "le recomendamos",
    "leia tamb\u{e9}m",
    "leia mais",
    "veja tamb\u{e9}m",
    "saiba mais",
    "mais lidas",
    "not\u{ed}cias relacionadas",
    "lire aussi",
    "\u{e0} lire",
    "voir aussi",
    "lire la suite",
    "sur le m\u{ea}me",
    "articles li\u{e9}s",
    "dans la m\u{ea}me",
    "partager",
    "\u{e0} d\u{e9}couvrir",
    "en lien",
    "vous aimerez",
    "leggi anche",
    "potrebbe interessart",
    "articoli correlati",
    "condividi",
    "guarda anche",
    "czytaj te\u{17c}",
    "czytaj tak\u{17c}e",
    "czytaj wi\u{119}cej",
    "zobacz te\u{17c}",
    "zobacz tak\u{17c}e",
    "polecamy",
    "przeczytaj",
    "podobne",
    "powi\u{105}zane",
    "czytaj r\u{f3}wnie\u{17c}",
    "udost\u{119}pnij",
    "lees ook",
    "meer over",
    "meer nieuws",
    "gerelateerd",
    "l\u{e6}s ogs\u{e5}",
    "les ogs\u{e5}",
    "l\u{e4}s mer",
    "l\u{e4}s ocks\u{e5}",
    "lue my\u{f6}s",
    "viz tak\u{e9}",
    "\u{10d}t\u{11b}te tak\u{e9}",
    "souvisej",
    "ayrıca oku",
    "\u{447}\u{438}\u{442}\u{430}\u{439}\u{442}\u{435}",
    "\u{442}\u{430}\u{43a}\u{436}\u{435}",
    "\u{441}\u{43c}. \u{442}\u{430}\u{43a}\u{436}\u{435}",
];

/// Prefixes of appeals to readers.
const APPEALS: &[&str] = &[
    "if you enjoyed",
    "if you like",
    "if you liked",
    "do you want to",
    "sign up",
    "subscribe",
    "support us",
    "support our",
    "join our",
    "follow us",
    "follow our",
    "donate",
    "download our",
    "download the app",
    "like us",
    "unterst\u{fc}tze",
    "abonnier",
    "folge uns",
    "folgen sie uns",
    "melden sie sich",
    "melde dich",
    "jetzt abonnieren",
    "hier klicken",
    "klicken sie",
    "besuchen sie unser",
    "spenden sie",
    "sie m\u{f6}chten",
    "sie wollen",
    "du willst",
    "du m\u{f6}chtest",
    "hat dir",
    "hat ihnen",
    "gef\u{e4}llt",
    "wenn dir",
    "wenn ihnen",
    "newsletter",
    "suscr\u{ed}b",
    "reg\u{ed}strate",
    "s\u{ed}guenos",
    "inscr\u{ed}bete",
    "apoya",
    "abonnez",
    "inscrivez",
    "suivez",
    "soutenez",
    "cliquez",
    "iscriviti",
    "seguici",
    "sostieni",
    "abbonati",
    "zapisz si\u{119}",
    "wesprzyj",
    "obserwuj",
    "polub",
    "siga",
    "assine",
    "inscreva",
    "apoie",
    "volg ons",
    "steun",
];

/// Prefixes of picture credits.
const CREDITS: &[&str] = &[
    "foto:",
    "fotos:",
    "(foto:",
    "photo:",
    "photos:",
    "(photo:",
    "photo by",
    "photo credit",
    "photograph:",
    "picture:",
    "image:",
    "images:",
    "image credit",
    "credit:",
    "credits:",
    "bild:",
    "bilder:",
    "(bild:",
    "bildquelle",
    "bildnachweis",
    "quelle:",
    "(quelle:",
    "source:",
    "fotografie:",
    "\u{a9}",
    "(c)",
    "(\u{a9}",
    "cr\u{e9}dito",
    "(cr\u{e9}dito",
    "cr\u{e9}dit",
    "imagen:",
    "fuente:",
    "zdj\u{119}cie:",
    "fot.",
    "\u{444}\u{43e}\u{442}\u{43e}:",
];

/// Prefixes of date lines.
const DATES: &[&str] = &[
    "published",
    "updated",
    "this page last",
    "last modified",
    "this page was last",
    "page last",
    "last edited",
    "last updated",
    "posted",
    "ver\u{f6}ffentlich",
    "aktualisiert",
    "stand:",
    "erstellt am",
    "publicado",
    "actualizado",
    "publi\u{e9}",
    "mis \u{e0} jour",
    "pubblicato",
    "opublikowan",
    "zaktualizowan",
];

/// Prefixes of bylines.
const BYLINES: &[&str] = &[
    "by ",
    "written by",
    "posted by",
    "author:",
    "author ",
    "von ",
    "autor:",
    "autor ",
    "por ",
    "par ",
    "di ",
    "door ",
    "text:",
];

/// Phrases grouped by their first letter; few letters share a group.
type PhraseIndex = Vec<Vec<&'static str>>;

const PLACES: usize = 128;

fn place(letter: char) -> usize {
    u32::from(letter) as usize % PLACES
}

fn index(table: &[&'static str]) -> PhraseIndex {
    let mut index = vec![Vec::new(); PLACES];
    for phrase in table {
        index[place(phrase.chars().next().unwrap_or(' '))].push(*phrase);
    }
    index
}

/// Returns whether a heading or label introduces links to other pages.
pub(crate) fn is_elsewhere(text: &str) -> bool {
    static INDEX: LazyLock<PhraseIndex> = LazyLock::new(|| index(ELSEWHERE));
    starts_with(text, &INDEX)
}

/// Returns whether a paragraph is an appeal to readers, such as a request to subscribe.
pub(crate) fn is_appeal(text: &str) -> bool {
    static INDEX: LazyLock<PhraseIndex> = LazyLock::new(|| index(APPEALS));
    starts_with(text, &INDEX)
}

/// Returns whether a line is the credit of a picture.
pub(crate) fn is_credit(text: &str) -> bool {
    static INDEX: LazyLock<PhraseIndex> = LazyLock::new(|| index(CREDITS));
    starts_with(text, &INDEX)
}

/// Returns whether a line names an author.
pub(crate) fn is_byline(text: &str) -> bool {
    static INDEX: LazyLock<PhraseIndex> = LazyLock::new(|| index(BYLINES));
    starts_with(text, &INDEX)
}

/// Returns whether a line states the date of the page.
pub(crate) fn is_date_line(text: &str) -> bool {
    static INDEX: LazyLock<PhraseIndex> = LazyLock::new(|| index(DATES));
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    has_digits && (starts_with(text, &INDEX) || is_date(text))
}

fn starts_with(text: &str, index: &PhraseIndex) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != '\u{a9}');
    let Some(first) = text.chars().flat_map(char::to_lowercase).next() else { return false };
    let phrases = &index[place(first)];
    // Compares the second letter first, because it excludes most phrases.
    let bytes = text.as_bytes();
    let is_near = |phrase: &&&str| match (bytes.get(1), phrase.as_bytes().get(1)) {
        (Some(one), Some(other)) => !one.is_ascii() || one.eq_ignore_ascii_case(other),
        _ => true,
    };
    phrases.iter().filter(is_near).any(|phrase| {
        let mut letters = text.chars().flat_map(char::to_lowercase);
        phrase.chars().all(|c| letters.next() == Some(c))
    })
}

/// Returns whether a text is a date with little other text: `03.04.2020`, `6. Mai 2014, 12:30`.
fn is_date(text: &str) -> bool {
    // A line that ends with a colon introduces the text after it.
    if text.ends_with(':') || 40 < text.chars().count() {
        return false;
    }
    let n_words = text.split(|c: char| !c.is_alphabetic()).filter(|word| 2 < word.len()).count();
    let mut has_year = false;
    let mut n_short = 0;
    for digits in text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
        match digits.len() {
            4 => has_year |= digits.starts_with("19") || digits.starts_with("20"),
            1 | 2 => n_short += 1,
            _ => return false,
        }
    }
    has_year && 1 <= n_short && n_words <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_phrases_only_at_the_start() {
        assert!(is_elsewhere("Mehr zum Thema"));
        assert!(is_elsewhere("► LEA TAMBIÉN: algo"));
        assert!(!is_elsewhere("The related work"));
        assert!(is_credit("(Foto: Hafenamt)"));
        assert!(is_date_line("03.04.2020, 15:00"));
        assert!(!is_date_line("Changes in 3.10.0 (2016-01-06):"));
        assert!(!is_date_line("Release number 3.40.1 came in 2022"));
    }
}
