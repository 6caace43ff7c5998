//! Enumerations whose values have a name in a format or in a database.

/// Defines an enumeration and the name of each value.
///
/// ```
/// rutter_page::named_values! {
///     Side { North = "north", South = "south", }
/// }
/// assert_eq!(Side::of_word("south"), Some(Side::South));
/// assert_eq!(Side::North.word(), "north");
/// ```
#[macro_export]
macro_rules! named_values {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// All values, in the order of their definition.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Returns the name of the value.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// Returns the value with this name; `None` if the name is unknown.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}
