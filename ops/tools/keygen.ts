/**
 * Prints new secrets for a server's environment: `npm run ops -s -- keygen >> .env` (without `-s` npm also prints
 * the command). With `--rotate` it prints a new signing key and the two steps in which it replaces the one in the
 * environment, so that no user is signed out and processes of both steps accept each other's tokens.
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { loadOrCreateKeys, newPrivateKeyPem, type PublicKey, publicKeyOf } from '../../src/auth/keys.ts'
import { environment, readConfig } from '../../src/config.ts'
import { refuse } from '../rehearse/rig/options.ts'

const { values } = parseArgs({ options: { rotate: { type: 'boolean', default: false } } })

const pem = await newPrivateKeyPem()
const next = await loadOrCreateKeys({ dataDir: '.', privateKeyPem: pem, keyId: null })
const signing = `JWT_PRIVATE_KEY="${pem.trimEnd().replaceAll('\n', '\\n')}"
JWT_KEY_ID=${next.keyId}`
const others = (keys: readonly PublicKey[]): string => `JWT_PREVIOUS_PUBLIC_KEYS='${JSON.stringify({ keys })}'`

if (values.rotate) {
  const { jwt } = readConfig(environment())
  if (jwt.privateKeyPem === null) refuse('JWT_PRIVATE_KEY is not set: there is no key to rotate')
  const now = await loadOrCreateKeys({ dataDir: '.', privateKeyPem: jwt.privateKeyPem.reveal(), keyId: jwt.keyId })
  const former = await publicKeyOf(now)
  const kept = jwt.publicKeys.filter(({ kid }) => kid !== now.keyId)
  console.log(`# 1. Give this to every process, and change nothing else: each then accepts tokens of the new key.
${others([...kept, await publicKeyOf(next)])}
# 2. When all of them have restarted, replace these three and restart again.
${signing}
${others([...kept, former])}
# 3. When the last session of the former key has been refreshed or has expired (JWT_REFRESH_EXPIRY), remove
#    JWT_PREVIOUS_PUBLIC_KEYS. A key that has leaked must not be in it at all: see the runbook.`)
} else {
  console.log(`# RS256 key for access, refresh and WebSocket tokens. Every replica needs the same one; keep it secret.
${signing}
# Signs registration tickets and one-time codes. The same holds for it.
REG_TICKET_SECRET=${randomBytes(32).toString('base64url')}
# Signs the messages between processes. The same holds for it.
BUS_KEY=${randomBytes(32).toString('base64url')}
# Of the PostgreSQL that ops/deploy/compose.yaml starts, of the server's role in it, and of the Redis.
POSTGRES_PASSWORD=${randomBytes(32).toString('hex')}
DATABASE_PASSWORD=${randomBytes(32).toString('hex')}
REDIS_PASSWORD=${randomBytes(32).toString('hex')}
# Encrypts backups (ops/deploy/backup). Keep a copy elsewhere: without it no backup can be restored.
BACKUP_KEY=${randomBytes(32).toString('base64url')}`)
}
