-- Sign-in with OpenID Connect.

-- The identity provider of an organisation or, without org_id, of the operators.
create table identity_providers (
  provider_id text primary key,
  org_id text references organisations,
  -- The name on the sign-in page.
  name text not null,
  issuer text not null,
  client_id text not null,
  -- Sealed. Null for a client that authenticates with PKCE only.
  client_secret bytea,
  -- Domains of the email addresses that the provider may sign in, in lower case.
  allowed_domains text[] not null,
  group_claim text not null,
  -- [{"group": …, "role": …}]
  role_mappings jsonb not null default '[]',
  -- The role of people without a mapped group. Null rejects them.
  default_role text check (default_role in ('viewer', 'recruiter', 'owner', 'operator')),
  -- Whether members must sign in with this provider.
  required boolean not null default false,
  -- From the provider's metadata.
  end_session_endpoint text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create trigger require_open_data_key after insert or update of client_secret on identity_providers for each row
  when (not is_sealed_with_open_key(new.client_secret)) execute function reject_closed_data_key();
create unique index identity_providers_owner on identity_providers (coalesce(org_id, ''));

-- Accounts at identity providers. An account is bound to the email address of its first sign-in.
create table console_identities (
  provider_id text not null references identity_providers on delete cascade,
  subject text not null,
  email text not null,
  created_at timestamptz not null,
  last_sign_in_at timestamptz not null,
  primary key (provider_id, subject)
);
create unique index console_identities_address on console_identities (provider_id, lower(email));

alter table console_sessions
  -- The provider that the person signed in with. The session has only the access that this provider manages.
  add column provider_id text references identity_providers on delete cascade,
  -- The organisations that were opened in the session as a member. Their owners see the session.
  add column org_ids text[] not null default '{}';
create index console_sessions_of_provider on console_sessions (provider_id) where provider_id is not null;
