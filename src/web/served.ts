/** What the server tells in English sentences, in the language of the page: from the data that comes with them. */
import type { ActivityEvent, Move, Notification, PositionWhy } from './client/wire.ts'
import { percent, signed, units } from './format.ts'
import { nameOf } from './names.ts'
import { user } from './session.ts'
import { plural, say, words } from './words.ts'

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

interface Told {
  readonly title: string
  readonly body: string
}

/** A badge, by its id. */
export function badgeWords(id: string, theirs: Badge): Badge {
  const known: Readonly<Record<string, Badge>> = words.badges
  return known[id] ?? theirs
}

interface Badge {
  readonly name: string
  readonly description: string
}

/** A notification. Of a kind or a fact that this page does not know, the server's own words are shown. */
export function noticeWords({ type, title, body, data }: Pick<Notification, 'type' | 'title' | 'body' | 'data'>): Told {
  const theirs = { title, body }
  const told = NOTICES[type]?.(data, theirs)
  if (told === undefined || told === null) return theirs
  const of = data['purse']
  if (of === undefined || of === 'main') return told
  return { ...told, title: say(of === 'practice' ? words.told.practice : words.told.league, { title: told.title }) }
}

type Data = Notification['data']
const { notices } = words
const { stop_loss, take_profit, washout, admin, promoted, relegated, stays } = notices
const CLOSED: Readonly<Record<string, string>> = { stop_loss, take_profit, washout, admin }
const OUTCOMES: Readonly<Record<string, string>> = { promoted, relegated, stays }

/** Null where a fact is missing: notifications of before have fewer. */
const NOTICES: Readonly<Record<string, (data: Data, theirs: Told) => Told | null>> = {
  margin_warning: (data) => {
    const about = position(data)
    const pct = data['lostPct']
    if (about === null || typeof pct !== 'number') return null
    return { title: say(notices.marginTitle, { pct }), body: say(notices.marginBody, { ...about, pct }) }
  },
  position_closed: (data) => {
    const about = position(data)
    const { closedBy, reason } = data
    if (about === null) return null
    if (closedBy === 'void') {
      if (typeof reason !== 'string') return null
      return { title: notices.voidTitle, body: say(notices.voidBody, { ...about, pnl: amount(data['taken']), reason }) }
    }
    const title = CLOSED[String(closedBy)]
    return title === undefined ? null : { title, body: say(notices.closedBody, about) }
  },
  settlement: ({ positions, pnl }) => ({
    title: notices.fullTime,
    body: plural(Number(positions), notices.settled, { pnl: amount(pnl) }),
  }),
  fill_moved: (data) => {
    const about = position(data)
    if (about === null) return null
    return {
      title: notices.fillMovedTitle,
      body: say(notices.fillMovedBody, about),
    }
  },
  badge: ({ badgeId }, { title, body }) => {
    const { name, description } = badgeWords(String(badgeId), { name: title, description: body })
    return { title: name, body: say(notices.badgeBody, { description }) }
  },
  level: ({ level }) => ({
    title: say(notices.levelTitle, { n: Number(level) }),
    body: say(notices.levelBody, { n: Number(level) }),
  }),
  referral_credited: ({ refereeName, reward }) =>
    typeof refereeName !== 'string'
      ? null
      : { title: notices.referralTitle, body: say(notices.referralBody, { who: refereeName, reward: amount(reward) }) },
  spinner: ({ week, winnerId }) =>
    winnerId === user.peek()?.userId
      ? { title: say(notices.weekWon, { week: String(week) }), body: notices.weekWonBody }
      : { title: say(notices.weekDecided, { week: String(week) }), body: notices.weekDecidedBody },
  account: () => ({ title: notices.accountTitle, body: notices.accountBody }),
  league: ({ name, rank, members, value, winner, outcome, division }) => {
    if (typeof name !== 'string') return null
    const facts = { league: name, rank: Number(rank), members: Number(members) }
    const next = OUTCOMES[String(outcome)]
    return {
      title: say(rank === 1 ? notices.leagueWon : notices.leagueRank, facts),
      body: [
        say(notices.leagueBody, { value: units(Number(value)) }),
        ...(typeof winner === 'string' ? [say(notices.leagueFirst, { winner })] : []),
        ...(next === undefined ? [] : [say(next, { n: Number(division) })]),
      ].join(' '),
    }
  },
}

const amount = (of: unknown): string => signed(Number(of))

/** What the notices of a position have in common. */
function position({ direction, instrumentId, pnl }: Data) {
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
    default:
      return text
  }
}
