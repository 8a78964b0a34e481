/** The user's wallet and positions, kept current by the account stream and valued at live prices. */
import { batch, computed, signal } from '@preact/signals'
import { newKey } from './client/ask.ts'
import type { AccountChanges, Direction, Levels, OpenOrder, Position, Purse, Trade, Wallet } from './client/wire.ts'
import { lots, signed, units } from './format.ts'
import { nameOf } from './names.ts'
import { forgetLeagues, isLeague, purse, purseName } from './leagues.ts'
import { matches, quoteOf } from './market.ts'
import { holdOrder, isUnsure, releaseOrder, type UnsureOrder } from './orders.ts'
import { warningWords } from './served.ts'
import { now } from './server-clock.ts'
import { api, user } from './session.ts'
import { toast } from './toasts.ts'
import { say, words } from './words.ts'

const wallets = signal<Readonly<Partial<Record<Purse, Wallet>>>>({})
/** The wallet of that purse. */
export const wallet = computed<Wallet | null>(() => wallets.value[purse.value] ?? null)
/** Protection: the part of its balance that opens nothing yet. */
export const locked = computed<number>(() =>
  wallet.value === null ? 0 : Math.max(0, wallet.value.balance - wallet.value.freeMargin),
)
/** How long until news can move none of what was closed, in ms; 0 where that is not known. */
export const lockedMs = computed<number>(() => {
  const own = (history.value ?? []).filter(
    (closed) => closed.purse === purse.value && closed.movableUntil !== undefined,
  )
  return own.reduce((most, { movableUntil = '' }) => Math.max(most, Date.parse(movableUntil) - now.value), 0)
})
/** Open positions of all purses by id, newest first. */
export const positions = signal<ReadonlyMap<string, Position>>(new Map())
/** Whether the open positions are known: the wallet comes before them. */
export const areKnown = signal(false)
/** Closed positions of all purses, newest first; null until they are requested. */
export const history = signal<readonly Position[] | null>(null)
/** Where the closed positions that were not asked for begin; null when there are none. */
export const older = signal<string | null>(null)

/** Nothing is open or was closed in any purse. False until that is known. */
export const hasNeverTraded = computed<boolean>(
  () => areKnown.value && positions.value.size === 0 && history.value?.length === 0,
)

export const signOf = (direction: Direction): 1 | -1 => (direction === 'long' ? 1 : -1)

/** What closing at this price would bring: a loss ends at the margin. */
const pnlAt = (position: Position, price: number): number =>
  Math.max(
    -position.margin,
    signOf(position.direction) * (price - position.openPrice) * position.lotSize * position.contractSize,
  )

/**
 * What closing it alone would fill at: as far from the price on the screen as the server last said, since that is half
 * of what the position itself moves it.
 */
export const liveExit = (position: Position): number =>
  position.closePrice ??
  livePrice(position) + (isLeague(position.purse) ? 0 : position.exitPrice - position.currentPrice)

/** The price that its purse trades at; what the server last said of it while the player has no quote yet. */
function livePrice({ instrumentId, currentPrice, purse: of }: Position): number {
  const { price, base } = quoteOf(instrumentId).value
  if (price === 0) return currentPrice
  return isLeague(of) ? base : price
}

/** The price that the purse on the screen trades at: leagues leave the crowd out. */
export function tradePrice(instrumentId: string): number {
  const { price, base } = quoteOf(instrumentId).value
  return isLeague(purse.value) ? base : price
}

export const livePnl = (position: Position): number => position.realizedPnl ?? pnlAt(position, liveExit(position))

