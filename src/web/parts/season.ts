/** The season of this month: entering it, where the user plays, and how earlier ones ended. */
import type { PastSeason } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { refreshLeagues } from '../leagues.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { useRequest, Waiting } from './use-request.ts'

export function Season() {
  const { answer, trouble, again } = useRequest(() => api.season())
  const past = useRequest(() => api.pastSeasons())
  const enter = async (): Promise<void> => {
    try {
      const league = await api.enterSeason()
      await refreshLeagues()
      toast({ tone: 'good', title: 'You are in', text: `You begin with ${units(league.startingBalance)} units.` })
      again()
    } catch (error) {
      toast({ tone: 'bad', title: 'Not entered', text: messageFor(error) })
    }
  }
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { name, endsAt, mine } = answer
  return html`
    <section class="card" aria-labelledby="season-title">
      <header>
        <h2 id="season-title">Season: ${name}</h2>
        <small>ends ${dayTime(endsAt)}</small>
      </header>
      ${
        mine === null
          ? html`
              <p class="empty">
                A month, everybody, the same money: 10,000 units of the season. The best fifth of your group goes up a
                division.
              </p>
              <div class="inside">
                <button class="primary tall" onClick=${() => void enter()}>Enter the season</button>
              </div>
            `
          : html`
              <div class="inside">
                <p>
                  You play in <b>division ${mine.season?.division}</b>, group ${mine.season?.group},${' '}
                  ${mine.members === 1 ? 'alone so far' : `among ${mine.members}`}.
                </p>
                <p><a href="#/league/${mine.id}">The table of your group</a></p>
              </div>
            `
      }
      <${Past} seasons=${past.answer?.seasons ?? []} />
    </section>
  `
}

const OUTCOME = { promoted: 'went up', relegated: 'went down', stays: 'stayed' } as const

function Past({ seasons }: { seasons: readonly PastSeason[] }) {
  if (seasons.length === 0) return null
  return html`
    <ul class="rows inside">
      ${seasons.map(
        ({ season, leagueId, rank, members, outcome }) => html`
          <li key=${season.id}>
            <a href="#/league/${leagueId}"><b>${season.id}</b></a>
            <small>division ${season.division} · ${rank} of ${members} · ${OUTCOME[outcome]}</small>
          </li>
        `,
      )}
    </ul>
  `
}
