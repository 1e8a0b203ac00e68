//! Facts about the index itself, and what follows when one of them changes.

use rusqlite::{OptionalExtension, params};

use super::{Rows, failed};
use crate::error::Result;

impl Rows<'_> {
    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Result<Option<String>> {
        self.connection
            .prepare_cached("SELECT value FROM fact WHERE name = ?1")
            .and_then(|mut statement| statement.query_row([name], |row| row.get(0)).optional())
            .map_err(failed)
    }

    /// Notes a fact.
    pub fn put_fact(&self, name: &str, value: &str) -> Result<()> {
        self.connection
            .execute("INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)", params![name, value])
            .map_err(failed)?;
        Ok(())
    }

    /// Brings all token counts of originals from one factor to another, both in thousandths. A count is `ceil(raw × factor)`
    /// with a factor of at least 1, so `raw` is known exactly. Versions keep theirs: they record the model they were made for.
    pub fn rescale_tokens(&self, from: u64, to: u64) -> Result<()> {
        let scaled = |column: &str| format!("(({column} * 1000 / {from}) * {to} + 999) / 1000");
        let tokens = scaled("tokens");
        let folded = scaled("json_extract(FOLD, '$.tokens')");
        let fold = |name: &str| format!("{name} = json_set({name}, '$.tokens', {})", folded.replace("FOLD", name));
        self.connection
            .execute_batch(&format!(
                "UPDATE message SET tokens = {tokens};
                 UPDATE file SET tokens = (SELECT ifnull(sum(m.tokens), 0) FROM message m
                    WHERE m.file_id = file.file_id AND m.agent_id IS NULL), {}, {};
                 UPDATE session SET tokens = ifnull((SELECT f.tokens FROM file f
                    WHERE f.session_id = session.session_id AND f.part = 'main'), tokens);",
                fold("fold"),
                fold("parsed_fold"),
            ))
            .map_err(failed)
    }
}