/** The open positions of the purse on the screen. */
export const inPurse = computed(() => [...positions.value.values()].filter((held) => held.purse === purse.value))
export const unrealized = computed(() =>
  areKnown.value
    ? inPurse.value.reduce((total, position) => total + livePnl(position), 0)
    : (wallet.value?.unrealizedPnl ?? 0),
)
export const marginUsed = computed(() =>
  areKnown.value
    ? inPurse.value.reduce((total, position) => total + position.margin, 0)
    : (wallet.value?.marginUsed ?? 0),
)
/**
 * What the purse is worth. Equity as the API has it leaves the margin out, so that opening a position looks like a
 * loss; here it does not.
 */
export const accountValue = computed(() => (wallet.value?.balance ?? 0) + marginUsed.value + unrealized.value)

/** A position that has closed stays closed, in whatever order its events arrive. */
const closed = new Map<string, Position>()
export const positionOf = (id: string): Position | undefined => positions.value.get(id) ?? closed.get(id)

function keep(position: Position): void {
  if (position.status === 'closed') {
    closed.set(position.id, position)
    const shown = history.peek()
    if (shown !== null) {
      // A close that news has moved takes its own place.
      const isShown = shown.some(({ id }) => id === position.id)
      history.value = isShown ? shown.map((one) => (one.id === position.id ? position : one)) : [position, ...shown]
    }
  }
  const others = [...positions.peek().values()].filter(({ id }) => id !== position.id)
  const open = closed.has(position.id) ? others : [...others, position]
  setPositions(open)
}

const setPositions = (open: readonly Position[]): void => {
  positions.value = new Map(
    open.toSorted((a, b) => b.openedAt.localeCompare(a.openedAt)).map((position) => [position.id, position]),
  )
}

/** Applies a message of the account stream, which sends each event once; toasts are made only here. */
export function takeAccount({ snapshot, positions: open, events }: AccountChanges): void {
  batch(() => {
    if (snapshot) {
      setPositions((open ?? []).filter(({ id }) => !closed.has(id)))
      areKnown.value = true
    }
    for (const [n, event] of events.entries()) {
      keep(event.position)
      // The close of a part, which follows, says it all.
      if (events[n + 1]?.position.partOf === event.position.id) continue
      toastEvent(event)
    }
  })
  refreshWallet().catch(() => undefined) // the next event or refresh asks again
}

const CLOSED_BY: Readonly<Record<string, string>> = {
  user: words.account.closed,
  stop_loss: words.account.stopHit,
  take_profit: words.account.targetHit,
  washout: words.account.washedOut,
  full_time: words.account.fullTime,
  void: words.account.voidMatch,
  admin: words.account.byOperator,
}

export function closedByWords({ closedBy, voidReason, voidNote }: Position): string {
  if (voidReason === 'operator') return say(words.account.voidOperator, { note: voidNote ?? '' }).trim()
  return CLOSED_BY[closedBy ?? ''] ?? words.account.closed
}

/** Until when news may move a fill of this position, in ms since 1970; null without protection. */
export function movesUntil({ status, fixtureId, openedAt, movableUntil: until }: Position): number | null {
  if (status === 'closed') return until === undefined ? null : Date.parse(until)
  const lasts = matches.value.find(({ id }) => id === fixtureId)?.fillsMovableMs
  return lasts === undefined ? null : Date.parse(openedAt) + lasts
}

/** From what to what news has moved the fills of a position, and why. Empty without protection. */
export function moveWords({ moved = [], openPrice, closePrice }: Position): string {
  const told = (['open', 'close'] as const).flatMap((fill) => {
    const own = moved.filter((one) => one.fill === fill)
    const by = own.reduce((sum, one) => sum + one.by, 0)
    const to = fill === 'open' ? openPrice : closePrice
    const last = own.at(-1)
    if (by === 0 || to === null || last === undefined) return []
    const reason = words.positions.moveReasons[last.reason]
    return [say(words.positions.fillMoved[fill], { from: units(to - by), to: units(to), reason })]
  })
  return told.join(' · ')
}

