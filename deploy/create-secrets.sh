#!/bin/sh
# Writes the secrets of compose.yaml to the folder secrets/, next to this script. Existing files are never changed.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
chmod 700 secrets

# Compose mounts each file with its permissions, and the server runs as a user that does not own it. So all users may read the files, and the
# permissions of the folder protect them.
write() {
  if [ -e "secrets/$1" ]; then
    echo "secrets/$1 exists and was not changed"
  else
    printf '%s' "$2" >"secrets/$1"
    chmod 444 "secrets/$1"
    echo "wrote secrets/$1"
  fi
}

write postgres-password "$(openssl rand -hex 24)"
write database-owner-password "$(openssl rand -hex 24)"
write database-server-password "$(openssl rand -hex 24)"
write database-url "postgres://attestry_server:$(cat secrets/database-server-password)@postgres:5432/attestry"
write database-owner-url "postgres://attestry_owner:$(cat secrets/database-owner-password)@postgres:5432/attestry"
write master-key "$(openssl rand -base64 32)"
write admin-api-key "adm_$(openssl rand -hex 32)"
write backup-key "$(openssl rand -base64 32)"
echo 'Store copies of master-key and backup-key in a safe place that is not on this machine, such as a password manager.'
