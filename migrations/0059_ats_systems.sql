-- compatible with: 0054

-- Open orders whose campaign is paused or resumed are reported too.
alter table ats_reports drop constraint ats_reports_kind_check;
alter table ats_reports add constraint ats_reports_kind_check
  check (kind in ('started', 'paused', 'resumed', 'result', 'cancelled'));

-- The last error that belongs to no order of the connection.
alter table ats_connections add column last_error text;
alter table ats_connections add column last_error_at timestamptz;

create index ats_orders_open on ats_orders (campaign_id) where state in ('ordered', 'started');
create index ats_orders_open_of_connection on ats_orders (connection_id) where state in ('ordered', 'started');

-- An order that was rejected after the ATS had sent it is stored, so that the rejection is reported. It has no candidate, and no mandate if
-- its test is unknown.
alter table ats_orders drop constraint ats_orders_state_check;
alter table ats_orders add constraint ats_orders_state_check
  check (state in ('ordered', 'started', 'completed', 'declined', 'failed', 'cancelled', 'rejected'));
alter table ats_orders alter column mandate_id drop not null;
alter table ats_orders alter column campaign_id drop not null;

-- The list of tests, for systems that expect Attestry to send it: the digest of the last accepted list, and when the list is compared with it
-- again. Null for the others.
alter table ats_connections add column tests_due_at timestamptz;
alter table ats_connections add column tests_digest text;
alter table ats_connections add column tests_sent_at timestamptz;
alter table ats_connections add column tests_failures integer not null default 0;
alter table ats_connections add column tests_error text;
create index ats_connections_tests_due on ats_connections (tests_due_at) where tests_due_at is not null;
