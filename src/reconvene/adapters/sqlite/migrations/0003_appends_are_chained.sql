-- appends.chain: the value of the chain after this append (wire/chain.py), null in logs from before it. appends.seal: what a
-- person's key says of it (wire/seals.py), null where it has none.
ALTER TABLE appends ADD COLUMN chain BLOB;
ALTER TABLE appends ADD COLUMN seal BLOB;

-- Logs from before the chain: run = runs.id, seq = the last event without a value. A row is never added later.
CREATE TABLE unchained (
    run INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL
);
INSERT INTO unchained SELECT id, head FROM runs WHERE head > 0;

-- What stays of a run that was deleted: its head, the value of its chain, who deleted it and when (doc), the seal on that.
-- Its row in `runs` stays, too, with the head below zero: neither its id nor its number is given out again.
CREATE TABLE deleted (
    run TEXT PRIMARY KEY,
    head INTEGER NOT NULL,
    chain BLOB NOT NULL,
    doc TEXT NOT NULL,
    seal BLOB
);
