//! Checks that every piece can be read, and sets aside what cannot.

use std::collections::HashSet;

use fs_err as fs;

use super::batch::chunks_of;
use super::contents::{Known, contents};
use super::pack::{self, EXTENSION, PackId, Sealed};
use super::{Archive, Chunk};
use crate::db::PackRow;
use crate::engine::Cancel;
use crate::error::{ErrorKind, Result};
use crate::home::create_private;
use crate::time::Time;

/// What a check found.
#[derive(Debug, Default)]
pub struct Check {
    /// Packs that were read.
    pub packs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong with packs.
    pub damages: Vec<Damage>,
    /// Packs on disk that the database does not know, as programs leave them that are killed.
    pub unknown: Vec<PackId>,
    /// Pieces that were lost before.
    pub lost: u64,
}

/// A pack that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The pack.
    pub pack: PackId,
    /// What is wrong, in words.
    pub message: String,
    /// Pieces that cannot be read.
    pub lost: Vec<[u8; 32]>,
}

impl Archive {
    /// Reads every pack and checks every piece.
    ///
    /// # Errors
    /// `Cancelled`, or when the database or the folder cannot be read; what is wrong with packs is in the result.
    pub fn verify(&self, cancel: &Cancel, mut done: impl FnMut(u64, u64)) -> Result<Check> {
        let mut check = Check::default();
        let packs = self.db.read(|rows| rows.packs())?;
        let in_use: Vec<&PackRow> = packs.iter().filter(|pack| pack.retired_at.is_none()).collect();
        let total = in_use.iter().map(|pack| pack.bytes).sum();
        for pack in &in_use {
            cancel.check()?;
            check.damages.extend(self.verify_pack(pack)?);
            check.packs += 1;
            check.bytes += pack.bytes;
            done(check.bytes, total);
        }
        let on_disk = self.on_disk()?;
        // Asked after the folder was: what is written meanwhile was announced before.
        let (packs, announced) = self.db.read(|rows| Ok((rows.packs()?, rows.announced_packs()?)))?;
        let known: HashSet<PackId> = packs.iter().map(|pack| pack.id).chain(announced).collect();
        check.unknown = on_disk.into_iter().filter(|id| !known.contains(id)).collect();
        check.lost = self.db.read(|rows| rows.lost_chunks())?;
        Ok(check)
    }

