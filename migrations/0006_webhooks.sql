-- Where events are sent to, and what became of each.

create table webhooks (
  webhook_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  -- Null: every type, also those that come to exist later.
  event_types text[],
  description text,
  status text not null check (status in ('enabled', 'failing', 'disabled', 'archived')),
  created_via text not null check (created_via in ('api', 'playground')),
  -- Two secrets sign at once while one replaces the other.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- The first of a run of nothing but failures; null after a success.
  failing_since timestamptz,
  -- How often it was disabled: names the period in which a delivery was held.
  times_disabled integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_owner on webhooks (org_id, mode, webhook_id);

-- One row an event and endpoint, in the partition of the event's day and dropped with it.
create table webhook_deliveries (
  day date not null,
  event_id text not null,
  webhook_id text not null,
  event_type text not null,
  -- The event's, for the order of sending and of lists.
  sequence bigint not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- Why it ended without an answer of 2xx. One that was withdrawn counts as never addressed.
  ended text check (ended in ('expired', 'pulled', 'withdrawn')),
  -- Infinity while it is held for a disabled endpoint; the past once it has ended.
  next_attempt_at timestamptz not null,
  held_in integer,
  -- Raised when it is asked for again: an attempt from before does not settle it.
  round integer not null default 0,
  -- Failures of this round: the place in the schedule.
  failures integer not null default 0,
  attempts integer not null default 0,
  log jsonb not null default '[]',
  last_error text,
  created_at timestamptz not null,
  primary key (day, event_id, webhook_id)
) partition by range (day);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, sequence) where status = 'pending';
create index webhook_deliveries_list on webhook_deliveries (webhook_id, sequence);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, sequence) where status = 'failed';
