/** The secrets that webhooks are signed with, each derived from a secret of the server: none is stored. */
import { createHash, hkdfSync } from 'node:crypto'

const BYTES = 32

/** The secret of the webhook with an id. */
export const webhookSecrets =
  (secret: string) =>
  (webhook: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, webhook, 'touchline webhook', BYTES))

/** A secret in the form that Standard Webhooks shows to people. */
export const shownSecret = (secret: Buffer): string => `whsec_${secret.toString('base64')}`

/** What is stored of a secret, to tell when it has changed. */
export const secretDigest = (secret: Buffer): string => createHash('sha256').update(secret).digest('hex')
