/** Standard Webhooks: the headers of a message, with a signature over its id, the time of sending and the body. */
import { createHmac } from 'node:crypto'
import { type Instant, SECOND_MS } from '../../../actors/kernel/world.ts'

interface Message {
  readonly id: string
  readonly body: string
  readonly at: Instant
}

export function signedHeaders(secret: Buffer, { id, body, at }: Message): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / SECOND_MS))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'Touchline',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
