/** What the match itself does to prices and positions: feed updates, full time, voids. */
import { present } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { BATCH_MAX, INSTRUMENTS_MAX, REPLAY_CONFIRM_UPDATES } from '../kernel/limits.ts'
import { lots, money, type Price, price } from '../kernel/micros.ts'
import { isCommon } from '../kernel/purse.ts'
import { leaguePrice } from '../position/fills.ts'
import type { Beliefs } from '../market/belief/beliefs.ts'
import { believe } from '../market/belief/believe.ts'
import { isHalfTime } from '../market/belief/periods.ts'
import { type FixturePlayer, type FixtureSnapshot, matchMinute } from '../market/fixture.ts'
import { anchorOf, type Instrument, isSameQuote, quoteOf, slopeFor, startPrice } from '../market/instrument.ts'
import { reportEvents } from '../market/match-report.ts'
import { followClock } from '../market/feed-clock.ts'
import { isInPlay, phaseOf } from '../market/phase.ts'
import { type Pitch, pitchOf } from '../market/spells.ts'
import { type Pricing, priceMatch, type PricingMemory, type ScoringModel, withAnchors } from '../market/pricing.ts'
import type { FeedUpdate, MatchInfo } from './messages.ts'
import { moveFills } from './protection/protect.ts'
import { followModel, isSameModel, moveByRules } from './rule-change.ts'
import type { Draft } from './state.ts'
import { beginPlaying, comesBack, formerPlayers } from './new-playing.ts'
import type { InstrumentHistory } from './store.ts'
import { followWhistle, hasEnded } from './whistle.ts'
import { emitClose, fireTriggers } from './trading.ts'
import type { Terms } from './terms.ts'

