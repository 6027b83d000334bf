-- compatible with: 0063

-- Messages with the link of a review to the phone number of the reviewer, in addition to the email. LIVE rows contain no personal value:
-- number, names and link are read from the review when the message is sent.
create table review_messages (
  message_id text primary key,
  verification_id text not null references verification_sessions,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  -- The reviewer, who can be replaced later.
  person_id text not null,
  kind text not null check (kind in ('review_request', 'review_reminder')),
  -- Null if no channel can reach the number.
  channel text check (channel in ('whatsapp', 'sms')),
  state text not null check (state in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'unknown', 'skipped')),
  -- Reason why the message was skipped, failed or is waiting.
  reason text,
  -- Keyed hash of the number, by which a message to an earlier number of the reviewer is recognised; null after the erasure.
  phone_index bytea,
  -- Keyed hash by which an opt-out of the number is stored, also after the reviewer was replaced; null after the erasure.
  opt_out_index bytea,
  -- TEST: the text, sealed with the keys of student and reviewer. LIVE: null.
  personal bytea,
  attempts integer not null default 0,
  provider_id text,
  template_id text,
  -- Estimated cost in millionths, and the day in India on which it was counted.
  cost bigint,
  cost_day date,
  slot_at timestamptz,
  due_at timestamptz,
  leased_until timestamptz,
  -- Start of the call to the provider. Null if no call was started, so that the message was not sent.
  call_started_at timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index review_messages_of_verification on review_messages (verification_id);
create index review_messages_of_person on review_messages (person_id);
create index review_messages_of_phone on review_messages (phone_index) where phone_index is not null;
create index review_messages_queued on review_messages (due_at) where state = 'queued';
create index review_messages_sending on review_messages (leased_until) where state = 'sending';
create index review_messages_by_provider on review_messages (channel, provider_id) where provider_id is not null;
