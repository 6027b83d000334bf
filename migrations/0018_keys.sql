-- Data keys, and the limits and restrictions of API keys.

-- Rotation of the data key, which encrypts the secrets. A new key is 'next' until every process has loaded it. It is then
-- 'active': it encrypts, and the key before it is 'retiring': it only decrypts, until every secret is encrypted with the new
-- key. A 'closed' key is about to be deleted, and the database rejects texts that are encrypted with it.
alter table data_keys
  add column status text not null default 'active' check (status in ('next', 'active', 'retiring', 'closed')),
  -- Whether texts that are encrypted with the key begin with its ID. False for keys of earlier versions.
  add column labelled boolean not null default false;

-- Keys derived from deleted data keys, encrypted. They verify the cursors that were returned before a rotation.
create table retired_mac_keys (
  data_key_id text primary key,
  mac_key bytea not null,
  valid_until timestamptz not null
);

-- The data keys that the process has loaded, the one that it encrypts with first. Null for servers of earlier versions.
alter table processes add column data_key_ids text[];

create function notify_data_keys_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('data_keys_changed', '');
  return null;
end $$;
create trigger notify after insert or update or delete on data_keys
  for each statement execute function notify_data_keys_changed();

-- Returns whether the text is encrypted with a data key that may still encrypt. Volatile, so that it reads the keys with a
-- snapshot that was taken after the row was written: a rotation waits for all transactions that may have read an older state.
create function is_sealed_with_open_key(sealed bytea) returns boolean language plpgsql volatile as $$
begin
  return sealed is null or exists (
    select from data_keys where status <> 'closed' and case
      when labelled then substring(sealed from 1 for 12) = '\x41545631'::bytea || decode(data_key_id, 'hex')
      else substring(sealed from 1 for 4) <> '\x41545631'::bytea end);
end $$;

-- Reported as a serialisation failure, so that the transaction is tried again, with the new key.
create function reject_closed_data_key() returns trigger language plpgsql as $$
begin
  raise exception 'a secret in % is encrypted with a data key that was rotated', tg_table_name using errcode = '40001';
end $$;

create trigger require_open_data_key after insert or update of secret, previous_secret on partner_keys for each row
  when (not is_sealed_with_open_key(new.secret) or not is_sealed_with_open_key(new.previous_secret))
  execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of secret, previous_secret on webhooks for each row
  when (not is_sealed_with_open_key(new.secret) or not is_sealed_with_open_key(new.previous_secret))
  execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of credentials on channel_credentials for each row
  when (not is_sealed_with_open_key(new.credentials)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of sealed_body on idempotency_records for each row
  when (new.sealed_body is not null and not is_sealed_with_open_key(new.sealed_body)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of link on verification_reviews for each row
  when (new.link is not null and not is_sealed_with_open_key(new.link)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of content on mails for each row
  when (not is_sealed_with_open_key(new.content)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of sealed_key on mailbox_hash_keys for each row
  when (not is_sealed_with_open_key(new.sealed_key)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of mac_key on retired_mac_keys for each row
  when (not is_sealed_with_open_key(new.mac_key)) execute function reject_closed_data_key();
create trigger require_open_data_key after update of token on candidates for each row
  when (not is_sealed_with_open_key(new.token)) execute function reject_closed_data_key();

-- Candidates are inserted by the thousand: one query checks all rows of a statement.
create function require_open_data_key_of_candidates() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct substring(token from 1 for 12) as label from new_candidates) as labels
    where not is_sealed_with_open_key(label)
  ) then
    raise exception 'a secret in % is encrypted with a data key that was rotated', tg_table_name using errcode = '40001';
  end if;
  return null;
end $$;
create trigger require_open_data_key_on_insert after insert on candidates referencing new table as new_candidates
  for each statement execute function require_open_data_key_of_candidates();

-- Limits that the operator set for an organisation; null for the defaults.
alter table organisations
  -- Active keys per mode and kind.
  add column max_keys integer check (max_keys > 0),
  -- The limits of all keys of a mode together, as a multiple of the limits of one key.
  add column limit_factor integer check (limit_factor > 0);

-- CIDR ranges that the key may be used from; null for any address.
alter table partner_keys add column allowed_addresses text[];
alter table session_keys add column allowed_addresses text[];

-- Times of the last use of keys, in a table of their own: a change of a key makes every process load it again.
create table key_uses (
  key_id text primary key,
  last_used_at timestamptz not null
);

-- Emails about keys that expire soon. A key that gets another expiry time is announced again.
create table key_reminders (
  key_id text not null,
  expires_at timestamptz not null,
  days_before integer not null,
  sent_at timestamptz not null,
  primary key (key_id, expires_at, days_before)
);
