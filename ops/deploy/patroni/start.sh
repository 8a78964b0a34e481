#!/bin/sh
# Starts Patroni, once etcd asks for a password: who changes what etcd holds chooses the primary. The first Patroni that
# reaches etcd sets it.
set -eu
export ETCDCTL_API=3 ETCDCTL_ENDPOINTS="$PATRONI_ETCD3_HOSTS"

asks_for_it() {
  ! etcdctl get / >/dev/null 2>&1 &&
    ETCDCTL_USER="$PATRONI_ETCD3_USERNAME:$PATRONI_ETCD3_PASSWORD" etcdctl get / >/dev/null 2>&1
}

until asks_for_it; do
  # Of two at once one is told that the other was there.
  printf '%s\n' "$PATRONI_ETCD3_PASSWORD" | etcdctl user add "$PATRONI_ETCD3_USERNAME" --interactive=false || true
  etcdctl user grant-role "$PATRONI_ETCD3_USERNAME" root || true
  etcdctl auth enable || true
  sleep 1
done

exec patroni "$@"
