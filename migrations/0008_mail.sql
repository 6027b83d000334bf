-- Every mail that was asked for: queued in the transaction that asks, sent by a job, and readable by operators afterwards.
create table mails (
  mail_id text primary key,
  -- Whose it is; a mail to an operator belongs to nobody.
  org_id text references organisations,
  mode text check (mode in ('test', 'live')),
  kind text not null,
  -- What it is about, such as a verification.
  about text,
  to_name text,
  to_address text not null,
  -- Subject, text, HTML and answer address, sealed: mails hold links that let their reader in.
  content bytea not null,
  -- kept: no mail server is configured, it waits to be read here
  status text not null check (status in ('queued', 'sent', 'failed', 'kept')),
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz not null,
  sent_at timestamptz
);
create index mails_about on mails (about) where about is not null;
create index mails_owner on mails (org_id, mode, mail_id);
