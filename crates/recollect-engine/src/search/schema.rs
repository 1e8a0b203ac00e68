//! What a document of the index holds.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

use super::Kind;
use super::terms::{Terming, Terms};
use crate::session::Role;

/// Of this program's index; another is made anew. Raise it when documents or terms change.
pub(super) const FORMAT: u32 = 2;

/// The fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The passage as it is shown.
    pub(super) body: Field,
    /// Its stems of parts, and wholes: ranked, and with positions for phrases.
    pub(super) text: Field,
    /// Parts and wholes as they are written: for beginnings of words and for misspelt ones.
    pub(super) words: Field,
    /// Parts of the paths that it is about.
    pub(super) paths: Field,
    /// The file, or the main file of the session.
    pub(super) file: Field,
    /// The message's position in the file; absent for titles, keepits and versions.
    pub(super) position: Field,
    /// Milliseconds since 1970; absent when no time is known.
    pub(super) time: Field,
    /// [`Facts`], packed.
    pub(super) facts: Field,
    /// The session, of titles and keepits: they go and come together.
    pub(super) session: Field,
    /// The session, of versions.
    pub(super) versions: Field,
    /// The call that starts a sub-agent.
    pub(super) call: Field,
    /// The message's uuid.
    pub(super) uuid: Field,
    /// The keepit marker or the version.
    pub(super) name: Field,
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) kind: Kind,
    pub(super) role: Option<Role>,
    /// Of a keepit: its weight in hundredths.
    pub(super) weight: u8,
    /// Of a keepit or a version: index of the message that it comes from.
    pub(super) index: u32,
}

impl Facts {
    pub(super) fn pack(self) -> u64 {
        let role = self.role.map_or(0, |role| role as u64 + 1);
        self.kind as u64 | role << 8 | u64::from(self.weight) << 16 | u64::from(self.index) << 32
    }

    pub(super) fn unpack(packed: u64) -> Self {
        let roles = [None, Some(Role::User), Some(Role::Assistant), Some(Role::Tool), Some(Role::System)];
        let byte = |shift: u32| (packed >> shift & 0xff) as usize;
        Self {
            kind: Kind::ALL.get(byte(0)).copied().unwrap_or(Kind::Text),
            role: roles.get(byte(8)).copied().flatten(),
            weight: byte(16) as u8,
            index: (packed >> 32) as u32,
        }
    }
}

/// The schema, with its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexed = |option: IndexRecordOption, norms: bool| {
        let indexing = TextFieldIndexing::default().set_tokenizer(TERMS).set_index_option(option).set_fieldnorms(norms);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = Fields {
        body: builder.add_text_field("body", STORED),
        text: builder.add_text_field("text", indexed(IndexRecordOption::WithFreqsAndPositions, true)),
        words: builder.add_text_field("words", indexed(IndexRecordOption::Basic, false)),
        paths: builder.add_text_field("paths", indexed(IndexRecordOption::WithFreqsAndPositions, false)),
        file: builder.add_u64_field("file", INDEXED | FAST),
        position: builder.add_u64_field("position", FAST),
        time: builder.add_i64_field("time", FAST),
        facts: builder.add_u64_field("facts", FAST),
        session: builder.add_text_field("session", STRING),
        versions: builder.add_text_field("versions", STRING),
        call: builder.add_text_field("call", STRING),
        uuid: builder.add_text_field("uuid", STORED),
        name: builder.add_text_field("name", STORED),
    };
    (builder.build(), fields)
}

/// A document in the making.
pub(super) struct Entry<'a> {
    pub(super) file: i64,
    pub(super) position: Option<u32>,
    pub(super) time: Option<i64>,
    pub(super) facts: Facts,
    pub(super) body: &'a str,
    pub(super) uuid: &'a str,
}

impl Fields {
    /// Makes a document; `terms` cuts its texts.
    pub(super) fn document(&self, entry: &Entry<'_>, terms: &mut Terms) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let (text, words) = terms.of(entry.body, entry.uuid);
        document.add_text(self.body, entry.body);
        document.add_text(self.text, text);
        document.add_text(self.words, words);
        if !entry.uuid.is_empty() {
            document.add_text(self.uuid, entry.uuid);
        }
        document.add_u64(self.file, entry.file.unsigned_abs());
        if let Some(position) = entry.position {
            document.add_u64(self.position, position.into());
        }
        if let Some(time) = entry.time {
            document.add_i64(self.time, time);
        }
        document.add_u64(self.facts, entry.facts.pack());
        document
    }
}

const TERMS: &str = "recollect_terms";

/// The tokenizer that the schema names.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(TERMS, TextAnalyzer::from(Terming));
    manager
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_packing() {
        for kind in Kind::ALL {
            for role in [None, Some(Role::User), Some(Role::System)] {
                let facts = Facts { kind, role, weight: 75, index: 7 };
                assert_eq!(Facts::unpack(facts.pack()), facts);
            }
        }
    }
}
