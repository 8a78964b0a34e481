import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type PlayerId } from '../../actors/kernel/ids.ts'
import { decimal, type Price, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { firstBelief } from '../../actors/market/belief/believe.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { phaseOf } from '../../actors/market/phase.ts'
import { DEFAULT_MODEL, EMPTY_PRICING, type MatchNews, priceMatch } from '../../actors/market/pricing.ts'
import { anchorsOf, chancesFrom, type MatchPlan, simulateMatch } from '../../actors/replay/generator/match-sim.ts'
import { BUNDLED } from '../../ops/replays/plans.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'

const REPLAYS = join(import.meta.dirname, '../../ops/replays')
const START = price(200_000_000)

const plan = (seed: number, over: Partial<MatchPlan> = {}): MatchPlan => ({
  chances: chancesFrom(seed),
  fixtureId: 880_000 + seed,
  kickOff: instant(Date.UTC(2028, 1, 29, 18, 45, 0)),
  league: 'Test League',
  home: { name: 'Harbour', shortCode: 'HAR', expectedGoals: 1.35 },
  away: { name: 'Mill', shortCode: 'MIL', expectedGoals: 1.35 },
  ...over,
})

function snapshotOf(frame: unknown): FixtureSnapshot {
  const parsed = parseFixture(frame, {
    instrumentIdOf: (id) => instrumentIdFor('replay/test', id),
    receivedAt: instant(0),
  })
  if (!parsed.ok) throw new Error(parsed.reason)
  return firstBelief(parsed.snapshot)
}

interface Priced {
  readonly snapshots: readonly FixtureSnapshot[]
  /** Prices by player, one a frame. */
  readonly prices: readonly ReadonlyMap<PlayerId, Price>[]
  readonly news: readonly (MatchNews & { frame: number })[]
  readonly played: readonly PlayerId[]
}

/** Prices every `step`th frame. */
function priced(frames: readonly unknown[], step = 1): Priced {
  const snapshots = frames.filter((_, n) => n % step === 0 || n === frames.length - 1).map(snapshotOf)
  const prices: ReadonlyMap<PlayerId, Price>[] = []
  const news: (MatchNews & { frame: number })[] = []
  let memory = EMPTY_PRICING
  for (const [frame, snapshot] of snapshots.entries()) {
    const players = snapshot.players.map(({ playerId, side, role }) => {
      return { playerId, side, role: role ?? 'MID', start: START, base: prices.at(-1)?.get(playerId) ?? START }
    })
    const pricing = priceMatch(snapshot, players, memory, DEFAULT_MODEL)
    expect(pricing.refused).toBeNull()
    memory = pricing.memory
    prices.push(pricing.bases)
    news.push(...pricing.news.map((n) => ({ ...n, frame })))
  }
  const used = present(snapshots.at(-1), 'a frame').players.filter((p) => p.details !== null)
  return { snapshots, prices, news, played: used.map((p) => p.playerId) }
}

const digest = (frames: readonly unknown[]): string =>
  createHash('sha256')
    .update(frames.map((f) => JSON.stringify(f)).join('\n'))
    .digest('hex')

const states = (snapshots: readonly FixtureSnapshot[]): readonly (string | null)[] =>
  snapshots.map((s) => s.state).filter((state, n, all) => state !== all[n - 1])

describe('a simulated match', () => {
  const frames = simulateMatch(plan(3))
  const match = priced(frames)

  it('is the same for the same seed, and another for another', () => {
    expect(digest(simulateMatch(plan(3)))).toBe(digest(frames))
    expect(digest(simulateMatch({ ...plan(3), chances: chancesFrom(4) }))).not.toBe(digest(frames))
  })

  it('runs from before kick-off over half time to full time, its clock in steps of ten seconds', () => {
    expect(states(match.snapshots)).toEqual(['NS', 'INPLAY_1ST_HALF', 'HT', 'INPLAY_2ND_HALF', 'FT'])
    const halves = match.snapshots.filter((s) => phaseOf(s) === 'live').map((s) => present(s.periods.at(-1), 'period'))
    const clocks = halves.filter((p) => p.order === 2).map((p) => p.elapsedSecs)
    expect(clocks).toEqual(clocks.map((_, n) => n * 10))
    expect(clocks.at(-1)).toBeGreaterThanOrEqual(47 * 60)
    expect(match.snapshots[0]?.startsAt).toBe(instant(Date.UTC(2028, 1, 29, 18, 45, 0)))
    expect(frames[0]).toMatchObject({ starting_at: '2028-02-29 18:45:00' })
  })

  it('keeps its books: score, goals in the list, and goals of the players agree in every frame', () => {
    for (const { home, away, events, players } of match.snapshots.slice(6)) {
      const goals = (events ?? []).filter((e) => ['goal', 'penalty_goal', 'own_goal'].includes(e.kind))
      expect([home.goals, away.goals]).toEqual([
        goals.filter((e) => e.side === 'home').length,
        goals.filter((e) => e.side === 'away').length,
      ])
      const byPlayers = players.reduce((sum, p) => sum + (p.details?.[52] ?? 0) + (p.details?.[324] ?? 0), 0)
      expect(byPlayers).toBe(goals.length)
      const shots = players.filter((p) => (p.details?.[86] ?? 0) > (p.details?.[42] ?? 0))
      expect(shots).toEqual([])
    }
  })

  it('keeps the traps of the real feed', () => {
    const odd = snapshotOf(present(simulateMatch(plan(5)).at(-1), 'frame'))
    const raw = simulateMatch(plan(5)).at(-1) as { participants: { meta: { location: string } }[] }
    expect(raw.participants[0]?.meta.location).toBe('away')
    const ids = (odd.events ?? []).map((e) => e.id)
    expect(ids).not.toEqual(ids.toSorted((a, b) => a - b))
    expect(odd.players.filter((p) => p.details === null).every((p) => !p.starter)).toBe(true)
    expect(odd.players.some((p) => p.details === null)).toBe(true)
    const values = odd.players.flatMap((p) => Object.values(p.details ?? {}))
    expect(values).not.toContain(0)
    const early = match.snapshots.filter((s) => (s.periods[0]?.elapsedSecs ?? 0) < 600)
    expect(early.flatMap((s) => s.players)).not.toEqual([])
    expect(early.flatMap((s) => s.players.map((p) => p.details?.[118])).every((r) => r === undefined)).toBe(true)
    const late = present(match.snapshots.at(-1), 'frame').players.filter((p) => p.details?.[118] !== undefined)
    expect(late.length).toBeGreaterThan(20)
  })

  it('moves prices alive but not wild: flat at half time, small steps between events', () => {
    const [first, last] = [
      match.snapshots.findIndex((s) => s.state === 'HT'),
      match.snapshots.findLastIndex((s) => s.state === 'HT'),
    ]
    for (let n = first; n <= last; n += 1) expect(match.prices[n]).toEqual(match.prices[first - 1])
    const steps = match.played.flatMap((id) =>
      match.prices
        .slice(1)
        .map((now, n) => Math.abs(present(now.get(id), 'p') - present(match.prices[n]?.get(id), 'p')) / START),
    )
    const sorted = steps.toSorted((a, b) => a - b)
    expect(present(sorted.at(-1), 'step')).toBeLessThanOrEqual(0.075)
    expect(present(sorted[Math.floor(0.99 * sorted.length)], 'step')).toBeLessThan(0.008)
    expect(steps.filter((s) => s > 0).length / steps.length).toBeGreaterThan(0.5)
  })
})

describe('moments', () => {
  it('a goal is taken back by VAR: review, row and score gone, price back', () => {
    const { news, snapshots, prices } = priced(
      simulateMatch(plan(21, { moments: [{ kind: 'goal_disallowed', minute: 30, side: 'home' }] })),
    )
    const cancelled = present(
      news.find((n) => n.kind === 'goal_cancelled'),
      'cancelled goal',
    )
    const given = present(
      news.find((n) => n.kind === 'goal' && n.eventId === cancelled.eventId),
      'goal',
    )
    expect(
      news.some((n) => n.kind === 'var' && n.wholeMatch && n.frame > given.frame && n.frame < cancelled.frame),
    ).toBe(true)
    const scorer = present(given.playerIds[0], 'scorer')
    const at = (frame: number) => decimal(present(prices[frame]?.get(scorer), 'price'))
    expect(at(given.frame) - at(given.frame - 1)).toBeGreaterThan(5)
    expect(at(cancelled.frame) - at(cancelled.frame - 1)).toBeLessThan(-5)
    const [before, during] = [snapshots[given.frame - 1]?.home.goals ?? 0, snapshots[given.frame]?.home.goals ?? 0]
    expect([during - before, snapshots[cancelled.frame]?.home.goals]).toEqual([1, before])
  })

  it('a forced red card sends a player of that side off at that minute', () => {
    const { news, snapshots } = priced(
      simulateMatch(plan(22, { moments: [{ kind: 'red_card', minute: 58, side: 'away' }] })),
    )
    const red = present(
      news.find((n) => n.kind === 'red_card'),
      'red card',
    )
    const row = snapshots[red.frame]?.events?.find((e) => e.id === red.eventId)
    expect(row).toMatchObject({ kind: 'red', side: 'away', minute: 59 })
  })
})

describe('bundled replays', () => {
  it.each(BUNDLED)('$name holds exactly what its plan makes', async ({ name, title, plan: made }) => {
    const recording = await loadRecording(join(REPLAYS, `${name}.jsonl.br`))
    expect(recording).toMatchObject({
      name,
      title,
      anchors: anchorsOf(made),
      fixtureName: `${made.home.name} vs ${made.away.name}`,
    })
    expect(digest(recording.frames)).toBe(digest(simulateMatch(made)))
  })

  it('players are worth what their skill makes of their position, and differ', () => {
    const anchors = Object.values(anchorsOf(present(BUNDLED[0], 'plan').plan))
    expect(Math.min(...anchors)).toBeGreaterThan(40)
    expect(Math.max(...anchors)).toBeLessThan(500)
    expect(new Set(anchors).size).toBeGreaterThan(anchors.length / 2)
  })

  it('cup night goes through extra time and a shoot-out, and shows full time briefly before', async () => {
    const { frames } = await loadRecording(join(REPLAYS, 'cup-night.jsonl.br'))
    const { snapshots, prices } = priced(frames)
    expect(states(snapshots)).toEqual([
      'NS',
      'INPLAY_1ST_HALF',
      'HT',
      'INPLAY_2ND_HALF',
      'FT',
      'BREAK',
      'INPLAY_ET',
      'EXTRA_TIME_BREAK',
      'INPLAY_ET_2ND_HALF',
      'PEN_BREAK',
      'INPLAY_PENALTIES',
      'FT_PEN',
    ])
    const end = present(snapshots.at(-1), 'frame')
    expect(end.home.goals).toBe(end.away.goals)
    const kicks = end.events?.filter((e) => e.kind === 'shootout_goal' || e.kind === 'shootout_miss') ?? []
    expect(kicks.length).toBeGreaterThanOrEqual(6)
    const whistle = snapshots.findIndex((s) => s.state === 'INPLAY_PENALTIES')
    expect(prices.at(-1)).toEqual(prices[whistle])
  })

  it('goal feast and slow burner are what they are called', async () => {
    const feast = priced((await loadRecording(join(REPLAYS, 'goal-feast.jsonl.br'))).frames)
    expect(feast.news.filter((n) => n.kind === 'goal').length).toBeGreaterThanOrEqual(6)
    expect(feast.news.some((n) => n.kind === 'red_card')).toBe(true)
    const burner = priced((await loadRecording(join(REPLAYS, 'slow-burner.jsonl.br'))).frames)
    const end = present(burner.snapshots.at(-1), 'frame')
    expect(end.home.goals).toBe(end.away.goals)
    expect(burner.news.filter((n) => n.kind === 'goal_cancelled').length).toBe(1)
    const early = burner.news.filter((n) => (burner.snapshots[n.frame]?.periods.length ?? 0) < 2)
    expect(early).toEqual([])
  })
})
