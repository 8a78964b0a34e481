#!/bin/bash
# Brings a file of the log back, for a recovery: restore_command = '/backup/fetch-wal.sh %f %p'
# Ends with 1 if there is no such file, which is how PostgreSQL finds the end of the archive, and with 200 if anything
# else is wrong: PostgreSQL then stops, instead of taking that for the end.
set -euo pipefail
. "$(dirname "$0")/seal.sh" || exit 200

[ -x "$BACKUP_DIR/wal/." ] || fail "$BACKUP_DIR/wal is missing, or may not be read"
from=$BACKUP_DIR/wal/$1.gpg
[ -e "$from" ] || exit 1
if ! unseal <"$from" >"$2"; then
  rm -f "$2"
  fail "$from was altered, it is cut short, or the key is wrong"
fi
