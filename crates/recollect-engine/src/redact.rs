//! Secrets in texts that are about to leave the machine: found by the shapes that issuers gave them, replaced, counted.
//!
//! A replaced secret stays recognisable as one (`[redacted: github token]`), so that what is said about it stays clear. The
//! shapes are those that issuers document; names of settings decide where a value has no shape of its own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How many secrets of a kind were replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Redaction {
    /// What it is: `private key`, `github token`, `password in a URL`, …
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// Counts of what was replaced, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactions(BTreeMap<&'static str, u64>);

impl Redactions {
    /// Adds those of another text.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// By kind, in order of their names.
    pub fn list(&self) -> Vec<Redaction> {
        self.0.iter().map(|(kind, count)| Redaction { kind: (*kind).to_owned(), count: *count }).collect()
    }
}

/// A kind of secret and its shape. A group named `secret` is what is replaced; else all of the match.
struct Rule {
    kind: &'static str,
    shape: Regex,
    /// What must look random to be taken for a secret.
    random: bool,
}

/// Kinds and shapes, the surest first: what one has replaced, the next no longer sees.
const SHAPES: &[(&str, &str, bool)] = &[
    (
        "private key",
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)",
        false,
    ),
    ("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}", false),
    ("anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}", false),
    ("openai key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", false),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{22,})", false),
    ("gitlab token", r"\bgl(?:pat|ptt|rt|dt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{16,}", false),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{20,}", false),
    ("slack webhook", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/+_-]{20,}", false),
    ("discord webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}", false),
    ("aws key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", false),
    ("google key", r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}", false),
    ("azure key", r"(?i)\b(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})", false),
    ("stripe key", r"\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})", false),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}", false),
    ("pypi token", r"\bpypi-[A-Za-z0-9_-]{50,}", false),
    ("crates.io token", r"\bcio[A-Za-z0-9]{32}\b", false),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}", false),
    ("telegram token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}", false),
    ("sendgrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", false),
    ("twilio key", r"\bSK[0-9a-f]{32}\b", false),
    ("mailgun key", r"\bkey-[0-9a-f]{32}\b", false),
    ("digitalocean token", r"\bdo[oprt]_v1_[0-9a-f]{64}", false),
    ("vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}", false),
    ("shopify token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", false),
    ("linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", false),
    ("groq key", r"\bgsk_[A-Za-z0-9]{40,}", false),
    ("web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", false),
    ("password in a URL", r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'\x22<>]*:(?P<secret>[^\s/@'\x22<>]+)@", false),
    (
        "authorization header",
        r"(?i)\b(?:authorization|proxy-authorization)\\*[\x22']?\s*[:=]\s*\\*[\x22']?(?:bearer|basic|token)\s+(?P<secret>[A-Za-z0-9+/=_.~-]{8,})",
        false,
    ),
    ("bearer token", r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9+/=_.~-]{20,})", true),
    (
        "key in a header",
        r"(?i)\b(?:x-api-key|api-key|x-auth-token)\\*[\x22']?\s*[:=]\s*\\*[\x22']?(?P<secret>[A-Za-z0-9+/=_.~-]{12,})",
        false,
    ),
    (
        "password",
        r"(?i)\b[\w.-]*(?:password|passwd|passphrase|pwd)\\*[\x22']?\s*(?:=>|:=|=|:)\s*(?:\\*\x22(?P<secret>[^\x22\n]{4,}?)\\*\x22|\\*'(?P<single>[^'\n]{4,}?)\\*'|(?P<bare>[^\s\x22',;)}\]{(\[<$\\]{6,}))",
        false,
    ),
    (
        "password",
        r"(?i)\b(?:[\w.-]*[_.]pass\\*[\x22']?\s*[:=]|[\w.]*-pass=|pass(?:=|\\*[\x22']\s*:))\s*(?:\\*\x22(?P<secret>[^\x22\n]{4,}?)\\*\x22|\\*'(?P<single>[^'\n]{4,}?)\\*'|(?P<bare>[^\s\x22',;)}\]{(\[<$\\]{4,}))",
        false,
    ),
    (
        "password",
        r"(?i)(?:^|[\s\x22'])--?[\w-]*(?:password|passwd|passphrase|pass|pwd)\s+(?:\\*\x22(?P<secret>[^\x22\n]{4,}?)\\*\x22|\\*'(?P<single>[^'\n]{4,}?)\\*'|(?P<bare>[^\s\x22'<$\\|&;-][^\s\x22'\\]{3,}))",
        false,
    ),
    (
        "password",
        r"\b(?:curl|wget|http)\b[^\n|;]*?\s(?:-u|--user)[\s=]*\\*[\x22']?[^\s:\x22'\\]+:(?P<secret>[^\s\x22'\\]{2,})",
        false,
    ),
    ("password", r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(?P<secret>[^\s\x22'\\]{3,})", false),
    (
        "secret value",
        r"(?i)(?:^|[\s\x22'])--?[\w-]*(?:secret|token|api-?key|access-?key)\s+\\*[\x22']?(?P<secret>[A-Za-z0-9+/=_.~-]{16,})",
        true,
    ),
    (
        "secret value",
        r"(?i)\b[\w.-]*(?:secret|token|api_?key|apikey|access_?key|private_?key|client_?secret|credential|auth)[\w-]*\\*[\x22']?\s*(?:=>|:=|=|:)\s*\\*[\x22']?(?P<secret>[A-Za-z0-9+/=_.~-]{16,})",
        true,
    ),
];

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    // A shape that does not compile is a defect that `all_shapes_compile` finds.
    let rule = |(kind, shape, random): &(&'static str, &str, bool)| {
        Regex::new(shape).ok().map(|shape| Rule { kind, shape, random: *random })
    };
    SHAPES.iter().filter_map(rule).collect()
});

