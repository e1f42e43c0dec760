-- Version 1 (PRAGMA user_version): the layout that every desk begins with. Nothing in it is a fact of a run. A step that a
-- release has is never changed: add another, and name it in ../desk_file.py.

-- doc '' = the draft was sent or thrown away; the row stays for a while, so that its revision is not given out again.
CREATE TABLE drafts (
    person TEXT NOT NULL, run TEXT NOT NULL, checkpoint TEXT NOT NULL,
    revision INTEGER NOT NULL, at TEXT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (person, run, checkpoint)
);

CREATE TABLE ticks (
    person TEXT NOT NULL, run TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (person, run, path)
) WITHOUT ROWID;

CREATE TABLE marks (
    person TEXT NOT NULL, run TEXT NOT NULL,
    read INTEGER NOT NULL DEFAULT 0, read_at TEXT NOT NULL DEFAULT '',
    seen INTEGER NOT NULL DEFAULT 0, seen_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (person, run)
) WITHOUT ROWID;

CREATE TABLE snoozes (
    person TEXT NOT NULL, run TEXT NOT NULL, until TEXT NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (person, run)
) WITHOUT ROWID;

-- status null = begun and not answered.
CREATE TABLE requests (
    person TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, at TEXT NOT NULL, until TEXT NOT NULL,
    status INTEGER, headers TEXT, body BLOB,
    PRIMARY KEY (person, key)
);
CREATE INDEX requests_by_time ON requests (at);

-- id = the SHA-256 of what the browser holds.
CREATE TABLE sessions (
    id BLOB PRIMARY KEY, person TEXT NOT NULL, made TEXT NOT NULL, used TEXT NOT NULL, expires TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_person ON sessions (person);

-- The bytes lie in files: see ../upload_files.py. run '' = no run was given it yet.
CREATE TABLE uploads (
    person TEXT NOT NULL, digest TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, at TEXT NOT NULL,
    run TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (person, digest)
) WITHOUT ROWID;
