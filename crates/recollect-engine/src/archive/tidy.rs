//! Joins packs: many small ones into one, and those that hold what nobody needs any more into one without it.
//!
//! New packs are on disk and known before an old one goes, and an old one's file stays for a while after, for those who were
//! told of it before. Bytes are written anew about once for each step from small to large, so the work grows with what is new.

use std::collections::HashMap;

use fs_err::File;

use super::batch::{BLOCK, Contents, chunks_of};
use super::files::{fold, order};
use super::pack::{self, Hash, Origin, PackId, PackWriter, Sealed};
use super::{Archive, Chunk, codec, is_missing};
use crate::db::PackRow;
use crate::engine::Cancel;
use crate::error::{Error, ErrorKind, Result};
use crate::home::open_private;
use crate::time::Time;

/// Packs of fewer decompressed bytes are small: what live sessions add.
const SMALL: u64 = 1 << 20;
/// Packs of fewer decompressed bytes are joined when there are many or when they make a large one.
const MEDIUM: u64 = 32 << 20;
/// Decompressed bytes that are joined at once.
const UNIT: u64 = 64 << 20;
/// So many packs of one size are many.
const MANY: usize = 16;
/// Milliseconds for which a pack's file outlives it: longer than reading a message after asking where it is takes.
const GRACE: i64 = 60_000;
/// Half-written files of programs that were killed go after a day.
const ABANDONED: i64 = 86_400_000;

/// What tidying did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Packs that others took the place of.
    pub joined: u64,
    /// Packs that were written.
    pub written: u64,
}

