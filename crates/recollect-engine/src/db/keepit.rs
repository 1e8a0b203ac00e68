//! Rows of keepit markers.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed, from_json, to_json};
use crate::api::keepit::{KeepitMarker, KeepitSource};
use crate::error::Result;
use crate::ids::{MarkerId, SessionId, VersionId};
use crate::time::Time;

/// A marker as it is stored: weights in hundredths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepitRow {
    /// Its id.
    pub marker_id: MarkerId,
    /// Its session.
    pub session_id: SessionId,
    /// Its message.
    pub message_uuid: String,
    /// Index of the message.
    pub message_index: u32,
    /// Where it comes from.
    pub source: KeepitSource,
    /// What the transcript says.
    pub text_weight: Option<u8>,
    /// What counts.
    pub weight: u8,
    /// The marked words.
    pub content: String,
    /// Text around them.
    pub context: String,
    /// First character in the message's text.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// When it was found or added.
    pub created_at: Time,
    /// Taken away by the user.
    pub removed: bool,
    /// Versions that have it word for word.
    pub survived_in: Vec<VersionId>,
    /// Versions that summarised it.
    pub summarized_in: Vec<VersionId>,
}

impl KeepitRow {
    /// The marker as faces see it.
    pub fn to_marker(&self) -> KeepitMarker {
        KeepitMarker {
            marker_id: self.marker_id.clone(),
            session_id: self.session_id.clone(),
            message_uuid: self.message_uuid.clone(),
            message_index: self.message_index,
            weight: f64::from(self.weight) / 100.0,
            text_weight: self
                .text_weight
                .filter(|weight| *weight != self.weight)
                .map(|weight| f64::from(weight) / 100.0),
            content: self.content.clone(),
            start: self.start,
            end: self.end,
            context: self.context.clone(),
            source: self.source,
            created_at: self.created_at,
            survived_in: self.survived_in.clone(),
            summarized_in: self.summarized_in.clone(),
        }
    }
}

const COLUMNS: &str =
    "marker_id, session_id, message_uuid, message_index, source, text_weight, weight, content, context, start, \"end\",
    created_at, removed, survived_in, summarized_in";

fn from_row(row: &Row<'_>) -> rusqlite::Result<KeepitRow> {
    Ok(KeepitRow {
        marker_id: row.get::<_, String>(0)?.into(),
        session_id: row.get::<_, String>(1)?.into(),
        message_uuid: row.get(2)?,
        message_index: row.get(3)?,
        source: if row.get::<_, String>(4)? == "text" { KeepitSource::Text } else { KeepitSource::Overlay },
        text_weight: row.get(5)?,
        weight: row.get(6)?,
        content: row.get(7)?,
        context: row.get(8)?,
        start: row.get(9)?,
        end: row.get(10)?,
        created_at: Time::from_millis(row.get(11)?),
        removed: row.get(12)?,
        survived_in: from_json(&row.get::<_, String>(13)?),
        summarized_in: from_json(&row.get::<_, String>(14)?),
    })
}

impl Rows<'_> {
    /// How many markers of a session count.
    pub fn keepit_count(&self, session: &SessionId) -> Result<u64> {
        self.connection
            .prepare_cached("SELECT count(*) FROM keepit WHERE session_id = ?1 AND NOT removed")
            .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)))
            .map_err(failed)
    }

    /// One marker, removed ones too.
    pub fn keepit(&self, marker: &MarkerId) -> Result<Option<KeepitRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM keepit WHERE marker_id = ?1"))
            .and_then(|mut statement| statement.query_row([marker.as_str()], from_row).optional())
            .map_err(failed)
    }

    /// Markers of a session that count, in order of the text.
    pub fn keepits(&self, session: &SessionId) -> Result<Vec<KeepitRow>> {
        Ok(self.all_keepits(session)?.into_iter().filter(|keepit| !keepit.removed).collect())
    }

    /// Markers of a session, removed ones too, in order of the text.
    pub fn all_keepits(&self, session: &SessionId) -> Result<Vec<KeepitRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM keepit WHERE session_id = ?1 ORDER BY message_index, start, marker_id"
            ))
            .map_err(failed)?;
        let rows = statement.query_map([session.as_str()], from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds a marker, or sets it anew.
    pub fn put_keepit(&self, keepit: &KeepitRow) -> Result<()> {
        self.connection
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO keepit ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
            ))
            .and_then(|mut statement| {
                statement.execute(params![
                    keepit.marker_id.as_str(),
                    keepit.session_id.as_str(),
                    keepit.message_uuid,
                    keepit.message_index,
                    if keepit.source == KeepitSource::Text { "text" } else { "overlay" },
                    keepit.text_weight,
                    keepit.weight,
                    keepit.content,
                    keepit.context,
                    keepit.start,
                    keepit.end,
                    keepit.created_at.millis(),
                    keepit.removed,
                    to_json(&keepit.survived_in).unwrap_or_default(),
                    to_json(&keepit.summarized_in).unwrap_or_default(),
                ])
            })
            .map_err(failed)?;
        Ok(())
    }

    /// Deletes a marker's row.
    pub fn drop_keepit(&self, marker: &MarkerId) -> Result<()> {
        self.connection.execute("DELETE FROM keepit WHERE marker_id = ?1", [marker.as_str()]).map_err(failed)?;
        Ok(())
    }
}
