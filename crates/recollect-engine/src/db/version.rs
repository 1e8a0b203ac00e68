//! Rows of compression versions.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Rows, failed, from_json, to_json};
use crate::api::compression::{CompressionSettings, KeepitStats, LeftOut, Lineage, ModelRun, TierResult};
use crate::compress::SessionHead;
use crate::document;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId, VersionId};
use crate::time::Time;

/// A part of a version as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartRow {
    /// Index of its first message in the session.
    pub first: u32,
    /// Index of its last message.
    pub last: u32,
    /// Tokens of these messages.
    pub original_tokens: u64,
    /// The most tokens that it might have.
    pub budget: u64,
    /// Tokens of it.
    pub output_tokens: u64,
    /// Messages of it.
    pub output_messages: u64,
    /// The version that it was made in.
    pub made_in: VersionId,
    /// How, when not as the version's settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<CompressionSettings>,
    /// What its engine was told of the session.
    pub head: SessionHead,
    /// Hash of what the messages said.
    pub messages_hash: String,
    /// Hash of their marks, and of which survived.
    pub keepits_hash: String,
    /// Where it stands in the Markdown file: first byte, one past the last.
    pub body: (u64, u64),
    /// What of its messages is not in it.
    pub left_out: Vec<LeftOut>,
    /// Its stretches.
    pub tiers: Vec<TierResult>,
    /// How a language model made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<ModelRun>,
    /// Where that model was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// What it takes to make a version again and to know it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Revision of the engine that made it.
    pub revision: u32,
    /// What its head says of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<SessionHead>,
    /// SHA-256 of its Markdown file.
    pub markdown_hash: String,
    /// SHA-256 of its JSONL file.
    pub jsonl_hash: String,
}

/// A version as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionRow {
    /// Its session.
    pub session_id: SessionId,
    /// Its id.
    pub version_id: VersionId,
    /// The number in its id.
    pub number: u32,
    /// Name of its files, without extension.
    pub file: String,
    /// When it was made.
    pub created_at: Time,
    /// How.
    pub settings: CompressionSettings,
    /// The engine that made it.
    pub engine: String,
    /// Tokens of its source.
    pub original_tokens: u64,
    /// Its tokens.
    pub output_tokens: u64,
    /// Its messages.
    pub output_messages: u64,
    /// Keepits in it.
    pub keepit_stats: KeepitStats,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
    /// The version that it was made from.
    pub source_version: Option<VersionId>,
    /// When a composition last took it.
    pub last_used: Option<Time>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Made by composing.
    pub auto_created: bool,
    /// What it was made from.
    pub lineage: Lineage,
    /// Its parts, in order; empty when that is not known.
    pub parts: Vec<PartRow>,
    /// How to make it again.
    pub provenance: Provenance,
    /// How a language model made it.
    pub model_run: Option<ModelRun>,
}

impl VersionRow {
    /// Tokens of its source for one of its own.
    pub fn ratio(&self) -> f64 {
        if self.output_tokens == 0 { 0.0 } else { self.original_tokens as f64 / self.output_tokens as f64 }
    }

    /// The version as `versions.json` and the manifest hold it (3.4), with our own members after those of the document.
    pub fn record(&self) -> Value {
        let mut settings = document::camel(serde_json::to_value(&self.settings).unwrap_or_default());
        if let Some(settings) = settings.as_object_mut() {
            settings.retain(|_, value| !value.is_null());
            settings.entry("model").or_insert_with(|| json!(self.engine));
        }
        json!({
            "versionId": self.version_id,
            "file": self.file,
            "createdAt": self.created_at,
            "settings": settings,
            "outputTokens": self.output_tokens,
            "outputMessages": self.output_messages,
            "compressionRatio": (self.ratio() * 100.0).round() / 100.0,
            "keepitStats": self.keepit_stats,
            "sourceVersion": self.source_version,
            "engine": self.engine,
            "sourceTokens": self.original_tokens,
            "leftOut": self.left_out,
            "lastUsed": self.last_used,
            "bytes": self.bytes,
            "autoCreated": self.auto_created,
            "lineage": self.lineage,
            "parts": document::camel(serde_json::to_value(&self.parts).unwrap_or_default()),
            "provenance": document::camel(serde_json::to_value(&self.provenance).unwrap_or_default()),
            "modelRun": self.model_run,
        })
    }

