/** Personal keys in memory. */
import { type SessionId, sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { type FoundKey, type KeyRevocation, KEYS_MAX } from '../../db/personal-keys.ts'
import { digestOfKey, newKeySecret } from '../../src/auth/key-secret.ts'
import { createPersonalKeys, type KeyRows, type PersonalKey } from '../../src/auth/personal-keys.ts'
import type { Scope } from '../../src/auth/scopes.ts'
import type { TestWorld } from '../support/test-world.ts'

interface Details {
  readonly id?: SessionId
  readonly expiresAt?: Instant
}

interface Owner {
  readonly id: UserId
  readonly role: string
}

export function keyPorts(world: TestWorld, roleOf: (user: UserId) => string) {
  const stored = new Map<string, FoundKey>()
  /** The digests that the database was asked for. */
  const asked: string[] = []
  /** The keys that users were told of. */
  const told: PersonalKey[] = []
  /** What admins have revoked. */
  const revoked: KeyRevocation[] = []
  /** The users who became bots. */
  const bots: UserId[] = []
  const of = (user: UserId): [string, FoundKey][] => [...stored].filter(([, key]) => key.userId === user)
  const rows: KeyRows = {
    create: async ({ user, digest, name, scopes, expiresAt }) => {
      if (of(user).length >= KEYS_MAX) return null
      const id = sessionId(world.newId())
      const key = { id, name, scopes, createdAt: world.now(), expiresAt, lastUsedAt: null }
      stored.set(digest, { ...key, userId: user, role: roleOf(user) })
      return key
    },
    list: async (user) => of(user).map(([, { userId: _user, role: _role, ...key }]) => key),
    find: async (digest) => {
      asked.push(digest)
      const key = stored.get(digest)
      return key === undefined || key.expiresAt <= world.now() ? null : key
    },
    markBot: async (user) => void bots.push(user),
    listScoped: async (scopes) =>
      [...stored.values()]
        .filter((key) => key.scopes.some((scope) => scopes.includes(scope)))
        .map(({ role: _role, ...key }) => ({ ...key, username: 'alice' })),
    revoke: async (revocation) => {
      revoked.push(revocation)
      const found = [...stored].find(([, key]) => key.id === revocation.id)
      return found !== undefined && stored.delete(found[0])
    },
    delete: async (user, id) => {
      const found = of(user).find(([, key]) => key.id === id)
      return found !== undefined && stored.delete(found[0])
    },
  }
  const living = () => new Set([...stored.values()].map(({ id }) => id))
  const keys = createPersonalKeys({
    rows,
    ended: { has: async (id) => !living().has(id) },
    world,
    onCreated: (_user, key) => told.push(key),
  })
  /** The secret of a new key of a user. */
  const keyOf = async ({ id: owner, role }: Owner, scopes: readonly Scope[], more: Details = {}) => {
    const { id = sessionId(world.newId()), expiresAt = instant(world.now() + 3_600_000) } = more
    const secret = newKeySecret(world)
    const key = { id, name: 'Bot', scopes, createdAt: world.now(), expiresAt, lastUsedAt: null }
    stored.set(digestOfKey(secret), { ...key, userId: owner, role })
    return secret
  }
  return { keys, keyOf, living, bots, asked, told, revoked }
}
