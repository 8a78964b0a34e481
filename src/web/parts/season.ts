/** The season of this month: entering it, where the user plays, and how earlier ones ended. */
import type { PastSeason } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime, monthName, units } from '../format.ts'
import { html } from '../html.ts'
import { refreshLeagues } from '../leagues.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { useRequest, Waiting } from './use-request.ts'
import { rich, say, words } from '../words.ts'

export function Season() {
  const { answer, trouble, again } = useRequest(() => api.season())
  const past = useRequest(() => api.pastSeasons())
  const enter = async (): Promise<void> => {
    try {
      const league = await api.enterSeason()
      await refreshLeagues()
      toast({
        tone: 'good',
        title: words.season.youAreIn,
        text: say(words.season.youBegin, { n: units(league.startingBalance) }),
      })
      again()
    } catch (error) {
      toast({ tone: 'bad', title: words.season.notEntered, text: messageFor(error) })
    }
  }
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { id, endsAt, mine } = answer
  return html`
    <section class="card" aria-labelledby="season-title">
      <header>
        <h2 id="season-title">${say(words.season.title, { name: monthName(id) })}</h2>
        <small>${say(words.season.ends, { when: dayTime(endsAt) })}</small>
      </header>
      ${
        mine === null
          ? html`
              <p class="empty">${words.season.about}</p>
              <div class="inside">
                <button class="primary tall" onClick=${() => void enter()}>${words.season.enter}</button>
              </div>
            `
          : html`
              <div class="inside">
                <p>
                  ${rich(words.season.place, { division: html`<b>${say(words.season.division, { n: mine.season?.division ?? 0 })}</b>`, group: mine.season?.group, others: mine.members === 1 ? words.season.alone : say(words.season.among, { n: mine.members }) })}
                </p>
                <p><a href="#/league/${mine.id}">${words.season.table}</a></p>
              </div>
            `
      }
      <${Past} seasons=${past.answer?.seasons ?? []} />
    </section>
  `
}

const OUTCOME = { promoted: words.season.promoted, relegated: words.season.relegated, stays: words.season.stays }

function Past({ seasons }: { seasons: readonly PastSeason[] }) {
  if (seasons.length === 0) return null
  return html`
    <ul class="rows inside">
      ${seasons.map(
        ({ season, leagueId, rank, members, outcome }) => html`
          <li key=${season.id}>
            <a href="#/league/${leagueId}"><b>${monthName(season.id)}</b></a>
            <small
              >${say(words.season.past, { division: season.division, rank, members, outcome: OUTCOME[outcome] })}</small
            >
          </li>
        `,
      )}
    </ul>
  `
}
