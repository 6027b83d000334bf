-- Provisioning by identity providers of organisations (SCIM 2.0).

-- The token with which the provider calls the SCIM API; only its hash is stored.
create table scim_tokens (
  provider_id text primary key references identity_providers on delete cascade,
  org_id text not null references organisations,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz
);

-- Users as the provider sent them. An active user with a role is a member; console_members has no inactive people.
create table scim_users (
  user_id text primary key,
  provider_id text not null references identity_providers on delete cascade,
  org_id text not null references organisations,
  user_name text not null,
  external_id text,
  email text not null,
  display_name text,
  given_name text,
  family_name text,
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_users_by_name on scim_users (provider_id, lower(user_name));
create unique index scim_users_by_address on scim_users (provider_id, lower(email));

create table scim_groups (
  group_id text primary key,
  provider_id text not null references identity_providers on delete cascade,
  org_id text not null references organisations,
  display_name text not null,
  external_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_groups_by_name on scim_groups (provider_id, lower(display_name));

create table scim_group_members (
  group_id text not null references scim_groups on delete cascade,
  user_id text not null references scim_users on delete cascade,
  primary key (group_id, user_id)
);
create index scim_group_members_of_user on scim_group_members (user_id);
