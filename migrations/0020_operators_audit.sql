-- Operators are named people who sign in like members. A removed operator keeps the row, with the time of the removal.
create table console_operators (
  operator_id text primary key,
  email text not null,
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  disabled_at timestamptz
);
create unique index console_operators_by_address on console_operators (lower(email));

-- Sessions and links of the unnamed operator, who signed in with the admin key, end now. The column key_stamp is no longer used.
delete from console_sessions where email is null;
delete from console_links where email is null;

-- A person lists and ends their own sessions by session_id. confirmed_at is the time of the latest sign-in or of the latest
-- confirmation by code; sensitive changes require a recent one.
alter table console_sessions
  add column session_id text not null default 'CS_' || upper(replace(gen_random_uuid()::text, '-', '')),
  add column confirmed_at timestamptz,
  add column address text,
  add column user_agent text;
update console_sessions set confirmed_at = created_at;
create unique index console_sessions_by_id on console_sessions (session_id);

-- Codes that were emailed to the person of a session, to confirm a sensitive change.
create table console_codes (
  token_hash bytea primary key references console_sessions on delete cascade,
  code_mac bytea not null,
  expires_at timestamptz not null,
  attempts integer not null default 0
);

-- Audit entries. Personal values (names of people, addresses) are stored in `personal` as {name: {value, salt}}, and
-- `commitments` contains SHA-256(salt || value) of each of them. The hash chain covers the commitments, so a value can be erased
-- without breaking the chain: its entry in `personal` becomes null.
alter table audit_log
  alter column who drop not null,
  add column actor text check (actor in ('operator', 'member', 'cli', 'visitor', 'server')),
  add column personal jsonb not null default '{}',
  add column commitments jsonb not null default '{}';

drop trigger append_only on audit_log;

update audit_log set
  actor = case when who = 'operator' then 'operator' when who like 'cli:%' then 'cli' else 'member' end;

with salted as (
  select audit_id, named.name, named.value, decode(replace(gen_random_uuid()::text, '-', ''), 'hex') as salt
  from audit_log
  cross join lateral (
    values ('who', case when who <> 'operator' then who end), ('details.email', details ->> 'email')
  ) as named (name, value)
  where named.value is not null
), grouped as (
  select audit_id,
    jsonb_object_agg(name, jsonb_build_object('value', value, 'salt', encode(salt, 'hex'))) as personal,
    jsonb_object_agg(name, encode(sha256(salt || convert_to(value, 'UTF8')), 'hex')) as commitments
  from salted group by audit_id
)
update audit_log set
  personal = grouped.personal,
  commitments = grouped.commitments,
  who = case when grouped.personal ? 'who' then null else who end,
  details = details - 'email'
from grouped where grouped.audit_id = audit_log.audit_id;

create trigger append_only before delete on audit_log for each row execute function refuse_change();

-- The only change of an entry that is allowed is to erase a personal value.
create function allow_erasure_only() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) - 'personal' is distinct from to_jsonb(old) - 'personal'
    or exists (select from jsonb_object_keys(new.personal) as key where not old.personal ? key)
    or exists (
      select from jsonb_each(old.personal) as old_value
      where (new.personal -> old_value.key) is distinct from old_value.value
        and (new.personal -> old_value.key) is distinct from 'null'::jsonb
    )
  then
    raise exception '% is only ever added to, except that personal values can be erased', tg_table_name;
  end if;
  return new;
end $$;
create trigger erasure_only before update on audit_log for each row execute function allow_erasure_only();

create index audit_log_operator_access on audit_log (org_id, audit_id) where org_id is not null and actor = 'operator';

-- Entries that are not in the chain yet. Entries are added to the chain after their transaction has committed, by one process at
-- a time, so that writers do not wait for each other.
create table audit_unchained (audit_id text primary key);

create function enqueue_audit_entry() returns trigger language plpgsql as $$
begin
  insert into audit_unchained values (new.audit_id);
  return null;
end $$;
create trigger enqueue after insert on audit_log for each row execute function enqueue_audit_entry();
insert into audit_unchained select audit_id from audit_log;

-- The hash of an entry covers the entry, its position and the hash before it.
create table audit_chain (
  position bigint primary key,
  audit_id text not null unique,
  hash bytea not null
);
create trigger append_only before update or delete on audit_chain for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_chain for each statement execute function refuse_change();

-- The newest hash of each day, as it was logged and published in the metrics.
create table audit_heads (
  position bigint primary key,
  hash bytea not null,
  published_at timestamptz not null
);
create trigger append_only before update or delete on audit_heads for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_heads for each statement execute function refuse_change();
