/** The guard that protects clients from a price they did not see. */
import { PPM, type Price } from '../kernel/micros.ts'

/**
 * Whether the price a client saw is further from the last published one than the guard allows. Exactly at it passes.
 */
export function priceMoved(clientPrice: Price, published: Price, guardPpm: number): boolean {
  return BigInt(Math.abs(clientPrice - published)) * BigInt(PPM) > BigInt(published) * BigInt(guardPpm)
}
