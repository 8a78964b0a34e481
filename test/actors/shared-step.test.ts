import { describe, expect, it } from 'vitest'
import type { PositionId } from '../../actors/kernel/ids.ts'
import { lots, price, type Price } from '../../actors/kernel/micros.ts'
import type { MatchStore } from '../../actors/match/store.ts'
import { ActorRig, type ActorRigOptions, codeOf, ok } from '../support/actor-rig.ts'
import { instrument, P, p, record, U, u } from '../support/fixtures.ts'
import type { TestWorld } from '../support/test-world.ts'
import { committing } from '../support/committing.ts'

const CROWD = 40
const BATCH = 6

/** Closes in one commit each, as the store took them. */
type Closes = { readonly id: PositionId; readonly price: Price }[][]

/** A crowd of longs on player 1, whose levels are all on one price or each a little below the last. */
async function crowded(level: (n: number) => Price, options: ActorRigOptions = {}) {
  const closes: Closes = []
  const wrap = (store: MatchStore, world: TestWorld): MatchStore =>
    committing(store, async (batch) => {
      const verdict = await (options.wrap?.(store, world) ?? store).commit(batch)
      if (verdict.kind === 'committed') {
        closes.push(
          batch.events.flatMap((event) =>
            event.kind === 'position_closed' ? [{ id: event.position.id, price: event.position.close.price }] : [],
          ),
        )
      }
      return verdict
    })
  const impactCapPpm = 100_000
  const rules = { impactCapPpm, holdMs: 0 }
  const instruments = [1, 2].map((n) => instrument(n, { impactCapPpm }))
  const stage = await ActorRig.set({
    users: CROWD + 5,
    rules,
    record: record({ instruments }),
    batchMax: BATCH,
    ...options,
    wrap,
  })
  for (let n = 0; n < CROWD; n++) {
    ok(await stage.opens({ userId: U(n + 1), lots: lots(u(0.1)), stopLoss: level(n), idempotency: keyed(n) }))
  }
  closes.length = 0
  return { stage, closes }
}

const keyed = (n: number) => ({ id: `cccccccc-0000-7000-8000-${n.toString().padStart(12, '0')}`, fingerprint: 'one' })
const oneLevel = () => p(199.5)
/** Each is reached by the removal of the one before: 0.1 lots move the price by 0.001. */
const ladder = (n: number) => price(199_900_000 - n * 1_000)

/** Sells so much that the price falls by a hundredth for each lot, and waits until everybody who is reached is out. */
async function falls(stage: ActorRig, size: number) {
  const order = stage.opens({ userId: U(CROWD + 1), direction: 'short', lots: lots(u(size)) })
  const code = await order.then(codeOf, () => 'fault')
  await stage.actor.stop()
  return code
}

const pricesIn = (closes: Closes): Map<PositionId, Price> =>
  new Map(closes.flatMap((batch) => batch.map((closed) => [closed.id, closed.price])))

