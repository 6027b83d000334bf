-- Lists are in the order of the times that they show.

-- Results get their list position in the order of their updates: the index makes a batch cheap, however many are waiting.
drop index candidate_progress_moved;
create index candidate_progress_moved on candidate_progress (org_id, mode, updated_at) where moved;

-- The time of the last credit entry, so that a later entry never has an earlier time.
alter table credit_balances add column last_entry_at timestamptz not null default '-infinity';
update credit_balances b set last_entry_at = e.last_entry_at
from (select org_id, mode, max(created_at) as last_entry_at from credit_entries group by org_id, mode) as e
where b.org_id = e.org_id and b.mode = e.mode;

-- Requests are written by several processes, some later than others.
drop index request_log_owner;
drop index request_log_failed;
create index request_log_owner on request_log (org_id, mode, at, id);
create index request_log_failed on request_log (org_id, mode, at, id) where status >= 400;

-- Events are acknowledged by each consumer of the pull API separately. The acknowledgements of the consumer `default`, and those by
-- webhook, are columns of `events`; the others are here: all events up to a sequence, and single events after it.
create table event_consumers (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  consumer text not null,
  up_to bigint not null default 0,
  acknowledged_at timestamptz not null,
  primary key (org_id, mode, consumer)
);
create table event_acknowledgements (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  consumer text not null,
  event_id text not null,
  -- The day of the event's partition; rows are deleted with it.
  day date not null,
  acknowledged_at timestamptz not null,
  primary key (org_id, mode, consumer, event_id)
);
create index event_acknowledgements_age on event_acknowledgements (day);
