# Read by the other scripts: how a backup is encrypted, with gpg, which the image of PostgreSQL contains.
# BACKUP_KEY, at least 32 random characters, is the secret (`npm run ops -s -- keygen` prints one). BACKUP_DIR is where
# backups are kept.

# For PostgreSQL a command that ends with 1 to 125 has found the end of the archive.
fail() {
  echo "$1" >&2
  exit 200
}
[ "${BACKUP_KEY:-}" ] || fail 'BACKUP_KEY is not set: the secret that backups are encrypted with'
[ "${#BACKUP_KEY}" -ge 32 ] || fail 'BACKUP_KEY has fewer than 32 characters'
[ "${BACKUP_DIR:-}" ] || fail 'BACKUP_DIR is not set: the folder where backups are kept'
umask 077

# gpg wants a folder of its own. It asks no agent and writes no file there.
GNUPGHOME=$(mktemp -d) || fail 'gpg has no folder of its own'
export GNUPGHOME
trap 'rm -rf "$GNUPGHOME"' EXIT

with_key() {
  gpg --batch --quiet --no-autostart --pinentry-mode loopback --passphrase-fd 3 "$@" 3< <(printf '%s' "$BACKUP_KEY")
}

# Compresses and encrypts standard input. The key is random, so its derivation need not be slow.
seal() {
  with_key --symmetric --cipher-algo AES256 --s2k-mode 3 --s2k-digest-algo SHA256 --s2k-count 65536 \
    --compress-algo zlib --compress-level 1 --output -
}

# The opposite. Fails if the key is wrong, or if a byte was changed or is missing; only then is the output known to be
# whole.
unseal() {
  with_key --decrypt --output -
}
