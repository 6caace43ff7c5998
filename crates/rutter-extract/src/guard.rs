//! Keeps pages from nesting without end.

use html5ever::LocalName;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::TreeBuilder;

use crate::dom::{Arena, Cut, Handle};

/// Stands between tokenizer and tree builder and leaves out start tags that
/// would nest too deep, because the builder walks the open elements.
pub(crate) struct Guard {
    pub(crate) builder: TreeBuilder<Handle, Arena>,
    pub(crate) deepest: u32,
}

impl TokenSink for Guard {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if let Token::TagToken(Tag { kind: TagKind::StartTag, name, .. }) = &token
            && self.deepest < self.builder.sink.depth.get()
            && (self.builder.adjusted_current_node_present_but_not_in_html_namespace()
                || !changes_the_tokenizer(name))
        {
            self.builder.sink.cut.set(Cut::Depth);
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Whether what follows is read by other rules, so that the tag must stay.
fn changes_the_tokenizer(name: &LocalName) -> bool {
    matches!(
        &**name,
        "script" | "style" | "title" | "textarea" | "xmp" | "iframe" | "noembed" | "noframes"
    )
}
