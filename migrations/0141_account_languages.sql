-- compatible with: 0054

-- The language of emails to the person, which they choose in the console; null until they have chosen one.
alter table console_members add column language text;
alter table console_operators add column language text;
