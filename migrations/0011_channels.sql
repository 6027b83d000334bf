-- What an organisation's channels have beside their credentials.
alter table channel_credentials
  -- Names the channel in the addresses that its provider calls.
  add column channel_id text not null unique,
  -- Messages a second that the provider may be given; null for what is usual on the channel.
  add column per_second real check (per_second > 0);
