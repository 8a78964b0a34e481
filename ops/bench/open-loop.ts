/**
 * An open load: a number of requests a second, whatever the answers do, as a crowd sends them. Above the limit of
 * unanswered ones a request is left out, which the rate then shows.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Load, quantilesOf } from './closed-loop.ts'

export interface OpenLoad {
  readonly rate: number
  readonly seconds: number
  readonly underWayMax: number
  /** Sends one request and resolves with its answer. A rejection ends the load. */
  readonly ask: () => Promise<void>
}

const TURN_MS = 1

/** Resolves when all are answered. */
export async function openLoop({ rate, seconds, underWayMax, ask }: OpenLoad): Promise<Load> {
  const tookMs: number[] = []
  const underWay = new Set<Promise<void>>()
  const failures: unknown[] = []
  const one = async (askedAt: number): Promise<void> => {
    await ask().catch((error: unknown) => failures.push(error))
    tookMs.push(performance.now() - askedAt)
  }
  const from = performance.now()
  const until = from + seconds * 1_000
  let due = 0
  for (let now = from; now < until && failures.length === 0; now = performance.now()) {
    for (; due < ((now - from) / 1_000) * rate; due++) {
      if (underWay.size >= underWayMax) continue
      const asked = one(now).finally(() => underWay.delete(asked))
      underWay.add(asked)
    }
    await pause(TURN_MS)
  }
  await Promise.all(underWay)
  if (failures.length > 0) throw failures[0]
  return { answered: tookMs.length, perSecond: tookMs.length / seconds, ...quantilesOf(tookMs) }
}
