/** When a match begins, as far as that is known. */
import type { Match } from '../../client/wire.ts'
import { stateWords } from '../../parts/scoreboard.ts'
import { plural, say, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/** The time until kick-off; where the provider says that another holds, what it says. */
export function beginsWords(match: Pick<Match, 'state' | 'startsAt' | 'home' | 'away'>, now: number): string {
  if (match.state !== null && match.state !== 'NS') return stateWords(match)
  const minutes = Math.max(0, Math.ceil((Date.parse(match.startsAt) - now) / MINUTE_MS))
  if (minutes >= 2 * DAY_MINUTES) return plural(Math.floor(minutes / DAY_MINUTES), own.inDays)
  return say(own.inTime, { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}
