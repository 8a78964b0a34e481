import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import {
  ALL_OPEN,
  TRADING_MODES,
  type TradingMode,
  tradingMode,
  type TradingModes,
} from '../../actors/kernel/trading-mode.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { info, instrument, MATCH, P, p, record, U, u } from '../support/fixtures.ts'
import { codeOf, ok, ActorRig } from '../support/actor-rig.ts'

const platform = (mode: TradingMode): TradingModes => ({ ...ALL_OPEN, platform: mode })

function restrict(stage: ActorRig, modes: TradingModes): void {
  stage.rules = { ...stage.rules, modes }
}

/** A user with a position that they may close. */
async function holding() {
  const stage = await ActorRig.set()
  const { position } = ok(await stage.opens({ lots: lots(u(1)) }))
  stage.world.pass(DEFAULT_RULES.holdMs)
  const changes = () => stage.changes(position.id, { stopLoss: p(190) })
  return { stage, position, changes }
}

describe('a trading mode', () => {
  it('[H12] reduce_only takes closes and level changes, and no opens', async () => {
    const { stage, position, changes } = await holding()
    restrict(stage, platform('reduce_only'))
    expect(stage.actor.window()).toEqual({ status: 'SUSPENDED', reason: 'positions can be closed, not opened' })
    expect(await stage.opens({ userId: U(2) })).toMatchObject({
      refusal: { code: 'market_suspended', window: { reason: 'positions can be closed, not opened' } },
    })
    expect(codeOf(await changes())).toBe('ok')
    expect(codeOf(await stage.closes(position.id))).toBe('ok')
  })

  it('[H12] halted refuses all user commands until it is open again', async () => {
    const { stage, position, changes } = await holding()
    restrict(stage, platform('halted'))
    const answers = [await stage.opens({ userId: U(2) }), await stage.closes(position.id), await changes()]
    expect(answers.map(codeOf)).toEqual(['market_suspended', 'market_suspended', 'market_suspended'])
    expect(answers[2]).toMatchObject({ refusal: { window: { status: 'SUSPENDED', reason: 'trading is halted' } } })
    restrict(stage, ALL_OPEN)
    expect([codeOf(await changes()), codeOf(await stage.closes(position.id))]).toEqual(['ok', 'ok'])
  })

  it.each(TRADING_MODES)('[H13] %s: stop-loss, take-profit, washout and full time still close', async (mode) => {
    const stage = await ActorRig.set({ users: 4 })
    const size = lots(u(1))
    await stage.opens({ userId: U(1), lots: size, stopLoss: p(199) })
    await stage.opens({ userId: U(2), lots: size, direction: 'short', takeProfit: p(199) })
    await stage.opens({ userId: U(3), lots: size, instrumentId: P(2) })
    await stage.opens({ userId: U(4), lots: size })
    restrict(stage, platform(mode))
    await stage.load({
      ...record({
        instruments: [instrument(1, { base: p(150), imbalance: size }), instrument(2, { imbalance: size })],
      }),
      openPositions: [...stage.store.positions.values()],
    })
    await stage.actor.clock()
    await stage.moves({ state: 'FINISHED', periods: [] })
    await stage.actor.clock()
    const reasons = [...stage.store.positions.values()].map(({ userId, close }) => [userId, close?.by])
    expect(Object.fromEntries(reasons)).toEqual({
      [U(1)]: 'stop_loss',
      [U(2)]: 'take_profit',
      [U(3)]: 'full_time',
      [U(4)]: 'washout',
    })
  })

  it('[H14] the strictest of the modes of platform, match and player applies', () => {
    for (const platformMode of TRADING_MODES) {
      for (const matchMode of TRADING_MODES) {
        for (const playerMode of TRADING_MODES) {
          const modes: TradingModes = {
            platform: platformMode,
            matches: new Map([[MATCH, matchMode]]),
            instruments: new Map([[P(1), playerMode]]),
          }
          const rank = (...of: TradingMode[]) =>
            TRADING_MODES[Math.max(...of.map((mode) => TRADING_MODES.indexOf(mode)))]
          expect(tradingMode(modes, MATCH, P(1))).toBe(rank(platformMode, matchMode, playerMode))
          expect(tradingMode(modes, MATCH, P(2))).toBe(rank(platformMode, matchMode))
          expect(tradingMode(modes, MATCH, null)).toBe(rank(platformMode, matchMode))
        }
      }
    }
  })

  it('[H14] halting a player leaves the others of the match open', async () => {
    const { stage } = await holding()
    restrict(stage, { ...ALL_OPEN, instruments: new Map([[P(1), 'halted']]) })
    expect(codeOf(await stage.opens({ userId: U(2) }))).toBe('market_suspended')
    expect(codeOf(await stage.opens({ userId: U(2), instrumentId: P(2) }))).toBe('ok')
    expect([stage.actor.window().status, stage.actor.window(P(1)).status]).toEqual(['OPEN', 'SUSPENDED'])
  })

  it('[H11] is refused after unknown and over, and before lateness, news, size and price', async () => {
    const stage = await ActorRig.set()
    restrict(stage, platform('halted'))
    const reasonOf = async (order: Parameters<ActorRig['opens']>[0]) => {
      const outcome = await stage.opens(order)
      if (outcome.ok) return 'ok'
      return 'window' in outcome.refusal ? outcome.refusal.window.reason : outcome.refusal.code
    }
    const wrong = { lots: lots(u(1_000)), clientPrice: p(100) }
    expect(await reasonOf({ ...wrong, instrumentId: P(99) })).toBe('not_found')
    stage.world.pass(stage.rules.feedStaleMs + 1)
    expect(await reasonOf(wrong)).toBe('trading is halted')
    await stage.load(record({ info: info({ phase: 'final' }) }))
    expect(await reasonOf(wrong)).toBe('the match is over')
  })

  it('[H11] of a close, after whose it is and before the hold, also between the end of a match and its settlement', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    restrict(stage, platform('halted'))
    stage.world.pass(SECOND_MS)
    expect(codeOf(await stage.closes(position.id, U(2)))).toBe('not_found')
    expect(codeOf(await stage.closes(position.id))).toBe('market_suspended')
    restrict(stage, ALL_OPEN)
    expect(codeOf(await stage.closes(position.id))).toBe('cooldown_active')
    await stage.moves({ state: 'FT', periods: [] })
    stage.world.pass(DEFAULT_RULES.holdMs - SECOND_MS)
    restrict(stage, platform('halted'))
    expect(codeOf(await stage.closes(position.id))).toBe('market_suspended')
    restrict(stage, ALL_OPEN)
    expect(codeOf(await stage.closes(position.id))).toBe('ok')
  })
})
