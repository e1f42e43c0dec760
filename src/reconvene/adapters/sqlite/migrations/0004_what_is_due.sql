-- runs.due: when a run is to be taken up though nobody does anything, null where that is never. Runs that wait for a
-- provider, and those with pieces still to be put into the queue, have it from their documents. One whose document cannot
-- be read is taken up by whoever resumes it.
ALTER TABLE runs ADD COLUMN due TEXT;
UPDATE runs SET due = json_extract(doc, '$.provider.not_before')
    WHERE status = 'waiting' AND CASE WHEN json_valid(doc) THEN json_type(doc, '$.provider.not_before') = 'text' END;
UPDATE runs SET due = updated
    WHERE status <> 'paused' AND CASE WHEN json_valid(doc) THEN json_extract(doc, '$.unmade') > 0 END;
CREATE INDEX runs_by_due ON runs (due) WHERE due IS NOT NULL;
