-- compatible with: 0047

-- Texts of messages that are registered outside Attestry: SMS on a DLT portal, WhatsApp messages at Meta. Registered texts contain no
-- values of people, only the names of variables.
create table message_templates (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  channel text not null check (channel in ('sms', 'whatsapp')),
  purpose text not null,
  language text not null,
  -- Name at the registry, and the language code there if it differs from the language.
  name text not null,
  language_code text,
  text text not null,
  category text not null,
  -- SMS: the registered sender; null for the sender of the channel settings.
  header text,
  -- DLT template ID, or ID at WhatsApp.
  registry_id text,
  status text not null check (status in ('draft', 'pending', 'approved', 'rejected', 'paused', 'disabled')),
  status_reason text,
  quality text check (quality in ('green', 'yellow', 'red')),
  has_buttons boolean not null default false,
  checked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, mode, channel, purpose, language)
);

-- Time of the first request to the webhook URL that was entered at the provider; null if there was none since the account was set.
alter table channel_credentials add column webhook_called_at timestamptz;
