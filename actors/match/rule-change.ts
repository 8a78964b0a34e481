/** Applies another model or cap to a running match: for real, or on a draft that is dropped, to predict the effect. */
import { assert } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import type { SettingValue } from '../kernel/settings.ts'
import { PPM, type Price, price } from '../kernel/micros.ts'
import type { FixtureSnapshot, SaidFixture } from '../market/fixture.ts'
import { believe } from '../market/belief/believe.ts'
import { type Instrument, isSameQuote, quoteOf } from '../market/instrument.ts'
import { priceMatch, type PricingMemory, type ScoringModel } from '../market/pricing.ts'
import { Draft, type MatchView } from './state.ts'
import { fireTriggers } from './trading.ts'
import type { Terms } from './terms.ts'

/** The rules that prices follow. */
export interface PriceRules {
  readonly rules: TradingRules
  readonly model: ScoringModel
}

/** Models are replaced as a whole, so they rarely have to be compared in full. */
export const isSameModel = (a: ScoringModel, b: ScoringModel): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

/** A setting that an operator considers. */
export interface ConsideredSetting {
  readonly key: string
  readonly value: SettingValue
}

/** One price that a change of rules moves. */
export interface RuleMove {
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly from: Price
  readonly to: Price
}

/** What a change of rules would do to one match. */
export interface RuleEffect {
  readonly matchId: FixtureId
  /** False while a new model cannot be tried: the match has had no update since it was loaded, or cannot be reached. */
  readonly known: boolean
  readonly moves: readonly RuleMove[]
  /** Positions that the moves would close. */
  readonly closes: number
}

/** How far a price would move, in parts per million of where it is. */
export const movePpm = ({ from, to }: Pick<RuleMove, 'from' | 'to'>): number =>
  Math.round((Math.abs(to - from) / from) * PPM)

/** Moves an instrument to another base under its rules, and fires the triggers it reaches. Returns the price after. */
export function moveByRules(draft: Draft, { id }: Pick<Instrument, 'id'>, base: Price, terms: Terms): Price {
  const { impactCapPpm } = terms.rules
  const before = draft.listed(id)
  const { endedImbalance, leavingFrom } = before
  // The curve stands still until those are out who leave along it, and once the match has ended.
  if (leavingFrom !== null || endedImbalance !== null) return quoteOf(before).price
  if (before.impactCapPpm !== impactCapPpm) {
    draft.emit({ kind: 'curve_changed', instrumentId: id, impactCapPpm, endedImbalance })
  }
  const [quote, previous] = [quoteOf({ ...draft.listed(id), base }), quoteOf(before)]
  if (!isSameQuote(quote, previous)) {
    const move = { quote, previous: previous.price, cause: 'rules', providerEventId: 0, at: terms.at } as const
    draft.emit({ kind: 'price_moved', instrumentId: id, ...move })
  }
  fireTriggers(draft, id, terms)
  return quote.price
}

/** A priced update, and what a change of the model is priced from. */
export interface Repricing {
  readonly snapshot: FixtureSnapshot
  /** The instruments and the memory before the update. */
  readonly listed: readonly Instrument[]
  readonly memory: PricingMemory
}

/**
 * Moves the bases from where an update has put them under the model so far to where it puts them under the new one. The
 * two are separate ticks, so that the history tells the match from its operators.
 */ // T22
export function followModel(
  draft: Draft,
  { snapshot, listed, memory }: Repricing,
  terms: Terms & { readonly model: ScoringModel },
): void {
  const pricing = priceMatch(snapshot, listed, memory, terms.model)
  draft.emit({ kind: 'match_updated', info: draft.info, pricing: pricing.memory })
  for (const { id, playerId } of listed) {
    const { base } = draft.listed(id)
    moveByRules(draft, { id }, pricing.bases.get(playerId) ?? base, terms)
  }
}

/**
 * What changed rules would do to this match, in full: no cap on single ticks applies. The match is not changed. The
 * difference of two pricings of one snapshot is what the rules do; everything else is what the match does anyway.
 */
export function effectOf(
  view: MatchView,
  said: SaidFixture | null,
  { now, next, terms }: { readonly now: PriceRules; readonly next: PriceRules; readonly terms: Terms },
): RuleEffect {
  const { matchId, settling } = view.info
  if (settling !== null) return { matchId, known: true, moves: [], closes: 0 }
  const { incidents, beliefs } = view.pricing
  const snapshot = said === null ? null : believe(said, { ...view.info, incidents }, beliefs).snapshot
  const isRepriced = !isSameModel(now.model, next.model)
  const draft = new Draft(view)
  const listed = [...view.instruments()]
  const shift = isRepriced && snapshot !== null ? shiftsOf({ snapshot, listed, memory: view.pricing }, now, next) : null
  const moves = listed.flatMap((instrument) => {
    const from = quoteOf(draft.listed(instrument.id)).price
    const base = price(Math.max(1, instrument.base + (shift?.(instrument) ?? 0)))
    const to = moveByRules(draft, instrument, base, { ...terms, rules: next.rules })
    return to === from ? [] : [{ instrumentId: instrument.id, name: instrument.name, from, to }]
  })
  const closes = draft.events.filter(({ kind }) => kind === 'position_closed').length
  return { matchId, known: !isRepriced || shift !== null, moves, closes }
}

/** How far the base of each instrument is from where it would be under the next model. */
function shiftsOf({ snapshot, listed, memory }: Repricing, now: PriceRules, next: PriceRules) {
  const under = ({ model }: PriceRules) => {
    const { bases } = priceMatch(snapshot, listed, memory, { ...model, tickCap: UNCAPPED })
    assert(bases.size === listed.length, 'a pricing must name every instrument')
    return bases
  }
  const [before, after] = [under(now), under(next)]
  return ({ playerId, base }: Instrument): number => (after.get(playerId) ?? base) - (before.get(playerId) ?? base)
}

const UNCAPPED = 1_000
