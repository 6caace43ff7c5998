//! Forms of secrets that can be recognized by their prefix or by the name of their variable.
//!
//! The table follows the documentation of the issuers; [`DATE`] is the date of its last review. A
//! row has the kind, the prefix, the class of the following characters, and their minimum and
//! maximum number. Add a row to detect another kind of token.

/// Month of the last review of the table.
pub(super) const DATE: &str = "2026-11";

/// A class of token characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    /// `0-9a-f`.
    Hex,
    /// `A-Z0-9`.
    Upper,
    /// `A-Za-z0-9`.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `_` and `-`.
    Base64,
}

impl CharClass {
    /// Number of classes.
    pub(super) const N: usize = 6;

    pub(super) fn has(self, byte: u8) -> bool {
        let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match self {
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Upper => matches!(byte, b'0'..=b'9' | b'A'..=b'Z'),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => is_word,
            Self::Dotted => is_word || byte == b'.',
            Self::Base64 => is_word || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// The form of one kind of secret: its prefix (or the name before it) and the characters after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretForm {
    pub(super) kind: &'static str,
    pub(super) start: &'static str,
    pub(super) class: CharClass,
    pub(super) fewest: usize,
    pub(super) most: usize,
}

const fn form(
    kind: &'static str,
    start: &'static str,
    class: CharClass,
    fewest: usize,
    most: usize,
) -> SecretForm {
    SecretForm { kind, start, class, fewest, most }
}

use CharClass::{Alnum, Base64, Dotted, Hex, Upper, Word};

/// Tokens with a specific prefix.
#[rustfmt::skip]
pub(super) const FORMS: &[SecretForm] = &[
    form("Rutter token", "rutter_", Hex, 64, 64),
    // Clouds.
    form("AWS access key", "AKIA", Upper, 16, 16),
    form("AWS access key", "ASIA", Upper, 16, 16),
    form("AWS access key", "ABIA", Upper, 16, 16),
    form("AWS access key", "ACCA", Upper, 16, 16),
    form("AWS Bedrock key", "ABSK", Base64, 100, 400),
    form("Google API key", "AIza", Word, 35, 35),
    form("Google OAuth secret", "GOCSPX-", Word, 28, 28),
    form("Google OAuth token", "ya29.", Dotted, 40, 1024),
    form("Google refresh token", "1//0", Word, 40, 512),
    form("Firebase key", ":APA91b", Word, 120, 200),
    form("Alibaba Cloud key", "LTAI", Alnum, 16, 20),
    form("Tencent Cloud key", "AKID", Alnum, 32, 32),
    form("Yandex Cloud key", "AQVN", Word, 35, 38),
    form("DigitalOcean token", "dop_v1_", Hex, 64, 64),
    form("DigitalOcean token", "doo_v1_", Hex, 64, 64),
    form("DigitalOcean token", "dor_v1_", Hex, 64, 64),
    form("Heroku token", "HRKU-", Word, 36, 64),
    form("Fly.io token", "fo1_", Word, 43, 43),
    form("Fly.io token", "fm2_", Base64, 100, 2048),
    form("Cloudflare token", "v1.0-", Word, 150, 200),
    form("Netlify token", "nfp_", Alnum, 36, 40),
    form("Vercel token", "vercel_blob_rw_", Word, 40, 64),
    form("Supabase token", "sbp_", Hex, 40, 40),
    form("Supabase key", "sb_secret_", Word, 31, 64),
    form("PlanetScale token", "pscale_tkn_", Dotted, 32, 64),
    form("PlanetScale password", "pscale_pw_", Dotted, 32, 64),
    form("PlanetScale token", "pscale_oauth_", Dotted, 32, 64),
    form("Neon key", "napi_", Alnum, 60, 80),
    form("Databricks token", "dapi", Hex, 32, 34),
    form("Vault token", "hvs.", Word, 24, 300),
    form("Vault token", "hvb.", Word, 100, 300),
    form("Pulumi token", "pul-", Hex, 40, 40),
    form("Doppler token", "dp.pt.", Alnum, 40, 44),
    form("Doppler token", "dp.st.", Dotted, 40, 64),
    form("Tailscale key", "tskey-", Word, 24, 80),
    form("Scalingo token", "tk-us-", Word, 48, 48),
    form("1Password token", "ops_eyJ", Base64, 200, 2048),
    form("Dynatrace token", "dt0c01.", Dotted, 88, 100),
    // Source code and package registries.
    form("GitHub token", "ghp_", Alnum, 36, 255),
    form("GitHub token", "gho_", Alnum, 36, 255),
    form("GitHub token", "ghu_", Alnum, 36, 255),
    form("GitHub token", "ghs_", Alnum, 36, 255),
    form("GitHub token", "ghr_", Alnum, 36, 255),
    form("GitHub token", "github_pat_", Word, 60, 255),
    form("GitLab token", "glpat-", Dotted, 20, 300),
    form("GitLab token", "gldt-", Word, 20, 64),
    form("GitLab token", "glrt-", Dotted, 20, 300),
    form("GitLab token", "glptt-", Hex, 40, 40),
    form("GitLab token", "glft-", Word, 20, 64),
    form("GitLab token", "glimt-", Word, 25, 64),
    form("GitLab token", "glagent-", Word, 50, 64),
    form("GitLab token", "glsoat-", Word, 20, 64),
    form("GitLab token", "glcbt-", Word, 20, 64),
    form("GitLab token", "gloas-", Word, 64, 64),
    form("GitLab token", "GR1348941", Word, 20, 64),
    form("Atlassian token", "ATATT3xFfGF0", Base64, 60, 256),
    form("Atlassian token", "ATCTT3xFfGF0", Base64, 60, 256),
    form("Bitbucket token", "ATBB", Alnum, 32, 36),
    form("npm token", "npm_", Alnum, 36, 36),
    form("PyPI token", "pypi-AgE", Word, 50, 1024),
    form("RubyGems key", "rubygems_", Hex, 48, 48),
    form("crates.io token", "cio", Alnum, 32, 32),
    form("NuGet key", "oy2", Alnum, 43, 43),
    form("Clojars token", "CLOJARS_", Hex, 60, 60),
    form("Docker token", "dckr_pat_", Word, 27, 64),
    form("Docker token", "dckr_oat_", Word, 27, 64),
    form("Artifactory key", "AKCp", Alnum, 69, 73),
    form("Artifactory token", "cmVmdGtuOj", Alnum, 54, 54),
    form("Buildkite token", "bkua_", Hex, 40, 40),
    form("CircleCI token", "CCIPAT_", Word, 40, 100),
    form("SonarQube token", "squ_", Hex, 40, 40),
    form("SonarQube token", "sqp_", Hex, 40, 40),
    form("SonarQube token", "sqa_", Hex, 40, 40),
    form("Sourcegraph token", "sgp_", Word, 40, 64),
    form("Postman key", "PMAK-", Word, 59, 59),
    form("Prefect key", "pnu_", Alnum, 36, 36),
    form("ReadMe key", "rdme_", Alnum, 70, 70),
    // Language models.
    form("OpenAI key", "sk-proj-", Word, 40, 255),
    form("OpenAI key", "sk-svcacct-", Word, 40, 255),
    form("OpenAI key", "sk-admin-", Word, 40, 255),
    form("API key", "sk-", Alnum, 32, 64),
    form("Anthropic key", "sk-ant-", Word, 60, 255),
    form("OpenRouter key", "sk-or-v1-", Hex, 64, 64),
    form("Langfuse key", "sk-lf-", Word, 36, 36),
    form("Hugging Face token", "hf_", Alnum, 34, 40),
    form("Hugging Face token", "api_org_", Alnum, 34, 40),
    form("Replicate token", "r8_", Alnum, 37, 40),
    form("Groq key", "gsk_", Alnum, 48, 64),
    form("xAI key", "xai-", Alnum, 70, 100),
    form("Perplexity key", "pplx-", Alnum, 40, 64),
    form("Pinecone key", "pcsk_", Word, 50, 100),
    form("LangSmith key", "lsv2_pt_", Word, 40, 64),
    form("LangSmith key", "lsv2_sk_", Word, 40, 64),
    form("Tavily key", "tvly-", Word, 32, 64),
    form("ElevenLabs key", "sk_", Hex, 48, 48),
    // Payment and shops.
    form("Stripe key", "sk_live_", Alnum, 24, 255),
    form("Stripe key", "rk_live_", Alnum, 24, 255),
    form("Stripe webhook secret", "whsec_", Base64, 32, 64),
    form("Square token", "sq0atp-", Word, 22, 60),
    form("Square secret", "sq0csp-", Word, 43, 60),
    form("Square or Meta token", "EAA", Alnum, 58, 400),
    form("Braintree token", "access_token$production$", Alnum, 16, 16),
    form("Plaid token", "access-production-", Word, 36, 36),
    form("Flutterwave key", "FLWSECK-", Word, 32, 64),
    form("EasyPost key", "EZAK", Alnum, 54, 54),
    form("Duffel token", "duffel_live_", Word, 43, 43),
    form("Shippo token", "shippo_live_", Hex, 40, 40),
    form("Shopify token", "shpat_", Hex, 32, 32),
    form("Shopify token", "shpca_", Hex, 32, 32),
    form("Shopify token", "shppa_", Hex, 32, 32),
    form("Shopify secret", "shpss_", Hex, 32, 32),
    // Messaging and mail.
    form("Slack token", "xoxb-", Word, 30, 255),
    form("Slack token", "xoxp-", Word, 30, 255),
    form("Slack token", "xoxa-", Word, 30, 255),
    form("Slack token", "xoxr-", Word, 30, 255),
    form("Slack token", "xoxs-", Word, 30, 255),
    form("Slack token", "xoxe-", Word, 30, 300),
    form("Slack token", "xoxe.xox", Word, 30, 300),
    form("Slack token", "xapp-", Word, 40, 255),
    form("Slack webhook", "hooks.slack.com/services/T", Base64, 30, 80),
    form("Slack webhook", "hooks.slack.com/workflows/T", Base64, 30, 120),
    form("Discord webhook", "discord.com/api/webhooks/", Base64, 70, 120),
    form("Discord webhook", "discordapp.com/api/webhooks/", Base64, 70, 120),
    form("Teams webhook", "webhook.office.com/webhookb2/", Base64, 60, 60),
    form("SendGrid key", "SG.", Dotted, 66, 66),
    form("Mailgun key", "key-", Hex, 32, 32),
    form("MailerSend token", "mlsn.", Hex, 64, 64),
    form("Brevo key", "xkeysib-", Word, 80, 90),
    form("Brevo key", "xsmtpsib-", Word, 80, 90),
    form("Twilio key", "SK", Hex, 32, 32),
    form("VK token", "vk1.a.", Word, 80, 300),
    // Productivity.
    form("Notion token", "ntn_", Alnum, 43, 50),
    form("Notion token", "secret_", Alnum, 43, 43),
    form("Linear key", "lin_api_", Alnum, 40, 40),
    form("Linear token", "lin_oauth_", Hex, 64, 64),
    form("Airtable token", "pat", Dotted, 79, 79),
    form("Figma token", "figd_", Word, 40, 64),
    form("Contentful token", "CFPAT-", Word, 43, 43),
    form("Dropbox token", "sl.", Word, 120, 1500),
    form("HubSpot token", "pat-na1-", Word, 36, 36),
    form("HubSpot token", "pat-eu1-", Word, 36, 36),
    form("Typeform token", "tfp_", Dotted, 59, 64),
    form("Mapbox token", "sk.eyJ", Dotted, 80, 120),
    form("Frame.io token", "fio-u-", Word, 64, 64),
    // Monitoring.
    form("Grafana token", "glsa_", Word, 40, 48),
    form("Grafana token", "glc_", Base64, 60, 400),
    form("Grafana key", "eyJrIjoi", Base64, 70, 400),
    form("Sentry token", "sntrys_", Base64, 60, 400),
    form("Sentry token", "sntryu_", Hex, 64, 64),
    form("New Relic key", "NRAK-", Upper, 27, 27),
    form("Honeycomb key", "hcaik_", Alnum, 58, 64),
    // Encryption keys.
    form("age key", "AGE-SECRET-KEY-1", Upper, 58, 58),
];

/// Values without a specific prefix: the lower-case name they are assigned to, and their form.
#[rustfmt::skip]
pub(super) const NAMED: &[SecretForm] = &[
    form("AWS secret key", "secret_access_key", Base64, 40, 40),
    form("AWS secret key", "secretaccesskey", Base64, 40, 40),
    form("AWS secret key", "aws_secret_key", Base64, 40, 40),
    form("Azure storage key", "accountkey", Base64, 86, 88),
    form("Azure shared key", "sharedaccesskey", Base64, 43, 44),
    form("Heroku key", "heroku_api_key", Word, 36, 36),
    form("Twilio token", "twilio_auth_token", Hex, 32, 32),
    form("Datadog key", "dd_api_key", Hex, 32, 32),
    form("Datadog key", "datadog_api_key", Hex, 32, 32),
    form("Datadog key", "dd_app_key", Hex, 40, 40),
    form("Cloudflare token", "cloudflare_api_token", Word, 40, 40),
    form("Cloudflare token", "cf_api_token", Word, 40, 40),
    form("Cloudflare key", "cloudflare_api_key", Hex, 37, 37),
    form("npm token", "_authtoken", Base64, 20, 100),
    form("Kubernetes key", "client-key-data", Base64, 200, 8192),
    form("API key", "api_key", Word, 24, 128),
    form("API key", "api-key", Word, 24, 128),
    form("API key", "apikey", Word, 24, 128),
    form("API secret", "api_secret", Word, 24, 128),
    form("client secret", "client_secret", Base64, 24, 128),
    form("client secret", "clientsecret", Base64, 24, 128),
    form("access token", "access_token", Dotted, 24, 2048),
    form("auth token", "auth_token", Dotted, 24, 512),
    form("secret key", "secret_key", Base64, 24, 128),
    form("bearer token", "authorization: bearer", Dotted, 24, 2048),
];
