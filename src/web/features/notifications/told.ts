/** Notifications in the language of the page, from the facts that come with them. */
import type { Notification } from '../../client/wire.ts'
import { units } from '../../format.ts'
import { amount, badgeWords, position } from '../../served.ts'
import { user } from '../../session.ts'
import { plural, say, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)

interface Told {
  readonly title: string
  readonly body: string
}

/** A notification. Of a kind or a fact that this page does not know, the server's own words are shown. */
export function noticeWords({ type, title, body, data }: Pick<Notification, 'type' | 'title' | 'body' | 'data'>): Told {
  const theirs = { title, body }
  const told = NOTICES[type]?.(data, theirs)
  if (told === undefined || told === null) return theirs
  const of = data['purse']
  if (of === undefined || of === 'main') return told
  return { ...told, title: say(of === 'practice' ? own.practice : own.league, { title: told.title }) }
}

type Data = Notification['data']
const { stop_loss, take_profit, washout, admin, promoted, relegated, stays } = own
const CLOSED: Readonly<Record<string, string>> = { stop_loss, take_profit, washout, admin }
const { goal, own_goal, red, yellow, on, off, starts, benched, named, spare } = own
const NEWS: Readonly<Record<string, string>> = { goal, own_goal, red, yellow, on, off, starts, benched, named, spare }
const OUTCOMES: Readonly<Record<string, string>> = { promoted, relegated, stays }

/** Null where a fact is missing: notifications of before have fewer. */
const NOTICES: Readonly<Record<string, (data: Data, theirs: Told) => Told | null>> = {
  margin_warning: (data) => {
    const about = position(data)
    const pct = data['lostPct']
    if (about === null || typeof pct !== 'number') return null
    return { title: say(own.marginTitle, { pct }), body: say(own.marginBody, { ...about, pct }) }
  },
  position_closed: (data) => {
    const about = position(data)
    const { closedBy, reason } = data
    if (about === null) return null
    if (closedBy === 'void') {
      if (typeof reason !== 'string') return null
      return { title: own.voidTitle, body: say(own.voidBody, { ...about, pnl: amount(data['taken']), reason }) }
    }
    const title = CLOSED[String(closedBy)]
    return title === undefined ? null : { title, body: say(own.closedBody, about) }
  },
  settlement: ({ positions, pnl }) => ({
    title: own.fullTime,
    body: plural(Number(positions), own.settled, { pnl: amount(pnl) }),
  }),
  fill_moved: (data) => {
    const about = position(data)
    if (about === null) return null
    return {
      title: own.fillMovedTitle,
      body: say(own.fillMovedBody, about),
    }
  },
  badge: ({ badgeId }, { title, body }) => {
    const { name, description } = badgeWords(String(badgeId), { name: title, description: body })
    return { title: name, body: say(own.badgeBody, { description }) }
  },
  level: ({ level }) => ({
    title: say(own.levelTitle, { n: Number(level) }),
    body: say(own.levelBody, { n: Number(level) }),
  }),
  referral_credited: ({ refereeName, reward }) =>
    typeof refereeName !== 'string'
      ? null
      : { title: own.referralTitle, body: say(own.referralBody, { who: refereeName, reward: amount(reward) }) },
  spinner: ({ week, winnerId }) =>
    winnerId === user.peek()?.userId
      ? { title: say(own.weekWon, { week: String(week) }), body: own.weekWonBody }
      : { title: say(own.weekDecided, { week: String(week) }), body: own.weekDecidedBody },
  player_news: ({ what, player, match, minute, others }) => {
    if (what === 'match') return { title: say(own.kickOff, { match: String(match) }), body: own.kickOffBody }
    const title = NEWS[String(what)]
    if (title === undefined || typeof player !== 'string') return null
    const body = typeof minute === 'number' ? say(own.newsAt, { match: String(match), minute }) : `${String(match)}.`
    const more = Number(others) > 0 ? ` ${plural(Number(others), own.newsMore)}` : ''
    return { title: say(title, { player }), body: body + more }
  },
  price_reached: ({ player, level, price, direction }) => {
    if (typeof player !== 'string') return null
    const body = direction === 'above' ? own.priceRisen : own.priceFallen
    return {
      title: say(own.priceTitle, { player, price: units(Number(price)) }),
      body: say(body, { level: units(Number(level)) }),
    }
  },
  account: () => ({ title: own.accountTitle, body: own.accountBody }),
  league: ({ name, rank, members, value, winner, tied, outcome, division }) => {
    if (typeof name !== 'string') return null
    if (outcome === 'unplayed')
      return { title: say(own.leagueUnplayed, { league: name }), body: own.leagueUnplayedBody }
    const facts = { league: name, rank: Number(rank), members: Number(members) }
    const next = OUTCOMES[String(outcome)]
    return {
      title: say(rank === 1 && tied === undefined ? own.leagueWon : own.leagueRank, facts),
      body: [
        say(own.leagueBody, { value: units(Number(value)) }),
        ...(typeof winner === 'string' ? [say(own.leagueFirst, { winner })] : []),
        ...(next === undefined ? [] : [say(next, { n: Number(division) })]),
      ].join(' '),
    }
  },
}
