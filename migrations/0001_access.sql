-- Organisations, their keys, and what every process must learn of within a second.

-- One row. Whoever changes a key, an organisation or the service switch raises it in the same transaction; the row lock
-- makes the order of versions the order of commits, so a reader of "everything above n" misses nothing.
create table access_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null default 0
);
insert into access_version default values;

create function next_access_version() returns bigint language plpgsql as $$
declare
  raised bigint;
begin
  update access_version set version = version + 1 returning version into raised;
  perform pg_notify('access_changed', '');
  return raised;
end $$;

create function stamp_access_version() returns trigger language plpgsql as $$
begin
  new.version := next_access_version();
  return new;
end $$;

create table organisations (
  org_id text primary key,
  name text not null,
  service_off boolean not null default false,
  created_at timestamptz not null,
  version bigint not null default 0
);
create index organisations_version on organisations (version);
create trigger stamp before insert or update on organisations for each row execute function stamp_access_version();

create table partner_keys (
  key_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  scopes text[] not null,
  -- Two secrets may be valid at once while one replaces the other.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- What the operator raised or lowered for this key; absent numbers are those of the table.
  limits jsonb not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null,
  version bigint not null default 0
);
create index partner_keys_version on partner_keys (version);
create index partner_keys_org on partner_keys (org_id, created_at);
create trigger stamp before insert or update on partner_keys for each row execute function stamp_access_version();

create table session_keys (
  -- What names the key in lists and commands; the key itself is known by its hash alone.
  key_id text primary key,
  hash bytea not null unique,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null,
  version bigint not null default 0
);
create index session_keys_version on session_keys (version);
create index session_keys_org on session_keys (org_id, created_at);
create trigger stamp before insert or update on session_keys for each row execute function stamp_access_version();

-- The operator's switch for the partner API as a whole.
create table service_switch (
  only_row boolean primary key default true check (only_row),
  service_off boolean not null default false,
  version bigint not null default 0
);
insert into service_switch default values;
create trigger stamp before insert or update on service_switch for each row execute function stamp_access_version();

-- The key that encrypts secrets, itself encrypted with the master key. Two rows for one data key exist only while the
-- master key is being exchanged: either master key opens it then.
create table data_keys (
  data_key_id text not null,
  master_key_id text not null,
  wrapped bytea not null,
  created_at timestamptz not null,
  primary key (data_key_id, master_key_id)
);

-- Every process that serves, so that two api processes without shared limits can be told of.
create table processes (
  process_id text primary key,
  roles text[] not null,
  shared_limits boolean not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);
