/** What of a tournament's match can be known before it is played: nothing that pays. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { ANCHOR_BY_ROLE } from '../../actors/kernel/limits.ts'
import { decimal, microsNearest, price } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { firstBelief } from '../../actors/market/belief/believe.ts'
import { DEFAULT_MODEL, EMPTY_PRICING, priceMatch } from '../../actors/market/pricing.ts'
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import { anchorsOf, type MatchPlan, simulateResult } from '../../actors/replay/generator/match-sim.ts'
import { FRAME_MS } from '../../actors/replay/recording.ts'
import { leaguePlan } from '../../ops/tools/market/league.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { tournamentMatch, tournamentPlan } from '../../src/replays/tournament-match.ts'

const startsAt = instant(Date.UTC(2026, 4, 6, 19))
/** Independent seeds, the same in every run. */
const seedOf = (n: number): string => createHash('sha256').update(`test ${n}`).digest('hex')
const planOf = (seed: string): MatchPlan => tournamentPlan({ seed, startsAt })
const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** What anybody sees before kick-off, start prices and names, and how the match ends. */
const seenOf = (plan: MatchPlan) => {
  const result = simulateResult(plan)
  const names = snapshotOf(result).players.map(({ name }) => name)
  return { prices: Object.values(anchorsOf(plan)), names, result: digest(result) }
}

function snapshotOf(payload: unknown) {
  const parsed = parseFixture(payload, {
    instrumentIdOf: (id) => instrumentIdFor('test', id),
    receivedAt: instant(0),
  })
  if (!parsed.ok) throw new Error(parsed.reason)
  return firstBelief(parsed.snapshot)
}

describe('the match of a tournament', () => {
  it('[G6] is the same for ever: who has the seed makes it again, byte for byte', async () => {
    const from = { seed: seedOf(1), startsAt }
    const [one, other] = [await tournamentMatch(from), await tournamentMatch(from)]
    expect(digest(one)).toBe(digest(other))
    // A change here is one to matches that are announced: it may be released only while none is.
    expect(digest([one.anchors, one.frames])).toBe('e2e62b69ec0ed0f205458632ca9b23a94eaa2154957d040810690e1e429eef8f')
  })

  it('[G6] needs each digit of the seed, for all that is announced and all that happens', () => {
    const seed = seedOf(2)
    const known = seenOf(planOf(seed))
    for (let at = 0; at < seed.length; at += 3) {
      const digit = (Number.parseInt(seed.charAt(at), 16) ^ 1).toString(16)
      const seen = seenOf(planOf(seed.slice(0, at) + digit + seed.slice(at + 1)))
      expect(seen.prices, `digit ${at}`).not.toEqual(known.prices)
      expect(seen.names, `digit ${at}`).not.toEqual(known.names)
      expect(seen.result, `digit ${at}`).not.toBe(known.result)
    }
  })

  it('[G6] shares neither its start prices nor its names with another', () => {
    const all = Array.from({ length: 24 }, (_, n) => seenOf(planOf(seedOf(n))))
    expect(new Set(all.map(({ prices }) => prices.join(' '))).size).toBe(all.length)
    for (const [n, { names }] of all.entries()) {
      const others = all.filter((_, m) => m !== n).map((other) => names.filter((name) => other.names.includes(name)))
      expect(Math.max(...others.map(({ length }) => length)), `match ${n}`).toBeLessThan(5)
    }
  })

  it('[G6] a search over 2^20 seeds by its start prices finds none, and finds a match of 32 bits', () => {
    /** Every side begins with a keeper and three defenders, whatever its formation. */
    const fits = (chance: Chance, prices: readonly number[]): boolean => {
      chance.uniform()
      return (['GK', 'DEF', 'DEF', 'DEF'] as const).every((role, n) => {
        const skill = 0.55 + 0.3 * (chance.uniform() + chance.uniform() + chance.uniform())
        return Math.round(decimal(ANCHOR_BY_ROLE[role]) * skill * Math.sqrt(skill)) === prices[n]
      })
    }
    const [secret, open] = [planOf(seedOf(3)), leaguePlan(65_432)]
    const [secretPrices, openPrices] = [Object.values(anchorsOf(secret)), Object.values(anchorsOf(open))]
    expect(fits(secret.chances().match, secretPrices), 'how prices are made').toBe(true)
    const found: string[] = []
    for (let seed = 0; seed < 2 ** 20; seed++) {
      if (fits(chanceFrom(seed), secretPrices)) found.push(`tournament: ${seed}`)
      if (fits(chanceFrom(seed), openPrices)) found.push(`league: ${seed}`)
    }
    expect(found).toEqual(['league: 65432'])
  })

  it('[G6] draws as the documented stream does: HMAC-SHA-256 of the seed in counter mode', () => {
    const seed = seedOf(4)
    const blocks = [0, 1].map((n) => createHmac('sha256', seed).update(`match ${n}`).digest())
    const { match } = planOf(seed).chances()
    const wanted = blocks.flatMap((block) => Array.from({ length: 8 }, (_, n) => block.readUInt32BE(4 * n) / 2 ** 32))
    expect(wanted.map(() => match.uniform())).toEqual(wanted)
  })

  it('[G6] fits into the time that every tournament has', async () => {
    for (let n = 0; n < 4; n++) {
      const { frames } = await tournamentMatch({ seed: seedOf(n), startsAt })
      expect(frames.length * FRAME_MS).toBeLessThan(2 * HOUR_MS)
    }
  })

  it('[G6] start prices foretell moves no better than those of league matches', () => {
    const matches = Array.from({ length: 40 }, (_, n) => n)
    const cups = correlation(matches.flatMap((n) => moves(planOf(seedOf(n)))))
    const leagues = correlation(matches.flatMap((n) => moves(leaguePlan(n + 1))))
    expect(Math.abs(cups - leagues)).toBeLessThan(0.15)
    expect(Math.abs(cups)).toBeLessThan(0.2)
  })
})

interface Move {
  readonly start: number
  readonly move: number
}

/** Start prices beside the usual one of the role, and how far full time is from them. */
function moves(plan: MatchPlan): readonly Move[] {
  const anchors = anchorsOf(plan)
  const snapshot = snapshotOf(simulateResult(plan))
  const players = snapshot.players
    .filter(({ details }) => details !== null)
    .map(({ playerId, side, role }) => {
      const start = price(microsNearest(present(anchors[playerId], 'an anchor')))
      return { playerId, side, role: role ?? 'MID', start, base: start }
    })
  const { bases } = priceMatch(snapshot, players, EMPTY_PRICING, DEFAULT_MODEL)
  return players.map(({ playerId, start }) => ({
    start: Math.log(start),
    move: Math.log(present(bases.get(playerId), 'a price') / start),
  }))
}

function correlation(all: readonly Move[]): number {
  const mean = (of: (one: Move) => number): number => all.reduce((sum, one) => sum + of(one), 0) / all.length
  const [start, move] = [mean((one) => one.start), mean((one) => one.move)]
  const shared = mean((one) => (one.start - start) * (one.move - move))
  const spread = (of: (one: Move) => number): number => Math.sqrt(mean(of))
  return shared / (spread((one) => (one.start - start) ** 2) * spread((one) => (one.move - move) ** 2))
}