/** The inputs of a decision, with those that a feed update needs. */
export interface FeedTerms extends Terms {
  readonly model: ScoringModel
  /** The model of the last update, where another one is in force by now. */
  readonly priorModel?: ScoringModel
  /** Histories of players this match has not listed yet. */
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

/** Those of the players that this match has not listed, up to the number it may still list. */
export function unlisted<T extends Pick<FixturePlayer, 'instrumentId'>>(
  draft: Pick<Draft, 'instrument' | 'instruments'>,
  players: readonly T[],
): T[] {
  const room = INSTRUMENTS_MAX - [...draft.instruments()].length
  return players.filter((p) => draft.instrument(p.instrumentId) === undefined).slice(0, Math.max(0, room))
}

/**
 * Processes a feed update: holds it against what is known of the match, and takes what is believed. An old update, or
 * any after settlement has begun, changes nothing.
 * @returns whether the update was new.
 */
export function update(draft: Draft, command: FeedUpdate, terms: FeedTerms): boolean {
  const former = beginAnew(draft, command)
  const { incidents, beliefs: before } = draft.pricing
  const believed = believe(command.snapshot, { ...draft.info, incidents }, before)
  return take(draft, { ...command, ...believed, former }, terms)
}

/** An update as it is believed. */
export interface BelievedUpdate extends Pick<FeedUpdate, 'seq' | 'speed'> {
  readonly snapshot: FixtureSnapshot
  readonly beliefs: Beliefs
  /** The provider said that the match goes on, in an answer that is not believed. */
  readonly isDenied?: boolean
  /** The players of the playing before, where the fixture comes back: they are listed again. */
  readonly former?: readonly FixturePlayer[]
}

/** Where the fixture comes back, forgets the playing before and returns its players. */
function beginAnew(draft: Draft, { seq, snapshot }: FeedUpdate): readonly FixturePlayer[] {
  if (seq <= draft.info.feedSeq || !comesBack(draft.info, snapshot)) return []
  const former = formerPlayers(draft)
  beginPlaying(draft, snapshot)
  return former
}

/**
 * Takes an update: lists new players, moves base prices, fires the triggers they reach, and begins settlement when the
 * match is over. An old one, or any after settlement has begun, changes nothing.
 * @returns whether the update was new.
 */
export function take(draft: Draft, command: BelievedUpdate, terms: FeedTerms): boolean {
  if (command.seq <= draft.info.feedSeq || draft.info.settling !== null) return false
  const { snapshot, beliefs, former = [] } = command
  const anchors: Record<string, Price> = {}
  const named = new Set(snapshot.players.map((player) => player.instrumentId))
  const fresh =
    former.length === 0
      ? unlisted(draft, snapshot.players)
      : [...snapshot.players, ...former.filter((player) => !named.has(player.instrumentId))].slice(0, INSTRUMENTS_MAX)
  for (const player of fresh) {
    // A player held by another match is listed by the first update after that match has settled.
    const heldBy = terms.histories.get(player.instrumentId)?.heldBy ?? null
    if (heldBy !== null && heldBy !== draft.info.matchId) continue
    const { start, anchor } = list(draft, player, terms)
    if (anchor !== start) anchors[player.playerId] = anchor
  }
  const listed = [...draft.instruments()]
  const memory = withAnchors({ ...draft.pricing, beliefs }, anchors)
  const hadEnded = hasEnded(draft.info.phase)
  const model = terms.priorModel ?? terms.model
  const pricing = judged(priceMatch(snapshot, listed, memory, model), draft.pricing)
  const info = nextInfo(draft.info, command, pricing, terms)
  const { refused } = pricing
  draft.emit({ kind: 'match_updated', info, pricing: pricing.memory, ...(refused === null ? {} : { refused }) })
  if (refused !== null) return true
  const isOver = hasEnded(draft.info.phase)
  if (!isOver) followWhistle(draft)
  // The update that shows the end is the last that moves a price.
  if (!isOver || !hadEnded) {
    if (terms.rules.protection !== null) moveFills(draft, listed, { seq: command.seq, pricing, terms })
    moveBases(draft, listed, pricing, terms)
    if (!isSameModel(model, terms.model)) followModel(draft, { snapshot, listed, memory }, terms)
  }
  if (isOver) followWhistle(draft)
  settleWhenOver(draft, terms)
  return true
}

/**
 * An update that is refused neither raises a doubt nor settles one, but of a clock: else one that leaps back to where
 * it was would be refused for ever. It may be one that is not believed: those are counted.
 */
function judged(pricing: Pricing, { beliefs: before }: PricingMemory): Pricing {
  if (pricing.refused === null) return pricing
  const { doubts, withheld } = pricing.memory.beliefs
  const beliefs = {
    ...before,
    doubts: { ...before.doubts, clocks: doubts.clocks },
    withheld: Math.max(before.withheld, withheld),
  }
  return { ...pricing, memory: { ...pricing.memory, beliefs } }
}

/** Lists a player, and returns the start price and what they are worth over a season. */
function list(draft: Draft, player: FixturePlayer, terms: FeedTerms): { start: Price; anchor: Price } {
  const role = player.role ?? 'MID'
  const history = terms.histories.get(player.instrumentId)
  const anchor = anchorOf(role, history?.anchor ?? null, history?.past ?? null)
  const start = startPrice(history?.last ?? null, anchor)
  const instrument: Instrument = {
    id: player.instrumentId,
    playerId: player.playerId,
    name: player.name,
    role,
    side: player.side,
    jersey: player.jersey,
    starter: player.starter,
    start,
    slope: slopeFor(start, player.starter),
    impactCapPpm: terms.rules.impactCapPpm,
    base: start,
    imbalance: lots(0),
    published: start,
    news: null,
    endedImbalance: null,
    leavingFrom: null,
    settlement: null,
  }
  draft.emit({ kind: 'instrument_listed', instrument })
  const quote = quoteOf(instrument)
  draft.emit({
    kind: 'price_moved',
    instrumentId: instrument.id,
    quote,
    previous: start,
    cause: 'listing',
    providerEventId: 0,
    at: terms.at,
  })
  return { start, anchor }
}

/** An update that is refused, or not believed, shows only that the feed answers, and confirms no end. */
function nextInfo(info: MatchInfo, command: BelievedUpdate, { refused, memory }: Pricing, terms: Terms): MatchInfo {
  const { snapshot, seq, isDenied = false } = command
  // A recording has no operator who could decide.
  const isEnd = info.phase === 'ended' || (info.phase === 'off' && !info.replay)
  if (refused !== null || (isDenied && isEnd)) {
    const endedSeq = info.endedSeq === null ? null : info.endedSeq + seq - info.feedSeq
    return { ...info, feedSeq: seq, endedSeq, sourceAt: isInPlay(info.phase) ? snapshot.sourceAt : info.sourceAt }
  }
  const phase = phaseOf(snapshot)
  const pitch = pitchOf(snapshot, memory.incidents, memory.clockSecs)
  const events = reportEvents(snapshot, info.events, memory.incidents, pitch.changes)
  return {
    ...info,
    name: snapshot.name,
    league: snapshot.league,
    startsAt: snapshot.startsAt,
    state: snapshot.state,
    stateId: snapshot.stateId,
    phase,
    minute: matchMinute(snapshot.periods),
    speed: command.speed ?? 1,
    home: snapshot.home,
    away: snapshot.away,
    feedSeq: seq,
    sourceAt: snapshot.sourceAt,
    clock: followClock(snapshot, info.clock, snapshot.sourceAt),
    // By the clock that confirms it: of two processes one may be ahead.
    endedAt: phase === 'ended' ? (info.endedAt ?? (info.replay ? terms.at : snapshot.sourceAt)) : null,
    // Full time confirms no abandonment, nor the other way round.
    endedSeq: phase !== 'ended' && phase !== 'off' ? null : phase === info.phase ? (info.endedSeq ?? seq) : seq,
    kickedOffAt: info.kickedOffAt ?? (isInPlay(phase) || isInPlay(info.phase) ? snapshot.sourceAt : null),
    events,
    squad: snapshot.players.length > 0 ? snapshot.players : info.squad,
    onPitch: snapshot.players.length > 0 ? playingIn(snapshot, pitch) : info.onPitch,
    teamStats: snapshot.teamStats ?? info.teamStats,
  }
}

/** Who is playing just now; null while no line-up says who starts. */
function playingIn({ players }: FixtureSnapshot, { playing }: Pitch): MatchInfo['onPitch'] {
  return players.some(({ starter }) => starter) ? [...playing] : null
}

function moveBases(draft: Draft, listed: readonly Instrument[], pricing: Pricing, terms: FeedTerms): void {
  for (const before of listed) {
    const news = pricing.playerNews.get(before.playerId)
    const base = pricing.bases.get(before.playerId) ?? before.base
    const now = draft.listed(before.id)
    const [quote, previous] = [quoteOf({ ...now, base }), quoteOf({ ...now, endedImbalance: before.endedImbalance })]
    if (!isSameQuote(quote, previous)) {
      draft.emit({
        kind: 'price_moved',
        instrumentId: before.id,
        quote,
        previous: previous.price,
        cause: news === undefined ? 'match' : 'event',
        providerEventId: news?.eventId ?? 0,
        reason: pricing.reasons.get(before.playerId),
        at: terms.at,
      })
    }
    fireTriggers(draft, before.id, terms)
  }
}

/** Time has passed: settles once full time is confirmed, and continues a settlement under way. */
export function clock(draft: Draft, terms: FeedTerms): void {
  if (draft.info.settling === null) {
    followRules(draft, terms)
    settleWhenOver(draft, terms)
  } else if (draft.info.settledAt === null) settleNext(draft, terms)
}

/**
 * A changed cap moves prices without a trade or match event: emits the moves and fires the triggers they reach.
 */ // T22
function followRules(draft: Draft, terms: Terms): void {
  for (const { id, base } of Array.from(draft.instruments())) moveByRules(draft, { id }, base, terms)
}

function settleWhenOver(draft: Draft, terms: Terms): void {
  const how = ending(draft.info)
  if (how === null || draft.info.settling !== null) return
  if (draft.info.phase !== 'final' && !isConfirmed(draft, terms)) return
  // What a price fired leaves at that price: a later clock settles the rest.
  if (Array.from(draft.instruments()).some(({ leavingFrom }) => leavingFrom !== null)) return
  beginSettlement(draft, how, terms)
}

/** An end at half time is most likely a mistake. It must hold this many times as long. */
const HALF_TIME_TIMES = 5
/** A match that is called off while its clock runs is void after this many more updates. */
const OFF_IN_PLAY = { states: ['ABANDONED', 'POSTPONED'], updates: 2 } as const

/**
 * Whether full time has held long enough. The provider shows FT for a moment before extra time begins, and so do
 * recordings; a replay counts that moment in updates, since it may play a hundred times as fast. Updates confirm a live
 * match, silence does not: a feed that fails after the whistle settles nothing.
 */ // T23
function isConfirmed({ info, pricing }: Draft, terms: Terms): boolean {
  const { periods } = pricing.beliefs
  const heldUpdates = info.feedSeq - (info.endedSeq ?? info.feedSeq)
  // A single poll that shows a match as put off or abandoned must not cost a user their position.
  const isRunning = periods.some(({ ticking }) => ticking) && OFF_IN_PLAY.states.some((one) => one === info.state)
  if (info.phase === 'off') return heldUpdates >= (isRunning ? OFF_IN_PLAY.updates : 1)
  if (info.replay && heldUpdates >= REPLAY_CONFIRM_UPDATES) return true
  const knownAt = info.replay ? terms.at : (info.sourceAt ?? terms.at)
  const heldMs = knownAt - (info.endedAt ?? knownAt)
  return heldMs >= terms.rules.settlementConfirmMs * (isHalfTime(periods) && !info.replay ? HALF_TIME_TIMES : 1)
}

function ending({ phase, state, kickedOffAt }: MatchInfo): MatchInfo['settling'] {
  if (phase === 'ended' || phase === 'final') return 'full_time'
  if (phase !== 'off') return null
  // Put off before its kick-off, a match is played another day, and nothing ends.
  return kickedOffAt !== null || state !== 'POSTPONED' ? 'void' : null
}

/**
 * Fixes one price per instrument before any position closes. At full time that is live base + k_mod × imbalance as
 * published when the match ended (specification 2.5). A crash that interrupts the settlement finds the price again.
 */ // T24
export function beginSettlement(draft: Draft, settling: 'full_time' | 'void', terms: Terms): void {
  draft.emit({ kind: 'match_updated', info: { ...draft.info, settling }, pricing: draft.pricing })
  followWhistle(draft)
  for (const before of Array.from(draft.instruments())) {
    const quote = quoteOf(before)
    draft.emit({ kind: 'instrument_settled', instrumentId: before.id, price: quote.price })
    draft.emit({
      kind: 'price_moved',
      instrumentId: before.id,
      quote,
      previous: quote.price,
      cause: 'settlement',
      providerEventId: 0,
      at: terms.at,
    })
  }
}

/** Closes the next positions of a settlement, as many as fit a batch. When none is left the match is settled. */
function settleNext(draft: Draft, terms: Terms): void {
  let left = Math.min(draft.room, BATCH_MAX)
  // Iterates without a copy: a settlement of 50,000 positions would make a hundred.
  for (const position of draft.openPositions()) {
    if (left-- === 0) return
    const { settlement: fixed, base } = draft.listed(position.instrumentId)
    const settlement = present(fixed, 'settlement price')
    const isVoid = draft.info.settling === 'void' || position.openPrice === 0
    if (!isVoid) {
      const fill = isCommon(position.purse) ? settlement : leaguePrice({ base })
      emitClose(draft, position, { price: fill, base, at: terms.at, by: 'full_time', voidReason: null }, terms)
      continue
    }
    // A void gives back the margin and nothing else. A corrupt record has no open price to show as its close.
    const at = position.openPrice === 0 ? settlement : position.openPrice
    const how = { at: terms.at, by: 'void', voidReason: null } as const
    const close = { price: price(at), base: position.openBase, pnl: money(0), ...how }
    draft.emit({ kind: 'position_closed', position: { ...position, close } })
  }
  const info = { ...draft.info, settledAt: terms.at }
  draft.emit({ kind: 'match_updated', info, pricing: draft.pricing })
}
