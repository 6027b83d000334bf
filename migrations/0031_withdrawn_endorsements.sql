-- Endorsements that the reviewer, the organisation or an operator has withdrawn. `decline_reason` contains the reason.
alter table verification_reviews
  add column withdrawn_at timestamptz,
  add column withdrawn_by text check (withdrawn_by in ('reviewer', 'organisation', 'operator')),
  add constraint verification_reviews_withdrawn check (
    (withdrawn_at is null) = (withdrawn_by is null) and (withdrawn_at is null or (submitted_at is not null and decline_reason is not null)));
