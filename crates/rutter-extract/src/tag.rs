//! Table of the HTML elements that the extraction distinguishes.
//!
//! Input: an element name. Output: a [`Tag`], with whether it is a block, a heading or without
//! text. All other elements are [`Tag::Custom`].

use html5ever::{LocalName, local_name};

/// Defines the variants: each line has a variant and its element name.
macro_rules! tags {
    ($( $variant:ident $name:tt ),* $(,)?) => {
        /// The name of an element. Elements with the same meaning to the extraction still have
        /// separate variants.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub(crate) enum Tag {
            $( $variant, )*
            /// A custom element, or an unknown element.
            Custom,
            /// `<llm-only>`: content for language models that people do not see.
            LlmOnly,
            /// `<llm-exclude>`: content for people that language models should not read.
            LlmExclude,
            /// An element inside a drawing (SVG).
            Svg,
            /// An element inside a formula (`MathML`).
            Math,
            /// A run of text.
            Text,
        }

        impl Tag {
            /// Returns the tag of an HTML element name.
            pub(crate) fn of(name: &LocalName) -> Self {
                match *name {
                    $( local_name!($name) => Self::$variant, )*
                    _ => match &**name {
                        "llm-only" => Self::LlmOnly,
                        "llm-exclude" => Self::LlmExclude,
                        _ => Self::Custom,
                    },
                }
            }

            /// Returns the element name.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )*
                    Self::Custom => "custom",
                    Self::LlmOnly => "llm-only",
                    Self::LlmExclude => "llm-exclude",
                    Self::Svg => "svg",
                    Self::Math => "math",
                    Self::Text => "#text",
                }
            }
        }
    };
}

tags! {
    A "a", Abbr "abbr", Address "address", Article "article", Aside "aside", Audio "audio",
    B "b", Base "base", Bdo "bdo", Blockquote "blockquote", Body "body", Br "br",
    Button "button", Canvas "canvas", Caption "caption", Center "center", Cite "cite",
    Code "code", Col "col", Colgroup "colgroup", Dd "dd", Del "del", Details "details",
    Dfn "dfn", Dialog "dialog", Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed",
    Fieldset "fieldset", Figcaption "figcaption", Figure "figure", Font "font",
    Footer "footer", Form "form", Frame "frame", H1 "h1", H2 "h2", H3 "h3", H4 "h4", H5 "h5",
    H6 "h6", Head "head", Header "header", Hgroup "hgroup", Hr "hr", Html "html", I "i",
    Iframe "iframe", Img "img", Input "input", Ins "ins", Kbd "kbd", Label "label",
    Legend "legend", Li "li", Link "link", Main "main", Mark "mark", Menu "menu", Meta "meta",
    Nav "nav", Noscript "noscript", Object "object", Ol "ol", Optgroup "optgroup",
    Option "option", P "p", Picture "picture", Pre "pre", Progress "progress", Q "q",
    Rp "rp", Rt "rt", Ruby "ruby", S "s", Samp "samp", Script "script", Section "section",
    Select "select", Small "small", Source "source", Span "span", Strike "strike",
    Strong "strong", Style "style", Sub "sub", Summary "summary", Sup "sup", Table "table",
    Tbody "tbody", Td "td", Template "template", Textarea "textarea", Tfoot "tfoot", Th "th",
    Thead "thead", Time "time", Title "title", Tr "tr", Track "track", Tt "tt", U "u", Ul "ul",
    Var "var", Video "video", Wbr "wbr",
}

impl Tag {
    /// Returns whether the element is a block element, which starts and ends a line.
    pub(crate) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Article
                | Self::Aside
                | Self::Blockquote
                | Self::Body
                | Self::Caption
                | Self::Center
                | Self::Dd
                | Self::Details
                | Self::Dialog
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Fieldset
                | Self::Figcaption
                | Self::Figure
                | Self::Footer
                | Self::Form
                | Self::Frame
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Head
                | Self::Header
                | Self::Hgroup
                | Self::Hr
                | Self::Html
                | Self::Legend
                | Self::Li
                | Self::LlmExclude
                | Self::LlmOnly
                | Self::Main
                | Self::Menu
                | Self::Nav
                | Self::Noscript
                | Self::Ol
                | Self::Optgroup
                | Self::Option
                | Self::P
                | Self::Pre
                | Self::Section
                | Self::Summary
                | Self::Table
                | Self::Tbody
                | Self::Td
                | Self::Template
                | Self::Tfoot
                | Self::Th
                | Self::Thead
                | Self::Tr
                | Self::Ul
        )
    }

    /// Returns the level of a heading; `None` for other elements.
    pub(crate) fn heading(self) -> Option<u8> {
        Some(match self {
            Self::H1 => 1,
            Self::H2 => 2,
            Self::H3 => 3,
            Self::H4 => 4,
            Self::H5 => 5,
            Self::H6 => 6,
            _ => return None,
        })
    }

    /// Returns whether the content of the element is never read as text.
    pub(crate) fn is_silent(self) -> bool {
        matches!(
            self,
            Self::Audio
                | Self::Base
                | Self::Canvas
                | Self::Col
                | Self::Colgroup
                | Self::Embed
                | Self::Frame
                | Self::Head
                | Self::Iframe
                | Self::Input
                | Self::Link
                | Self::LlmExclude
                | Self::Meta
                | Self::Object
                | Self::Optgroup
                | Self::Option
                | Self::Picture
                | Self::Progress
                | Self::Rp
                | Self::Script
                | Self::Select
                | Self::Source
                | Self::Style
                | Self::Svg
                | Self::Template
                | Self::Textarea
                | Self::Title
                | Self::Track
                | Self::Video
        )
    }
}
