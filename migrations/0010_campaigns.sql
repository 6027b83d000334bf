-- Campaigns, the people enrolled in them, what they were sent and answered, and the credits that it costs.

-- One row an organisation and mode, locked by whoever spends: however many enrol at once, the sum never goes below zero.
create table credit_balances (
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  balance bigint not null check (balance >= 0),
  -- How many entries the ledger has: the number of the last one.
  entries bigint not null,
  primary key (org_id, mode)
);

-- Only ever added to.
create table credit_entries (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  number bigint not null,
  entry_id text not null unique,
  amount bigint not null check (amount <> 0),
  reason text not null check (reason in ('grant', 'enrolment', 'refund')),
  campaign_id text,
  -- Of a refund: whom it is for, once.
  candidate_id text unique,
  balance_after bigint not null check (balance_after >= 0),
  created_at timestamptz not null,
  primary key (org_id, mode, number),
  check ((candidate_id is not null) = (reason = 'refund'))
);

create table campaigns (
  campaign_id text primary key,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  mandate_id text not null,
  workflow_id text not null,
  job_id text,
  name text,
  created_via text not null check (created_via in ('api', 'playground')),
  -- Of those enrolled last.
  flow_version integer not null,
  -- What holds it back; null while it goes on.
  hold text check (hold in ('paused', 'archived')),
  starts_at timestamptz not null,
  candidates integer not null default 0,
  pending integer not null default 0 check (pending >= 0),
  completed integer not null default 0,
  declined integer not null default 0,
  failed integer not null default 0,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  check (candidates = pending + completed + declined + failed)
);
create index campaigns_owner on campaigns (org_id, mode, campaign_id);
create index campaigns_mandate on campaigns (mandate_id);
create index campaigns_job on campaigns (org_id, mode, job_id) where job_id is not null;

-- Who was enrolled, as sent; never changed.
create table candidates (
  candidate_id text primary key,
  campaign_id text not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  external_candidate_id text not null,
  name text not null,
  phone text,
  email text,
  language text,
  metadata text not null,
  -- The personal link: its hash to find the candidate by, and the token itself, sealed, to write the link.
  token_hash bytea not null,
  token bytea not null,
  enrolled_at timestamptz not null
);
create unique index candidates_external on candidates (campaign_id, external_candidate_id);
create unique index candidates_phone on candidates (campaign_id, phone) where phone is not null;
create unique index candidates_token on candidates (token_hash);
create index candidates_campaign on candidates (campaign_id, candidate_id);
create index candidates_by_phone on candidates (org_id, mode, phone) where phone is not null;
create index candidates_by_mail on candidates (org_id, mode, lower(email)) where email is not null;

-- How far each of them is, which is the result: changed by every step.
create table candidate_progress (
  candidate_id text primary key,
  campaign_id text not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  mandate_id text not null,
  result_id text not null,
  status text not null check (status in ('pending', 'completed', 'declined', 'failed')),
  reason text check (reason in ('no_response', 'unreachable', 'stopped', 'expired', 'refused')),
  flow_version integer not null,
  -- The state of the conversation, as JSON.
  conversation text not null,
  -- A bit for each stage of the funnel that was reached.
  stages integer not null default 0,
  -- The contact that went out last: 0 the first message, then the follow-ups; and where it went.
  contact_step integer,
  channel text,
  started_at timestamptz,
  completed_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Its place among the results, given when somebody asks for them, after the change has committed; see results.
  listed_at timestamptz,
  moved boolean not null default true
);
create unique index candidate_progress_result on candidate_progress (result_id);
create index candidate_progress_listed on candidate_progress (org_id, mode, listed_at, result_id);
create index candidate_progress_of_campaign on candidate_progress (campaign_id, listed_at, result_id);
create index candidate_progress_of_mandate on candidate_progress (mandate_id, listed_at, result_id);
create index candidate_progress_moved on candidate_progress (org_id, mode) where moved;
create index candidate_progress_pending on candidate_progress (campaign_id) where status = 'pending';

-- The latest moment that any result of the organisation was listed at; whoever lists more locks it.
create table result_listings (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  listed_until timestamptz not null,
  primary key (org_id, mode)
);

-- What is to happen next with each pending candidate, and when.
create table contacts (
  candidate_id text primary key,
  campaign_id text not null,
  kind text not null check (kind in ('contact', 'give_up')),
  -- 0 is the first message, then come the workflow's follow-ups.
  step integer not null,
  -- Null while a message of that step is on its way.
  due_at timestamptz,
  -- While the campaign is paused.
  held boolean not null
);
create index contacts_due on contacts (due_at) where due_at is not null and not held;
create index contacts_campaign on contacts (campaign_id);

-- Everything said, in both directions.
create table messages (
  message_id text primary key,
  candidate_id text not null,
  campaign_id text not null,
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  direction text not null check (direction in ('in', 'out')),
  channel text not null,
  -- sending: handed to the provider, outcome not known yet; unknown: it never will be, and the message is not repeated
  state text not null check (state in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'unknown', 'dropped', 'received')),
  -- Of a message by which the candidate is contacted; null for what answers a reply.
  contact_step integer,
  -- The number of the conversation's step that it belongs to.
  conversation_step integer not null,
  -- What is said and how it can be answered, as JSON.
  content text not null,
  -- The provider's name for it, or the page's.
  provider_id text,
  error text,
  attempts integer not null default 0,
  due_at timestamptz,
  -- Whoever sends it is alive until then, or says so again.
  leased_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index messages_of_candidate on messages (candidate_id, message_id);
-- Nobody is contacted twice on one channel for one step.
create unique index messages_once on messages (candidate_id, contact_step, channel) where contact_step is not null;
create unique index messages_received on messages (candidate_id, channel, provider_id) where direction = 'in' and provider_id is not null;
create index messages_provider on messages (channel, provider_id) where direction = 'out' and provider_id is not null;
create index messages_queued on messages (due_at) where state = 'queued';
create index messages_sending on messages (leased_until) where state = 'sending';

-- Phones and mail addresses whose owner said STOP: the organisation never contacts them again.
create table stopped_addresses (
  org_id text not null,
  mode text not null check (mode in ('test', 'live')),
  address text not null,
  created_at timestamptz not null,
  primary key (org_id, mode, address)
);

-- Whom a key has enrolled since midnight in India, each person once, and how many they are.
create table people_enrolled (
  key_id text not null,
  day date not null,
  person bytea not null,
  primary key (key_id, day, person)
);
create table people_days (
  key_id text not null,
  day date not null,
  people integer not null,
  primary key (key_id, day)
);

-- What the organisation's channels are opened with, sealed.
create table channel_credentials (
  org_id text not null references organisations,
  channel text not null check (channel in ('whatsapp', 'voice', 'sms', 'email')),
  credentials bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, channel)
);

-- When the test numbers answer, and what: the step that they were asked.
create table simulator_turns (
  candidate_id text primary key,
  conversation_step integer not null,
  due_at timestamptz not null
);
create index simulator_turns_due on simulator_turns (due_at);
