import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { lots, price, slope } from '../../actors/kernel/micros.ts'
import { exitPrice, type Instrument } from '../../actors/market/instrument.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { rule } from '../../db/postgres/rules.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, instrument, MATCH, p, u } from '../support/fixtures.ts'
import { insertInstrument, insertMatch } from '../support/rows.ts'

const MARKETS = 400

/** Players of every price, with crowds on the straight piece of the curve, at its bends and far beyond. */
function markets(): readonly { readonly at: Instrument; readonly exposure: number }[] {
  const chance = chanceFrom(18)
  const oneOf = <T>(...values: readonly T[]): T | undefined => values[chance.below(values.length)]
  const signed = (max: number): number => chance.below(2 * max) - max
  return Array.from({ length: MARKETS }, (_, n) => {
    const base = price(oneOf(5_000, 10_000, 10_050, u(200), chance.below(u(5_000)) + 1) ?? u(200))
    const over: Partial<Instrument> = {
      base,
      slope: slope(oneOf(1, 1_000, 1 + chance.below(250_000)) ?? 1),
      impactCapPpm: oneOf(0, 500, 5_000, 99_999) ?? 0,
      imbalance: lots(oneOf(0, signed(u(50)), signed(u(5_000)), signed(1e14)) ?? 0),
      endedImbalance: chance.happens(0.1) ? lots(oneOf(0, signed(u(500))) ?? 0) : null,
      settlement: chance.happens(0.1) ? p(123) : null,
    }
    return { at: instrument(n + 1, over), exposure: oneOf(signed(u(100)), signed(u(20_000))) ?? 1 }
  })
}

eachDatabase((open) => {
  const all = markets()

  beforeAll(async () => {
    const { db } = open()
    await insertMatch(db, info())
    for (const { at } of all)
      await insertInstrument(db, MATCH, at, exitPrice({ ...at, settlement: null }, at.imbalance))
  })

  it('[D2] the database computes the same exit prices as the match', async () => {
    for (const { at, exposure } of all) {
      const { rows } = await sql<{ found: number }>`
        select ${rule('exit_price')}(i, ${exposure}::bigint) as found from instruments i where i.id = ${at.id}`.execute(
        open().db,
      )
      expect(rows[0]?.found, JSON.stringify({ at, exposure })).toBe(exitPrice(at, lots(exposure)))
    }
  })
})
