/** Prints new secrets for a server's environment: `npm run ops -s -- keygen >> .env` (without `-s` npm prints what it runs, too). */
import { randomBytes } from 'node:crypto'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'

const pem = await newPrivateKeyPem()
const { keyId } = await loadOrCreateKeys({ dataDir: '.', privateKeyPem: pem, keyId: null })

console.log(`# RS256 key for access, refresh and WebSocket tokens. Every replica needs the same one; keep it secret.
JWT_PRIVATE_KEY="${pem.trimEnd().replaceAll('\n', '\\n')}"
JWT_KEY_ID=${keyId}
# Signs registration tickets and one-time codes. The same holds for it.
REG_TICKET_SECRET=${randomBytes(32).toString('base64url')}`)
