/**
 * The tape: what a match has made public of itself, a line for each thing that it heard and that followed. It names
 * nobody. docs/tape.md describes its lines; this is what they say, without numbers, hashes and what hides the owners.
 */
import type { InstrumentId, PositionId } from '../kernel/ids.ts'
import { isCommon } from '../kernel/purse.ts'
import type { Heard, HeardAfter } from '../match/store.ts'
import type { MatchEvent, MatchInfo } from '../match/messages.ts'
import type { Position } from '../position/position.ts'

/** What a line says. The order of its fields is the order in the line. */
export interface Fact {
  readonly kind: string
  readonly [field: string]: unknown
}

/** A fact, and the position that it is about: the line has a pseudonym for it. */
export interface Told {
  readonly fact: Fact
  readonly position: Pick<Position, 'id'> | null
  /** What the match heard, for the digest in its line. */
  readonly heard: Heard | null
}

/** One commit. */
export interface CommitFacts {
  readonly epoch: number
  readonly at: number
  readonly room: number
  readonly heard: readonly HeardAfter[]
  readonly events: readonly MatchEvent[]
}

/** Changed whenever the same commit would give other lines. */
export const TAPE_FORMAT = 1

/** The first line of a tape. */
export const headOf = ({ matchId, replay, purse }: MatchInfo): Fact => ({
  kind: 'match',
  format: TAPE_FORMAT,
  matchId,
  replay,
  purse,
})

/** What the tape said of the match last, in one epoch. */
export type Standing = string | null

/**
 * What a commit puts on the tape, and what it says of the match by then. `standing` is null at the beginning of an
 * epoch. Moved fills of one moment are told in the order of `pseudonymOf`, which no owner's memory decides.
 */
export function factsOf(
  commit: CommitFacts,
  standing: Standing,
  pseudonymOf: (id: PositionId) => string,
): { readonly told: readonly Told[]; readonly standing: Standing } {
  const { epoch, at, room, heard } = commit
  const told: Told[] = [{ fact: { kind: 'commit', epoch, at, room }, position: null, heard: null }]
  let [next, stands] = [0, standing]
  const hear = (upTo: number): void => {
    for (let one = heard[next]; one !== undefined && one.after <= upTo; one = heard[++next]) {
      told.push({ fact: { kind: 'hear', what: one.heard.kind }, position: null, heard: one.heard })
    }
  }
  const events = [...commit.events.entries()].filter(([, { kind }]) => kind !== 'margin_warned')
  for (const [index, [n, event]] of events.entries()) {
    hear(n)
    if (event.kind === 'price_moved' && isTold(events[index - 1]?.[1], event)) continue
    if (event.kind === 'match_updated') {
      const is = standingOf(event.info)
      if (is !== stands) told.push({ fact: { kind: 'state', ...publicState(event.info) }, position: null, heard: null })
      stands = is
      continue
    }
    const fact = factOf(event, events[index + 1]?.[1])
    if (fact !== null) told.push({ fact, position: positionOf(event), heard: null })
  }
  hear(Infinity)
  return { told: inOrder(told, pseudonymOf), standing: stands }
}

const publicState = ({ phase, state, minute, speed, settling, settledAt }: MatchInfo) => ({
  phase,
  state,
  minute,
  speed,
  settling,
  settledAt,
})
const standingOf = (info: MatchInfo): string => JSON.stringify(publicState(info))

const forgotten = (event: MatchEvent): Told['position'] =>
  event.kind === 'close_forgotten' ? { id: event.positionId } : null

/** Whether a trade's own line tells the move that it caused. */
const isTold = (before: MatchEvent | undefined, move: Extract<MatchEvent, { kind: 'price_moved' }>): boolean =>
  move.cause === 'trade' && before !== undefined && instrumentOf(before) === move.instrumentId

/** The position that is told: a part has no name of its own. */
function positionOf(event: MatchEvent): Told['position'] {
  if (!('position' in event)) return forgotten(event)
  const { partOf } = event.position
  return partOf === undefined ? event.position : { id: partOf }
}

const instrumentOf = (event: MatchEvent): InstrumentId | null =>
  event.kind === 'position_opened' || event.kind === 'position_closed' ? event.position.instrumentId : null

/** Null for what stays with the owner: how much of a margin is lost. The close of a part tells the split. */
function factOf(event: Exclude<MatchEvent, { kind: 'match_updated' }>, next: MatchEvent | undefined): Fact | null {
  const moved = next?.kind === 'price_moved' && isTold(event, next) ? { after: next.quote.price } : {}
  switch (event.kind) {
    case 'position_opened': {
      const { instrumentId: player, direction, lots, openPrice: price, openBase: base, margin } = event.position
      // Which league is for its members alone.
      const league = isCommon(event.position.purse) ? {} : { league: true }
      return { kind: 'open', player, direction, lots, price, base, margin, ...league, ...moved }
    }
    case 'levels_changed':
      return { kind: 'levels' }
    case 'position_split':
      return null
    case 'margin_warned':
      return null
    case 'position_closed': {
      const { by, voidReason: reason, price, base, pnl } = event.position.close
      if (event.position.partOf !== undefined) {
        const { lots, margin } = event.position
        return { kind: 'reduce', lots, margin, price, base, pnl, ...moved }
      }
      return { kind: 'close', by, reason, price, base, pnl, ...moved }
    }
    case 'fill_moved': {
      const { openPrice: open, openBase, close } = event.position
      const booked =
        close === null ? {} : { close: close.price, base: close.base, pnl: close.pnl, amount: event.amount }
      return { kind: 'moved', open, openBase, ...booked, until: event.movableUntil }
    }
    case 'close_forgotten':
      return { kind: 'forget' }
    case 'news_changed':
      return { kind: 'news', player: event.instrumentId, news: event.news }
    case 'instrument_listed': {
      const { id: player, playerId, name, role, side, starter, start, slope, impactCapPpm } = event.instrument
      return { kind: 'listed', player, playerId, name, role, side, starter, start, slope, impactCapPpm }
    }
    case 'curve_changed': {
      const { instrumentId: player, impactCapPpm, endedImbalance } = event
      return { kind: 'curve', player, impactCapPpm, endedImbalance }
    }
    case 'leaving_changed':
      return { kind: 'leaving', player: event.instrumentId, from: event.leavingFrom }
    case 'instrument_settled':
      return { kind: 'settle', player: event.instrumentId, price: event.price }
    case 'price_moved': {
      const { instrumentId: player, quote, cause, providerEventId: event_ } = event
      return {
        kind: 'price',
        player,
        price: quote.price,
        base: quote.base,
        imbalance: quote.imbalance,
        cause,
        event: event_,
      }
    }
  }
}

/** Runs of moved fills in the order of their pseudonyms. */
function inOrder(told: readonly Told[], pseudonymOf: (id: PositionId) => string): readonly Told[] {
  if (!told.some(({ fact }) => fact.kind === 'moved')) return told
  const ordered: Told[] = []
  let run: { readonly name: string; readonly one: Told }[] = []
  const flush = (): void => {
    ordered.push(...run.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ one }) => one))
    run = []
  }
  for (const one of told) {
    if (one.fact.kind === 'moved' && one.position !== null) {
      run.push({ name: pseudonymOf(one.position.id), one })
      continue
    }
    flush()
    ordered.push(one)
  }
  flush()
  return ordered
}