describe('levels that one commit cannot close', () => {
  it('[T35] on one level: all are paid the mean of the whole step, in bounded commits', async () => {
    const [{ stage, closes }, whole] = [await crowded(oneLevel), await crowded(oneLevel, { batchMax: 1_000 })]
    expect(await falls(stage, 99)).toBe('ok')
    await falls(whole.stage, 99)
    expect(Math.max(...closes.map((batch) => batch.length))).toBe(BATCH)
    expect(closes.flat()).toHaveLength(CROWD)
    expect(whole.closes.map((batch) => batch.length)).toEqual([CROWD])
    expect(pricesIn(closes)).toEqual(pricesIn(whole.closes))
    expect(new Set(pricesIn(closes).values()).size).toBe(1)
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ leavingFrom: null, imbalance: u(-99) })
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T35] on a ladder: everybody is paid what one commit would pay them', async () => {
    const [{ stage, closes }, whole] = [await crowded(ladder), await crowded(ladder, { batchMax: 1_000 })]
    expect(await falls(stage, 14)).toBe('ok')
    await falls(whole.stage, 14)
    expect(closes.flat().length).toBeGreaterThan(3 * BATCH)
    expect(Math.max(...closes.map((batch) => batch.length))).toBe(BATCH)
    expect(pricesIn(closes)).toEqual(pricesIn(whole.closes))
    expect(new Set(pricesIn(closes).values()).size).toBeGreaterThan(BATCH)
  })

  it.each([
    ['one level', oneLevel, 99],
    ['a ladder', ladder, 14],
  ] as const)('[T35] on %s: a crash at any commit changes nobody’s price', async (_, level, size) => {
    const whole = await crowded(level, { batchMax: 1_000 })
    await falls(whole.stage, size)
    for (const written of [false, true]) {
      let isCut = true
      for (let n = 1; isCut; n++) {
        const power = { commits: Number.POSITIVE_INFINITY }
        const wrap = (store: MatchStore): MatchStore =>
          committing(store, async (batch) => {
            const isOff = --power.commits === 0
            if (isOff && !written) throw new Error('power cut')
            const verdict = await store.commit(batch)
            if (isOff) throw new Error('power cut')
            return verdict
          })
        const { stage, closes } = await crowded(level, { wrap })
        power.commits = n
        const code = await falls(stage, size)
        isCut = stage.stopped?.reason === 'fault'
        expect(isCut || n > CROWD / BATCH).toBe(true)
        power.commits = Number.POSITIVE_INFINITY
        await stage.load()
        await stage.actor.clock()
        if (code !== 'ok' && !written) expect(await falls(stage, size)).toBe('ok')
        expect(pricesOf(stage)).toEqual(pricesIn(whole.closes))
        expect(Math.max(...closes.map((batch) => batch.length))).toBeLessThanOrEqual(BATCH)
        expect(stage.actor.view.instrument(P(1))?.leavingFrom).toBeNull()
        expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
      }
    }
  })

  it('[T35] meanwhile the instrument takes no trades, the match waits, and the rest of the market goes on', async () => {
    const { stage } = await crowded(oneLevel)
    const other = ok(await stage.opens({ userId: U(CROWD + 2), instrumentId: P(2) }))
    const own = ok(await stage.opens({ userId: U(CROWD + 3), takeProfit: p(250) }))
    const sale = stage.opens({ userId: U(CROWD + 1), direction: 'short', lots: lots(u(99)) })
    await sale
    expect(stage.actor.window(P(1))).toMatchObject({ status: 'SUSPENDED' })
    expect(stage.actor.window(P(2)).status).toBe('OPEN')
    const goal = stage.moves()
    const answers = await Promise.all([
      stage.opens({ userId: U(CROWD + 4), clientPrice: p(199.5) }),
      stage.closes(own.position.id, U(CROWD + 3)),
      stage.changes(own.position.id, { takeProfit: null }, U(CROWD + 5)),
      stage.closes(other.position.id, U(CROWD + 2)),
    ])
    expect(answers.map(codeOf)).toEqual(['market_suspended', 'market_suspended', 'not_found', 'ok'])
    const open = (): number => stage.actor.view.positionsOf(U(CROWD)).length
    expect(open()).toBe(1)
    expect(await goal).toBe(true)
    expect(open()).toBe(0)
    expect(stage.actor.window(P(1)).status).toBe('OPEN')
  })

  it('[T35] an owner cannot take back a level that has been reached', async () => {
    const { stage } = await crowded(oneLevel)
    await stage.opens({ userId: U(CROWD + 1), direction: 'short', lots: lots(u(99)) })
    const [last] = stage.actor.view.positionsOf(U(CROWD))
    const change = stage.changes(last?.id ?? ('' as PositionId), { stopLoss: null }, U(CROWD))
    expect(codeOf(await change)).toBe('market_suspended')
  })

  it('[T35] a match that is abandoned meanwhile voids only what no price had reached', async () => {
    const { stage, closes } = await crowded((n) => (n % 2 === 0 ? p(199.5) : p(100)))
    await stage.opens({ userId: U(CROWD + 1), direction: 'short', lots: lots(u(99)) })
    for (const _ of [1, 2]) await stage.moves({ state: 'ABANDONED', stateId: 15, periods: [] })
    await stage.actor.stop()
    const by = [...stage.store.positions.values()].map(({ close }) => close?.by)
    expect(by.filter((one) => one === 'stop_loss')).toHaveLength(CROWD / 2)
    expect(by.filter((one) => one === 'void')).toHaveLength(CROWD / 2 + 1)
    expect(closes.length).toBeGreaterThan(3)
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })
})

function pricesOf(stage: ActorRig): Map<PositionId, Price> {
  return new Map(
    [...stage.store.positions.values()].flatMap(({ id, close }) => (close === null ? [] : [[id, close.price]])),
  )
}
