//! The client of a request: its address, and the grant of its token.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};

use crate::admission::error::AdmissionError;
use crate::admission::token::{TokenGrant, TokenScope, Tokens};

/// The client of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestClient {
    pub(crate) address: Option<IpAddr>,
    pub(crate) grant: Option<Arc<TokenGrant>>,
    /// Whether the client sent an unknown token.
    pub(crate) has_bad_token: bool,
}

impl RequestClient {
    /// Creates a client that sent no token.
    pub(crate) fn without_token(address: Option<IpAddr>) -> Self {
        Self { address, ..Self::default() }
    }

    /// Finds the grant of the token in `Authorization`.
    pub(crate) fn with_token(
        address: Option<IpAddr>,
        headers: &HeaderMap,
        tokens: &Tokens,
        now: i64,
    ) -> Self {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().map(HeaderValue::as_bytes).unwrap_or_default();
        let token = match value.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => Some(token),
            _ => None,
        };
        let is_one = values.next().is_none();
        let token = token.filter(|_| is_one).map(<[u8]>::trim_ascii);
        let grant = token.and_then(|token| tokens.find(token, now));
        let has_bad_token = grant.is_none();
        Self { address, grant, has_bad_token }
    }

    /// Returns the grant if it includes a scope.
    pub(crate) fn require(&self, scope: TokenScope) -> Result<&TokenGrant, AdmissionError> {
        match &self.grant {
            Some(grant) if grant.allows(scope) => Ok(grant),
            Some(_) => Err(AdmissionError::MissingScope(scope)),
            None if self.has_bad_token => Err(AdmissionError::BadToken),
            None => Err(AdmissionError::TokenRequired),
        }
    }
}
