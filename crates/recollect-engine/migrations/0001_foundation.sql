-- The index of the memory. Everything here can be made again from files: the archive, manifest.json, versions.json,
-- composition.json. Times are milliseconds since 1970; hashes are SHA-256 as blobs.

-- Facts about the index itself, by name.
CREATE TABLE fact (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE project (
    project_id    TEXT PRIMARY KEY,
    original_path TEXT NOT NULL,
    display_name  TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    last_accessed INTEGER NOT NULL,
    -- Set with a change, cleared once manifest.json says the same: what is set at the start was interrupted.
    dirty         INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE session (
    session_id       TEXT PRIMARY KEY,
    project_id       TEXT NOT NULL REFERENCES project (project_id),
    format           TEXT NOT NULL,
    title            TEXT NOT NULL,
    user_title       TEXT,
    messages         INTEGER NOT NULL,
    tokens           INTEGER NOT NULL,
    first_timestamp  INTEGER,
    last_timestamp   INTEGER,
    git_branch       TEXT,
    -- JSON lists of text.
    client_versions  TEXT NOT NULL,
    models           TEXT NOT NULL,
    registered_at    INTEGER NOT NULL,
    last_accessed    INTEGER NOT NULL,
    distance_by_hand INTEGER,
    -- Of an export: the session whose transcript it is a copy of.
    paired_with      TEXT
) STRICT;
CREATE INDEX session_by_project ON session (project_id, last_timestamp);
CREATE INDEX session_by_time ON session (last_timestamp);

-- A file of a session: its transcript (`main`), a sub-agent's (`agent`), anything else beside them (`extra`).
CREATE TABLE file (
    file_id         INTEGER PRIMARY KEY,
    session_id      TEXT NOT NULL REFERENCES session (session_id) ON DELETE CASCADE,
    part            TEXT NOT NULL CHECK (part IN ('main', 'agent', 'extra')),
    -- Its path in the client's layout: `<id>.jsonl`, `<id>/subagents/agent-<id>.jsonl`, …
    name            TEXT NOT NULL,
    -- Archived so far, and up to where whole lines were read.
    bytes           INTEGER NOT NULL,
    parsed_bytes    INTEGER NOT NULL,
    -- What its lines made known, as JSON.
    fold            TEXT NOT NULL,
    -- The same at `parsed_bytes`, from where reading goes on; absent when it is the same.
    parsed_fold     TEXT,
    -- Of agents: who they are.
    agent_id        TEXT,
    tool_use_id     TEXT,
    title           TEXT,
    messages        INTEGER NOT NULL,
    tokens          INTEGER NOT NULL,
    first_timestamp INTEGER,
    last_timestamp  INTEGER,
    -- Tells its pieces, and where they stand, from all others; the same is in the manifest.
    content         BLOB NOT NULL DEFAULT x'00000000000000000000000000000000',
    UNIQUE (session_id, name)
) STRICT;

-- The transcript of a session among its sub-agents and tool results, and the bytes of all, without reading their rows.
CREATE INDEX file_by_part ON file (session_id, part, bytes);

-- Calls of sub-agents in a transcript, with where their lines begin, and the sub-agent that the result named.
CREATE TABLE agent_call (
    file_id     INTEGER NOT NULL REFERENCES file (file_id) ON DELETE CASCADE,
    call_id     TEXT NOT NULL,
    start       INTEGER NOT NULL,
    description TEXT NOT NULL,
    task        TEXT NOT NULL,
    agent_id    TEXT,
    named_at    INTEGER,
    PRIMARY KEY (file_id, call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_call_by_start ON agent_call (file_id, start);
CREATE INDEX agent_call_by_agent ON agent_call (file_id, agent_id);
CREATE INDEX agent_call_by_named ON agent_call (file_id, named_at);

-- Where a file was found on disk, and what `stat` said of it then; a file of many conversations is the place of each.
CREATE TABLE place (
    path     TEXT NOT NULL,
    file_id  INTEGER NOT NULL REFERENCES file (file_id) ON DELETE CASCADE,
    bytes    INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (path, file_id)
) STRICT;
CREATE INDEX place_by_file ON place (file_id);
CREATE INDEX place_by_time ON place (seen_at);

-- Files of the archive.
CREATE TABLE pack (
    number         INTEGER PRIMARY KEY,
    pack           BLOB NOT NULL UNIQUE,
    bytes          INTEGER NOT NULL,
    original_bytes INTEGER NOT NULL,
    -- Its file is about to get its name: whoever finds this at the start takes the file in, or forgets the row.
    announced      INTEGER NOT NULL DEFAULT 0,
    -- Holds bytes of a purged session: it is to be written anew without them.
    purged         INTEGER NOT NULL DEFAULT 0,
    -- When other packs took its place: deleted once nobody can be reading it.
    retired_at     INTEGER
) STRICT;

-- Pieces of archived files, and where they are; nowhere (`pack` is null) when they were lost.
CREATE TABLE chunk (
    hash  BLOB PRIMARY KEY,
    bytes INTEGER NOT NULL,
    pack  BLOB REFERENCES pack (pack),
    -- Where the block begins in the pack, and the piece in the decompressed block.
    block INTEGER,
    at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_by_pack ON chunk (pack, bytes);

CREATE TABLE file_chunk (
    file_id INTEGER NOT NULL REFERENCES file (file_id) ON DELETE CASCADE,
    start   INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    hash    BLOB NOT NULL REFERENCES chunk (hash),
    PRIMARY KEY (file_id, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_chunk_by_hash ON file_chunk (hash);

-- Messages, by where their line stands in the file.
CREATE TABLE message (
    file_id      INTEGER NOT NULL REFERENCES file (file_id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    line_start   INTEGER NOT NULL,
    line_bytes   INTEGER NOT NULL,
    uuid         TEXT NOT NULL,
    role         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    timestamp    INTEGER,
    tokens       INTEGER NOT NULL,
    hash         BLOB NOT NULL,
    reply_id     TEXT,
    -- The side chain that it belongs to, when an older client wrote that into the main file.
    agent_id     TEXT,
    usage_input  INTEGER,
    usage_output INTEGER,
    -- What the user or the assistant said in it, as a number that outlives wrapping and Markdown.
    spoken       INTEGER,
    PRIMARY KEY (file_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_by_hash ON message (hash);
CREATE INDEX message_by_spoken ON message (spoken) WHERE spoken IS NOT NULL;
CREATE INDEX message_by_uuid ON message (uuid);

-- Sums over all messages, so that asking for them does not read all of them; the triggers keep them.
CREATE TABLE tally (
    one             INTEGER PRIMARY KEY CHECK (one = 1),
    messages        INTEGER NOT NULL,
    unique_messages INTEGER NOT NULL
) STRICT;
INSERT INTO tally VALUES (1, 0, 0);
CREATE TRIGGER message_added BEFORE INSERT ON message BEGIN
    UPDATE tally SET messages = messages + 1,
        unique_messages = unique_messages + NOT EXISTS (SELECT 1 FROM message WHERE hash = NEW.hash);
END;
CREATE TRIGGER message_gone AFTER DELETE ON message BEGIN
    UPDATE tally SET messages = messages - 1,
        unique_messages = unique_messages - NOT EXISTS (SELECT 1 FROM message WHERE hash = OLD.hash);
END;

CREATE TABLE issue (
    file_id INTEGER NOT NULL REFERENCES file (file_id) ON DELETE CASCADE,
    line    INTEGER NOT NULL,
    start   INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (file_id, line)
) STRICT, WITHOUT ROWID;

-- What another installation had seen (`import`): hashes of messages, and how many of a session's messages.
CREATE TABLE imported_hash (
    hash BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_watermark (
    session  TEXT PRIMARY KEY,
    messages INTEGER NOT NULL
) STRICT;

CREATE TABLE keepit (
    marker_id     TEXT PRIMARY KEY,
    session_id    TEXT NOT NULL REFERENCES session (session_id) ON DELETE CASCADE,
    message_uuid  TEXT NOT NULL,
    message_index INTEGER NOT NULL,
    source        TEXT NOT NULL CHECK (source IN ('text', 'overlay')),
    -- Hundredths. `text_weight` is what the transcript says; `weight` is what counts.
    text_weight   INTEGER,
    weight        INTEGER NOT NULL,
    content       TEXT NOT NULL,
    context       TEXT NOT NULL,
    -- Characters in the message's text.
    start         INTEGER NOT NULL,
    "end"         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    -- A marker in the text that the user took away: it stays in the transcript and counts no more.
    removed       INTEGER NOT NULL DEFAULT 0,
    -- JSON lists of version ids.
    survived_in   TEXT NOT NULL DEFAULT '[]',
    summarized_in TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX keepit_by_session ON keepit (session_id, message_index, start);

CREATE TABLE version (
    session_id      TEXT NOT NULL REFERENCES session (session_id) ON DELETE CASCADE,
    version_id      TEXT NOT NULL,
    -- Numbers are never used again.
    number          INTEGER NOT NULL,
    file            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    -- JSON as on the wire.
    settings        TEXT NOT NULL,
    engine          TEXT NOT NULL,
    original_tokens INTEGER NOT NULL,
    output_tokens   INTEGER NOT NULL,
    output_messages INTEGER NOT NULL,
    keepit_stats    TEXT NOT NULL,
    left_out        TEXT NOT NULL,
    source_version  TEXT,
    last_used       INTEGER,
    bytes           INTEGER NOT NULL,
    auto_created    INTEGER NOT NULL DEFAULT 0,
    -- How a language model made it, JSON as on the wire.
    model_run       TEXT,
    -- JSON: what it was made from, its parts, and what it takes to make it again.
    lineage         TEXT NOT NULL,
    parts           TEXT NOT NULL,
    provenance      TEXT NOT NULL,
    PRIMARY KEY (session_id, version_id)
) STRICT;

-- The highest version number ever given in a session.
CREATE TABLE version_number (
    session_id TEXT PRIMARY KEY REFERENCES session (session_id) ON DELETE CASCADE,
    number     INTEGER NOT NULL
) STRICT;

CREATE TABLE composition (
    composition_id   TEXT PRIMARY KEY,
    name             TEXT NOT NULL UNIQUE COLLATE NOCASE,
    project_id       TEXT NOT NULL REFERENCES project (project_id),
    created_at       INTEGER NOT NULL,
    -- JSON as on the wire: the request that makes it again, and what came of it.
    request          TEXT NOT NULL,
    record           TEXT NOT NULL,
    used_in_sessions TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- Which versions a composition takes; sessions may be removed later.
CREATE TABLE component (
    composition_id TEXT NOT NULL REFERENCES composition (composition_id) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    session_id     TEXT NOT NULL,
    version_id     TEXT NOT NULL,
    PRIMARY KEY (composition_id, position)
) STRICT;
CREATE INDEX component_by_version ON component (session_id, version_id);

-- What the full-text index has of each file. A row outlives its file until the index has forgotten it too.
CREATE TABLE search_file (
    file_id  INTEGER PRIMARY KEY,
    -- Messages before this position are in the index as they are here.
    messages INTEGER NOT NULL DEFAULT 0,
    -- The index may hold others from there on.
    stale    INTEGER NOT NULL DEFAULT 0,
    -- Changes since the index last looked; 0 when it has them all.
    changes  INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX search_file_changed ON search_file (file_id) WHERE changes > 0;

-- Sessions whose titles, keepits or versions the index has to look at again.
CREATE TABLE search_session (
    session_id      TEXT PRIMARY KEY,
    changes         INTEGER NOT NULL DEFAULT 1,
    version_changes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX search_session_changed ON search_session (session_id) WHERE changes + version_changes > 0;

-- Noted here, so that no way of changing a session can leave the index behind.
CREATE TRIGGER search_file_added AFTER INSERT ON file WHEN NEW.part <> 'extra' BEGIN
    INSERT INTO search_file (file_id) VALUES (NEW.file_id)
        ON CONFLICT (file_id) DO UPDATE SET messages = 0, stale = 1, changes = changes + 1;
END;
CREATE TRIGGER search_file_written AFTER UPDATE OF messages ON file BEGIN
    UPDATE search_file SET changes = changes + 1 WHERE file_id = NEW.file_id;
END;
CREATE TRIGGER search_file_removed AFTER DELETE ON file BEGIN
    UPDATE search_file SET messages = 0, stale = 1, changes = changes + 1 WHERE file_id = OLD.file_id;
END;
CREATE TRIGGER search_message_removed AFTER DELETE ON message BEGIN
    UPDATE search_file SET messages = OLD.position, stale = 1, changes = changes + 1
        WHERE file_id = OLD.file_id AND messages > OLD.position;
END;
CREATE TRIGGER search_session_added AFTER INSERT ON session BEGIN
    INSERT INTO search_session (session_id) VALUES (NEW.session_id)
        ON CONFLICT (session_id) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER search_session_renamed AFTER UPDATE OF title, user_title ON session
    WHEN OLD.title IS NOT NEW.title OR OLD.user_title IS NOT NEW.user_title BEGIN
    UPDATE search_session SET changes = changes + 1 WHERE session_id = NEW.session_id;
END;
CREATE TRIGGER search_session_removed AFTER DELETE ON session BEGIN
    UPDATE search_session SET changes = changes + 1, version_changes = version_changes + 1
        WHERE session_id = OLD.session_id;
END;
CREATE TRIGGER search_keepit_added AFTER INSERT ON keepit BEGIN
    UPDATE search_session SET changes = changes + 1 WHERE session_id = NEW.session_id;
END;
CREATE TRIGGER search_keepit_removed AFTER DELETE ON keepit BEGIN
    UPDATE search_session SET changes = changes + 1 WHERE session_id = OLD.session_id;
END;
CREATE TRIGGER search_version_added AFTER INSERT ON version BEGIN
    UPDATE search_session SET version_changes = version_changes + 1 WHERE session_id = NEW.session_id;
END;
CREATE TRIGGER search_version_removed AFTER DELETE ON version BEGIN
    UPDATE search_session SET version_changes = version_changes + 1 WHERE session_id = OLD.session_id;
END;
