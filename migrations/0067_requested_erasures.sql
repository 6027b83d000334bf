-- compatible with: 0054

-- When the erasure of the organisation was requested. From then on, its service stays off.
alter table organisations add column erasure_requested_at timestamptz;
update organisations set erasure_requested_at = coalesce(service_off_since, erased_at, now())
where erased_at is not null or service_off_reason = 'The organisation is being erased.';
