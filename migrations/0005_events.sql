-- What partners are told of.

-- Written in the transaction of the change that it tells of, and moved from here into the ledger after that transaction
-- has ended: writers wait for nobody, and a place in the ledger is given only to what can be seen.
create table event_outbox (
  event_id text not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  type text not null,
  data text not null,
  created_at timestamptz not null
);
create index event_outbox_owner on event_outbox (org_id, mode, event_id);

create sequence event_sequence;

-- One partition a day (of the moment an event got its place, which grows with the sequence), dropped when it is 30 days old.
create table events (
  day date not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  sequence bigint not null,
  event_id text not null,
  type text not null,
  data text not null,
  created_at timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_by text check (acknowledged_by in ('pull', 'webhook')),
  primary key (day, event_id)
) partition by range (day);
create index events_order on events (org_id, mode, sequence);
create index events_waiting on events (org_id, mode, sequence) where acknowledged_at is null;