    /// Reads [`VersionRow::record`] back; `None` when it is not one.
    pub fn from_record(session: &SessionId, record: &Value) -> Option<Self> {
        let text = |key: &str| record.get(key)?.as_str();
        let count = |key: &str| record.get(key)?.as_u64();
        let version_id = text("versionId")?;
        let mut settings = document::snake(record.get("settings")?.clone());
        let engine = text("engine").unwrap_or("unknown").to_owned();
        if let Some(settings) = settings.as_object_mut()
            && settings.get("model").and_then(Value::as_str) == Some(&engine)
        {
            settings.remove("model");
        }
        let output_tokens = count("outputTokens")?;
        let source_tokens = count("sourceTokens")
            .or_else(|| Some((record.get("compressionRatio")?.as_f64()? * output_tokens as f64).round() as u64))?;
        let read = |key: &str| record.get(key).cloned().unwrap_or_default();
        Some(Self {
            session_id: session.clone(),
            version_id: version_id.into(),
            number: version_id.strip_prefix('v')?.parse().ok()?,
            file: text("file")?.to_owned(),
            created_at: Time::parse(text("createdAt")?)?,
            settings: serde_json::from_value(settings).ok()?,
            engine,
            original_tokens: source_tokens,
            output_tokens,
            output_messages: count("outputMessages").unwrap_or(0),
            keepit_stats: serde_json::from_value(read("keepitStats")).unwrap_or_default(),
            left_out: serde_json::from_value(read("leftOut")).unwrap_or_default(),
            source_version: text("sourceVersion").map(VersionId::from),
            last_used: text("lastUsed").and_then(Time::parse),
            bytes: count("bytes").unwrap_or(0),
            auto_created: read("autoCreated").as_bool().unwrap_or(false),
            lineage: serde_json::from_value(read("lineage")).unwrap_or_default(),
            parts: serde_json::from_value(document::snake(read("parts"))).unwrap_or_default(),
            provenance: serde_json::from_value(document::snake(read("provenance"))).unwrap_or_default(),
            model_run: serde_json::from_value(read("modelRun")).unwrap_or_default(),
        })
    }
}

const COLUMNS: &str =
    "session_id, version_id, number, file, created_at, settings, engine, original_tokens, output_tokens,
    output_messages, keepit_stats, left_out, source_version, last_used, bytes, auto_created, lineage, parts, provenance,
    model_run";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<VersionRow>> {
    let settings: String = row.get(5)?;
    // Written by us; what cannot be read is a damaged row, which the record beside its files replaces.
    let Ok(settings) = serde_json::from_str(&settings) else { return Ok(None) };
    Ok(Some(VersionRow {
        session_id: row.get::<_, String>(0)?.into(),
        version_id: row.get::<_, String>(1)?.into(),
        number: row.get(2)?,
        file: row.get(3)?,
        created_at: Time::from_millis(row.get(4)?),
        settings,
        engine: row.get(6)?,
        original_tokens: row.get(7)?,
        output_tokens: row.get(8)?,
        output_messages: row.get(9)?,
        keepit_stats: from_json(&row.get::<_, String>(10)?),
        left_out: from_json(&row.get::<_, String>(11)?),
        source_version: row.get::<_, Option<String>>(12)?.map(VersionId::from),
        last_used: row.get::<_, Option<i64>>(13)?.map(Time::from_millis),
        bytes: row.get(14)?,
        auto_created: row.get(15)?,
        lineage: from_json(&row.get::<_, String>(16)?),
        parts: from_json(&row.get::<_, String>(17)?),
        provenance: from_json(&row.get::<_, String>(18)?),
        model_run: row.get::<_, Option<String>>(19)?.and_then(|run| serde_json::from_str(&run).ok()),
    }))
}

