-- compatible with: 0026
-- Verifiable credentials: the keys that sign them, the consent of each person, the credentials, and their status lists.

-- Whether an organisation offers credentials, and for how long they are valid. Without a row, the defaults apply.
create table credential_policies (
  org_id text primary key references organisations,
  enabled boolean not null,
  validity_months integer not null check (validity_months between 1 and 120),
  updated_at timestamptz not null
);

-- Ed25519 keys of the issuers. Without an organisation, the issuer is the deployment itself, which signs learner records.
create table credential_keys (
  key_id text primary key,
  org_id text references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- The number in the name of the key in the DID document, such as `key-1`.
  number integer not null,
  public_key text not null,
  -- The private key, sealed. Deleted when the key is revoked.
  secret_key bytea,
  status text not null check (status in ('active', 'retired', 'revoked')),
  created_at timestamptz not null,
  retired_at timestamptz,
  revoked_at timestamptz,
  unique nulls not distinct (org_id, mode, number),
  check ((status = 'revoked') = (revoked_at is not null)),
  check (status <> 'active' or secret_key is not null)
);
create unique index credential_keys_active on credential_keys (org_id, mode) nulls not distinct where status = 'active';

create trigger require_open_data_key after insert or update of secret_key on credential_keys for each row
  when (new.secret_key is not null and not is_sealed_with_open_key(new.secret_key)) execute function reject_closed_data_key();

-- The person to whom credentials are issued: a keyed hash of the mailbox or phone number, and the person's ID in the partner's system.
-- Addresses are not verified, so the address alone must not give access to the credentials of another person.
create table credential_holders (
  holder_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  contact_kind text not null check (contact_kind in ('email', 'phone')),
  contact_hash bytea not null,
  external_id text not null,
  profile_slug text not null unique,
  is_profile_public boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (org_id, mode, contact_kind, contact_hash, external_id)
);

-- The secret links of holders, for managing their credentials.
create table credential_holder_links (
  token_hash bytea primary key,
  holder_id text not null references credential_holders,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index credential_holder_links_holder on credential_holder_links (holder_id, created_at);

-- What a person decided about the credentials of a session or a candidacy. Nothing is issued without it.
create table credential_consents (
  source_kind text not null check (source_kind in ('session', 'candidate')),
  source_id text not null,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  holder_id text not null references credential_holders,
  wanted boolean not null,
  show_name boolean not null,
  language text not null,
  -- The version of the text that the person agreed to.
  text_version integer not null,
  given_at timestamptz not null,
  withdrawn_at timestamptz,
  -- When the engine issues the credentials; set when the source ends.
  issue_due_at timestamptz,
  primary key (source_kind, source_id)
);
create index credential_consents_due on credential_consents (issue_due_at) where issue_due_at is not null;
create index credential_consents_holder on credential_consents (holder_id);

-- Bitstring status lists. Their bits are those of the revoked credentials; a list is signed again when its version has changed.
create table credential_status_lists (
  list_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  entries integer not null default 0,
  version integer not null default 1,
  signed_version integer,
  signed_credential text,
  signed_jwt text,
  created_at timestamptz not null
);
create index credential_status_lists_owner on credential_status_lists (org_id, mode, created_at);

create table credentials (
  credential_id text primary key,
  -- The address of its page, which is also the `id` in the signed credential.
  url text not null,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  holder_id text not null references credential_holders,
  source_kind text not null check (source_kind in ('session', 'candidate')),
  source_id text not null,
  -- The person's ID in the partner's system.
  external_id text not null,
  skill_number integer not null,
  skill_name text not null,
  method text not null check (method in ('assessment', 'endorsement', 'campaign')),
  language text not null,
  shows_name boolean not null,
  -- The salt of the identity hash. It is part of the credential for email addresses, and secret for phone numbers.
  identity_salt text not null,
  -- The signed credential, as JSON and as JWT. Deleted when the person withdraws it.
  credential text,
  jwt text,
  -- How the skill was verified, to issue the credential again with or without the name.
  facts jsonb not null,
  -- The items of the measurement: ID, difficulty and whether the response was correct.
  responses jsonb not null,
  item_ids text[] not null,
  key_id text not null references credential_keys,
  list_id text not null references credential_status_lists,
  status_index integer not null check (status_index between 0 and 131071),
  -- Whether the holder hides it in the profile.
  is_hidden boolean not null default false,
  issued_at timestamptz not null,
  valid_until timestamptz not null,
  revoked_at timestamptz,
  revocation_reason text,
  -- The credential that replaces this one.
  replaced_by text,
  version integer not null default 1,
  updated_at timestamptz not null,
  check ((revoked_at is null) = (revocation_reason is null)),
  unique (list_id, status_index)
);
-- A retry does not issue a second credential.
create unique index credentials_once on credentials (source_kind, source_id, skill_number) where revoked_at is null;
create index credentials_list on credentials (org_id, mode, issued_at, credential_id);
create index credentials_updated on credentials (org_id, mode, updated_at);
create index credentials_holder on credentials (holder_id, issued_at);
create index credentials_source on credentials (source_kind, source_id);
create index credentials_external on credentials (org_id, mode, external_id);
create index credentials_items on credentials using gin (item_ids) where revoked_at is null;
create index credentials_key on credentials (key_id);
