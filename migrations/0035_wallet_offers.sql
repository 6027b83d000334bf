-- compatible with: 0032

-- Offers of credentials to wallets (OpenID for Verifiable Credential Issuance, pre-authorized code flow). The code is used once; the
-- access token that replaces it is valid until the offer expires.

create table wallet_offers (
  code_hash bytea primary key,
  credential_id text not null references credentials,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  token_hash bytea unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  redeemed_at timestamptz
);
create index wallet_offers_expiry on wallet_offers (expires_at);
