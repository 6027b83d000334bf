-- The console: who may sign in, who is signed in, what they changed, and which calls partners made.

-- People of an organisation. The same address may belong to several.
create table console_members (
  member_id text primary key,
  org_id text not null references organisations,
  email text not null,
  role text not null check (role in ('owner', 'recruiter', 'viewer')),
  created_at timestamptz not null,
  last_sign_in_at timestamptz
);
create unique index console_members_address on console_members (org_id, lower(email));
create index console_members_by_address on console_members (lower(email));

-- Links that let in whoever holds them: once, and not for long. The token is known by its hash alone.
create table console_links (
  token_hash bytea primary key,
  -- Null lets the operator in.
  email text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_links_ending on console_links (expires_at);

create table console_sessions (
  token_hash bytea primary key,
  -- Null where it is the operator's.
  email text,
  -- Of the admin key that was in force: another key ends the operator's sessions.
  key_stamp bytea,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  check ((email is null) = (key_stamp is not null))
);
create index console_sessions_of_person on console_sessions (lower(email));
create index console_sessions_age on console_sessions (created_at);

-- Who changed what, through the console and by operator commands. Only ever added to.
create table audit_log (
  audit_id text primary key,
  at timestamptz not null,
  who text not null,
  org_id text,
  mode text check (mode in ('test', 'live')),
  action text not null,
  subject text,
  details jsonb not null default '{}',
  request_id text
);
create index audit_log_owner on audit_log (org_id, audit_id) where org_id is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is only ever added to', tg_table_name;
end $$;
create trigger append_only before update or delete on audit_log for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_log for each statement execute function refuse_change();

-- Calls of the partner and the verification API, without bodies, for a few days.
create table request_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  api text not null check (api in ('partner', 'verification')),
  key_id text,
  method text not null,
  -- The path's template: no id and no token is in it.
  route text not null,
  status integer not null,
  code text,
  duration_ms real not null,
  request_id text not null,
  -- Of a TEST key whose signature was wrong: what the server read.
  differed json
);
create index request_log_owner on request_log (org_id, mode, id);
create index request_log_failed on request_log (org_id, mode, id) where status >= 400;
create index request_log_request on request_log (request_id);
create index request_log_age on request_log using brin (at);

-- Taxonomies that were handed in through the console.
create table catalogue_imports (
  import_id text primary key,
  format text not null check (format in ('csv', 'lightcast')),
  file_name text not null,
  dry_run boolean not null,
  status text not null check (status in ('running', 'done', 'failed')),
  written integer not null default 0,
  of integer not null default 0,
  summary jsonb,
  error text,
  started_by text not null,
  started_at timestamptz not null,
  -- Whoever imports says so again and again; a process that died stops.
  alive_at timestamptz not null,
  ended_at timestamptz
);
create unique index catalogue_imports_one on catalogue_imports (status) where status = 'running';

-- The console lists all sessions of an organisation, whatever their status.
create index verification_sessions_by_age on verification_sessions (org_id, mode, created_at desc, verification_id);
