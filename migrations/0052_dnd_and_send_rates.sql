-- compatible with: 0047
-- without a transaction

-- Indexes on large tables are built concurrently, and constraints are validated after they were added, so that the server can write to these
-- tables in the meantime. Each statement can be repeated.

-- The service of an organisation that checks LIVE phone numbers against a do-not-disturb (DND) list before the first contact.
create table if not exists dnd_checks (
  org_id text primary key references organisations,
  url text not null,
  -- Signs the requests; sealed.
  secret bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_success_at timestamptz,
  -- Since when checks fail; null after a successful one.
  failing_since timestamptz,
  last_error text
);
create or replace trigger require_open_data_key after insert or update of secret on dnd_checks for each row
  when (not is_sealed_with_open_key(new.secret)) execute function reject_closed_data_key();

-- Time of the next attempt to check the number of the candidate; null if no check is pending. The candidate is not contacted before.
alter table contacts add column if not exists dnd_check_at timestamptz;
drop index concurrently if exists contacts_dnd_check;
create index concurrently contacts_dnd_check on contacts (dnd_check_at) where dnd_check_at is not null;

-- Result of the check; null without one.
alter table candidates
  add column if not exists dnd_checked_at timestamptz,
  add column if not exists dnd_blocked boolean,
  drop constraint if exists candidates_dnd_result;
alter table candidates
  add constraint candidates_dnd_result check ((dnd_checked_at is null) = (dnd_blocked is null)) not valid;
alter table candidates validate constraint candidates_dnd_result;

-- When the next first message or follow-up of an organisation may be sent on a channel. Shared by all workers, so that they do not exceed the
-- rate of the provider together.
create table if not exists send_rates (
  org_id text not null references organisations,
  channel text not null,
  next_free_at timestamptz not null,
  -- Until when the provider asked to send nothing. Slots before that time are not used.
  paused_until timestamptz,
  primary key (org_id, channel)
) with (fillfactor = 50);

-- The time at which a message may be sent without exceeding the rate of its organisation and channel.
alter table messages add column if not exists slot_at timestamptz;
-- Finds the due messages of each organisation, so that one with many messages does not delay the others.
drop index concurrently if exists messages_queued_by_org;
create index concurrently messages_queued_by_org on messages (org_id, due_at) where state = 'queued';

-- Counts the people whom an organisation contacted by WhatsApp, for the limit of migration 0049.
drop index concurrently if exists messages_whatsapp_contacts;
create index concurrently messages_whatsapp_contacts on messages (org_id, sent_at)
  where channel = 'whatsapp' and contact_step is not null and direction = 'out';

-- The constraints of migration 0050.
alter table campaigns validate constraint campaigns_spend_cap;
alter table campaigns validate constraint campaigns_paused_by;
alter table campaigns validate constraint campaigns_cap_pause;
alter table messages validate constraint messages_cost_source;
