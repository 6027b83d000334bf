-- compatible with: 0032

-- Requests of people who lost the link to their credentials. A job emails new links and deletes the request, whether or not the
-- address has credentials, so that the response to a request says nothing about it.

create table credential_link_requests (
  request_id text primary key,
  -- The address, sealed.
  address bytea not null,
  language text not null,
  created_at timestamptz not null
);

create trigger require_open_data_key after insert or update of address on credential_link_requests for each row
  when (not is_sealed_with_open_key(new.address)) execute function reject_closed_data_key();
