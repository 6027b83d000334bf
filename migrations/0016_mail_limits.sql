-- Emails that are not sent and the reason, daily limits, and mailboxes that no longer accept emails.

-- skipped: not sent, because a daily limit was reached or the mailbox is suppressed; bounced: sent, and reported as undeliverable
alter table mails drop constraint mails_status_check;
alter table mails add constraint mails_status_check
  check (status in ('queued', 'sent', 'failed', 'kept', 'skipped', 'bounced'));
alter table mails add column status_reason text;
-- Hash of the token in the unsubscribe link of the email.
alter table mails add column unsubscribe_hash bytea;
create unique index mails_unsubscribe on mails (unsubscribe_hash) where unsubscribe_hash is not null;

-- Key of the mailbox hashes, encrypted with the vault. It must not change: the hashes cannot be computed again without the addresses.
create table mailbox_hash_keys (
  key_id text primary key check (key_id = 'current'),
  sealed_key bytea not null,
  created_at timestamptz not null
);

-- Number of emails per Indian day: of an organisation, or to a mailbox. The subject is an organisation ID or the hash of a mailbox.
create table mail_day_counts (
  day date not null,
  counter text not null,
  subject text not null,
  emails integer not null,
  primary key (day, counter, subject)
);

-- Mailboxes that must not be written to. Only a keyed hash of the mailbox is stored, no address.
create table mail_suppressions (
  suppression_id text primary key,
  mailbox bytea not null,
  -- The emails that are suppressed: those to a person in this role, or all except sign-in links.
  audience text not null check (audience in ('reviewer', 'student', 'candidate', 'all')),
  -- Null: the emails of every organisation.
  org_id text references organisations,
  reason text not null check (reason in ('unsubscribed', 'bounced', 'complained', 'operator')),
  -- The email or message that led to the suppression.
  caused_by text,
  created_at timestamptz not null,
  unique nulls not distinct (mailbox, audience, org_id)
);
create index mail_suppressions_newest on mail_suppressions (suppression_id desc);
