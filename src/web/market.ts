/** The market: matches, players, and a live quote for each player. */
import { batch, computed, type Signal, signal } from '@preact/signals'
import { FLAG, type PriceFrame } from './client/price-frame.ts'
import type { Instrument, Match, MatchEvents } from './client/wire.ts'
import { rest } from './parts/rest.ts'
import { setClock } from './server-clock.ts'
import { api } from './session.ts'

export interface LiveQuote {
  readonly price: number
  /** The price without the crowd, at which leagues trade. */
  readonly base: number
  /** The price before the last move; the difference shows its direction. */
  readonly previous: number
  readonly at: number
  readonly status: Instrument['tradingStatus']
  /** The match data behind it is late. */
  readonly isStale: boolean
  /** Epochs and sequence numbers are counted by match. */
  readonly fixtureId: number
  readonly epoch: number
  readonly seq: number
}

export const matches = signal<readonly Match[]>([])
export const instruments = signal<ReadonlyMap<string, Instrument>>(new Map())
/** Whether the market has been loaded once. */
export const isLoaded = signal(false)
export const selectedMatchId = signal<number | null>(null)
export const selectedId = signal<string | null>(null)
export const matchEvents = signal<MatchEvents | null>(null)

export const selectedMatch = computed(() => matches.value.find(({ id }) => id === selectedMatchId.value) ?? null)
export const selected = computed(() => instruments.value.get(selectedId.value ?? '') ?? null)
export const matchInstruments = computed(() =>
  [...instruments.value.values()].filter(({ fixtureId }) => fixtureId === selectedMatchId.value),
)

const quotes = new Map<string, Signal<LiveQuote>>()
const listeners = new Set<(frame: PriceFrame) => void>()

/** The live quote of a player; zero for an unknown one. */
export function quoteOf(id: string): Signal<LiveQuote> {
  const known = quotes.get(id)
  if (known !== undefined) return known
  const fresh = signal<LiveQuote>(quoteFrom(instruments.peek().get(id)))
  quotes.set(id, fresh)
  return fresh
}

