/**
 * Five hundred honest traders and planted cheats in one match, through the real actor. The honest live as people do:
 * some in households on one network, some in a school in which one has invited twelve others.
 */
import { present } from '../../../actors/kernel/assert.ts'
import { type InstrumentId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../../actors/kernel/limits.ts'
import { lots, money, type Price, price } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import type { Connections, Opening } from '../../../actors/integrity/findings.ts'
import { quoteOf } from '../../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../../actors/market/pricing.ts'
import { type Direction, type Position, signOf } from '../../../actors/position/position.ts'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { HABITS, nextAction } from '../../../actors/replay/traders.ts'
import { type Fixture, play } from '../market/play.ts'
import { type Desk, type Floor, type Foresight, type Strategy, UPDATE_MS } from '../market/strategy.ts'

export interface Town {
  readonly openings: readonly Opening[]
  readonly connections: readonly Connections[]
  readonly cheats: ReadonlySet<UserId>
  readonly honest: readonly UserId[]
}

const HONEST = 500
const HOUSEHOLDS = 40
const PUPILS = 30
const INVITED = 12
const COURTSIDERS = 3
const FORESIGHT_MS = 8_000
const RING = 11
const FARM = 50
/** As many as the reward asks closes, and one. */
const FARM_OPENINGS = 6
const WASH_PAIRS = 5
const COPIERS = 10
/** One turn of an honest trader, on average. */
const TURN_MS = 40_000
const MARK_MS = 10_000

const NAME = 'town'
const named = (account: string): UserId => userId(`${NAME}/${account}`)
const opposite = (direction: Direction): Direction => (direction === 'long' ? 'short' : 'long')
const size = (hundredths: number) => lots(hundredths * 10_000)

/** Plays the match with all of them. The same seed gives the same town. */
export async function liveIn(fixture: Fixture, seed: number): Promise<Town> {
  const terms = { fixture, model: DEFAULT_MODEL, rules: DEFAULT_RULES }
  const { bases } = await play({ ...terms, strategies: [], bases: [] })
  const opened: Position[] = []
  const strategy = townOf(chanceFrom(seed), opened)
  await play({ ...terms, strategies: [strategy], bases })
  const start = present(fixture.snapshots[0], 'first update').sourceAt
  const baseAt = (id: InstrumentId, at: Instant): Price | undefined =>
    bases[Math.min(bases.length - 1, Math.floor((at - start) / UPDATE_MS))]?.get(id)
  const openings = opened.map((position): Opening => {
    const { userId: owner, instrumentId, openedAt, direction, openBase } = position
    const then = baseAt(instrumentId, instant(openedAt + MARK_MS)) ?? openBase
    const markOut = Math.round((signOf(direction) * (then - openBase) * 1_000_000) / openBase)
    return { userId: owner, instrumentId, at: openedAt, sign: signOf(direction), lots: position.lots, markOut }
  })
  return { openings, ...peopleOf() }
}

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name} ${n}`)

function peopleOf(): Pick<Town, 'connections' | 'cheats' | 'honest'> {
  const honest = numbered('honest', HONEST)
  const cheats = [
    ...numbered('courtside', COURTSIDERS),
    ...numbered('ring', RING),
    ...numbered('farm', FARM),
    ...numbered('wash', WASH_PAIRS * 2),
    ...numbered('copier', COPIERS),
  ]
  const connections = [...honest, ...cheats, 'farmer', 'leader'].map((account): Connections => {
    const n = Number(account.split(' ')[1] ?? 0)
    const isPupil = account.startsWith('honest') && n >= HONEST - PUPILS
    const house = account.startsWith('honest') && n < HOUSEHOLDS * 4 ? `house ${Math.floor(n / 4)}` : account
    const place = isPupil ? 'school' : account.startsWith('farm') ? 'farm' : house
    const invited = isPupil && n < HONEST - PUPILS + INVITED ? named(`honest ${HONEST - 1}`) : null
    return {
      userId: named(account),
      places: [place],
      referrerId: account.startsWith('farm ') ? named('farmer') : invited,
    }
  })
  return { connections, cheats: new Set(cheats.map(named)), honest: honest.map(named) }
}

function townOf(chance: Chance, opened: Position[]): Strategy {
  const random = (below: number): number => chance.below(below)
  /** Openings of the farm's accounts. */
  const idle = new Map<string, number>()
  const traders = numbered('honest', HONEST).map((account, n) => ({
    account,
    habit: present(HABITS[n % HABITS.length], 'habit'),
  }))
  const open = async (
    desk: Desk,
    account: string,
    order: { readonly instrumentId: InstrumentId; readonly direction: Direction; readonly hundredths: number },
  ): Promise<void> => {
    const { instrumentId, direction, hundredths } = order
    const position = await desk.open(account, { instrumentId, direction, lots: size(hundredths) })
    if (position !== null) opened.push(position)
  }
  /** Frees what may be closed, so that nobody runs out of positions. */
  const clear = async (desk: Desk, account: string): Promise<void> => {
    for (const { id, closableAt } of desk.held(account)) if (closableAt <= desk.now) await desk.close(account, id)
  }
  return {
    name: NAME,
    leadSecs: Infinity,
    prepare: (foresight, hands) => {
      for (const move of farMoves(foresight)) {
        for (const account of numbered('courtside', COURTSIDERS)) {
          if (!chance.happens(0.7)) continue
          const at = instant(foresight.atOf(move.index) - FORESIGHT_MS + chance.below(2_000))
          hands.later(at, async (desk) => {
            await clear(desk, account)
            await open(desk, account, { ...move, hundredths: 10 + chance.below(90) })
          })
        }
      }
    },
    onUpdate: (floor) => {
      honestTurns(floor, { traders, chance, random, opened })
      const ids = [...floor.view.instruments()].map(({ id }) => id)
      const any = (): InstrumentId => present(ids[chance.below(ids.length)], 'instrument')
      const direction = (): Direction => (chance.happens(0.5) ? 'long' : 'short')
      const act = (
        account: string,
        withinMs: number,
        order: { instrumentId: InstrumentId; direction: Direction; hundredths: number },
      ) =>
        floor.later(instant(floor.now + withinMs), async (desk) => {
          await clear(desk, account)
          await open(desk, account, order)
        })
      if (chance.happens(0.08)) {
        const order = { instrumentId: any(), direction: direction() }
        for (const account of numbered('ring', RING)) {
          if (chance.happens(0.9)) act(account, chance.below(9_000), { ...order, hundredths: 10 + chance.below(90) })
        }
      }
      for (const account of numbered('farm', FARM)) {
        if ((idle.get(account) ?? 0) < FARM_OPENINGS && chance.happens(0.03)) {
          idle.set(account, (idle.get(account) ?? 0) + 1)
          act(account, chance.below(9_000), {
            instrumentId: any(),
            direction: direction(),
            hundredths: 1 + chance.below(3),
          })
        }
      }
      for (let pair = 0; pair < WASH_PAIRS; pair += 1) {
        if (!chance.happens(0.06)) continue
        const order = { instrumentId: any(), hundredths: 20 + chance.below(80) }
        const way = direction()
        act(`wash ${pair * 2}`, chance.below(3_000), { ...order, direction: way })
        act(`wash ${pair * 2 + 1}`, 3_000 + chance.below(5_000), { ...order, direction: opposite(way) })
      }
      if (chance.happens(0.08)) {
        const order = { instrumentId: any(), direction: direction() }
        act('leader', 0, { ...order, hundredths: 10 + chance.below(90) })
        for (const account of numbered('copier', COPIERS)) {
          if (chance.happens(0.85))
            act(account, 1_000 + chance.below(8_000), { ...order, hundredths: 5 + chance.below(60) })
        }
      }
    },
  }
}

interface Honest {
  readonly traders: readonly { readonly account: string; readonly habit: (typeof HABITS)[number] }[]
  readonly chance: Chance
  readonly random: (below: number) => number
  readonly opened: Position[]
}

function honestTurns(floor: Floor, { traders, chance, random, opened }: Honest): void {
  for (const { account, habit } of traders) {
    if (!chance.happens(UPDATE_MS / TURN_MS)) continue
    floor.later(instant(floor.now + chance.below(UPDATE_MS - 500)), async (desk) => {
      const instruments = [...desk.view.instruments()].map((one) => ({
        instrumentId: one.id,
        price: quoteOf(one).price,
        base: one.base,
        start: one.start,
        suspended: false,
      }))
      const view = { now: desk.now, balance: money(10_000_000_000), instruments, positions: desk.held(account) }
      const action = nextAction({ userId: named(account), habit }, view, random)
      if (action?.kind === 'close_position') await desk.close(account, action.positionId)
      if (action?.kind !== 'open_position') return
      const { instrumentId, direction, lots: wanted, stopLoss, takeProfit } = action
      const position = await desk.open(account, { instrumentId, direction, lots: wanted, stopLoss, takeProfit })
      if (position !== null) opened.push(position)
    })
  }
}

/** The largest move of each update that the rules call news. */
function farMoves({ bases }: Foresight) {
  return bases.flatMap((now, index) => {
    const moves = [...now].flatMap(([instrumentId, base]) => {
      const before = bases[index - 1]?.get(instrumentId) ?? base
      const ppm = Math.round(((base - before) * 1_000_000) / price(before))
      return Math.abs(ppm) >= 5_000 ? [{ index, instrumentId, ppm }] : []
    })
    const far = moves.toSorted((a, b) => Math.abs(b.ppm) - Math.abs(a.ppm))[0]
    return far === undefined ? [] : [{ ...far, direction: far.ppm > 0 ? ('long' as const) : ('short' as const) }]
  })
}
