/** The connection: the feed brings prices and the account, and everything else is looked at again after a break. */
import { computed, effect, signal } from '@preact/signals'
import { ApiError } from './client/api.ts'
import { Feed, type FeedState } from './client/feed.ts'
import { forgetAccount, positions, refreshHistory, refreshWallet, takeAccount } from './account.ts'
import { now, setClock } from './clock.ts'
import {
  isLoaded,
  matchInstruments,
  refreshInstruments,
  refreshMatches,
  selectedId,
  selectedMatch,
  quoteOf,
  takeFrame,
} from './market.ts'
import { refreshUnread, takeNotice } from './notices.ts'
import { api, user } from './session.ts'
import { wordsFor } from './words.ts'

export const connection = signal<FeedState>('stopped')
/** Counts connections, so that a chart knows when to ask for what it missed. */
export const arrivals = signal(0)

/** Why the market cannot be shown, or null. */
export const obstacle = signal<string | null>(null)

/** Matches and scores are looked at this often when there is no news. */
const LOOK_MS = 15_000
const RETRY_MS = 5_000

const feed = new Feed({
  token: async () => {
    try {
      return await api.socketToken()
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) user.value = null
      throw error
    }
  },
  onPrice: takeFrame,
  onAccount: takeAccount,
  onNotice: takeNotice,
  onServerTime: setClock,
  onState: (state) => {
    const before = connection.peek()
    connection.value = state
    if (state !== 'live') return
    arrivals.value++
    if (before !== 'stopped' && isLoaded.peek()) look()
  },
})

const look = (): void => void refreshMatches().catch(() => undefined)

const WINDOW_WORDS = { SUSPENDED: 'Suspended', CLOSED: 'Closed' } as const

/** Why a price on the screen is not to be trusted, or null when it is. */
export const doubt = computed<string | null>(() => {
  const state = connection.value
  if (state === 'waiting' || state === 'connecting') return 'Reconnecting. Prices may be old.'
  const match = selectedMatch.value
  if (match === null || selectedId.value === null) return null
  const { status, isStale } = quoteOf(selectedId.value).value
  const { tradeWindow } = match
  if (tradeWindow.status !== 'OPEN') return `${WINDOW_WORDS[tradeWindow.status]}: ${tradeWindow.reason ?? ''}.`
  if (status === 'SUSPENDED') return 'Suspended: something happened, and is being priced.'
  return isStale ? 'Match data is late.' : null
})

/** Follows the match on the screen, and every player in whom there is a position. */
const followed = computed(() => {
  const shown = matchInstruments.value.map(({ id, fixtureId }) => ({ instrumentId: id, fixtureId }))
  const held = [...positions.value.values()].map(({ instrumentId, fixtureId }) => ({ instrumentId, fixtureId }))
  return [...new Map([...held, ...shown].map((one) => [one.instrumentId, one])).values()]
})

/** Brings everything up for whoever is signed in, and takes it down when he goes. */
export function startLive(): void {
  let player: string | null = null
  effect(() => {
    const id = user.value?.userId ?? null
    if (id === player) return
    player = id
    feed.stop()
    forgetAccount()
    if (id === null) return
    void begin()
  })
  effect(() => feed.follow(followed.value))
  addEventListener('online', () => feed.hurry())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') feed.hurry()
  })
  let lookedAt = now.peek()
  now.subscribe((at) => {
    if (at - lookedAt < LOOK_MS || user.peek() === null || document.visibilityState === 'hidden') return
    lookedAt = at
    look()
  })
}

async function begin(): Promise<void> {
  feed.start()
  try {
    await refreshMatches()
    await Promise.all([refreshInstruments(), refreshWallet(), refreshHistory(), refreshUnread()])
    obstacle.value = null
  } catch (error) {
    obstacle.value = wordsFor(error)
    if (user.peek() !== null) setTimeout(() => void begin(), RETRY_MS)
  }
}
