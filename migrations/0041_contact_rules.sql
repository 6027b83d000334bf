-- compatible with: 0032

-- Whether a message contains a confirmation code, which may be sent at any hour.
alter table messages add column is_code boolean not null default false;
