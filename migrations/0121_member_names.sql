-- compatible with: 0054

-- The name that colleagues see instead of the email address.
alter table console_members add column name text;
