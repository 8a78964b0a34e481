/** What the match itself does to prices and positions: feed updates, full time, voids. */
import { present } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { BATCH_MAX, INSTRUMENTS_MAX, REPLAY_CONFIRM_UPDATES } from '../kernel/limits.ts'
import { lots, money, price } from '../kernel/micros.ts'
import { isCommon } from '../kernel/purse.ts'
import { leaguePrice } from '../position/fills.ts'
import { type FixturePlayer, type FixtureSnapshot, matchMinute } from '../market/fixture.ts'
import {
  anchorOf,
  type Instrument,
  isSameQuote,
  quoteOf,
  settlesAt,
  slopeFor,
  startPrice,
} from '../market/instrument.ts'
import { reportEvents, reportSquad } from '../market/match-report.ts'
import { playersOnPitch } from '../market/on-pitch.ts'
import { type Phase, phaseOf } from '../market/phase.ts'
import { type Pricing, priceMatch, type ScoringModel } from '../market/pricing.ts'
import type { FeedUpdate, MatchInfo } from './messages.ts'
import { settleLateCloses } from './late-closes.ts'
import { followNews } from './news.ts'
import { followModel, isSameModel, moveByRules } from './rule-change.ts'
import type { Draft } from './state.ts'
import type { InstrumentHistory } from './store.ts'
import { emitClose, fireTriggers, type Terms } from './trading.ts'

/** The inputs of a decision, with those that a feed update needs. */
export interface FeedTerms extends Terms {
  readonly model: ScoringModel
  /** The model of the last update, where another one is in force by now. */
  readonly priorModel?: ScoringModel
  /** Histories of players this match has not listed yet. */
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

/** Players in a snapshot that this match has not listed, up to the number it may still list. */
export function unlisted(draft: Pick<Draft, 'instrument' | 'instruments'>, snapshot: FixtureSnapshot): FixturePlayer[] {
  const room = INSTRUMENTS_MAX - [...draft.instruments()].length
  return snapshot.players.filter((p) => draft.instrument(p.instrumentId) === undefined).slice(0, Math.max(0, room))
}

/**
 * Processes a feed update: lists new players, moves base prices, fires the triggers they reach, and begins settlement
 * when the match is over. An old update, or any after settlement has begun, changes nothing.
 * @returns whether the update was new.
 */
export function update(draft: Draft, command: FeedUpdate, terms: FeedTerms): boolean {
  if (command.seq <= draft.info.feedSeq || draft.info.settling !== null) return false
  const { snapshot } = command
  for (const player of unlisted(draft, snapshot)) {
    // A player held by another match is listed by the first update after that match has settled.
    const heldBy = terms.histories.get(player.instrumentId)?.heldBy ?? null
    if (heldBy === null || heldBy === draft.info.matchId) list(draft, player, terms)
  }
  const listed = [...draft.instruments()]
  const memory = draft.pricing
  const model = terms.priorModel ?? terms.model
  const pricing = priceMatch(snapshot, listed, memory, model)
  draft.emit({
    kind: 'match_updated',
    info: nextInfo(draft.info, command, pricing, terms),
    pricing: pricing.memory,
  })
  if (!pricing.accepted) return true
  followNews(draft, listed, { seq: command.seq, pricing, terms })
  followWhistle(draft)
  moveBases(draft, listed, pricing, terms)
  if (!isSameModel(model, terms.model)) followModel(draft, { snapshot, listed, memory }, terms)
  settleWhenOver(draft, terms)
  return true
}

function list(draft: Draft, player: FixturePlayer, terms: FeedTerms): void {
  const role = player.role ?? 'MID'
  const history = terms.histories.get(player.instrumentId)
  const start = startPrice(history?.last ?? null, anchorOf(role, history?.anchor ?? null, history?.past ?? null))
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
    awaitsSettlement: false,
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
}

/** A payload older than the last one only advances the sequence, so that it is not processed again. */
function nextInfo(info: MatchInfo, command: FeedUpdate, { accepted, memory }: Pricing, terms: Terms): MatchInfo {
  if (!accepted) return { ...info, feedSeq: command.seq }
  const { snapshot, seq } = command
  const phase = phaseOf(snapshot)
  const events = reportEvents(snapshot, info.events, memory.incidents)
  const squad = reportSquad(snapshot, info.squad)
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
    // By the clock that confirms it: of two processes one may be ahead.
    endedAt: phase === 'ended' ? (info.endedAt ?? (info.replay ? terms.at : snapshot.sourceAt)) : null,
    endedSeq: phase === 'ended' ? (info.endedSeq ?? seq) : null,
    events,
    squad,
    onPitch: playersOnPitch(squad, events),
    teamStats: snapshot.teamStats ?? info.teamStats,
  }
}

