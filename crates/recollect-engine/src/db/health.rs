//! What the database can tell of its own soundness.

use super::{Rows, failed};
use crate::error::Result;

/// Problems are named up to so many.
const MOST: u32 = 20;

impl Rows<'_> {
    /// What SQLite finds wrong with the file and with references between rows; empty when it is sound.
    pub fn faults(&self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let mut statement = self.connection.prepare(&format!("PRAGMA integrity_check({MOST})")).map_err(failed)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        for row in rows {
            let row = row.map_err(failed)?;
            if row != "ok" {
                faults.push(row);
            }
        }
        let mut statement = self.connection.prepare("PRAGMA foreign_key_check").map_err(failed)?;
        let rows =
            statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?))).map_err(failed)?;
        for row in rows.take(MOST as usize) {
            let (table, parent) = row.map_err(failed)?;
            faults.push(format!("a row of `{table}` names one of `{parent}` that is not there"));
        }
        Ok(faults)
    }

    /// Files whose pieces are not what their watermark says, each with its session and its name.
    pub fn uneven_files(&self) -> Result<Vec<(i64, String)>> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT f.file_id, f.session_id || ': ' || f.name FROM file f
                 LEFT JOIN (SELECT file_id, count(*) AS pieces, sum(bytes) AS bytes, max(start + bytes) AS reach
                            FROM file_chunk GROUP BY file_id) c USING (file_id)
                 WHERE ifnull(c.bytes, 0) <> f.bytes OR ifnull(c.reach, 0) <> f.bytes OR f.parsed_bytes > f.bytes",
            )
            .map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Forgets what was read of a file and what `stat` said of it, so that it is read anew; its session stays.
    pub fn doubt_file(&self, file_id: i64) -> Result<Vec<String>> {
        self.connection
            .execute(
                "UPDATE file SET bytes = 0, parsed_bytes = 0, content = zeroblob(16) WHERE file_id = ?1",
                [file_id],
            )
            .map_err(failed)?;
        self.connection.execute("DELETE FROM file_chunk WHERE file_id = ?1", [file_id]).map_err(failed)?;
        let mut statement = self
            .connection
            .prepare("UPDATE place SET modified = 0, inode = 0 WHERE file_id = ?1 RETURNING path")
            .map_err(failed)?;
        let rows = statement.query_map([file_id], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

#[cfg(test)]
impl Rows<'_> {
    /// Names of all tables.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        self.lines("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    }

    /// Everything that a memory holds, as text, whatever its rows are numbered: what a database made anew must hold too.
    pub(crate) fn whole_content(&self) -> Result<Vec<String>> {
        let file = "(SELECT f.session_id || '/' || f.name FROM file f WHERE f.file_id = t.file_id)";
        let mut lines = Vec::new();
        for (table, columns) in [
            ("project", "project_id, original_path, display_name, created_at, last_accessed"),
            (
                "session",
                "session_id, project_id, format, title, user_title, messages, tokens, first_timestamp, last_timestamp, git_branch,
                 client_versions, models, registered_at, last_accessed, distance_by_hand, paired_with",
            ),
            (
                "file",
                "session_id, part, name, bytes, hex(content), iif(part = 'extra', '', json_array(parsed_bytes, fold, parsed_fold,
                 agent_id, tool_use_id, title, messages, tokens, first_timestamp, last_timestamp))",
            ),
            ("place", "FILE, path, bytes, modified, inode, seen_at"),
            ("file_chunk", "FILE, start, bytes, hex(hash)"),
            (
                "message",
                "FILE, position, line_start, line_bytes, uuid, role, kind, timestamp, tokens, hex(hash), reply_id, agent_id,
                 usage_input, usage_output, spoken",
            ),
            ("tally", "messages, unique_messages"),
            ("issue", "FILE, line, start, message"),
            ("imported_hash", "hex(hash)"),
            ("imported_watermark", "session, messages"),
            (
                "keepit",
                "marker_id, session_id, message_uuid, message_index, source, text_weight, weight, content, context, start, \"end\",
                 created_at, removed, survived_in, summarized_in",
            ),
            (
                "version",
                "session_id, version_id, number, file, created_at, settings, engine, original_tokens, output_tokens,
                 output_messages, keepit_stats, left_out, source_version, last_used, bytes, auto_created, lineage, parts,
                 provenance, model_run",
            ),
            ("version_number", "session_id, number"),
            ("composition", "composition_id, name, project_id, created_at, request, record, used_in_sessions"),
            ("component", "composition_id, position, session_id, version_id"),
        ] {
            let columns = columns.replace("FILE", file);
            lines.extend(self.lines(&format!("SELECT '{table} ' || json_array({columns}) FROM {table} t ORDER BY 1"))?);
        }
        lines.extend(self.lines(
            "SELECT 'fact ' || json_array(name, value) FROM fact WHERE name IN ('token_factor', 'memory_context_checkpoints')",
        )?);
        Ok(lines)
    }

    fn lines(&self, sql: &str) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
