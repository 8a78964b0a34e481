/** A small, fixed part of what `npm run ops -- market` plays: public knowledge must earn nothing. */
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { leagueMatch } from '../../ops/tools/market/league.ts'
import { play, type Strategy, type Trade } from '../../ops/tools/market/play.ts'
import { beats, type Line, lineOf, tableOf } from '../../ops/tools/market/report.ts'
import { battery } from '../../ops/tools/market/strategies.ts'

const MATCHES = 10
const FROM = 9_000

const none = { GK: 0, DEF: 0, MID: 0, FWD: 0 }
/** Expects the same of every player of a role, as if nobody knew prices and odds beforehand. */
const BLIND: ScoringModel = { ...DEFAULT_MODEL, parBy: { worth: none, goals: none, conceded: none } }

/** What the strategies without private information earn, by name. */
function earned(model: ScoringModel): ReadonlyMap<string, Line> {
  const played: (readonly Trade[])[] = []
  let strategies: readonly Strategy[] = []
  for (let n = 0; n < MATCHES; n += 1) {
    const match = leagueMatch(FROM + n)
    strategies = battery({ ...match, levelDistancePpm: 0, seed: FROM + n }).filter(({ knows }) => knows === 'public')
    played.push(play({ fixture: match.fixture, model, rules: DEFAULT_RULES, strategies }).trades)
  }
  return new Map(strategies.map((strategy) => [strategy.name, lineOf(strategy, played)]))
}

describe('a market of simulated matches', () => {
  let lines: ReadonlyMap<string, Line>
  beforeAll(() => {
    lines = earned(DEFAULT_MODEL)
  }, 120_000)

  it('pays no strategy that knows only what everybody can see', () => {
    expect(lines.size).toBeGreaterThanOrEqual(19)
    const winners = [...lines.values()].filter(beats)
    expect(winners, tableOf(winners)).toEqual([])
  })

  it('shows no direction after an event: who buys the scorer later earns no less than who buys at once', () => {
    const at = (secs: number) => lines.get(`long the scorer +${secs} s`)?.roiPct ?? Number.NaN
    expect(Math.abs(at(10) - at(60))).toBeLessThan(3)
    expect(Math.abs(lines.get('follow moves of 0.1 %')?.roiPct ?? Number.NaN)).toBeLessThan(1)
  })

  it('would pay who knows prices and odds, if it expected the same of every player', () => {
    const blind = earned(BLIND)
    expect(blind.get('short the three worst by price')?.roiPct).toBeGreaterThan(8)
    expect([...blind.values()].some(beats)).toBe(true)
  }, 120_000)
})
