-- compatible with: 0054

-- Code and message of the error that ended the script of a test student; null if the script did not end with an error.
alter table verification_sessions add column test_script_error jsonb;
