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
