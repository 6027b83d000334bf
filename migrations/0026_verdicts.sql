-- The items that candidates are asked, their statistics, and the responses.

-- Items of the built-in bank that mandates use, as they were when the mandates were prepared. `set_id` is a digest of `items`.
create table item_sets (
  set_id text primary key,
  items text not null,
  created_at timestamptz not null
);

-- The same for items of an organisation, which are sealed.
create table private_item_sets (
  org_id text not null references organisations,
  set_id text not null,
  items bytea not null,
  created_at timestamptz not null,
  primary key (org_id, set_id)
);

-- Items that an organisation imported, or that the AI writer wrote for it.
create table skill_items (
  item_id text primary key,
  org_id text not null references organisations,
  skill_number integer not null,
  source text not null check (source in ('private', 'ai')),
  -- The ID of an imported item in its own system. An item with the same ID replaces it.
  external_id text,
  -- The item as sealed JSON.
  content bytea not null,
  -- A keyed digest of the content, to find duplicates without decrypting.
  content_digest bytea not null,
  status text not null default 'active' check (status in ('pilot', 'active', 'retired')),
  -- Null until responses show it; then it replaces the author's difficulty.
  difficulty real,
  statistics jsonb,
  retired_at timestamptz,
  retirement_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index skill_items_external_id on skill_items (org_id, external_id) where external_id is not null;
create unique index skill_items_content on skill_items (org_id, skill_number, content_digest);
create index skill_items_skill on skill_items (org_id, skill_number);

create trigger require_open_data_key after insert or update of items on private_item_sets for each row
  when (not is_sealed_with_open_key(new.items)) execute function reject_closed_data_key();
create trigger require_open_data_key after insert or update of content on skill_items for each row
  when (not is_sealed_with_open_key(new.content)) execute function reject_closed_data_key();

-- Servers keep the skills of the items in memory.
create function notify_skill_items_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('skill_items_changed', '');
  return null;
end
$$;
create trigger skill_items_changed after insert or update or delete on skill_items
  for each statement execute function notify_skill_items_changed();

-- Statistics of items of the built-in bank, over all organisations. An item without a row is active and has no statistics yet.
create table bank_items (
  item_id text primary key,
  skill_number integer not null,
  status text not null default 'active' check (status in ('active', 'retired')),
  difficulty real,
  statistics jsonb,
  retired_at timestamptz,
  retirement_reason text,
  updated_at timestamptz not null
);
create index bank_items_skill on bank_items (skill_number);

-- Responses to items without the person, for statistics. The order of `response_id` is the order of time.
create table item_responses (
  response_id bigint generated always as identity primary key,
  org_id text not null references organisations,
  mode text not null check (mode in ('test', 'live')),
  item_id text not null,
  skill_number integer not null,
  source text not null check (source in ('bank', 'private', 'ai')),
  day date not null,
  -- The chosen option: -1 is the key, other numbers are distractors. Null if the person gave no answer.
  option smallint,
  is_correct boolean not null,
  is_scored boolean not null,
  -- The ability that the other responses of the same person to the skill show, in logits.
  rest_ability real not null,
  seconds real,
  language text not null,
  -- The position of the item among the items of the skill, starting with 1.
  position smallint not null,
  -- The channel of the conversation, or `assessment`.
  channel text not null
);
create index item_responses_item on item_responses (item_id, response_id);
create index item_responses_export on item_responses (org_id, mode, skill_number, response_id);

-- The student's answers: for each question the index of the chosen option, or null.
alter table verification_attempts add column answers jsonb;

-- Statistics of items: how far the responses are counted, and which responses decide about an item that was restored.

-- One row, written at the end of each run.
create table item_statistics_progress (
  only_row boolean primary key default true check (only_row),
  -- The newest response at the last run, and at the run before it.
  last_response_id bigint not null default 0,
  earlier_response_id bigint not null default 0,
  finished_at timestamptz
);
insert into item_statistics_progress default values;

-- Responses up to this one do not retire the item again, because a person has restored it after them.
alter table bank_items add column restored_response_id bigint;
alter table skill_items add column restored_response_id bigint;

-- For the clean-up of responses in TEST.
create index item_responses_test_day on item_responses (day) where mode = 'test';

-- Items that an organisation deleted. Mandates that were prepared before still contain them; this table stops asking them there, too.
create table removed_items (
  item_id text primary key,
  org_id text not null references organisations,
  skill_number integer not null,
  removed_at timestamptz not null
);
create index removed_items_skill on removed_items (skill_number);
