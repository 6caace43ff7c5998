//! Product tokens of AI crawlers.
//!
//! The list contains the names in the SPXI specification and the most common names of public lists.
//! It only decides which findings are reported. It never decides what a crawler may fetch.

/// Product tokens in lower case.
const AI_AGENTS: [&str; 44] = [
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

/// Returns whether `name` is the product token of an AI crawler.
pub(super) fn is_ai_agent(name: &str) -> bool {
    AI_AGENTS.iter().any(|known| known.eq_ignore_ascii_case(name))
}
