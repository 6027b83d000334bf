-- People: the join of candidates, students and reviewers of one organisation and mode who have the same phone number or mailbox. Personal
-- values are sealed with the key of their person; erasing a person deletes the key. See docs/decisions/0045-erase-by-destroying-keys.md.
-- Not compatible with earlier versions, which read and write the plain columns.

create table people (
  person_id text primary key,
  -- Without a foreign key: thousands are inserted per call, always with the organisation of the caller.
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- The key of the person, sealed by the vault; null after the erasure.
  sealed_key bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- While it is set, the person is not contacted and their data are not processed.
  restricted_at timestamptz,
  -- Why the data must be kept: the person is then not erased. Null without a legal hold.
  legal_hold text,
  erased_at timestamptz,
  check ((sealed_key is null) = (erased_at is not null))
);
create index people_owner on people (org_id, mode, person_id);

-- Keyed hashes of phone numbers and mailboxes. Only the key address identifies a person: the phone number, or the mailbox of a person
-- without one. Other addresses were sent by a partner without proof, and find the person, but never join two people.
create table person_addresses (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  address bytea not null,
  person_id text not null,
  kind text not null check (kind in ('phone', 'email')),
  is_key boolean not null,
  primary key (org_id, mode, address, person_id)
);
create unique index person_addresses_key on person_addresses (org_id, mode, address) where is_key;
create index person_addresses_person on person_addresses (person_id);

-- The key of these hashes, from which that of each organisation is derived.
create table blind_index_keys (
  key_id text primary key,
  sealed_key bytea not null,
  created_at timestamptz not null
);

create trigger require_open_data_key after insert or update of sealed_key on blind_index_keys for each row
  when (not is_sealed_with_open_key(new.sealed_key)) execute function reject_closed_data_key();
create trigger require_open_data_key after update of sealed_key on people for each row
  when (not is_sealed_with_open_key(new.sealed_key)) execute function reject_closed_data_key();
-- People are inserted by the thousand: one query checks all rows of a statement.
create function require_open_data_key_of_people() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct substring(sealed_key from 1 for 12) as label from new_people) as labels
    where not is_sealed_with_open_key(label)
  ) then
    raise exception 'a secret in % is encrypted with a data key that was rotated', tg_table_name using errcode = '40001';
  end if;
  return null;
end $$;
create trigger require_open_data_key_on_insert after insert on people referencing new table as new_people
  for each statement execute function require_open_data_key_of_people();

-- Every erasure, with the reason. They are copied to the place of the backups, and made again in a restored backup.
create table erasures (
  person_id text primary key,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  basis text not null,
  requested_by text not null,
  -- IDs of the candidates, students and reviews, by which the person is found in backups from before this migration.
  records jsonb not null,
  erased_at timestamptz not null,
  -- When the erasure was copied to the place of the scheduled backups.
  copied_at timestamptz
);
create index erasures_time on erasures (erased_at, person_id);
create index erasures_not_copied on erasures (erased_at) where copied_at is null;

-- Erasures that were made after the backup from which this database was restored. The server makes them before it serves requests. The
-- table exists already if the backup is older than this migration.
create table if not exists restored_erasures (
  person_id text primary key,
  erasure jsonb not null
);

-- The plain columns stay for the rows of earlier versions until the first start has sealed them; afterwards they are null.
alter table candidates
  add column person_id text,
  add column personal bytea,
  add column phone_index bytea,
  add column email_index bytea,
  alter column name drop not null,
  alter column metadata drop not null;
drop index candidates_phone;
drop index candidates_of_phone;
drop index candidates_of_email;
create unique index candidates_phone on candidates (campaign_id, phone_index) where phone_index is not null;
create index candidates_of_phone on candidates (org_id, mode, phone_index, candidate_id) where phone_index is not null;
create index candidates_of_email on candidates (org_id, mode, email_index, candidate_id) where email_index is not null;
create index candidates_person on candidates (person_id, candidate_id);
create index candidates_unsealed on candidates (candidate_id) where person_id is null;

-- Answers in the candidate's own words; the conversation contains the marker in their place.
alter table candidate_progress add column personal bytea;

alter table contacts add column restricted boolean not null default false;

-- Null in rows whose text is sealed.
alter table messages alter column content drop not null, add column personal bytea;
create index messages_unsealed on messages (message_id) where content is not null;

-- Keyed hashes in place of the addresses in stopped_addresses.
create table opt_outs (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  address bytea not null,
  created_at timestamptz not null,
  primary key (org_id, mode, address)
);

-- `data` without personal values, and all of it sealed.
alter table event_outbox add column person_id text, add column personal bytea;
alter table events add column person_id text, add column personal bytea;

alter table audit_log drop constraint audit_log_actor_check;
alter table audit_log add constraint audit_log_actor_check
  check (actor in ('operator', 'member', 'key', 'cli', 'visitor', 'server'));
