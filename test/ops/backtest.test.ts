import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backtest } from '../../ops/backtest/backtest.ts'
import { described } from '../../ops/backtest/report.ts'
import type { Order, Strategy } from '../../ops/backtest/strategy.ts'
import { recordedMatch } from '../../src/match-run/recorded-match.ts'
import followTheRise from '../../ops/examples/strategy.ts'
import { loadRecording } from '../../src/replays/recordings.ts'

/** Twenty-five minutes of a recording, with its goals. */
const recording = await loadRecording(join(import.meta.dirname, '../../ops/replays/goal-feast.jsonl.br'))
const match = recordedMatch({ ...recording, frames: recording.frames.slice(60, 210) }, 'backtest/test')

it('the example trades, what the traders have is what the house has not, and it repeats', async () => {
  const result = await backtest(match, followTheRise, 40)
  expect(result.opened).toBeGreaterThan(20)
  const ended = Object.values(result.closedBy).reduce((sum, count) => sum + count, 0)
  expect(ended).toBe(result.opened)
  const won = result.equity.reduce((sum, curve) => sum + (curve.at(-1) ?? 0) - 10_000, 0)
  expect(won + result.house).toBeCloseTo(0, 6)
  expect(result.equity.every((curve) => curve.length === 28 && curve[0] === 10_000)).toBe(true)
  expect(await backtest(match, followTheRise, 40)).toEqual(result)
  expect(described('test', result, 10)).toContain('40 traders')
})

it('orders meet the rules of the game: hold, funds, sizes, unknown players and positions', async () => {
  const tries: Strategy = () => {
    let turn = 0
    return ({ instruments, positions }): readonly Order[] => {
      // A hundred lots of the dearest player cost more than anyone has.
      const [one] = instruments
        .filter(({ tradingStatus }) => tradingStatus === 'OPEN')
        .toSorted((a, b) => b.currentPrice - a.currentPrice)
      if (one === undefined || turn > 6) return []
      const open = { kind: 'open', instrumentId: one.id, direction: 'long', lotSize: 1 } as const
      const [held] = positions
      turn++
      if (turn === 1) return [open]
      if (turn === 2) return held === undefined ? [] : [{ kind: 'close', positionId: held.id }]
      if (turn === 3)
        return [
          { ...open, lotSize: 100 },
          { ...open, lotSize: Number.NaN },
          { ...open, lotSize: -1 },
        ]
      if (turn === 4)
        return [
          { ...open, lotSize: 0.001 },
          { ...open, instrumentId: 'nobody' },
        ]
      if (turn === 5)
        return [
          { kind: 'close', positionId: 'none' },
          { ...open, stopLoss: one.currentPrice * 2 },
        ]
      return Array.from({ length: 25 }, () => ({ ...open, lotSize: 0.01 }))
    }
  }
  const { opened, refused } = await backtest(match, tries, 1)
  expect(refused).toEqual({
    cooldown_active: 1,
    insufficient_margin: 1,
    invalid: 2,
    lot_size_invalid: 1,
    not_found: 2,
    levels_invalid: 1,
    too_many: 10,
  })
  expect(opened).toBe(41)
})

it('a strategy that throws ends the run with its error', async () => {
  const broken: Strategy = () => () => {
    throw new Error('a mistake of the strategy')
  }
  await expect(backtest(match, broken, 1)).rejects.toThrow('a mistake of the strategy')
})
