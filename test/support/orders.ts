/** Orders of tests that outlast a failure of the server. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { type HttpClient, type Order, read, TradeAnswer } from './http-client.ts'
import { PATIENCE } from './process.ts'

const TRIES = 500
const PAUSE_MS = 100

const Refused = z.looseObject({ code: z.string() })
/** Answers that leave open whether the order was carried out. */
const isOpen = (code: string): boolean => code === 'UNKNOWN_OUTCOME' || code === 'KEY_IN_FLIGHT'

/** A small long order of a forward that takes trades, at the price of the moment. */
export async function orderOf(user: HttpClient): Promise<Order> {
  const player = await vi.waitUntil(
    async () => (await user.instruments()).find((i) => i.position === 'FWD' && i.tradingStatus === 'OPEN'),
    PATIENCE,
  )
  return { instrumentId: player.id, direction: 'long', lotSize: 0.05, clientPrice: player.currentPrice }
}

/**
 * Retries until the order succeeds, as a client does: at the price of the moment, but with the same request once an
 * outcome was left open, since the key is that of the first. Returns how often the answer was 503.
 */
export async function opensEventually(user: HttpClient, key: string) {
  let refused = 0
  let isLeftOpen = false
  let order = await orderOf(user)
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await user.open(order, key)
    if (answer.status === 201) return { order, trade: read(answer, 201, TradeAnswer), refused }
    expect([503, 429, 409], JSON.stringify(answer.body)).toContain(answer.status)
    const { code } = Refused.parse(answer.body)
    if (answer.status === 503) refused++
    isLeftOpen = isOpen(code) || (isLeftOpen && answer.status !== 409)
    await pause(PAUSE_MS)
    if (!isLeftOpen) order = await orderOf(user)
  }
  throw new Error('the order never succeeded')
}
