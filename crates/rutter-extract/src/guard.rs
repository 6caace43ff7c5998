//! Filters tokens between the tokenizer and the tree builder.
//!
//! Input: the tokens of a page. Output: the same tokens without start tags that nest too deep, and
//! the [`TokenizerState`] of the tokenizer after each tag. Counts steps, so that the parser can stop.

use std::cell::Cell;

use html5ever::LocalName;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::TreeBuilder;

use crate::arena::{LimitReached, NodeHandle, TreeArena};
use crate::tag_limit::TokenizerState;

/// Token filter between the tokenizer and the tree builder. Leaves out start tags that would nest
/// too deep, because the tree builder searches all open elements.
pub(crate) struct TokenGuard {
    pub(crate) builder: TreeBuilder<NodeHandle, TreeArena>,
    pub(crate) deepest: u32,
    /// State of the tokenizer after the last tag.
    pub(crate) mode: Cell<TokenizerState>,
}

impl TokenGuard {
    /// Returns the state of the tokenizer, and whether the next token is part of SVG or
    /// `MathML`.
    pub(crate) fn mode(&self) -> (TokenizerState, bool) {
        let is_foreign = self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        (self.mode.get(), is_foreign)
    }
}

impl TokenSink for TokenGuard {
    type Handle = NodeHandle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeHandle> {
        let depth = self.builder.sink.depth.get();
        // The tree builder may visit every open element for this token.
        self.builder.sink.step(1 + u64::from(depth));
        let Token::TagToken(Tag { kind, name, .. }) = &token else {
            return self.builder.process_token(token, line);
        };
        self.mode.set(TokenizerState::Data);
        if *kind == TagKind::StartTag
            && self.deepest < depth
            && (self.builder.adjusted_current_node_present_but_not_in_html_namespace()
                || !changes_the_tokenizer(name))
        {
            self.builder.sink.cut.set(LimitReached::Depth);
            return TokenSinkResult::Continue;
        }
        let result = self.builder.process_token(token, line);
        self.mode.set(match &result {
            TokenSinkResult::RawData(RawKind::ScriptData) => TokenizerState::Script,
            TokenSinkResult::RawData(_) => TokenizerState::Raw,
            TokenSinkResult::Plaintext => TokenizerState::Plain,
            _ => TokenizerState::Data,
        });
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Returns whether a start tag changes how the tokenizer reads the text after it, so that the tag
/// must not be left out.
fn changes_the_tokenizer(name: &LocalName) -> bool {
    matches!(
        &**name,
        "script" | "style" | "title" | "textarea" | "xmp" | "iframe" | "noembed" | "noframes"
    )
}
