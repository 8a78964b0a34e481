/** Whether processes can send each other messages. */
import { randomUUID } from 'node:crypto'
import { NatsPubSub } from '../../../db/fast/pub-sub-nats.ts'
import type { Config } from '../../../src/config.ts'
import { natsServers } from '../../../src/variables.ts'
import { failed, type Finding, ok } from './finding.ts'

const HEARD_WITHIN_MS = 2_000

/** Sends itself a message. Without NATS_URL messages go through Redis, which has a check of its own. */
export async function checkBus({ natsUrl }: Config): Promise<readonly Finding[]> {
  if (natsUrl === null) return []
  const nats = await NatsPubSub.connect({ urls: natsServers(natsUrl.reveal()), prefix: `preflight-${randomUUID()}` })
  try {
    const heard = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => heard.resolve(false), HEARD_WITHIN_MS)
    await nats.subscribe('self', () => heard.resolve(true))
    await nats.publish('self', Buffer.from('hello'))
    const isHeard = await heard.promise
    clearTimeout(timer)
    return [
      isHeard
        ? ok('bus', 'NATS')
        : failed('bus', 'NATS takes messages and delivers none; check the account of NATS_URL'),
    ]
  } finally {
    await nats.close()
  }
}
