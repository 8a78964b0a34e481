import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, leagueId } from '../../actors/kernel/ids.ts'
import { money, price } from '../../actors/kernel/micros.ts'
import { MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Batch } from '../../actors/match/store.ts'
import { baseMoveOf, type ClosedPosition, pnlAt, type Position } from '../../actors/position/position.ts'
import { HouseResult, type HouseTrade } from '../../src/observe/house-result.ts'
import { observedStore } from '../../src/observe/observed.ts'
import { ActorRig, ok } from '../support/actor-rig.ts'
import { GOAL, player, U } from '../support/fixtures.ts'

const ignore = () => undefined
const quiet = { debug: () => undefined } as never

/** A match whose every committed batch is read. */
async function watched() {
  const counted: HouseTrade[] = []
  const batches: Batch[] = []
  let gained = 0
  const house = new HouseResult(
    (trade) => counted.push(trade),
    (gain) => (gained += gain),
  )
  const rig = await ActorRig.set({
    rules: { holdMs: 0 },
    users: 6,
    wrap: (store, world) =>
      observedStore(store, {
        world,
        log: quiet,
        observe: ({ batch, verdict }) => {
          if (verdict !== 'committed') return
          batches.push(batch)
          house.take(batch)
        },
      }),
  })
  const shows = (shots: number, passes: number) =>
    rig.moves({ players: [player(1, { details: { 86: shots, 116: passes } })] })
  const opens = async (n: number) => ok(await rig.opens({ userId: U(n) })).position
  const closes = async (id: Parameters<typeof rig.closes>[0], n: number) => ok(await rig.closes(id, U(n)))
  const pnlOf = () =>
    [...rig.store.positions.values()].reduce((sum, position) => sum + (position.close?.pnl ?? 0), 0) / 1e6
  await shows(0, 1)
  return { rig, counted, batches, shows, opens, closes, pnlOf, gained: () => gained }
}

const isClosed = (position: Position): position is ClosedPosition => position.close !== null

const kinds = (counted: readonly HouseTrade[]) => counted.map(({ opened, closed }) => `${opened} ${closed}`)