impl Rows<'_> {
    /// The versions of a session as its manifest holds them, oldest first.
    pub fn version_records(&self, session: &SessionId) -> Result<Vec<Value>> {
        Ok(self.versions(session)?.iter().map(VersionRow::record).collect())
    }

    /// The versions of a session, oldest first.
    pub fn versions(&self, session: &SessionId) -> Result<Vec<VersionRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM version WHERE session_id = ?1 ORDER BY number"))
            .map_err(failed)?;
        let rows = statement.query_map([session.as_str()], from_row).map_err(failed)?;
        rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Sessions that have versions.
    pub fn sessions_with_versions(&self) -> Result<Vec<SessionId>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT DISTINCT session_id FROM version ORDER BY session_id")
            .map_err(failed)?;
        let rows = statement.query_map([], |row| Ok(row.get::<_, String>(0)?.into())).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The files of all versions: project, session, name without ending.
    pub fn version_files(&self) -> Result<Vec<(ProjectId, SessionId, String)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT project_id, session_id, file FROM version JOIN session USING (session_id)")
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, String>(0)?.into(), row.get::<_, String>(1)?.into(), row.get(2)?)))
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// One version.
    pub fn version(&self, session: &SessionId, version: &VersionId) -> Result<Option<VersionRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM version WHERE session_id = ?1 AND version_id = ?2"))
            .and_then(|mut statement| statement.query_row([session.as_str(), version.as_str()], from_row).optional())
            .map(Option::flatten)
            .map_err(failed)
    }

    /// Gives out the next version number of a session; a number is never given twice.
    pub fn take_version_number(&self, session: &SessionId) -> Result<u32> {
        self.connection
            .query_row(
                "INSERT INTO version_number (session_id, number) VALUES (?1, 1)
                 ON CONFLICT (session_id) DO UPDATE SET number = number + 1 RETURNING number",
                [session.as_str()],
                |row| row.get(0),
            )
            .map_err(failed)
    }

    /// The highest version number that was ever given in a session.
    pub fn version_number(&self, session: &SessionId) -> Result<u32> {
        self.connection
            .prepare_cached("SELECT number FROM version_number WHERE session_id = ?1")
            .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)).optional())
            .map(Option::unwrap_or_default)
            .map_err(failed)
    }

    /// Notes that version numbers up to this one were given.
    pub fn put_version_number(&self, session: &SessionId, number: u32) -> Result<()> {
        if number == 0 {
            return Ok(());
        }
        self.connection
            .prepare_cached(
                "INSERT INTO version_number (session_id, number) VALUES (?1, ?2)
                 ON CONFLICT (session_id) DO UPDATE SET number = max(number, excluded.number)",
            )
            .and_then(|mut statement| statement.execute(params![session.as_str(), number]))
            .map_err(failed)?;
        Ok(())
    }

    /// Adds a version; its number counts as given.
    pub fn put_version(&self, version: &VersionRow) -> Result<()> {
        let model_run = version.model_run.as_ref().map(to_json).transpose()?;
        self.connection
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO version ({COLUMNS})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)"
            ))
            .and_then(|mut statement| {
                statement.execute(params![
                    version.session_id.as_str(),
                    version.version_id.as_str(),
                    version.number,
                    version.file,
                    version.created_at.millis(),
                    to_json(&version.settings).unwrap_or_default(),
                    version.engine,
                    version.original_tokens,
                    version.output_tokens,
                    version.output_messages,
                    to_json(&version.keepit_stats).unwrap_or_default(),
                    to_json(&version.left_out).unwrap_or_default(),
                    version.source_version.as_ref().map(VersionId::as_str),
                    version.last_used.map(Time::millis),
                    version.bytes,
                    version.auto_created,
                    to_json(&version.lineage).unwrap_or_default(),
                    to_json(&version.parts).unwrap_or_default(),
                    to_json(&version.provenance).unwrap_or_default(),
                    model_run,
                ])
            })
            .map_err(failed)?;
        self.put_version_number(&version.session_id, version.number)
    }

    /// Deletes a version's row.
    pub fn drop_version(&self, session: &SessionId, version: &VersionId) -> Result<()> {
        self.connection
            .execute(
                "DELETE FROM version WHERE session_id = ?1 AND version_id = ?2",
                [session.as_str(), version.as_str()],
            )
            .map_err(failed)?;
        Ok(())
    }

    /// Remembers that a composition took a version.
    pub fn touch_version(&self, session: &SessionId, version: &VersionId, now: Time) -> Result<()> {
        self.connection
            .execute(
                "UPDATE version SET last_used = ?3 WHERE session_id = ?1 AND version_id = ?2",
                params![session.as_str(), version.as_str(), now.millis()],
            )
            .map_err(failed)?;
        Ok(())
    }

    /// Which compositions use which versions of a session: version and name.
    pub fn version_uses(&self, session: &SessionId) -> Result<Vec<(VersionId, String)>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT DISTINCT version_id, name FROM composition JOIN component USING (composition_id)
                 WHERE session_id = ?1 ORDER BY version_id, name",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([session.as_str()], |row| Ok((row.get::<_, String>(0)?.into(), row.get(1)?)))
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