/** Calls the listener with every move, in order, until the returned function is called. */
export function onMove(listener: (frame: PriceFrame) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const quoteFrom = (instrument: Instrument | undefined): LiveQuote => ({
  price: instrument?.currentPrice ?? 0,
  base: instrument?.live_base_price ?? 0,
  previous: instrument?.currentPrice ?? 0,
  at: 0,
  status: instrument?.tradingStatus ?? 'CLOSED',
  isStale: false,
  fixtureId: instrument?.fixtureId ?? 0,
  epoch: 0,
  seq: 0,
})

/**
 * Whether the match on the screen takes orders. Until the refresh that frames ask for, it is what all its players on
 * the pitch agree on: after a halt nothing says that trading is open.
 */
export const windowStatus = computed(() => {
  const stated = selectedMatch.value?.tradeWindow.status ?? null
  if (!isStatusNews.value) return stated
  const all = matchInstruments.value.map(({ id }) => quoteOf(id).value.status)
  const [first = stated, ...others] = new Set(all.filter((status) => status !== 'CLOSED'))
  return others.length === 0 ? first : stated
})

/** Whether a match is over and paid: its page is its result. */
export const isSettled = ({ tradeWindow }: Match): boolean => tradeWindow.reason === 'the match has been settled'

/** Change in per cent at this price, since a day ago or since the start of the player's match. */
export function changePct(instrument: Instrument, price: number): number {
  const before = instrument.currentPrice / (1 + instrument.changePct / 100)
  return before > 0 ? (price / before - 1) * 100 : 0
}

/** Applies a price frame. An older one changes nothing, so that no move counts twice. */
export function takeFrame(frame: PriceFrame): void {
  const quote = quoteOf(frame.instrumentId)
  const { fixtureId, epoch, seq, price, status } = quote.peek()
  const isSameMatch = frame.fixtureId === fixtureId
  const isOlder = isSameMatch && (frame.epoch < epoch || (frame.epoch === epoch && frame.seq < seq))
  if (isOlder) return
  const isMove = (frame.flags & FLAG.snapshot) === 0
  quote.value = {
    price: frame.price,
    base: frame.liveBase,
    previous: isMove ? frame.previousPrice : price,
    at: frame.at,
    status: frame.tradingStatus,
    isStale: (frame.flags & FLAG.stale) !== 0,
    fixtureId: frame.fixtureId,
    epoch: frame.epoch,
    seq: frame.seq,
  }
  noticeMatch(frame, status)
  for (const listener of listeners) listener(frame)
}

/** Frames carry the minute; everything else about a match is requested when there is news. */
function noticeMatch(frame: PriceFrame, statusBefore: LiveQuote['status']): void {
  const match = matches.peek().find(({ id }) => id === frame.fixtureId)
  if (match === undefined) {
    // A player plays their next match.
    if (!strange.has(frame.fixtureId)) refreshSoon()
    strange.add(frame.fixtureId)
    return
  }
  if (frame.minute !== null && frame.minute !== match.minute) {
    matches.value = matches.peek().map((m) => (m.id === match.id ? { ...m, minute: frame.minute } : m))
  }
  if (frame.tradingStatus !== statusBefore) isStatusNews.value = true
  const isNews = frame.cause === 'event' || frame.cause === 'settlement' || frame.tradingStatus !== statusBefore
  if (isNews && (frame.flags & FLAG.snapshot) === 0) refreshSoon()
}

/** Some player may have come on or left the pitch, or all may have been halted: the next refresh tells. */
export const isStatusNews = signal(false)

/** Matches that a frame has named and no list yet. */
const strange = new Set<number>()

let refreshing: ReturnType<typeof setTimeout> | null = null

/** Events come in bursts: one refresh per second and a half is enough. */
export function refreshSoon(): void {
  refreshing ??= setTimeout(() => {
    refreshing = null
    refreshMatches().catch(() => undefined) // the next event or refresh asks again
  }, 1_500)
}

/** Counts requests whose answers may overtake each other. */
class Turns {
  #asked = 0
  #taken = 0

  /** Begins a request. What it returns says whether its answer is to be taken: not after that of a later one. */
  begin(): () => boolean {
    const turn = ++this.#asked
    return () => {
      if (turn < this.#taken) return false
      this.#taken = turn
      return true
    }
  }
}
const [matchTurns, instrumentTurns] = [new Turns(), new Turns()]

/** Also asks for players if there are new ones. */
export async function refreshMatches(): Promise<void> {
  const isCurrent = matchTurns.begin()
  const known = new Set(matches.peek().map(({ id }) => id))
  const shown = selectedMatchId.peek()
  const isOver = selectedMatch.peek()?.tradeWindow.status === 'CLOSED' && matchEvents.peek()?.fixtureId === shown
  const [found, events] = await Promise.all([api.matches(), shown === null || isOver ? null : api.matchEvents(shown)])
  const window = found.matches[0]?.tradeWindow
  if (!isCurrent()) return
  if (window !== undefined) setClock(Date.parse(window.serverTime))
  batch(() => {
    matches.value = found.matches
    if (events !== null && events.fixtureId === selectedMatchId.peek()) matchEvents.value = events
  })
  // A new match brings new players, a substitution another one.
  const isMissing = [...held].some((id) => !instruments.peek().has(id))
  if (isStatusNews.peek() || isMissing || found.matches.some(({ id }) => !known.has(id))) await refreshInstruments()
}

export async function refreshInstruments(): Promise<void> {
  const isCurrent = instrumentTurns.begin()
  isStatusNews.value = false
  const { instruments: active } = await api.instruments()
  const listed = new Set(active.map(({ id }) => id))
  const shown = selectedId.peek()
  const wanted = new Set(shown === null ? held : [...held, shown])
  const others = await Promise.all([...wanted.difference(listed)].map((id) => api.instrument(id)))
  const played = new Set(active.map(({ fixtureId }) => fixtureId))
  const found = [...active, ...others.filter(({ fixtureId }) => played.has(fixtureId))]
  if (!isCurrent()) return
  batch(() => {
    instruments.value = new Map(found.map((instrument) => [instrument.id, instrument]))
    for (const instrument of found) {
      const quote = quoteOf(instrument.id)
      if (quote.peek().seq === 0 || quote.peek().fixtureId !== instrument.fixtureId) quote.value = quoteFrom(instrument)
    }
    choose()
    isLoaded.value = true
  })
}

async function refreshEvents(id: number): Promise<void> {
  const events = await api.matchEvents(id)
  if (id === selectedMatchId.peek()) matchEvents.value = events
}

/** Players with open positions. Those who have left the pitch are no longer listed, so they are asked for by id. */
let held: ReadonlySet<string> = new Set()

/** Keeps the players of these positions on the page, on the pitch or not. */
export function keepHeld(ids: ReadonlySet<string>): void {
  held = ids
  if (isLoaded.peek() && [...ids].some((id) => !instruments.peek().has(id))) refreshSoon()
}

/** Shows a match and its biggest mover, unless one of its players is shown already. */
export function showMatch(id: number): void {
  batch(() => {
    selectedMatchId.value = id
    matchEvents.value = null
    if (selected.peek()?.fixtureId !== id) selectedId.value = biggestMover(id)?.id ?? null
  })
  refreshEvents(id).catch(() => undefined) // the next news asks again
}

export function showInstrument(id: string): void {
  const instrument = instruments.peek().get(id)
  if (instrument === undefined) return
  selectedId.value = id
  if (instrument.fixtureId !== selectedMatchId.peek()) showMatch(instrument.fixtureId)
}

/** Shows a match that is open for trading if the current one is gone. */
function choose(): void {
  const isThere = matches.peek().some(({ id }) => id === selectedMatchId.peek())
  const hasEnded = !matchInstruments.peek().length
  if (isThere && !hasEnded) return
  const played = matches.peek().find(({ tradeWindow }) => tradeWindow.open) ?? matches.peek()[0]
  // A user who is about to press the button of an order now sees another player there.
  if (selectedMatchId.peek() !== null) rest()
  // Who is on the bench of the next match is not chosen for it.
  if (selected.peek()?.tradingStatus === 'CLOSED') selectedId.value = null
  if (played !== undefined) showMatch(played.id)
}

/** The biggest mover that can be traded now; at kick-off, before any move, the most expensive forward. */
const biggestMover = (matchId: number): Instrument | undefined =>
  [...instruments.peek().values()]
    .filter(({ fixtureId }) => fixtureId === matchId)
    .toSorted(
      (a, b) =>
        Number(b.tradingStatus === 'OPEN') - Number(a.tradingStatus === 'OPEN') ||
        Math.abs(b.changePct) - Math.abs(a.changePct) ||
        Number(b.position === 'FWD') - Number(a.position === 'FWD') ||
        b.currentPrice - a.currentPrice,
    )[0]
