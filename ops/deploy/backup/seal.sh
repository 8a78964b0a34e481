# Read by the other scripts: how a backup is encrypted, with gpg, which the image of PostgreSQL contains.
# BACKUP_KEY, at least 32 random characters, is the secret (`npm run ops -s -- keygen` prints one). BACKUP_DIR is where
# backups are kept.

: "${BACKUP_KEY:?the secret that backups are encrypted with}"
: "${BACKUP_DIR:?the folder where backups are kept}"
if [ "${#BACKUP_KEY}" -lt 32 ]; then
  echo 'BACKUP_KEY has fewer than 32 characters' >&2
  exit 200
fi
umask 077

# gpg wants a folder of its own. It asks no agent and writes no file there.
GNUPGHOME=$(mktemp -d)
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