describe("the house's result", () => {
  it('tells trades by how near to news they were opened and closed, each once and when that is known', async () => {
    const { rig, counted, shows, opens, closes, pnlOf } = await watched()
    const { world } = rig
    const held = await opens(1)
    world.pass(5 * MINUTE_MS)
    const early = await opens(2)
    world.pass(8 * SECOND_MS)
    const leaving = await opens(3)
    world.pass(3 * SECOND_MS)
    await closes(leaving.id, 3)
    expect(counted).toEqual([])
    world.pass(6 * SECOND_MS)
    await shows(4, 2)
    world.pass(SECOND_MS)
    await closes(early.id, 2)
    world.pass(40 * SECOND_MS)
    const after = await opens(4)
    world.pass(5 * MINUTE_MS)
    await closes(after.id, 4)
    world.pass(7 * MINUTE_MS)
    await shows(4, 3)
    expect(kinds(counted)).toEqual(['before_10s before_10s', 'before_20s after_60s', 'after_60s quiet'])
    expect(counted[1]?.paid).toBeGreaterThan(1)
    await closes(held.id, 1)
    await opens(5)
    world.pass(2 * MINUTE_MS)
    await rig.moves({ state: 'FINISHED', stateId: 8, periods: rig.whistled() })
    await rig.actor.stop()
    expect(kinds(counted.slice(3))).toEqual(['quiet quiet', 'quiet end'])
    expect(counted.reduce((sum, { paid }) => sum + paid, 0)).toBeCloseTo(pnlOf(), 6)
    expect(counted.every(({ margin }) => margin > 0)).toBe(true)
  })

  it('[T24] tells what a crowd gained at full time by leaving at the shown price, and nothing where a match is void', async () => {
    for (const state of ['FINISHED', 'ABANDONED'] as const) {
      const { rig, opens, gained, shows } = await watched()
      for (const n of [1, 2, 3]) await opens(n)
      await shows(0, 2)
      const end = { state, stateId: state === 'FINISHED' ? 8 : 15, periods: rig.whistled() }
      for (let n = 0; n < 3; n++) {
        await rig.moves(end)
        rig.world.pass(10 * MINUTE_MS)
      }
      await rig.actor.stop()
      const closed = [...rig.store.positions.values()].filter(isClosed)
      expect(closed.map(({ close }) => close.by)).toEqual(Array(3).fill(state === 'FINISHED' ? 'full_time' : 'void'))
      const byCrowd = closed.map((position) => position.close.pnl - baseMoveOf(position, position.close.base))
      expect(gained()).toBeCloseTo(byCrowd.reduce((sum, part) => sum + part, 0) / 1e6, 4)
      expect(gained() > 0).toBe(state === 'FINISHED')
    }
  })

  it('[T12] tells what a gap would have cost beyond the margin', async () => {
    const { rig, counted, batches, opens } = await watched()
    const { position } = ok(await rig.opens({ direction: 'short' }))
    const goals = Array.from({ length: 4 }, (_, n) => ({ ...GOAL, id: 700 + n, result: `${n + 1}-0` }))
    const scored = { events: goals, home: { id: 1, name: 'Harbour', goals: goals.length } }
    for (let n = 0; n < 4; n++) await rig.moves({ ...scored, players: [player(1, { details: { 52: goals.length } })] })
    rig.world.pass(10 * MINUTE_MS)
    await opens(2)
    expect(rig.closeOf(position.id)).toMatchObject({ by: 'washout', pnl: -position.margin })
    const last = batches.find(({ events }) => events.some(({ kind }) => kind === 'position_closed'))
    const moves = present(last, 'a batch').events.filter((event) => event.kind === 'price_moved')
    const left = present(
      moves.find(({ cause }) => cause === 'trade'),
      'the move of its close',
    )
    const fill = (left.previous + left.quote.price) / 2
    const beyond = -pnlAt(position, price(Math.round(fill))) - position.margin
    expect(counted).toHaveLength(1)
    expect(counted[0]?.beyondMargin).toBeCloseTo(beyond / 1e6, 4)
    expect(beyond).toBeGreaterThan(0)
  })

  it('does not guess at openings that it has not seen, and leaves out replays', async () => {
    const { rig, batches, opens, closes } = await watched()
    const one = await opens(1)
    rig.world.pass(MINUTE_MS)
    const before = batches.length
    await closes(one.id, 1)
    const late = batches.slice(before)
    const told = (over: Partial<Batch>) => {
      const counted: HouseTrade[] = []
      const house = new HouseResult((trade) => counted.push(trade), ignore)
      for (const batch of late) house.take({ ...batch, ...over })
      const settled = { kind: 'match_updated', info: { settledAt: rig.world.now() } } as unknown as MatchEvent
      house.take({ matchId: fixtureId(90_001), at: rig.world.now(), ...over, events: [settled] })
      return kinds(counted)
    }
    expect(told({})).toEqual(['unseen quiet'])
    expect(told({ matchId: fixtureId(4_000_000_001) })).toEqual([])
  })

  it('leaves out leagues: what they pay is not the money of the game', async () => {
    const { rig, counted, closes, opens } = await watched()
    const league = leagueId('00000000-0000-4000-8000-00000000000a')
    rig.store.join(U(1), money(1_000_000_000), league)
    const { position } = ok(await rig.opens({ league }))
    await closes(position.id, 1)
    const own = await opens(2)
    rig.world.pass(MINUTE_MS)
    await closes(own.id, 2)
    rig.world.pass(10 * MINUTE_MS)
    await opens(3)
    expect(counted).toHaveLength(1)
  })

  it('counts ten thousand closes of one minute once each', () => {
    const counted: HouseTrade[] = []
    const house = new HouseResult((trade) => counted.push(trade), ignore)
    const at = 1_000_000
    const position = (n: number) => ({
      id: `p${n}`,
      purse: 'main',
      instrumentId: 'i',
      openedAt: at - 1,
      margin: 10,
      close: { at, by: 'user', pnl: n },
    })
    const events = Array.from({ length: 10_000 }, (_, n) => ({ kind: 'position_closed', position: position(n) }))
    const batch = (over: object) => ({ matchId: fixtureId(1), at, events: [], ...over }) as unknown as Batch
    house.take(batch({ events }))
    house.take(batch({ events }))
    house.take(batch({ at: at + 8 * MINUTE_MS }))
    house.take(batch({ at: at + 9 * MINUTE_MS }))
    expect(counted).toHaveLength(10_000)
  })
})
