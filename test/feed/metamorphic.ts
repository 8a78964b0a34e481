/**
 * A match told twice, once as it happened and once by a feed that errs, with the same orders of the same users. Both
 * must give the same prices, positions, events and settlement.
 */
import { present } from '../../actors/kernel/assert.ts'
import { type Price, price } from '../../actors/kernel/micros.ts'
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import type { Position } from '../../actors/position/position.ts'
import {
  disturb,
  DISTURBANCES,
  type DisturbanceKind,
  type DisturbOptions,
} from '../../ops/tools/provider-mock/disturbances.ts'
import type { Draft, Payload } from '../../ops/tools/provider-mock/draft.ts'
import { type Hands, type Played, playFeed, type Poll } from './played-feed.ts'
import { POLL_MS, shortMatch } from './short-match.ts'

/** An order that was taken in the undisturbed match. */
interface Placed {
  readonly poll: number
  readonly player: number
  readonly direction: 'long' | 'short'
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly position: Position
}

/** Prices are equal that differ by less than 0.01 %. */
const TOLERANCE = 1e-4
/** Polls from one read-back to the next. */
const READ_BACK_EVERY = 4
const ORDERS_A_POLL = 0.5
/** Most disturbed matches suffer from several kinds at once. */
const KINDS_MAX = 8
/** How near to the price levels are, in per cent. */
const LEVELS_PCT = { from: 0.2, to: 4 } as const

/** The kinds that a seed gives to a match. */
export function kindsOf(seed: number): readonly DisturbanceKind[] {
  const chance = chanceFrom(seed + 500_009)
  const wanted = 1 + chance.below(KINDS_MAX)
  const kinds = new Set<DisturbanceKind>()
  while (kinds.size < wanted)
    kinds.add(
      present(
        chance.pick(DISTURBANCES, () => 1),
        'kind',
      ),
    )
  return DISTURBANCES.filter((kind) => kinds.has(kind))
}

/** What differs between the match of a seed and the same match disturbed, as words; empty if nothing does. */
export async function differencesOf({ seed, kinds }: DisturbOptions): Promise<readonly string[]> {
  const truth = shortMatch(seed)
  const draft = disturb(truth, { seed, kinds })
  const placed: Placed[] = []
  const there = await playFeed(truth, {
    pollMs: POLL_MS,
    readBackEvery: truth.length,
    between: (n, hands) => place(n, hands, draft, placed, seed),
  })
  const again = new Map<Placed, Position | null>()
  let here: Played
  try {
    here = await playFeed(draft.frames, {
      pollMs: POLL_MS,
      readBackEvery: READ_BACK_EVERY,
      between: async (n, hands) => {
        for (const order of placed.filter(({ poll }) => poll === n)) {
          const { direction, stopLoss, takeProfit } = order
          again.set(order, await hands.open(order.player, { direction, stopLoss, takeProfit }))
        }
      },
    })
  } catch (error) {
    return [`the match stopped: ${error instanceof Error ? error.message : String(error)}`]
  }
  return [...pollsApart(there, here, draft), ...positionsApart(there, here, again, draft), ...endsApart(there, here)]
}

/** Orders of the undisturbed match: on players of whom nothing wrong is told, with levels near the price. */
async function place(n: number, hands: Hands, draft: Draft, placed: Placed[], seed: number): Promise<void> {
  const chance = chanceFrom(seed + 700_001 * (n + 1))
  const isHidden = (player: number): boolean =>
    [n - 1, n].some((poll) => draft.hidden.get(poll)?.has(0) === true || draft.hidden.get(poll)?.has(player) === true)
  if (!chance.happens(ORDERS_A_POLL)) return
  const players = playersIn(present(draft.truth[n], 'poll')).filter((id) => !draft.wronged.has(id) && !isHidden(id))
  const player = chance.pick(players, () => 1)
  const now = player === null ? null : hands.price(player)
  if (player === null || now === null) return
  const direction = chance.happens(0.5) ? 'long' : 'short'
  const sign = direction === 'long' ? 1 : -1
  const level = (to: number): Price | null => (chance.happens(0.6) ? away(now, to, chance) : null)
  const order = { direction, stopLoss: level(-sign), takeProfit: level(sign) } as const
  const position = await hands.open(player, order)
  if (position !== null) placed.push({ poll: n, player, ...order, position })
}

function away(from: Price, sign: number, chance: Chance): Price {
  const pct = LEVELS_PCT.from + chance.uniform() * (LEVELS_PCT.to - LEVELS_PCT.from)
  return price(Math.round((from * (1 + (sign * pct) / 100)) / 10_000) * 10_000)
}

const playersIn = (payload: Payload): readonly number[] => {
  const rows = payload['lineups']
  return Array.isArray(rows) ? rows.map((row: Payload) => Number(row['player_id'])) : []
}

const isApart = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined ? a !== b : Math.abs(a - b) > TOLERANCE * Math.abs(b)

