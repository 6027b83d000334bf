-- compatible with: 0047

-- Figures about LIVE messages by channel, kind and template, as in analytics_changes and analytics_totals.

-- What a transaction adds. Only inserted, so that no writer waits for another one.
create table message_changes (
  change_id bigint generated always as identity primary key,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  campaign_id text not null,
  -- The day in India on which it happened.
  day date not null,
  channel text not null,
  kind text not null check (kind in ('first_message', 'follow_up', 'requested', 'response', 'code')),
  -- Empty without a registered template.
  template_id text not null,
  event text not null check (event in ('sent', 'delivered', 'read', 'failed', 'unknown')),
  -- A reason of data/message-errors; empty unless the message failed.
  reason text not null
);
create index message_changes_owner on message_changes (org_id, mode);

create table message_totals (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- The ID of a campaign; empty for all campaigns of the organisation.
  subject text not null,
  day date not null,
  channel text not null,
  kind text not null,
  template_id text not null,
  event text not null,
  reason text not null,
  amount integer not null,
  primary key (org_id, mode, subject, day, channel, kind, template_id, event, reason)
);
