/** Personal keys: how programs identify themselves. The secret is shown once and kept as a digest. */
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FoundKey, KeyRevocation, KeyRow, NewKey, OwnedKey } from '../../db/personal-keys.ts'
import { digestOfKey, isKeySecret, newKeySecret } from './key-secret.ts'
import { isAdminScope, type Scope, SCOPES } from './scopes.ts'
import { TokenCache } from './token-cache.ts'

/** Stored keys; see `db/personal-keys.ts`. */
export interface KeyRows {
  create(key: NewKey): Promise<KeyRow | 'signed_out' | null>
  list(user: UserId): Promise<readonly KeyRow[]>
  listScoped(scopes: readonly string[]): Promise<readonly OwnedKey[]>
  find(digest: string): Promise<FoundKey | null>
  delete(user: UserId, id: SessionId): Promise<boolean>
  revoke(revocation: KeyRevocation): Promise<boolean>
  markBot(user: UserId): Promise<void>
}

export interface PersonalKey extends Omit<KeyRow, 'scopes'> {
  readonly scopes: readonly Scope[]
}

/** A key that reaches endpoints for admins, and whose it is. */
export interface AdminKey extends PersonalKey, Pick<OwnedKey, 'userId' | 'username'> {}

/** Who sends a request with a key. */
export interface KeyClaims {
  readonly userId: UserId
  readonly role: string
  /** The key's id. It is a session's, so that it ends as sessions do. */
  readonly sid: SessionId
  readonly scopes: readonly Scope[]
  /** When these claims are read again, by the steady clock. */
  readonly exp: Instant
}

export interface KeyOrder {
  readonly user: UserId
  /** The session that asks for it. */
  readonly by: SessionId
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant
  readonly addressPrefix: string
}

export interface PersonalKeys {
  /**
   * A new key and its secret, which cannot be read again; null if the user has as many keys as they may have, and
   * `signed_out` if the session that asks has ended meanwhile.
   */
  readonly create: (
    order: KeyOrder,
  ) => Promise<{ readonly key: PersonalKey; readonly secret: string } | 'signed_out' | null>
  readonly list: (user: UserId) => Promise<readonly PersonalKey[]>
  /** Ends one of the user's keys; false if they have no such key. */
  readonly delete: (user: UserId, id: SessionId) => Promise<boolean>
  /** The keys of all users that reach endpoints for admins. */
  readonly listAdmin: () => Promise<readonly AdminKey[]>
  /** Ends a key of any user for an admin; false if there is no such key. */
  readonly revoke: (revocation: KeyRevocation) => Promise<boolean>
  /** To be called before an order that came by a key is sent on: the user is a bot from the first one on. */
  readonly markBot: (user: UserId) => Promise<void>
  /** True if the database must be asked about a secret. One without the form of a key is refused without it. */
  readonly needsLookup: (secret: string) => boolean
  /** The claims of a secret; null for one that is unknown, expired or ended. */
  readonly verify: (secret: string) => Promise<KeyClaims | null>
}

export interface PersonalKeysOptions {
  readonly rows: KeyRows
  readonly ended: { has(id: SessionId): Promise<boolean> }
  readonly world: Pick<World, 'now' | 'steady' | 'secret'>
  /** Tells a user of a new key. Returns at once. */
  readonly onCreated: (user: UserId, key: PersonalKey, addressPrefix: string) => void
}

/** Shorter than the time for which an end is remembered. */
const CACHED_MS = 60 * SECOND_MS
const CACHED_MAX = 50_000

export function createPersonalKeys({ rows, ended, world, onCreated }: PersonalKeysOptions): PersonalKeys {
  const cached = new TokenCache<KeyClaims>(CACHED_MAX)
  const find = async (secret: string): Promise<KeyClaims | null> => {
    const found = await rows.find(digestOfKey(secret))
    if (found === null) return null
    const { userId, role, id, expiresAt } = found
    const exp = instant(world.steady.now() + Math.min(expiresAt - world.now(), CACHED_MS))
    const claims = { userId, role, sid: id, scopes: scopesFrom(found), exp }
    cached.put(secret, claims)
    return claims
  }
  return {
    create: async ({ addressPrefix, ...order }) => {
      const secret = newKeySecret(world)
      const row = await rows.create({ ...order, addressPrefix, digest: digestOfKey(secret) })
      if (row === null || row === 'signed_out') return row
      const key = keyFrom(row)
      onCreated(order.user, key, addressPrefix)
      return { key, secret }
    },
    list: async (user) => (await rows.list(user)).map(keyFrom),
    delete: (user, id) => rows.delete(user, id),
    listAdmin: async () => (await rows.listScoped(ADMIN_SCOPES)).map(keyFrom),
    revoke: (revocation) => rows.revoke(revocation),
    markBot: (user) => rows.markBot(user),
    needsLookup: (secret) => isKeySecret(secret) && cached.get(secret, world.steady.now()) === null,
    verify: async (secret) => {
      if (!isKeySecret(secret)) return null
      const claims = cached.get(secret, world.steady.now()) ?? (await find(secret))
      return claims === null || (await ended.has(claims.sid)) ? null : claims
    },
  }
}

const ADMIN_SCOPES = SCOPES.filter(isAdminScope)

const keyFrom = <Row extends KeyRow>(row: Row) => ({ ...row, scopes: scopesFrom(row) })

const scopesFrom = ({ scopes }: Pick<KeyRow, 'scopes'>): Scope[] => SCOPES.filter((scope) => scopes.includes(scope))