/** After each poll that hides nothing: prices, who may be traded, score and events. */
function pollsApart(there: Played, here: Played, draft: Draft): string[] {
  return there.polls.flatMap((expected, n) => {
    const got = here.polls[n]
    if (got === undefined) return [`poll ${n}: the match has not begun`]
    const hidden = draft.hidden.get(n) ?? new Set()
    const isOver = expected.info.phase === 'ended' || expected.info.settling !== null
    if (hidden.has(0) && !isOver) return []
    const players = [...expected.prices].filter(([player]) => !hidden.has(player))
    const apart = players.flatMap(([player, price_]) => {
      const [a, b] = [got.prices.get(player), got.windows.get(player)?.status]
      const status = expected.windows.get(player)?.status
      if (isApart(a, price_)) return [`poll ${n}: the price of ${player % 1_000} is ${a}, not ${price_}`]
      return b === status || isOver ? [] : [`poll ${n}: ${player % 1_000} is ${b}, not ${status}`]
    })
    return [...apart, ...(hidden.size > 0 ? [] : factsApart(n, expected, got, draft))]
  })
}

const score = ({ info }: Poll): string => `${info.home.goals}-${info.away.goals}`
const scoreByTeam = ({ info }: Poll): string =>
  [info.home, info.away]
    .toSorted((a, b) => a.id - b.id)
    .map(({ goals }) => goals)
    .join('-')

function factsApart(n: number, expected: Poll, got: Poll, { wronged }: Draft): string[] {
  const found: string[] = []
  const say = (what: string, a: unknown, b: unknown): void => {
    if (String(a) !== String(b)) found.push(`poll ${n}: ${what} is ${String(a)}, not ${String(b)}`)
  }
  say('the score', scoreByTeam(got), scoreByTeam(expected))
  say('the number of players', got.instruments.size, expected.instruments.size)
  say('the phase', got.info.phase, expected.info.phase)
  const none = new Set<number>()
  say('what counts', factsOf(got, false, none), factsOf(expected, false, none))
  // Of a player who was named by mistake the list says that it was taken back.
  say('what was taken back', factsOf(got, true, wronged), factsOf(expected, true, wronged))
  return found
}

/** What the list of events tells about the players of the match: goals in number, cards and substitutions once. */
function factsOf({ info, instruments }: Poll, retracted: boolean, without: ReadonlySet<number>): string {
  const facts = info.events.flatMap((event) => {
    const { kind, playerId } = event
    if (event.retracted !== retracted || playerId === null || !instruments.has(playerId)) return []
    const what = kind === 'red' || kind === 'second_yellow' ? 'dismissal' : kind
    return without.has(playerId) ? [] : [`${what} ${playerId % 1_000}`]
  })
  return [...new Set(facts)].toSorted().join(', ')
}

function positionsApart(
  there: Played,
  here: Played,
  again: ReadonlyMap<Placed, Position | null>,
  draft: Draft,
): string[] {
  return [...again].flatMap(([{ poll, player, position }, repeated]) => {
    const name = `the position in ${player % 1_000} of poll ${poll}`
    if (repeated === null) return [`${name} was refused`]
    const [expected, got] = [there.closed.get(position.id)?.close, here.closed.get(repeated.id)?.close]
    if (expected === undefined || expected === null || got === undefined || got === null) {
      return expected === got ? [] : [`${name} is ${got ? `closed by ${got.by}` : 'open'}`]
    }
    // What a level reaches in a poll that is hidden it may reach in one match and not, or later, in the other.
    const isHidden = [expected, got].some(({ by, at }) => {
      const closedAt = Math.round((at - startOf(there)) / POLL_MS)
      return by !== 'full_time' && (draft.hidden.get(closedAt)?.size ?? 0) > 0
    })
    if (isHidden) return []
    if (expected.by !== got.by) return [`${name} was closed by ${got.by}, not by ${expected.by}`]
    return isApart(got.price, expected.price) ? [`${name} was closed at ${got.price}, not at ${expected.price}`] : []
  })
}

const startOf = ({ polls }: Played): number => present(polls[0], 'poll').info.sourceAt ?? 0

function endsApart(there: Played, here: Played): string[] {
  const [expected, got] = [present(there.polls.at(-1), 'end'), present(here.polls.at(-1), 'end')]
  if (expected.info.settledAt === null) return ['the undisturbed match has not settled']
  if (got.info.settledAt === null) return [`the match has not settled: ${got.info.state}, ${score(got)}`]
  return [...expected.instruments].flatMap(([player, { settlement }]) => {
    const settled = got.instruments.get(player)?.settlement
    return isApart(settled ?? undefined, settlement ?? undefined)
      ? [`${player % 1_000} settles at ${settled}, not at ${settlement}`]
      : []
  })
}

/** The fewest kinds with which a match still fails: each of them is needed. */
export async function shrunk({ seed, kinds }: DisturbOptions): Promise<readonly DisturbanceKind[]> {
  let needed = kinds
  for (const kind of kinds) {
    const fewer = needed.filter((one) => one !== kind)
    if ((await differencesOf({ seed, kinds: fewer })).length > 0) needed = fewer
  }
  return needed
}
