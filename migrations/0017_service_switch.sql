-- The switch stops everything of an organisation, or of all, and not only the partner API.

-- `service_off` means that the partner API is off. `paused_since` is set if everything else is stopped too: the held work continues
-- when it is set to null, and deadlines are extended by the time since then.
alter table organisations
  add column service_off_since timestamptz,
  add column service_off_reason text,
  add column paused_since timestamptz,
  add constraint organisations_paused check (paused_since is null or service_off);
alter table service_switch
  add column service_off_since timestamptz,
  add column service_off_reason text,
  add column paused_since timestamptz,
  add constraint service_switch_paused check (paused_since is null or service_off);

-- An email that was due while the service was paused. It has no job: releasing it creates one.
alter table mails add column held boolean not null default false;
create index mails_held on mails (mail_id) where held;
