-- compatible with: 0032

-- The basis on which an organisation contacts people in LIVE mode, for candidates who are enrolled without their own.
alter table privacy_settings
  add column contact_basis text check (contact_basis in ('consent', 'application', 'legitimate_use')),
  add column contact_basis_source text,
  add column contact_basis_text_version text,
  add column contact_basis_declared_at timestamptz,
  add check ((contact_basis is null) = (contact_basis_source is null)),
  add check ((contact_basis is null) = (contact_basis_declared_at is null));

-- When the provider accepted a message, and the registered template that it was sent with.
alter table messages
  add column sent_at timestamptz,
  add column template_id text;
