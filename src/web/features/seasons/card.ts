/** The season of this month: entering it, where the user plays, and how earlier ones ended. */
import type { PastSeason } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { dayTime, monthName, units } from '../../format.ts'
import { html } from '../../html.ts'
import { refreshLeagues } from '../../leagues.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { rich, say, wordsOf } from '../../words.ts'
import { said as saidOfLeagues } from '../leagues/words.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const leagueWords = wordsOf(saidOfLeagues)

export function Season() {
  const { answer, trouble, again } = useRequest(() => api.season())
  const past = useRequest(() => api.pastSeasons())
  const enter = async (): Promise<void> => {
    try {
      const league = await api.enterSeason()
      await refreshLeagues()
      toast({
        tone: 'good',
        title: own.youAreIn,
        text: say(leagueWords.youBegin, { n: units(league.startingBalance) }),
      })
      again()
    } catch (error) {
      toast({ tone: 'bad', title: leagueWords.notEntered, text: messageFor(error) })
    }
  }
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { id, endsAt, mine } = answer
  return html`
    <section class="card" aria-labelledby="season-title">
      <header>
        <h2 id="season-title">${say(own.title, { name: monthName(id) })}</h2>
        <small>${say(own.ends, { when: dayTime(endsAt) })}</small>
      </header>
      ${
        mine === null
          ? html`
              <p class="empty">${own.about}</p>
              <div class="inside">
                <button class="primary tall" onClick=${() => void enter()}>${own.enter}</button>
              </div>
            `
          : html`
              <div class="inside">
                <p>
                  ${rich(own.place, { division: html`<b>${say(own.division, { n: mine.season?.division ?? 0 })}</b>`, group: mine.season?.group, others: mine.members === 1 ? own.alone : say(own.among, { n: mine.members }) })}
                </p>
                <p><a href="#/league/${mine.id}">${own.table}</a></p>
              </div>
            `
      }
      <${Past} seasons=${past.answer?.seasons ?? []} />
    </section>
  `
}

const OUTCOME = { promoted: own.promoted, relegated: own.relegated, stays: own.stays }

function Past({ seasons }: { seasons: readonly PastSeason[] }) {
  if (seasons.length === 0) return null
  return html`
    <ul class="rows inside">
      ${seasons.map(
        ({ season, leagueId, rank, members, outcome }) => html`
          <li key=${season.id}>
            <a href="#/league/${leagueId}"><b>${monthName(season.id)}</b></a>
            <small>${say(own.past, { division: season.division, rank, members, outcome: OUTCOME[outcome] })}</small>
          </li>
        `,
      )}
    </ul>
  `
}
