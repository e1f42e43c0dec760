-- Which append carried a request of a client out, written in its transaction: a request that is sent again is not carried
-- out again. `mark` is made from who asked, their key and what they asked. `run`: the number of the run; `seq`: its head then.
CREATE TABLE requests (
    mark BLOB PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (at);
