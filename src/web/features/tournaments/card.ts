/** Tournaments: matches from secret seeds, played once. */
import { useEffect } from 'preact/hooks'
import type { Tournament } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { dayTime, units } from '../../format.ts'
import { html } from '../../html.ts'
import { refreshLeagues } from '../../leagues.ts'
import { matches, refreshSoon } from '../../market.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { useRepeated, useRequest } from '../../parts/use-request.ts'
import { plural, say, wordsOf } from '../../words.ts'
import { said as saidOfLeagues } from '../leagues/words.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const leagueWords = wordsOf(saidOfLeagues)

const EVERY_MS = 15_000
/** Of those that have ended. */
const ENDED_MAX = 3
/** Of a hash or a seed; the rest is its title. */
const SHOWN_DIGITS = 16

/** Absent where no tournament was ever scheduled. */
export function Tournaments() {
  const { answer, again } = useRequest(() => api.tournaments())
  useRepeated(again, EVERY_MS)
  // The list of matches is refreshed once a minute: who waits here for the kick-off need not wait for that.
  useEffect(() => {
    const known = new Set(matches.peek().map(({ id }) => id))
    if (answer?.tournaments.some(({ state, matchId }) => state === 'running' && !known.has(matchId ?? 0))) refreshSoon()
  }, [answer])
  if (answer === null || answer.tournaments.length === 0) return null
  const [current, ended] = [answer.tournaments.filter(isOn), answer.tournaments.filter((one) => !isOn(one))]
  const shown = [...current, ...ended.slice(0, ENDED_MAX)]
  return html`
    <section class="card" aria-labelledby="tournaments-title">
      <header><h2 id="tournaments-title">${own.title}</h2></header>
      <p class="hint inside">${own.about}</p>
      <ul class="rows inside leagues">
        ${shown.map((one) => html`<${Row} key=${one.id} tournament=${one} again=${again} />`)}
      </ul>
    </section>
  `
}

const isOn = ({ state }: Tournament): boolean => state === 'upcoming' || state === 'running'

function Row({ tournament, again }: { tournament: Tournament; again: () => void }) {
  const { id, name, state, startsAt, entrants, isEntered, speed, startingBalance, commitment, seed } = tournament
  const enter = async (): Promise<void> => {
    try {
      await api.enterTournament(id)
      await refreshLeagues()
      toast({
        tone: 'good',
        title: say(leagueWords.youAreIn, { name }),
        text: say(leagueWords.youBegin, { n: units(startingBalance) }),
      })
      again()
    } catch (error) {
      toast({ tone: 'bad', title: leagueWords.notEntered, text: messageFor(error) })
    }
  }
  const when = {
    upcoming: say(own.begins, { when: dayTime(startsAt) }),
    running: own.running,
    decided: own.over,
    cancelled: own.cancelled,
  }[state]
  return html`
    <li>
      ${isEntered ? html`<a href="#/league/${id}"><b>${name}</b></a>` : html`<b>${name}</b>`}
      <small>
        ${when} · ${plural(entrants, own.entrants)}${speed === 1 ? '' : ` · ${say(own.speed, { n: speed })}`} ·${' '}
        ${seed === null ? own.commitment : own.seed}${' '}
        <code title=${seed ?? commitment}>${(seed ?? commitment).slice(0, SHOWN_DIGITS)}…</code>
      </small>
      ${
        isEntered || !isOn(tournament)
          ? null
          : html`<button class="small" onClick=${() => void enter()}>
              ${own.enter}<span class="sr-only"> ${name}</span>
            </button>`
      }
    </li>
  `
}
