-- compatible with: 0047

-- The progress of a call that accepts only keys: the number of answers, the step of the question that waits for one, and whether the last
-- answer was not understood. Null before the first question, and for all other messages.
alter table messages add column call_progress jsonb;
