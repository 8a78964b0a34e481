#!/bin/bash
# Prepares a data folder for PostgreSQL from a base backup and the archived log:
#
#   restore.sh <backup.tar.gpg> <empty folder> [time <timestamp> | name <restore point>]
#
# PostgreSQL then recovers when it is started on the folder: up to that moment, or as far as the archive reaches. A
# backup that was altered, is cut short or has another key is refused, and the folder is empty again. It must run as the
# user of PostgreSQL, with the server's programs on the path.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/seal.sh"
backup=$1 data=$2 kind=${3:-} moment=${4:-}

if [ -n "$(ls -A "$data")" ]; then
  echo "$data is not empty" >&2
  exit 1
fi
refuse() {
  find "$data" -mindepth 1 -delete
  echo "$backup was not restored: $1" >&2
  exit 1
}
unseal <"$backup" | tar -x -C "$data" || refuse 'it was altered, it is cut short, or the key is wrong'
pg_verifybackup --quiet "$data" || refuse 'its files are not those that were backed up'
{
  echo "restore_command = '\"$here/fetch-wal.sh\" %f %p'"
  case $kind in
    '') ;;
    time | name) echo "recovery_target_$kind = '${moment//\'/\'\'}'" ;;
    *) refuse "it can be restored to a time or a name, not to a $kind" ;;
  esac
  echo "recovery_target_action = 'promote'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
