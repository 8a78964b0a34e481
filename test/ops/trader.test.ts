import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { type Market, SimulatedTrader } from '../../ops/rehearse/rig/simulated-trader.ts'
import { TradingTally } from '../../ops/rehearse/rig/trading-tally.ts'

test.each([true, false])('a trader with nothing to order lets other tasks run (rushed: %s)', async (isRushed) => {
  const chance = chanceFrom(1)
  let drawn = 0
  const counted = {
    ...chance,
    pick<T>(items: readonly T[], weight: (item: T) => number): T | null {
      // A loop that never waits would block this test for ever.
      if (++drawn === 100_000) throw new Error('it never waited')
      return chance.pick(items, weight)
    },
  }
  const market: Market = { instruments: [], isClosed: false, isRushed }
  const playing = new SimulatedTrader('Idle', counted, new TradingTally()).play('http://127.0.0.1:9', market)
  await pause(20)
  market.isClosed = true
  await expect(playing).resolves.toBeUndefined()
})
