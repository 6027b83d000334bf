-- compatible with: 0047

-- Messaging limit of the WhatsApp account of an organisation: people to whom it may send templates within 24 hours.
create table whatsapp_limits (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- null: unlimited
  daily_limit integer,
  -- The event with which WhatsApp reported the limit, such as FLAGGED.
  event text,
  updated_at timestamptz not null,
  primary key (org_id, mode)
);
