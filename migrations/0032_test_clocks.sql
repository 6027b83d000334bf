-- compatible with: 0030

-- Test clocks: the time of campaigns and verification sessions in TEST that are attached to one.

create table test_clocks (
  test_clock_id text primary key,
  org_id text not null references organisations,
  mode text not null check (mode = 'test'),
  name text,
  starts_at timestamptz not null,
  -- The time of the clock. It changes only during an advance.
  now_at timestamptz not null,
  -- The end of the advance that is in progress.
  advancing_to timestamptz check (advancing_to >= now_at),
  archived_at timestamptz,
  -- Real time.
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index test_clocks_owner on test_clocks (org_id, mode, test_clock_id);
create index test_clocks_advancing on test_clocks (updated_at) where advancing_to is not null;

-- Contacts of a campaign with a test clock are always `held`, so that the engine of real time does not process them.
alter table campaigns add column test_clock_id text references test_clocks;
create index campaigns_test_clock on campaigns (test_clock_id) where test_clock_id is not null;

alter table verification_sessions add column test_clock_id text references test_clocks;
create index verification_sessions_test_clock on verification_sessions (test_clock_id) where test_clock_id is not null;

-- Replies of test numbers in campaigns with a test clock; the engine of real time skips them.
alter table simulator_turns add column test_clock_id text;
drop index simulator_turns_due;
create index simulator_turns_due on simulator_turns (due_at) where test_clock_id is null;
create index simulator_turns_test_clock on simulator_turns (test_clock_id, due_at) where test_clock_id is not null;
