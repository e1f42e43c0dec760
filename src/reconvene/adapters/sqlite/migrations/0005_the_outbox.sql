-- Messages that leave with events: a row for each message and destination, written in the transaction of the append.
-- `dest` is the name of a destination, never an address. state: 0 waits, 1 was delivered, 2 was given up. `since`: from when
-- on the time is counted after which it is given up. `due`: when it is tried next; while somebody sends it, when others may.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL,
    dest TEXT NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    made TEXT NOT NULL,
    since TEXT NOT NULL,
    due TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    changed TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX outbox_by_due ON outbox (due) WHERE state = 0;

-- A JSON array of the destinations that are told of this run, null where there are none.
ALTER TABLE runs ADD COLUMN followers TEXT;
