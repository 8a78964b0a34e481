/** Texts that the server sends in English, in the language of the page: from the data that comes with them. */
import type { ActivityEvent, Move, Notification, PositionWhy } from './client/wire.ts'
import { percent, signed, units } from './format.ts'
import { nameOf } from './names.ts'
import { say, words } from './words.ts'

/** By the keys that the server uses. Of a key that is newer than this page, the server's own words are shown. */
const wordFor = (of: Readonly<Record<string, string>>, key: string, theirs: string): string => of[key] ?? theirs

/** Why the market is not open. */
export const windowReason = (reason: string): string => wordFor(words.windows, reason, reason)

/** What moved a price. */
export function reasonWords({ kind, event, words: theirs }: Move['reason']): string {
  if (event === null) return wordFor(words.moves, kind, theirs)
  const { minute, extraMinute, undone } = event
  const what = wordFor(words.actions, event.kind, theirs)
  const at = extraMinute === null || extraMinute === 0 ? `${minute}` : `${minute}+${extraMinute}`
  return say(undone ? words.told.undone : words.told.happened, { what, minute: at })
}

const moveWords = ({ from, to, reason }: Omit<Move, 'at'>): string =>
  `${reasonWords(reason)}: ${percent((to / from - 1) * 100)}`

export const moveSentence = (move: Omit<Move, 'at'>): string => `${moveWords(move)}.`

/** What closed a position. */
export function closeSentence(close: NonNullable<PositionWhy['close']>): string {
  const { by, level, price, tick } = close
  const rule = say(words.closes[by], { price: units(level ?? price) })
  const tells = tick !== null && by !== 'full_time' && tick.from !== tick.to
  return tells ? `${moveWords(tick)}. ${rule}` : rule
}

/** A stop-loss that can never fire. */
export const warningWords = ({
  level,
  washoutPrice,
}: {
  readonly level: number
  readonly washoutPrice: number
}): string => say(words.told.beyondWashout, { level: units(level), washout: units(washoutPrice) })

/** A badge, by its id. */
export function badgeWords(id: string, theirs: Badge): Badge {
  const known: Readonly<Record<string, Badge>> = words.badges
  return known[id] ?? theirs
}

interface Badge {
  readonly name: string
  readonly description: string
}

/** An amount that came as a fact. */
export const amount = (of: unknown): string => signed(Number(of))

/** What the notices of a position have in common. */
export function position({ direction, instrumentId, pnl }: Notification['data']) {
  if ((direction !== 'long' && direction !== 'short') || typeof instrumentId !== 'string') return null
  return { way: words.common[direction], player: nameOf(instrumentId), pnl: amount(pnl ?? 0) }
}

/** What others have done, after their name. */
export function headlineWords({ type, text, data }: Pick<ActivityEvent, 'type' | 'text' | 'data'>): string {
  const about = position(data)
  const badge = data['badgeId']
  switch (type) {
    case 'big_win':
    case 'washout':
      return about === null ? text : say(words.headlines[type], { ...about, pnl: units(Number(data['pnl'])) })
    case 'badge':
      return say(words.headlines.badge, { badge: badgeWords(String(badge), { name: text, description: '' }).name })
    case 'spinner_win':
      return say(words.headlines.spinner_win, { week: String(data['week']) })
    case 'legacy_trade':
    default:
      return text
  }
}
