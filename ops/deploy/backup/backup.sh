#!/bin/bash
# Takes an encrypted base backup of the PostgreSQL server of DATABASE_URL, while it works, into BACKUP_DIR/base, and
# prints its name. Backups older than BACKUP_KEEP_DAYS (35) are removed, with the archived log that only they need; the
# newest is always kept. The role needs REPLICATION, and pg_hba.conf a line that lets it in for that.
set -euo pipefail
: "${DATABASE_URL:?the PostgreSQL server to back up}"
. "$(dirname "$0")/seal.sh"

begun=$(date -u +%s)
folder=$BACKUP_DIR/base
name=base-$(date -u -d "@$begun" +%Y%m%dT%H%M%SZ).tar.gpg
mkdir -p "$folder" "$BACKUP_DIR/wal"
part=$folder/.$name.part
trap 'rm -rf "$GNUPGHOME" "$part"' EXIT
# Those of attempts that were killed.
find "$folder" -name '.base-*.part' -mmin +1440 -delete

# The server keeps the log from here on for as long as this session lasts: a checkpoint would remove what the end of the
# backup asks for.
case $DATABASE_URL in *\?*) with='&' ;; *) with='?' ;; esac
coproc HOLD { psql "$DATABASE_URL${with}replication=true" --no-password --no-psqlrc --quiet --tuples-only \
  --set ON_ERROR_STOP=1; }
echo "CREATE_REPLICATION_SLOT backup_${begun}_$$ TEMPORARY PHYSICAL RESERVE_WAL;" >&"${HOLD[1]}"
if ! read -r slot <&"${HOLD[0]}" || [ -z "$slot" ]; then
  echo 'the server does not keep its log for the backup' >&2
  exit 1
fi

# With the log that was written meanwhile, so that it can be restored even without the archive.
pg_basebackup --dbname="$DATABASE_URL" --no-password --pgdata=- --format=tar --wal-method=fetch --checkpoint=fast |
  seal >"$part"
# Its time is that of its beginning, which decides what it needs of the archive.
touch -d "@$begun" "$part"
sync "$part"
mv "$part" "$folder/$name"
sync "$folder"

find "$folder" -name 'base-*.tar.gpg' ! -name "$name" -mtime "+${BACKUP_KEEP_DAYS:-35}" -delete
oldest=$(find "$folder" -name 'base-*.tar.gpg' -printf '%T@ %p\n' | sort -n | head -n 1 | cut -d ' ' -f 2-)
# An hour more than needed, for clocks that differ. History files are small, and tell timelines apart: they stay.
cut=$(($(stat -c %Y "$oldest") - 3600))
find "$BACKUP_DIR/wal" -name '*.gpg' ! -name '*.history.gpg' ! -newermt "@$cut" -delete
echo "$folder/$name"
