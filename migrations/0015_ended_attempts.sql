-- An attempt whose time is over is looked at once: afterwards it only counts among the failed ones.
alter table verification_attempts add column ended_at timestamptz;

drop index verification_attempts_open;
create index verification_attempts_open on verification_attempts (expires_at) where submitted_at is null and ended_at is null;