/// The text with its secrets replaced, and how many of which kind. Time is linear in the text.
pub fn redact(text: &str) -> (String, Redactions) {
    let mut text = text.to_owned();
    let mut redactions = Redactions::default();
    for rule in RULES.iter() {
        let mut count = 0;
        let replaced = rule.shape.replace_all(&text, |found: &Captures<'_>| {
            let whole = &found[0];
            let named = ["secret", "single", "bare"].iter().find_map(|name| found.name(name));
            let (from, end) = match (named, found.get(0)) {
                (Some(secret), Some(all)) => (secret.start() - all.start(), secret.end() - all.start()),
                _ => (0, whole.len()),
            };
            let secret = &whole[from..end];
            if secret.contains("[redacted") || is_stand_in(secret) || (rule.random && !looks_random(secret)) {
                return whole.to_owned();
            }
            count += 1;
            format!("{}[redacted: {}]{}", &whole[..from], rule.kind, &whole[end..])
        });
        if count > 0 {
            text = replaced.into_owned();
            *redactions.0.entry(rule.kind).or_default() += count;
        }
    }
    (text, redactions)
}

/// What was replaced in a text, by what it says of that.
pub fn redacted(text: &str) -> Redactions {
    let kinds: std::collections::BTreeSet<&'static str> = SHAPES.iter().map(|(kind, ..)| *kind).collect();
    let count = |kind: &'static str| (kind, text.matches(&format!("[redacted: {kind}]")).count() as u64);
    Redactions(kinds.into_iter().map(count).filter(|(_, count)| *count > 0).collect())
}

/// What stands where a secret would: a variable, a type, a word that says that something is missing.
fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '<', '{', '%', '*'])
        || value.chars().all(|character| matches!(character, '*' | '.' | 'x' | 'X' | '•' | '…' | '-' | '_'))
        || ["process.env", "os.environ", "env.", "std::", "getenv", "config.", "self.", "string", "option<"]
            .iter()
            .any(|word| lower.starts_with(word))
        || matches!(lower.as_str(), "true" | "false" | "null" | "none" | "undefined" | "required" | "optional")
}

