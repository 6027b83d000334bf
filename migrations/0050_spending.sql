-- compatible with: 0047

-- What messages cost. Amounts are in millionths of the currency.

-- The price table and the daily cap of an organisation. Without a row, the prices of data/prices apply, and there is no cap.
create table spending_settings (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- Currency, prices and exchange rates; null for those of data/prices.
  price_table jsonb,
  daily_cap bigint check (daily_cap >= 0),
  updated_at timestamptz not null,
  primary key (org_id, mode)
);

-- Amounts spent on each day in India. A message is sent after its cost has been added, and only if no cap is exceeded.
create table daily_spending (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  day date not null,
  spent bigint not null check (spent >= 0),
  primary key (org_id, mode, day)
) with (fillfactor = 50);

-- Amounts spent by each campaign, and the part of it that providers reported.
create table campaign_spending (
  campaign_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  spent bigint not null check (spent >= 0),
  reported bigint not null default 0
) with (fillfactor = 50);
create index campaign_spending_owner on campaign_spending (org_id, mode);

-- Migration 0052 validates the constraints on existing rows, without blocking writes.
alter table campaigns
  add column spend_cap bigint,
  -- The cap that paused the campaign, the day in India, and the cost of the message that would exceed the cap; null if a person paused it.
  add column paused_by text,
  add column paused_on date,
  add column paused_cost bigint,
  add constraint campaigns_spend_cap check (spend_cap >= 0) not valid,
  add constraint campaigns_paused_by check (paused_by in ('campaign_cap', 'daily_cap')) not valid,
  add constraint campaigns_cap_pause check (num_nulls(paused_by, paused_on, paused_cost) in (0, 3)) not valid;
create index campaigns_paused_by_cap on campaigns (campaign_id) where paused_by is not null;

alter table messages
  add column cost bigint,
  -- The day that the cost is part of.
  add column cost_day date,
  -- estimate: from the price table. reported: from the provider.
  add column cost_source text,
  add constraint messages_cost_source check (cost_source in ('estimate', 'reported')) not valid;
