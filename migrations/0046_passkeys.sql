-- Passkeys (WebAuthn) and authenticator apps (TOTP) of people who sign in without an identity provider.

create table console_passkeys (
  passkey_id text primary key,
  email text not null,
  name text not null,
  credential_id bytea not null unique,
  public_key bytea not null,
  -- The signature counter of the authenticator; 0 if it has none.
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index console_passkeys_of_person on console_passkeys (lower(email collate "C"));

-- Challenges that authenticators sign, each of them once. A challenge of a signed-in person belongs to their session.
create table console_challenges (
  challenge_hash bytea primary key,
  token_hash bytea references console_sessions on delete cascade,
  expires_at timestamptz not null
);
create index console_challenges_ending on console_challenges (expires_at);

create table console_authenticator_apps (
  app_id text primary key,
  email text not null,
  -- Sealed.
  secret bytea not null,
  -- Null until the person has entered a first code.
  confirmed_at timestamptz,
  -- The latest time step of which a code was used: a code works once.
  used_step bigint not null default 0,
  created_at timestamptz not null
);
create trigger require_open_data_key after insert or update of secret on console_authenticator_apps for each row
  when (not is_sealed_with_open_key(new.secret)) execute function reject_closed_data_key();
create unique index console_authenticator_apps_of_person on console_authenticator_apps (lower(email collate "C"));

-- Codes that replace a code of the authenticator app, each of them once.
create table console_recovery_codes (
  app_id text not null references console_authenticator_apps on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (app_id, code_hash)
);