impl Archive {
    /// Joins packs where that is worth it; with `all`, wherever it saves anything. Leaves it to another program that is at it.
    ///
    /// # Errors
    /// `Cancelled`; what was joined until then stays so.
    pub fn tidy(&self, all: bool, now: Time, cancel: &Cancel) -> Result<Tidied> {
        let mut done = Tidied::default();
        let packs = self.db.read(|rows| rows.packs())?;
        let mut sets = choose(&packs, all);
        if all {
            let taken: Vec<PackId> = sets.iter().flatten().copied().collect();
            for pack in packs.iter().filter(|pack| pack.retired_at.is_none() && !taken.contains(&pack.id)) {
                let live = self.db.read(|rows| rows.live_bytes(pack.id))?;
                if live < pack.original_bytes / 4 * 3 {
                    sets.push(vec![pack.id]);
                }
            }
        }
        let expired = packs.iter().any(|pack| is_expired(pack, now));
        if sets.is_empty() && !expired {
            return Ok(done);
        }
        let lock = self.lock()?;
        if lock.file().try_lock().is_err() {
            return Ok(done);
        }
        for set in sets {
            cancel.check()?;
            match self.rewrite(&set, now, &|_| true) {
                Ok(written) => {
                    done.joined += set.len() as u64;
                    done.written += u64::from(written);
                }
                // Another program changed what is in them, or one is damaged, which is for a check to find: they stay as they are.
                Err(error) if error.kind == ErrorKind::Conflict || is_damage(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.sweep(now)?;
        Ok(done)
    }

    /// Writes packs anew without purged bytes and without what they say of a removed session, whose files were at `paths` and
    /// had the pieces `hashes`; returns the bytes that this freed.
    pub fn purge(&self, paths: &[String], hashes: &[[u8; 32]], now: Time) -> Result<u64> {
        // The promise is kept before this returns: wait for whoever is at it.
        let lock = self.lock()?;
        lock.file().lock()?;
        let hashes: std::collections::HashSet<&[u8; 32]> = hashes.iter().collect();
        let is_of_it = |origin: &Origin| {
            paths.contains(&origin.path) && origin.pieces.last().is_some_and(|(hash, _)| hashes.contains(&hash.0))
        };
        let before = self.db.read(|rows| rows.packs())?;
        for pack in before.iter().filter(|pack| pack.retired_at.is_none()) {
            let names_it =
                || pack::read_index(&pack.id.path(&self.root)).is_ok_and(|index| index.files.iter().any(is_of_it));
            if pack.purged || names_it() {
                self.rewrite(&[pack.id], now, &|origin| !is_of_it(origin))?;
            }
        }
        let packs = self.db.read(|rows| rows.packs())?;
        for pack in packs.iter().filter(|pack| pack.retired_at.is_some()) {
            self.delete(pack.id)?;
        }
        let sum = |packs: &[PackRow]| packs.iter().map(|pack| pack.bytes).sum::<u64>();
        let after = self.db.read(|rows| rows.packs())?;
        Ok(sum(&before).saturating_sub(sum(&after)))
    }

    /// While this is held, no pack is deleted; waits for who deletes some.
    pub(crate) fn keep_all(&self) -> Result<File> {
        let lock = self.lock()?;
        lock.file().lock()?;
        Ok(lock)
    }

    /// The files of the packs that are in use in a view of the database.
    pub(crate) fn pack_files(&self, rows: &crate::db::Rows<'_>) -> Result<Vec<std::path::PathBuf>> {
        let packs = rows.packs()?;
        Ok(packs.iter().filter(|pack| pack.retired_at.is_none()).map(|pack| pack.id.path(&self.root)).collect())
    }

    pub(super) fn lock(&self) -> Result<File> {
        open_private(&self.root.join("tidy.lock"))
    }

    /// Writes one pack with what is needed of some, at most [`UNIT`] bytes or one pack; `false` when nothing is needed.
    pub(super) fn rewrite(&self, old: &[PackId], now: Time, keep: &dyn Fn(&Origin) -> bool) -> Result<bool> {
        let mut origins = Vec::new();
        let mut pieces: Vec<(PackId, Chunk)> = Vec::new();
        for id in old {
            let (kept, gone): (Vec<Origin>, Vec<Origin>) = self.origins(*id)?.into_iter().partition(keep);
            if !gone.is_empty() {
                // Another file may have the same pieces and have relied on what goes now to be told.
                origins.extend(
                    self.origins_known(*id)?
                        .into_iter()
                        .filter(|known| keep(known) && !kept.iter().any(|origin| origin.path == known.path)),
                );
            }
            origins.extend(kept);
            pieces.extend(self.db.read(|rows| rows.pack_chunks(*id))?.into_iter().map(|chunk| (*id, chunk)));
        }
        let needed = self.needed(&origins)?;
        let origins = fold(origins, |hash| needed.contains_key(hash));
        let sealed = if pieces.is_empty() && origins.is_empty() {
            None
        } else {
            let order = order(&origins);
            pieces.sort_by_key(|(_, chunk)| order.get(&chunk.hash).copied().unwrap_or((usize::MAX, 0)));
            Some(self.write_anew(old.len(), &pieces, origins)?)
        };
        let replaced = self.db.write(|rows| {
            let moved: HashMap<[u8; 32], Chunk> = match &sealed {
                Some(sealed) => {
                    let bytes = sealed.index.blocks.iter().map(|block| block.bytes).sum();
                    rows.put_pack(sealed.id, sealed.bytes, bytes, &[])?;
                    chunks_of(sealed).into_iter().map(|chunk| (chunk.hash, chunk)).collect()
                }
                None => HashMap::new(),
            };
            for (from, chunk) in &pieces {
                let Some(to) = moved.get(&chunk.hash) else { return Err(changed()) };
                if !rows.move_chunk(*from, to)? {
                    return Err(changed());
                }
            }
            for id in old {
                if !rows.pack_chunks(*id)?.is_empty() {
                    return Err(changed());
                }
                rows.retire_pack(*id, now)?;
            }
            Ok(())
        });
        if let (Err(_), Some(sealed)) = (&replaced, &sealed) {
            self.delete(sealed.id)?;
        }
        replaced?;
        Ok(sealed.is_some())
    }

    fn write_anew(&self, packs: usize, pieces: &[(PackId, Chunk)], origins: Vec<Origin>) -> Result<Sealed> {
        // In the order in which they are stored, so that no block is decompressed twice.
        let mut stored: Vec<&Chunk> = pieces.iter().map(|(_, chunk)| chunk).collect();
        stored.sort_by_key(|chunk| chunk.place);
        let mut writer = PackWriter::new(&self.root)?;
        if packs == 1 {
            // One pack is large at most: a block at a time, as it is.
            let mut contents = Contents::default();
            for chunk in stored {
                contents.push(chunk.hash, &self.load(chunk)?);
                if contents.bytes.len() >= BLOCK {
                    flush(&mut writer, &mut contents)?;
                }
            }
            flush(&mut writer, &mut contents)?;
            return writer.seal(origins, |id| self.announce(id));
        }
        let mut loaded = HashMap::new();
        for chunk in stored {
            loaded.insert(chunk.hash, self.load(chunk)?.to_vec());
        }
        let mut contents = Contents::default();
        for (_, chunk) in pieces {
            if let Some(bytes) = loaded.remove(&chunk.hash) {
                contents.push(chunk.hash, &bytes);
            }
            if contents.bytes.len() >= BLOCK {
                flush(&mut writer, &mut contents)?;
            }
        }
        flush(&mut writer, &mut contents)?;
        writer.seal(origins, |id| self.announce(id))
    }

    /// What a pack says of files; when it cannot be asked, what the database says.
    fn origins(&self, id: PackId) -> Result<Vec<Origin>> {
        match pack::read_index(&id.path(&self.root)) {
            Ok(index) => Ok(index.files),
            Err(error) if is_damage(&error) => self.origins_known(id),
            Err(error) => Err(error),
        }
    }

    /// The files that have pieces in a pack, as the database knows them.
    fn origins_known(&self, id: PackId) -> Result<Vec<Origin>> {
        let files = self.db.read(|rows| rows.files_in_pack(id))?;
        Ok(files.into_iter().map(|(path, project, chunks)| Origin::of(&path, &project, &chunks)).collect())
    }

    /// Which of the pieces that stretches name the archive still keeps.
    fn needed(&self, origins: &[Origin]) -> Result<HashMap<Hash, ()>> {
        self.db.read(|rows| {
            let mut needed = HashMap::new();
            for (hash, _) in origins.iter().flat_map(|origin| &origin.pieces) {
                if rows.piece(&hash.0)?.is_some() {
                    needed.insert(*hash, ());
                }
            }
            Ok(needed)
        })
    }

    /// Deletes the files of packs that others took the place of some time ago, and what killed programs left half-written.
    fn sweep(&self, now: Time) -> Result<()> {
        for pack in self.db.read(|rows| rows.packs())?.iter().filter(|pack| is_expired(pack, now)) {
            self.delete(pack.id)?;
        }
        for entry in fs_err::read_dir(&self.root)? {
            let entry = entry?;
            let abandoned = || {
                let modified = entry.metadata().ok()?.modified().ok()?;
                let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
                Some(now.millis() - i64::try_from(since.as_millis()).ok()? > ABANDONED)
            };
            if entry.file_name().to_string_lossy().starts_with(".writing-") && abandoned() == Some(true) {
                fs_err::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    pub(super) fn delete(&self, id: PackId) -> Result<()> {
        match fs_err::remove_file(id.path(&self.root)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        self.db.write(|rows| rows.drop_pack(id))
    }
}

fn flush(writer: &mut PackWriter, contents: &mut Contents) -> Result<()> {
    let Contents { bytes, pieces } = std::mem::take(contents);
    if pieces.is_empty() {
        return Ok(());
    }
    writer.add(&codec::encode(&bytes)?, bytes.len() as u64, &pieces)
}

fn changed() -> Error {
    Error::conflict("packs were changed by another program meanwhile").hint("try again")
}

fn is_damage(error: &Error) -> bool {
    is_missing(error) || error.message.contains(" is damaged: ")
}

fn is_expired(pack: &PackRow, now: Time) -> bool {
    pack.retired_at.is_some_and(|retired| now.millis() - retired.millis() >= GRACE)
}

/// Which packs to join, each set into one.
fn choose(packs: &[PackRow], all: bool) -> Vec<Vec<PackId>> {
    let in_use: Vec<&PackRow> = packs.iter().filter(|pack| pack.retired_at.is_none()).collect();
    let mut sets: Vec<Vec<PackId>> = in_use.iter().filter(|pack| pack.purged).map(|pack| vec![pack.id]).collect();
    let of_size = |from: u64, to: u64| -> Vec<&PackRow> {
        in_use.iter().filter(|pack| !pack.purged && (from..to).contains(&pack.original_bytes)).copied().collect()
    };
    let bytes = |packs: &[&PackRow]| packs.iter().map(|pack| pack.original_bytes).sum::<u64>();
    if all {
        sets.extend(in_units(&of_size(0, MEDIUM)));
        return sets;
    }
    let small = of_size(0, SMALL);
    if small.len() >= MANY {
        sets.extend(in_units(&small));
    }
    let medium = of_size(SMALL, MEDIUM);
    if medium.len() >= MANY || bytes(&medium) >= UNIT {
        sets.extend(in_units(&medium));
    }
    sets
}

/// Cuts packs into sets of at most [`UNIT`] bytes; a pack that would be alone stays as it is.
fn in_units(packs: &[&PackRow]) -> Vec<Vec<PackId>> {
    let mut sets: Vec<Vec<PackId>> = Vec::new();
    let mut sum = 0;
    for pack in packs {
        if sets.is_empty() || sum + pack.original_bytes > UNIT {
            sets.push(Vec::new());
            sum = 0;
        }
        sum += pack.original_bytes;
        if let Some(set) = sets.last_mut() {
            set.push(pack.id);
        }
    }
    sets.retain(|set| set.len() > 1);
    sets
}
