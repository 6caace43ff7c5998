//! A table: crawlers that read for AI, by their product tokens.
//!
//! The names SPXI gives and the commonest of the public lists; an unknown one
//! costs a finding, never an answer.

/// Product tokens in lower case.
const AI: [&str; 44] = [
    "ai2bot",
    "ai2bot-dolma",
    "amazonbot",
    "anthropic-ai",
    "applebot-extended",
    "bytespider",
    "ccbot",
    "chatgpt-user",
    "claude-searchbot",
    "claude-user",
    "claude-web",
    "claudebot",
    "cloudvertexbot",
    "cohere-ai",
    "cohere-training-data-crawler",
    "deepseekbot",
    "diffbot",
    "duckassistbot",
    "facebookbot",
    "firecrawlagent",
    "gemini-deep-research",
    "google-cloudvertexbot",
    "google-extended",
    "google-notebooklm",
    "googleother",
    "gptbot",
    "imagesiftbot",
    "img2dataset",
    "kimi-user",
    "meta-externalagent",
    "meta-externalfetcher",
    "meta-webindexer",
    "mistralai-user",
    "oai-searchbot",
    "omgili",
    "omgilibot",
    "pangubot",
    "perplexity-user",
    "perplexitybot",
    "petalbot",
    "tavilybot",
    "timpibot",
    "webzio-extended",
    "youbot",
];

/// Tells whether a name belongs to a crawler that reads for AI.
pub(super) fn is_ai(name: &str) -> bool {
    AI.iter().any(|known| known.eq_ignore_ascii_case(name))
}