function toastEvent({ type, position, marginLostPct, at }: AccountChanges['events'][number]): void {
  const titled = (make: (name: string) => string) => computed(() => make(nameOf(position.instrumentId)))
  switch (type) {
    case 'opened':
      return toast({
        tone: 'plain',
        title: titled(
          (name) =>
            purseWords(position) +
            say(words.account[position.direction === 'long' ? 'openedLong' : 'openedShort'], { name }),
        ),
        text: say(words.common.at, { what: lots(position.lotSize), price: units(position.openPrice) }),
        to: 'positions',
      })
    case 'changed':
      return position.moved?.some((one) => one.at === at)
        ? toast({
            tone: 'plain',
            title: titled((name) => say(words.account.fillMoved, { name })),
            text: moveWords(position),
          })
        : toast({
            tone: 'plain',
            title: titled((name) => say(words.account.levelsSet, { name })),
            text: levelsWords(position),
          })
    case 'margin_warning':
      return toast({
        tone: 'bad',
        title: titled((name) => say(words.account.marginLost, { name, pct: marginLostPct ?? 0 })),
        text: say(words.account.washesOutAt, { price: units(position.washoutPrice ?? 0) }),
      })
    case 'closed':
      // Full time is one message for all of them, with the total.
      if (position.closedBy === 'full_time') return
      return toast({
        tone: (position.realizedPnl ?? 0) < 0 ? 'bad' : 'good',
        title: titled((name) => `${purseWords(position)}${closedByWords(position)} · ${name}`),
        text: say(words.common.at, { what: signed(position.realizedPnl ?? 0), price: units(position.closePrice ?? 0) }),
      })
    case 'corrected':
      return toast({
        tone: (position.realizedPnl ?? 0) < 0 ? 'bad' : 'good',
        title: titled((name) => say(words.account.fillMoved, { name })),
        text: say(words.account.bookedAs, { total: signed(position.realizedPnl ?? 0) }),
      })
    default:
      return type satisfies never
  }
}

const purseWords = ({ purse: of }: Position): string => (of === 'main' ? '' : `${purseName(of)}: `)

const levelsWords = ({ stopLoss, takeProfit }: Position): string =>
  [
    stopLoss === null ? words.account.noStop : say(words.account.stopAt, { price: units(stopLoss) }),
    takeProfit === null ? words.account.noTarget : say(words.account.targetAt, { price: units(takeProfit) }),
  ].join(' · ')

const LOCKED_MS = 10_000
let freeing: ReturnType<typeof setTimeout> | undefined

/** By purse the request under way, and the one after it. */
const pending = new Map<Purse, Promise<void>[]>()

/** The wallet on the screen, by one request at a time, however many events arrive while it is under way. */
export function refreshWallet(): Promise<void> {
  const of = purse.peek()
  const queue = pending.get(of) ?? []
  const [, next] = queue
  if (next !== undefined) return next
  // One that is under way may have been read before what has just happened.
  const asked = Promise.allSettled(queue).then(() => askWallet(of))
  pending.set(of, [...queue, asked])
  const leave = (): void => void pending.set(of, pending.get(of)?.slice(1) ?? [])
  asked.then(leave, leave)
  return asked
}

async function askWallet(of: Purse): Promise<void> {
  const found = await api.wallet(of)
  takeWallet(found)
  // What closes have paid is locked for a while, and no event says when it is free.
  if (found.freeMargin >= found.balance) return
  if (history.peek() !== null) void refreshHistory().catch(() => undefined)
  clearTimeout(freeing)
  freeing = setTimeout(() => void refreshWallet().catch(() => undefined), LOCKED_MS)
}

/** Asks for the newest closed positions, or for those after a cursor, and keeps the others. */
export async function refreshHistory(after?: string): Promise<void> {
  const { positions: found, nextCursor } = await api.positions('closed', undefined, 100, after)
  const shown = history.peek()
  const ids = new Set(found.map(({ id }) => id))
  batch(() => {
    history.value = [...(shown ?? []).filter(({ id }) => !ids.has(id)), ...found]
    if (shown === null || after !== undefined) older.value = nextCursor
  })
}

