-- Version 1 (PRAGMA user_version): the layout that every store begins with. Read ../layout.py before changing anything.

-- A run: its head, which every append compares and swaps, and its place in the inbox and the run list (all null while it
-- has none). `doc` comes last: it is the only long column, and the others are then read without it.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL,
    workflow TEXT,
    status TEXT,
    started TEXT,
    updated TEXT,
    doc TEXT
);

-- Not on (status, updated): that index would be rewritten by every append, and a listing is sorted in a few milliseconds.
CREATE INDEX runs_by_status ON runs (status);

-- One row per append, a JSON array of its events; a long one is a BLOB, zlib-compressed, or it would have a whole page to
-- itself. key = runs.id * 2^32 + seq of its last event: the log of a run lies together, in order, and needs no second index;
-- the rows after a seq are those with a greater key.
CREATE TABLE appends (
    key INTEGER PRIMARY KEY,
    events TEXT NOT NULL
);

-- Contents by digest. packed = 1: data is zlib-compressed. With a rowid, because rows over 1 KB would each take whole
-- overflow pages in a WITHOUT ROWID table.
CREATE TABLE artefacts (
    digest TEXT PRIMARY KEY,
    packed INTEGER NOT NULL,
    data BLOB NOT NULL
);

-- Cached states, one per run. Deletable.
CREATE TABLE snapshots (
    run TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    packed INTEGER NOT NULL,
    data BLOB NOT NULL
);

-- Who drives a run. holder = "<token>:<name>"; the token's file in processes/ is locked while that process lives.
CREATE TABLE leases (
    run TEXT PRIMARY KEY,
    holder TEXT NOT NULL
) WITHOUT ROWID;
