//! What another installation had seen, in a file too: `imported.json`. It is written once with an import, and read when the
//! database is made anew.

use serde_json::{Map, Value, json};

use crate::archive::hex;
use crate::db::Rows;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::home::{hold, write_atomically};

/// Fact in the database: checkpoints of another installation, kept as it wrote them.
pub(crate) const CHECKPOINTS: &str = "memory_context_checkpoints";
/// Fact in the database: the file is behind.
pub(crate) const BEHIND: &str = "imported_behind";
/// Version of the file.
const VERSION: u64 = 1;

/// Writes the file when it is behind.
pub(crate) fn mirror(engine: &Engine) -> Result<()> {
    if engine.db().read(|rows| rows.fact(BEHIND))?.is_none_or(|behind| behind != "1") {
        return Ok(());
    }
    let _lock = hold(&engine.home().lock())?;
    let (hashes, watermarks, checkpoints) =
        engine.db().read(|rows| Ok((rows.imported_hashes()?, rows.watermarks()?, rows.fact(CHECKPOINTS)?)))?;
    let checkpoints: Value = checkpoints.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let watermarks: Map<String, Value> =
        watermarks.into_iter().map(|(session, messages)| (session, messages.into())).collect();
    let hashes: Vec<String> = hashes.iter().map(hex).collect();
    let document =
        json!({ "version": VERSION, "hashes": hashes, "watermarks": watermarks, "checkpoints": checkpoints });
    let path = engine.home().imported();
    read(engine)?;
    write_atomically(&path, (serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    engine.db().write(|rows| rows.put_fact(BEHIND, "0"))
}

/// Takes over what the file says.
pub(crate) fn take_over(engine: &Engine) -> Result<()> {
    let Some(document) = read(engine)? else { return Ok(()) };
    engine.db().write(|rows| fill(rows, &document))
}

fn fill(rows: &Rows<'_>, document: &Value) -> Result<()> {
    for hash in document["hashes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(hash) = unhex(hash) {
            rows.import_hash(&hash)?;
        }
    }
    for (session, messages) in document["watermarks"].as_object().into_iter().flatten() {
        rows.import_watermark(session, messages.as_u64().unwrap_or_default())?;
    }
    if document["checkpoints"].is_object() {
        rows.put_fact(CHECKPOINTS, &document["checkpoints"].to_string())?;
    }
    rows.put_fact(BEHIND, "0")
}

/// What the file says; one that is not understood is set aside.
fn read(engine: &Engine) -> Result<Option<Value>> {
    let path = engine.home().imported();
    let bytes = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(document) = serde_json::from_slice::<Value>(&bytes).ok().filter(|document| document["version"].is_u64())
    else {
        crate::home::set_aside(&path)?;
        return Ok(None);
    };
    if document["version"].as_u64() > Some(VERSION) {
        let message = format!("`{}` was written by a newer program", path.display());
        return Err(Error::new(ErrorKind::NewerMemory, message).hint("update Recollect; it was left as it is"));
    }
    Ok(Some(document))
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}