/// Whether a value is more random than words, paths and names are: letters and digits mixed, and enough of both by
/// Shannon's measure.
fn looks_random(value: &str) -> bool {
    let mut counts = BTreeMap::new();
    for byte in value.bytes() {
        *counts.entry(byte).or_insert(0_u32) += 1;
    }
    let length = value.len() as f64;
    let entropy: f64 = counts.values().map(|count| f64::from(*count) / length).map(|share| -share * share.log2()).sum();
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && entropy >= 3.2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Put together here, so that no file holds what looks like a real secret.
    fn joined(parts: &[&str]) -> String {
        parts.concat()
    }

    #[test]
    fn all_shapes_compile() {
        assert_eq!(RULES.len(), SHAPES.len());
    }

    #[test]
    fn known_kinds_of_secrets_are_replaced_and_counted() {
        let random = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
        let cases = [
            ("anthropic key", joined(&["sk-", "ant-api03-", random])),
            ("openai key", joined(&["sk-", "proj-", random])),
            ("github token", joined(&["gh", "p_", random])),
            ("gitlab token", joined(&["gl", "pat-", &random[..20]])),
            ("slack token", joined(&["xo", "xb-12345678901-", random])),
            ("aws key", joined(&["AK", "IAIOSFODNN7EXAMPLE"])),
            ("google key", joined(&["AI", "za", &random[..35]])),
            ("stripe key", joined(&["sk_", "live_", random])),
            ("npm token", joined(&["np", "m_", random])),
            ("hugging face token", joined(&["h", "f_", random])),
            ("web token", joined(&["ey", "JhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0In0.", random])),
            (
                "private key",
                joined(&["-----BEGIN RSA ", "PRIVATE KEY-----\n", random, "\n-----END RSA PRIVATE KEY-----"]),
            ),
            ("private key", joined(&["-----BEGIN OPENSSH ", "PRIVATE KEY-----\n", random])),
        ];
        for (kind, secret) in cases {
            let (text, redactions) = redact(&format!("use {secret} here"));
            assert!(!text.contains(&secret) && !text.contains(&random[..12]), "{kind}: {text}");
            assert_eq!(redactions.list(), [Redaction { kind: kind.to_owned(), count: 1 }], "{text}");
            assert!(text.starts_with("use [redacted: "), "the words around stay: {text}");
        }
    }

    #[test]
    fn values_are_replaced_where_their_names_say_what_they_are() {
        for (line, left) in [
            ("DATABASE_URL=postgres://app:hunter2@db.internal/main", "@db.internal/main"),
            ("db_password = \"correct horse\"", "db_password = \""),
            ("\"password\": \"hunter2!\"", "\"password\": \""),
            ("PGPASSWORD=hunter22 psql", " psql"),
            ("Authorization: Bearer abcdef123456", "Authorization: Bearer "),
            ("x-api-key: 0123456789abcdef", "x-api-key: "),
            ("export CLIENT_SECRET=q8Zr2vXw71LkPd90sTbn", "export CLIENT_SECRET="),
            (r#"{\"password\":\"hunter2\",\"user\":\"ada\"}"#, r#"\",\"user\":\"ada\"}"#),
            (r#"{\\\"password\\\": \\\"hunter2\\\"}"#, r#"\\\"}"#),
            (r#"\"api_key\": \"q8Zr2vXw71LkPd90sTbn\""#, r#"\"api_key\": \""#),
            ("mysqldump --password hunter2 main", "mysqldump --password "),
            ("restic --repo-password 'correct horse'", "restic --repo-password '"),
            ("deploy --token q8Zr2vXw71LkPd90sTbn", "deploy --token "),
            ("export DB_PASS=hunter2", "export DB_PASS="),
            ("smtp_pass: hunter2", "smtp_pass: "),
            ("{\"pass\": \"hunter2\"}", "{\"pass\": \""),
            ("curl -s -u ada:hunter2 https://example.com", "curl -s -u ada:"),
            ("curl --user 'ada:hunter2' https://example.com", " https://example.com"),
            ("machine example.com login ada password hunter2", "machine example.com login ada password "),
        ] {
            let (text, redactions) = redact(line);
            assert!(text.contains("[redacted: ") && text.contains(left), "{line}: {text}");
            assert_eq!(redactions.list().iter().map(|one| one.count).sum::<u64>(), 1, "{line}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "commit 1ea692e0c1d5a6f3b4c8d9e0f1a2b3c4d5e6f7a8",
            "session 7f3c2d10-9a4b-4c5d-8e6f-0a1b2c3d4e5f",
            "let token = self.next_token();",
            "password: string",
            "api_key = process.env.OPENAI_API_KEY",
            "the token count is 12345",
            "https://example.com:8080/path@v2",
            "password = ${DB_PASSWORD}",
            "secret: ****************",
            "author: Ada Lovelace and Charles Babbage",
            "first pass: tokenizing, second pass: parsing",
            "docker login --password-stdin",
            "tests pass = 12 of 12",
            "the --max-token 4000 flag",
            "the login and password fields of the form",
            "use tokens::Counter; // counts tokens of text",
        ] {
            assert_eq!(redact(line).0, line, "nothing secret in it");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_redacted_and_twice_changes_nothing_more(text in "\\PC{0,200}") {
            let (once, _) = redact(&text);
            prop_assert_eq!(redact(&once).0, once);
        }
    }
}
