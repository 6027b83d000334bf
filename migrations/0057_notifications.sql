-- compatible with: 0054

-- What members of an organisation should know. A row counts the events of one type about one record on one Indian day, and is written in
-- the transaction of the event. It contains no names of people.
create table notifications (
  notification_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('results', 'failures', 'credits', 'skill_requests')),
  type text not null,
  -- The record that the notification is about, such as a campaign.
  subject text not null,
  day date not null,
  count integer not null,
  details jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (org_id, mode, type, subject, day)
);
create index notifications_latest on notifications (org_id, mode, updated_at);
create index notifications_old on notifications (updated_at);

-- How many events of a notification a member has read and was emailed.
create table notification_receipts (
  member_id text not null references console_members on delete cascade,
  notification_id text not null references notifications on delete cascade,
  org_id text not null,
  read_count integer not null default 0,
  emailed_count integer not null default 0,
  primary key (member_id, notification_id)
);
create index notification_receipts_of_notification on notification_receipts (notification_id);

-- A member without a row sees all kinds in the console and gets no emails.
create table notification_settings (
  member_id text primary key references console_members on delete cascade,
  org_id text not null references organisations,
  kinds text[] not null,
  digest text not null check (digest in ('off', 'daily')),
  digest_hour smallint not null check (digest_hour between 0 and 23),
  time_zone text not null,
  immediate_failures boolean not null,
  -- Earlier notifications are not emailed. Null while emails are off.
  emails_since timestamptz,
  next_digest_at timestamptz
);
create index notification_settings_due on notification_settings (next_digest_at) where next_digest_at is not null;
create index notification_settings_immediate on notification_settings (member_id) where immediate_failures;
