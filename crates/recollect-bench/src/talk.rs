//! Made conversations of any size: words as often as people use them, names as code has them, always the same ones.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Messages of one session.
const SESSION: u64 = 500;
/// Words that are used.
const WORDS: u64 = 60_000;

/// Words of everyday speech, the most frequent first.
const COMMON: [&str; 32] = [
    "the", "to", "a", "of", "and", "is", "it", "in", "that", "for", "this", "we", "on", "with", "be", "not", "as",
    "what", "when", "how", "are", "should", "why", "did", "from", "does", "file", "test", "error", "function", "where",
    "can",
];

/// A source of numbers that look like chance and are always the same.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Begins somewhere.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }

    /// A word: the n-th most frequent one is used about n times more rarely than the first.
    pub(crate) fn word(&mut self) -> String {
        let rank = ((WORDS as f64).powf(self.share()) - 1.0) as u64;
        word(rank)
    }

    /// A word that only a few messages in a hundred thousand have.
    pub(crate) fn rare_word(&mut self) -> String {
        word(WORDS / 4 + self.below(WORDS * 3 / 4))
    }
}

fn word(rank: u64) -> String {
    if let Some(common) = usize::try_from(rank).ok().and_then(|rank| COMMON.get(rank)) {
        return (*common).to_owned();
    }
    const SYLLABLES: [&str; 20] = [
        "ta", "re", "mo", "sin", "ka", "lo", "ver", "di", "pon", "ex", "ul", "ga", "fer", "ni", "cho", "bra", "tel",
        "om", "ri", "sa",
    ];
    let mut rest = rank;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[(rest % 20) as usize]);
        rest /= 20;
    }
    word
}

/// One message: prose, now and then with a name or a path.
fn text(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for at in 0..20 + numbers.below(80) {
        if at > 0 {
            text.push(' ');
        }
        match numbers.below(30) {
            0 => text.push_str(&format!("{}_{}", numbers.word(), numbers.word())),
            1 => text.push_str(&format!("src/{}/{}.rs", numbers.word(), numbers.word())),
            2 => text.push_str(&format!("{}.", numbers.word())),
            _ => text.push_str(&numbers.word()),
        }
    }
    text
}

/// Writes sessions with the messages `from` to `to` below a folder, as the client would; the bytes of their words.
pub(crate) fn write(folder: &Path, from: u64, to: u64) -> Result<u64> {
    let mut words = 0;
    for session in from / SESSION..to.div_ceil(SESSION) {
        let id = format!("{session:08x}-0000-4000-8000-000000000000");
        let project = format!("/home/dev/project{}", session % 40);
        let own: PathBuf = folder.join(project.replace('/', "-"));
        fs_err::create_dir_all(&own)?;
        let mut file = std::io::BufWriter::new(fs_err::File::create(own.join(format!("{id}.jsonl")))?);
        let mut numbers = Numbers::new(session + 1);
        for at in 0..SESSION {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            let said = text(&mut numbers);
            words += said.len() as u64;
            let minute = session * SESSION + at;
            let time = jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(minute)? * 60)?;
            writeln!(
                file,
                r#"{{"type":"{role}","uuid":"{session:08x}-{at:04x}-4000-8000-000000000001","timestamp":"{time}","sessionId":"{id}","cwd":"{project}","gitBranch":"main","version":"2.1.0","isSidechain":false,"message":{{"role":"{role}","content":[{{"type":"text","text":"{said}"}}]}}}}"#
            )?;
        }
        file.flush()?;
    }
    Ok(words)
}
