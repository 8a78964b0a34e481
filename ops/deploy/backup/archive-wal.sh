#!/bin/bash
# Keeps a finished file of PostgreSQL's log, encrypted:
#   archive_mode = on
#   archive_command = '/backup/archive-wal.sh %p %f'
#   archive_timeout = 60     -- at most a minute of trades is in no archive yet
# PostgreSQL keeps the file, and tries again, until this succeeds. A file is never replaced by another.
set -euo pipefail
. "$(dirname "$0")/seal.sh"

to=$BACKUP_DIR/wal/$2.gpg
if [ -e "$to" ]; then
  # PostgreSQL may have stopped before it noted that the file is safe.
  unseal <"$to" | cmp -s - "$1" && exit 0
  echo "$to exists, and is another file than $1" >&2
  exit 1
fi
mkdir -p "$BACKUP_DIR/wal"
part=$BACKUP_DIR/wal/.$2.part
seal <"$1" >"$part"
sync "$part"
mv "$part" "$to"
sync "$BACKUP_DIR/wal"
