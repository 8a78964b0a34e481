/** Orders of tests that outlast a failure of the server. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { type HttpClient, type Order, read, TradeAnswer } from './http-client.ts'
import { PATIENCE } from './process.ts'

const TRIES = 500
const PAUSE_MS = 100

const Refused = z.looseObject({ code: z.string() })
/** Whether an answer does not tell if the order was carried out. */
const isUnknown = (code: string): boolean => code === 'UNKNOWN_OUTCOME' || code === 'KEY_IN_FLIGHT'

/** A small long order of a forward that takes trades, at the price of the moment. */
export async function orderOf(user: HttpClient): Promise<Order> {
  const player = await vi.waitUntil(
    async () => (await user.instruments()).find((i) => i.position === 'FWD' && i.tradingStatus === 'OPEN'),
    PATIENCE,
  )
  return { instrumentId: player.id, direction: 'long', lotSize: 0.05, clientPrice: player.currentPrice }
}

/**
 * Retries until the order succeeds, as a client does. It orders at the price of the moment, but repeats the request
 * while its outcome is unknown, because the key may belong to it. Returns how often the answer was 503. Fails on 429
 * unless the test expects a rate limit.
 */
export async function opensEventually(user: HttpClient, key: string, { isLimited = false } = {}) {
  let refused = 0
  let mustRepeat = false
  let order = await orderOf(user)
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await user.open(order, key)
    if (answer.status === 201) return { order, trade: read(answer, 201, TradeAnswer), refused }
    expect(isLimited ? [503, 409, 429] : [503, 409], JSON.stringify(answer.body)).toContain(answer.status)
    const { code } = Refused.parse(answer.body)
    if (answer.status === 503) refused++
    mustRepeat = isUnknown(code) || (mustRepeat && answer.status !== 409)
    await pause(PAUSE_MS)
    if (!mustRepeat) order = await orderOf(user)
  }
  throw new Error('the order never succeeded')
}