function takeWallet(found: Wallet): void {
  wallets.value = { ...wallets.peek(), [found.purse]: found }
}

/** Brings a wallet back to its start, if nothing of it is open; the main one only when it is ruined. */
export const refill = async (of: 'main' | 'practice'): Promise<void> => takeWallet((await api.refill(of)).wallet)

/** Forgets the account of the user who was signed in before. */
export function forgetAccount(): void {
  clearTimeout(freeing)
  closed.clear()
  forgetLeagues()
  batch(() => {
    wallets.value = {}
    positions.value = new Map()
    areKnown.value = false
    history.value = null
    older.value = null
  })
}

const take = ({ position, wallet: left, warnings }: Trade, isNew = true): Position => {
  if (isNew) {
    batch(() => {
      keep(position)
      takeWallet(left)
    })
  }
  for (const warning of warnings) {
    toast({
      tone: 'bad',
      title: computed(() => say(words.account.checkLevels, { name: nameOf(position.instrumentId) })),
      text: warningWords(warning),
    })
  }
  return position
}

/** Opens at the price that is on the screen. Its key opens one position, however often it is sent. */
export const open = async (order: OpenOrder): Promise<Position> => {
  const { key } = holdOrder(order)
  try {
    const position = take(await api.open(order, key))
    releaseOrder(key)
    return position
  } catch (error) {
    if (!isUnsure(error)) releaseOrder(key)
    throw error
  }
}

/** Asks what became of an order. The answer may be of then: the stream tells what its position is now. */
export async function findOrder({ order, key }: UnsureOrder): Promise<void> {
  try {
    await api.open(order, key)
  } catch (error) {
    if (!isUnsure(error, true)) releaseOrder(key)
    throw error
  }
  releaseOrder(key)
  refreshWallet().catch(() => undefined) // the next event asks again
}

export async function change(id: string, levels: Levels): Promise<Position> {
  const before = positions.peek().get(id)
  const answer = await api.change(id, levels)
  // What the stream has told meanwhile may be newer than the answer, which it tells, too.
  return take(answer, positions.peek().get(id) === before)
}

/** Keys of closes whose outcome is not known. */
const closing = new Map<string, string>()

/** Closes a position, or with a size a part of it. Returns whether something of it is still open. */
export async function close(id: string, lotSize?: number): Promise<boolean> {
  // Of another size it is another close: what became of the one before is known.
  const which = `${id} ${positions.peek().get(id)?.lotSize ?? ''} ${lotSize ?? ''}`
  const known = closing.get(which)
  const key = known ?? newKey()
  closing.set(which, key)
  const before = positions.peek().get(id)
  try {
    const answer = await api.close(id, key, lotSize)
    closing.delete(which)
    // What is repeated is of then, as in `findOrder`.
    if (known !== undefined) refreshWallet().catch(() => undefined)
    else {
      take(answer)
      // As in `change`: the stream may have told of a later part.
      if (answer.rest !== null && positions.peek().get(id) === before) keep(answer.rest)
    }
    return answer.rest !== null
  } catch (error) {
    if (!isUnsure(error, known !== undefined)) closing.delete(which)
    throw error
  }
}

/** What closing this many lots of a position would pay now: their share of the margin and their PnL. */
export function livePay(position: Position, size: number): number {
  const { lotSize, margin, exitPrice, currentPrice, purse: of } = position
  // A part moves the price less than the whole.
  const own = isLeague(of) ? 0 : ((exitPrice - currentPrice) * size) / lotSize
  const part = { ...position, lotSize: size, margin: (margin * size) / lotSize }
  return part.margin + pnlAt(part, livePrice(position) + own)
}

// Only the wallet on the screen is kept current.
purse.subscribe(() => {
  if (user.peek() !== null) refreshWallet().catch(() => undefined) // the next event asks again
})
