-- compatible with: 0026

-- Connections to applicant tracking systems (ATS), the keys that the systems send, their orders, and the reports of the results.

create table ats_connections (
  connection_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  adapter text not null,
  name text not null,
  state text not null default 'active' check (state in ('active', 'disconnected')),
  -- Sealed JSON: the key that signs links to reports, and the credentials that the ATS issued to the organisation.
  credentials bytea not null,
  -- Base URL of the ATS's API, for adapters that call one. Null for the public one.
  api_url text,
  -- ISO 3166-1 code of the country whose calling code is added to phone numbers without one.
  country text not null,
  -- Why the organisation may contact the candidates. Copied to every order.
  consent_basis text not null,
  -- The mandates that are offered as tests; null for all mandates that are ready.
  mandate_ids text[],
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index ats_connections_owner on ats_connections (org_id, mode, connection_id);
create trigger require_open_data_key after insert or update of credentials on ats_connections for each row
  when (not is_sealed_with_open_key(new.credentials)) execute function reject_closed_data_key();

create table ats_keys (
  -- The first characters of the key, which identify it in lists and commands.
  key_id text primary key,
  hash bytea not null unique,
  -- The key itself, sealed, for systems that expect it in calls to them. Null for the others.
  sealed_key bytea,
  connection_id text not null references ats_connections,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  adapter text not null,
  -- Limits that differ from the defaults, as in partner_keys.
  limits jsonb not null default '{}',
  revoked_at timestamptz,
  created_at timestamptz not null,
  version bigint not null default 0
);
create index ats_keys_version on ats_keys (version);
create index ats_keys_connection on ats_keys (connection_id, created_at);
create trigger stamp before insert or update on ats_keys for each row execute function stamp_access_version();
create trigger require_open_data_key after insert or update of sealed_key on ats_keys for each row
  when (new.sealed_key is not null and not is_sealed_with_open_key(new.sealed_key)) execute function reject_closed_data_key();

-- The campaigns that orders enrol candidates in. A person who is to be assessed again after the end is enrolled in the next one.
create table ats_campaigns (
  mandate_id text not null,
  number integer not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  campaign_id text not null,
  primary key (mandate_id, number)
);

create table ats_orders (
  order_id text primary key,
  connection_id text not null references ats_connections,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  adapter text not null,
  -- The key that placed the order.
  key_id text not null,
  -- What the ATS calls the order: a callback URL, or its IDs of application and test.
  identity text not null,
  -- Whether a later order has the same identity.
  superseded boolean not null default false,
  mandate_id text not null,
  campaign_id text not null,
  candidate_id text,
  candidate_name text not null,
  -- The page of the candidate in the ATS.
  profile_url text,
  callback_url text,
  consent_basis text not null,
  state text not null default 'ordered'
    check (state in ('ordered', 'started', 'completed', 'declined', 'failed', 'cancelled')),
  -- The result as it is reported, without phone number and email address. Null before the end.
  outcome jsonb,
  -- Version of the result in the last delivered report.
  reported_version integer,
  -- Time in the last sent report; an ATS may reject reports with decreasing times.
  last_timestamp_ms bigint not null default 0,
  -- Errors that the ATS reported about this order.
  ats_errors jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index ats_orders_identity on ats_orders (connection_id, identity) where not superseded;
create index ats_orders_owner on ats_orders (org_id, mode, order_id);
create index ats_orders_candidate on ats_orders (candidate_id);

create table ats_reports (
  order_id text not null references ats_orders,
  -- The reports of an order are sent by ascending number.
  number integer not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  connection_id text not null,
  kind text not null check (kind in ('started', 'result', 'cancelled')),
  -- Version of the result when the report was created.
  version integer not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- While an attempt is made, the time after which another process may repeat it.
  next_attempt_at timestamptz not null,
  -- Failures since the report was created or replayed.
  failures integer not null default 0,
  attempts integer not null default 0,
  -- The last attempt: method, URL and body of the request, status and beginning of the response.
  last_request jsonb,
  last_status integer,
  last_error text,
  last_response text,
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (order_id, number)
);
create index ats_reports_due on ats_reports (next_attempt_at) where state = 'pending';
create index ats_reports_pending on ats_reports (order_id, number) where state = 'pending';

alter table request_log drop constraint request_log_api_check;
alter table request_log add constraint request_log_api_check check (api in ('partner', 'verification', 'ats'));
