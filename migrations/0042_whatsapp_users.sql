-- compatible with: 0032

-- WhatsApp users whose messages may have a user ID and no phone number. Only keyed hashes are stored.
create table whatsapp_users (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  user_index bytea not null,
  -- As in candidates.
  phone_index bytea not null,
  updated_at timestamptz not null,
  primary key (org_id, mode, user_index)
);
create index whatsapp_users_phone on whatsapp_users (phone_index);