    fn verify_pack(&self, pack: &PackRow) -> Result<Option<Damage>> {
        let path = pack.id.path(&self.root);
        let chunks = self.db.read(|rows| rows.pack_chunks(pack.id))?;
        let mut messages = Vec::new();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.len() == pack.bytes => {
                if let Err(error) = pack::read_index(&path) {
                    messages.push(error.message);
                }
            }
            Ok(metadata) => messages.push(format!(
                "the pack `{}` has {} bytes instead of {}",
                path.display(),
                metadata.len(),
                pack.bytes
            )),
            Err(error) => messages.push(error.to_string()),
        }
        let mut lost = Vec::new();
        let mut block: Option<(u64, Option<Vec<u8>>)> = None;
        for chunk in &chunks {
            let Some(place) = chunk.place else { continue };
            if block.as_ref().is_none_or(|(at, _)| *at != place.block) {
                block = Some((place.block, pack::read_block(&path, place.block).ok()));
            }
            let bytes = block.as_ref().and_then(|(_, bytes)| bytes.as_deref());
            if !bytes.is_some_and(|bytes| is_sound(chunk, place.at, bytes)) {
                lost.push(chunk.hash);
            }
        }
        if !lost.is_empty() {
            // Joined by another program since it was asked for.
            if self.db.read(|rows| rows.pack_chunks(pack.id))? != chunks {
                return Ok(None);
            }
            messages.push(format!("{} of {} pieces in it cannot be read", lost.len(), chunks.len()));
        }
        Ok((!messages.is_empty()).then(|| Damage { pack: pack.id, message: messages.join("; "), lost }))
    }

    fn on_disk(&self) -> Result<Vec<PackId>> {
        let mut found = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?;
            if folder.file_type()?.is_dir() && folder.file_name().len() == 2 {
                for file in fs::read_dir(folder.path())? {
                    found.extend(PackId::of_path(&file?.path()));
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// What packs say of themselves.
#[derive(Debug, Default)]
pub struct TakenIn {
    /// Packs that could be read.
    pub packs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong with the others.
    pub damaged: Vec<String>,
    /// The files they tell of.
    pub files: Vec<Known>,
}

/// What mending did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mended {
    /// Damaged packs that were set aside, what could be read of them being written anew.
    pub set_aside: u64,
    /// Pieces that could not be read.
    pub lost: u64,
    /// Packs that the database did not know and knows now.
    pub adopted: u64,
}

impl Archive {
    /// Sets damaged packs aside, keeps what can be read of them, and takes in packs that the database does not know.
    /// What was lost is archived again when a file that holds it is read.
    pub fn mend(&self, check: &Check, now: Time) -> Result<Mended> {
        let lock = self.lock()?;
        lock.file().lock()?;
        let mut mended = Mended::default();
        for damage in &check.damages {
            self.db.write(|rows| damage.lost.iter().try_for_each(|hash| rows.lose_chunk(hash)))?;
            self.rewrite(&[damage.pack], now, &|_| true)?;
            self.set_aside(damage.pack)?;
            self.db.write(|rows| rows.drop_pack(damage.pack))?;
            mended.set_aside += 1;
            mended.lost += damage.lost.len() as u64;
        }
        for id in &check.unknown {
            if self.adopt(*id)? {
                mended.adopted += 1;
            } else {
                self.set_aside(*id)?;
                mended.set_aside += 1;
            }
        }
        Ok(mended)
    }

    /// Finishes what programs began that were ended while a pack got its name; does nothing to those that are at it.
    pub fn recover(&self) -> Result<()> {
        for id in self.db.read(|rows| rows.announced_packs())? {
            if !id.path(&self.root).exists() {
                self.db.write(|rows| rows.drop_announced(id))?;
            } else if !self.adopt(id)? {
                self.set_aside(id)?;
                self.db.write(|rows| rows.drop_announced(id))?;
            }
        }
        Ok(())
    }

    /// Makes every pack known to a database that knows none, by what the packs say of themselves.
    ///
    /// # Errors
    /// `NewerMemory` when a newer program wrote one.
    pub fn take_in(&self, cancel: &Cancel) -> Result<TakenIn> {
        let mut packs = Vec::new();
        for id in self.on_disk()? {
            let metadata = fs::metadata(id.path(&self.root))?;
            packs.push((metadata.modified().ok(), id, metadata.len()));
        }
        // The oldest first, as they were written.
        packs.sort_unstable();
        let mut taken = TakenIn::default();
        let mut origins = Vec::new();
        for (_, id, bytes) in packs {
            cancel.check()?;
            let path = id.path(&self.root);
            match pack::read_index(&path) {
                Ok(index) => {
                    origins.extend(index.files.iter().cloned());
                    self.register(&Sealed { id, bytes, index })?;
                    taken.packs += 1;
                    taken.bytes += bytes;
                }
                Err(error) if error.kind == ErrorKind::NewerMemory => return Err(error),
                // It stays where it is: a check finds it, and mending sets it aside.
                Err(error) => taken.damaged.push(error.message),
            }
        }
        taken.files = contents(origins);
        Ok(taken)
    }

    /// Moves a pack's file out of the way; it is never deleted for being damaged.
    fn set_aside(&self, id: PackId) -> Result<()> {
        let path = id.path(&self.root);
        if path.exists() {
            let folder = self.root.join("damaged");
            create_private(&folder)?;
            fs::rename(&path, folder.join(format!("{id}.{EXTENSION}")))?;
        }
        Ok(())
    }

    /// Makes a pack known that the database does not know; `false` when it is damaged.
    fn adopt(&self, id: PackId) -> Result<bool> {
        let path = id.path(&self.root);
        let index = match pack::read_index(&path) {
            Ok(index) => index,
            // Not ours to judge.
            Err(error) if error.kind == ErrorKind::NewerMemory => return Err(error),
            Err(_) => return Ok(false),
        };
        let sealed = Sealed { id, bytes: fs::metadata(&path)?.len(), index };
        for block in &sealed.index.blocks {
            let Ok(bytes) = pack::read_block(&path, block.at) else { return Ok(false) };
            let pieces = chunks_of(&sealed);
            let mut inside = pieces
                .iter()
                .filter_map(|chunk| Some((chunk, chunk.place?)))
                .filter(|(_, place)| place.block == block.at);
            if !inside.all(|(chunk, place)| is_sound(chunk, place.at, &bytes)) {
                return Ok(false);
            }
        }
        self.register(&sealed)?;
        Ok(true)
    }
}

fn is_sound(chunk: &Chunk, at: u64, block: &[u8]) -> bool {
    use sha2::{Digest, Sha256};
    let from = usize::try_from(at).unwrap_or(usize::MAX);
    let bytes = usize::try_from(chunk.bytes).ok().and_then(|bytes| block.get(from..from.checked_add(bytes)?));
    bytes.is_some_and(|bytes| Sha256::digest(bytes)[..] == chunk.hash)
}
