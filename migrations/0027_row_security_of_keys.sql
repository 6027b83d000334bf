-- compatible with: 0026

-- Organisation and mode of the rows that belong to a key, so that row-level security applies to them.
alter table idempotency_records add column org_id text, add column mode text;
alter table people_enrolled add column org_id text, add column mode text;
alter table people_days add column org_id text, add column mode text;

-- The ID is that of a partner key, or it contains the organisation and the mode: `console:ORG_…:live:…` for a member, and `ORG_… live`
-- for all keys of an organisation together.
create function pg_temp.scope_of(id text) returns text[] language sql as $$
  select coalesce(
    (select array[org_id, mode] from partner_keys where key_id = id), regexp_match(id, '(ORG_[0-9A-Z]+)[: ](test|live)'), '{"",""}')
$$;
update idempotency_records set org_id = (pg_temp.scope_of(key_id))[1], mode = (pg_temp.scope_of(key_id))[2];
update people_enrolled set org_id = (pg_temp.scope_of(key_id))[1], mode = (pg_temp.scope_of(key_id))[2];
update people_days set org_id = (pg_temp.scope_of(key_id))[1], mode = (pg_temp.scope_of(key_id))[2];
drop function pg_temp.scope_of;

-- Servers of the previous version do not name the columns. Their requests insert rows with the settings of their organisation.
alter table idempotency_records
  alter column org_id set default current_setting('attestry.org', true), alter column org_id set not null,
  alter column mode set default current_setting('attestry.mode', true), alter column mode set not null;
alter table people_enrolled
  alter column org_id set default current_setting('attestry.org', true), alter column org_id set not null,
  alter column mode set default current_setting('attestry.mode', true), alter column mode set not null;
alter table people_days
  alter column org_id set default current_setting('attestry.org', true), alter column org_id set not null,
  alter column mode set default current_setting('attestry.mode', true), alter column mode set not null;
