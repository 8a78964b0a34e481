/** The live connection: the feed brings prices and account events; everything else is reloaded after a break. */
import { computed, effect, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { ApiError } from './client/ask.ts'
import { Feed, type FeedState } from './client/feed.ts'
import { leagues, refreshLeagues, takeNewMatches } from './leagues.ts'
import { forgetAccount, positions, refreshHistory, refreshWallet, takeAccount } from './account.ts'
import { forgetToasts } from './toasts.ts'
import { now, setClock } from './server-clock.ts'
import {
  isLoaded,
  isStatusNews,
  keepHeld,
  matches,
  matchInstruments,
  refreshInstruments,
  refreshMatches,
  refreshSoon,
  selectedId,
  selectedMatch,
  quoteOf,
  takeFrame,
} from './market.ts'
import type { LivePart } from './features/feature.ts'
import { api, cutOff, unreached, user } from './session.ts'
import { messageFor } from './error-messages.ts'
import { windowReason } from './served.ts'
import { html } from './html.ts'
import { rich, words } from './words.ts'

export const connection = signal<FeedState>('stopped')
/** Counts connections, so that a chart knows when to request what it missed. */
export const arrivals = signal(0)

/** Why the market cannot be shown, or null. */
export const obstacle = signal<string | null>(null)

/**
 * How often matches and scores are refreshed when there is no news, and while a match takes no orders: that it may be
 * left now, though not entered, changes no frame.
 */
const REFRESH_MS = 60_000
const AWAIT_MS = 15_000
const RETRY_MS = 5_000

/** When the feed was last heard, by the server's clock. */
let heardAt: number | null = null

let parts: readonly LivePart[] = []

const feed = new Feed({
  token: async () => {
    try {
      return await api.socketToken()
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) cutOff()
      else if (error instanceof ApiError && error.code === 'COMING_SOON') obstacle.value = messageFor(error)
      throw error
    }
  },
  onPrice: (frame) => {
    heardAt = now.peek()
    takeFrame(frame)
  },
  onAccount: takeAccount,
  onNotice: (message) => {
    for (const { take } of parts) take(message)
  },
  onServerTime: (at) => {
    setClock(at)
    heardAt = at
  },
  onState: (state) => {
    const before = connection.peek()
    connection.value = state
    if (state !== 'live') return
    obstacle.value = null
    arrivals.value++
    if (before === 'stopped' || !isLoaded.peek()) return
    // The first connection is there a moment after the first answer; one after a break has missed what came meanwhile.
    if (arrivals.peek() === 1) refreshSoon()
    else refresh()
  },
})

function refresh(): void {
  refreshMatches().catch(() => undefined) // the next refresh asks again
  // A league may have ended, and a tournament with its match.
  if (leagues.peek().some(({ state }) => state === 'running')) refreshLeagues().catch(() => undefined)
}

const WINDOW_WORDS = { SUSPENDED: words.live.suspended, CLOSED: words.live.closed }

/** Why a price on the screen cannot be trusted; null when it can. */
export const doubt = computed<ComponentChildren>(() => {
  const state = connection.value
  if (state === 'waiting' || state === 'connecting') return obstacle.value ?? reconnectingWords(now.value)
  const match = selectedMatch.value
  if (match === null || selectedId.value === null) return null
  const { status, isStale } = quoteOf(selectedId.value).value
  const { tradeWindow } = match
  if (tradeWindow.status !== 'OPEN')
    return `${WINDOW_WORDS[tradeWindow.status]}: ${windowReason(tradeWindow.reason ?? '')}.`
  // An operator may have halted it, or the match may be over.
  if (status !== 'OPEN' && isStatusNews.value) return `${WINDOW_WORDS[status]}.`
  if (status === 'SUSPENDED') return words.live.paused
  if (status === 'CLOSED') return words.live.offPitch
  return isStale ? words.live.late : null
})

/** The seconds are seen and not said: a live region would say them one by one. */
const reconnectingWords = (at: number) =>
  heardAt === null
    ? words.live.connecting
    : rich(words.live.reconnecting, {
        secs: html`<span aria-live="off">${Math.max(1, Math.round((at - heardAt) / 1_000))}</span>`,
      })

/** The players of the match on the screen, and every player with an open position. */
const followed = computed(() => {
  const shown = matchInstruments.value.map(({ id, fixtureId }) => ({ instrumentId: id, fixtureId }))
  const held = [...positions.value.values()].map(({ instrumentId, fixtureId }) => ({ instrumentId, fixtureId }))
  return [...new Map([...held, ...shown].map((one) => [one.instrumentId, one])).values()]
})

/** Starts the feed when a user signs in, and stops it when they sign out. `more`: what features do with it. */
export function startLive(more: readonly LivePart[]): void {
  parts = more
  let current: string | null = null
  effect(() => {
    const id = user.value?.userId ?? null
    if (id === current) return
    current = id
    feed.stop()
    forgetAccount()
    if (id === null) return forgetToasts()
    void begin()
  })
  effect(() => feed.follow(followed.value))
  let known: ReadonlySet<number> | null = null
  effect(() => {
    const ids = matches.value.map(({ id }) => id)
    const added = known === null ? [] : ids.filter((id) => known?.has(id) === false)
    // None are known before the first answer, and after signing out.
    known = ids.length === 0 ? null : new Set(ids)
    if (added.length > 0 && user.peek() !== null) void takeNewMatches(added).catch(() => undefined)
  })
  effect(() => keepHeld(new Set(Array.from(positions.value.values(), ({ instrumentId }) => instrumentId))))
  addEventListener('online', () => feed.reconnectNow())
  addEventListener('offline', () => feed.networkGone())
  unreached.subscribe(() => feed.check())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') feed.reconnectNow()
  })
  let [refreshedAt, refreshedHereAt] = [now.peek(), Date.now()]
  now.subscribe((at) => {
    // A clock of the server that is put back stands still for the page.
    const passedMs = Math.max(at - refreshedAt, Date.now() - refreshedHereAt)
    const everyMs = selectedMatch.peek()?.tradeWindow.open === false ? AWAIT_MS : REFRESH_MS
    if (passedMs < everyMs || user.peek() === null || document.visibilityState === 'hidden') return
    refreshedAt = at
    refreshedHereAt = Date.now()
    refresh()
  })
}

async function begin(): Promise<void> {
  feed.start()
  try {
    // The first answer brings the players, if there is a match.
    const wasLoaded = isLoaded.peek()
    // Beside the matches: whether the tour stands above the pitch depends on it, and a tap must not miss what moves.
    await Promise.all([refreshMatches(), refreshHistory(), refreshLeagues()])
    await Promise.all([
      wasLoaded || !isLoaded.peek() ? refreshInstruments() : null,
      refreshWallet(),
      ...parts.map(({ begin: load }) => load()),
    ])
    obstacle.value = null
  } catch (error) {
    obstacle.value = messageFor(error)
    if (user.peek() !== null) setTimeout(() => void begin(), RETRY_MS)
  }
}