/**
 * From full time on the whole book would leave as one step, and the price shows that. If play continues, this is
 * undone.
 */ // T23
function followWhistle(draft: Draft): void {
  const { phase } = draft.info
  const awaitsSettlement = phase === 'ended' || phase === 'final'
  for (const { id, impactCapPpm, awaitsSettlement: before } of Array.from(draft.instruments())) {
    if (before === awaitsSettlement) continue
    draft.emit({ kind: 'curve_changed', instrumentId: id, impactCapPpm, awaitsSettlement })
  }
}

function moveBases(draft: Draft, listed: readonly Instrument[], pricing: Pricing, terms: FeedTerms): void {
  for (const before of listed) {
    const news = pricing.playerNews.get(before.playerId)
    const base = pricing.bases.get(before.playerId) ?? before.base
    // Late openings have left already. The final whistle is part of this move.
    const now = draft.listed(before.id)
    const [quote, previous] = [
      quoteOf({ ...now, base }),
      quoteOf({ ...now, awaitsSettlement: before.awaitsSettlement }),
    ]
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
  const how = ending(draft.info.phase)
  if (how === null || draft.info.settling !== null) return
  if (draft.info.phase === 'ended' && !isConfirmed(draft.info, terms)) return
  // What a price fired leaves at that price: a later clock settles the rest.
  if (Array.from(draft.instruments()).some(({ leavingFrom }) => leavingFrom !== null)) return
  beginSettlement(draft, how, terms)
}

/**
 * Whether full time has held long enough. The provider shows FT for a moment before extra time begins, and so do
 * recordings; a replay counts that moment in updates, since it may play a hundred times as fast. Updates confirm a live
 * match, silence does not: a feed that fails after the whistle settles nothing.
 */ // T23
function isConfirmed(info: MatchInfo, terms: Terms): boolean {
  const knownAt = info.replay ? terms.at : (info.sourceAt ?? terms.at)
  const heldMs = knownAt - (info.endedAt ?? knownAt)
  const heldUpdates = info.feedSeq - (info.endedSeq ?? info.feedSeq)
  return heldMs >= terms.rules.settlementConfirmMs || (info.replay && heldUpdates >= REPLAY_CONFIRM_UPDATES)
}

function ending(phase: Phase): MatchInfo['settling'] {
  if (phase === 'ended' || phase === 'final') return 'full_time'
  return phase === 'off' ? 'void' : null
}

/**
 * Fixes one price per instrument before any position closes. At full time all settle at live base + k_mod × imbalance,
 * with the `k_mod` of the whole book's mean: they leave on one tick, so they share one step. A crash that interrupts
 * the settlement finds the price again.
 */ // T24
function beginSettlement(draft: Draft, settling: 'full_time' | 'void', terms: Terms): void {
  draft.emit({ kind: 'match_updated', info: { ...draft.info, settling }, pricing: draft.pricing })
  settleLateCloses(draft, terms)
  for (const before of Array.from(draft.instruments())) {
    const settlement = settling === 'full_time' ? settlesAt(before) : quoteOf(before).price
    draft.emit({ kind: 'instrument_settled', instrumentId: before.id, price: settlement })
    draft.emit({
      kind: 'price_moved',
      instrumentId: before.id,
      quote: quoteOf(draft.listed(before.id)),
      previous: quoteOf(before).price,
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
    draft.emit({ kind: 'position_closed', position: { ...position, close }, locks: [] })
  }
  const info = { ...draft.info, settledAt: terms.at }
  draft.emit({ kind: 'match_updated', info, pricing: draft.pricing })
}
