-- compatible with: 0054

-- The name that a member gave to a key, such as "Greenhouse production".
alter table partner_keys add column name text;
alter table session_keys add column name text;
