#!/bin/sh
# Runs once, when the PostgreSQL container creates its database: creates the owner of the tables and the role of the server.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  -v owner_password="$(cat /run/secrets/database-owner-password)" \
  -v server_password="$(cat /run/secrets/database-server-password)" <<'SQL'
create role attestry_owner login password :'owner_password';
create role attestry_server login password :'server_password';
create database attestry owner attestry_owner;
SQL
