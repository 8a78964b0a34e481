/** Full time for a signed-in user: what the match made of their positions, or who moved most. */
import { useState } from 'preact/hooks'
import { noneIfMissing } from '../../client/ask.ts'
import type { League, Match, MatchEvent, Purse, Recap, Squad } from '../../client/wire.ts'
import { arrow, percent, signed, units, way } from '../../format.ts'
import { html } from '../../html.ts'
import { isLeague, leagues, purseName, takes } from '../../leagues.ts'
import { lineUp, type Listed } from '../../line-up.ts'
import { grass, shirtOf } from '../../parts/grass.ts'
import { useRepeated, useRequest, Waiting } from '../../parts/use-request.ts'
import { item } from '../../route.ts'
import { now } from '../../server-clock.ts'
import { api } from '../../session.ts'
import { say, words, wordsOf } from '../../words.ts'
import type { FullTimeProps } from '../feature.ts'
import { Card } from './card.ts'
import { said } from './words.ts'

const own = wordsOf(said)
/** Leagues that are asked for what was made in them. */
const LEAGUES_ASKED = 3
const ASK_MS = 20_000
/** A rank is known some minutes after the settlement, or never. */
const RANKED_MS = 6 * 60_000

/** Null without a wallet in the purse. */
const recapOf = (id: number, of: Purse): Promise<Recap | null> => api.matchRecap(id, of).catch(noneIfMissing)

const isRankAwaited = ({ rank, trades, to }: Recap): boolean =>
  rank === null && trades > 0 && now.peek() - Date.parse(to) < RANKED_MS

/** The wanted league, and of the others those that end or ended about now: a tournament ends with its match. */
function leaguesOf(match: Match, wanted: string): readonly string[] {
  const distance = ({ id, endsAt }: League): number => (id === wanted ? 0 : Math.abs(Date.parse(endsAt) - now.peek()))
  const taking = leagues.value.filter((league) => league.id === wanted || takes(league, match))
  return taking
    .toSorted((a, b) => distance(a) - distance(b))
    .slice(0, LEAGUES_ASKED)
    .map(({ id }) => id)
}

export function YourMatch({ match, events }: FullTimeProps) {
  const { id } = match
  const [wanted] = useState<string>(item.peek())
  const [chosen, choose] = useState(wanted)
  const asked = [match.purse, ...leaguesOf(match, wanted)]
  const squads = useRequest(() => Promise.all([api.squad(id, 'home'), api.squad(id, 'away')]))
  const recaps = useRequest(() => Promise.all(asked.map((of) => recapOf(id, of))), [asked.join()])
  const found = (recaps.answer ?? []).filter((recap) => recap !== null)
  const traded = found.filter(({ curve }) => curve.length > 0)
  const shown = traded.find(({ purse }) => purse === chosen) ?? traded[0] ?? null
  useRepeated(() => {
    if (found.some(isRankAwaited)) recaps.again()
  }, ASK_MS)
  if (recaps.answer === null) return html`<${Waiting} trouble=${recaps.trouble} />`
  return html`
    <div class="match-columns">
      <div>
        ${traded.length < 2 ? null : html`<${Purses} traded=${traded} shown=${shown} choose=${choose} />`}
        ${
          shown === null
            ? html`<p class="card inside">${own.noTrades}</p>`
            : html`<${Card} recap=${shown} address=${`/api/recaps/matches/${id}`} />
                ${isRankAwaited(shown) && !isLeague(shown.purse) ? html`<p class="hint">${own.rankSoon}</p>` : null}`
        }
        <${Movers} movers=${found[0]?.movers ?? []} />
      </div>
      <div>
        ${squads.answer === null ? null : pitch({ match, events, squads: squads.answer, recap: shown ?? found[0] ?? null })}
      </div>
    </div>
  `
}

interface PursesProps {
  readonly traded: readonly Recap[]
  readonly shown: Recap | null
  readonly choose: (purse: Purse) => void
}

const Purses = ({ traded, shown, choose }: PursesProps) => html`
  <div class="choice" role="group" aria-label=${words.purse.which}>
    ${traded.map(
      ({ purse }) =>
        html`<button aria-pressed=${purse === shown?.purse} onClick=${() => choose(purse)}>
          ${purseName(purse)}
        </button>`,
    )}
  </div>
`

type Player = Listed<Squad['players'][number]>

interface PitchProps extends FullTimeProps {
  readonly squads: readonly [Squad, Squad]
  readonly recap: Recap | null
}

/** Who was on it at the end, and those whom the calls were about. */
function pitch({ match, events, squads: [home, away], recap }: PitchProps) {
  const isCalled = ({ instrumentId }: Player): boolean =>
    [recap?.best, recap?.worst].some((call) => call?.instrumentId === instrumentId)
  const shown = ({ team, players }: Squad, ofMatch: readonly MatchEvent[]): readonly Player[] => {
    const { playing, off } = lineUp(team.side, players, ofMatch)
    return [...playing, ...off.filter(isCalled)]
  }
  if (home.players.length === 0) return null
  return grass(match, { home: shown(home, events), away: shown(away, events) }, (player) => {
    const move = recap?.movers.find(({ instrumentId }) => instrumentId === player.instrumentId)
    const changed = move === undefined ? null : (move.to / move.from - 1) * 100
    return html`
      <div class="shirt ${player.side} ${isCalled(player) ? 'called' : ''}">
        ${shirtOf(player, events)}
        ${changed === null ? null : html`<small class="num ${way(changed)}"><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</small>`}
        <${Call} what=${own.best} call=${recap?.best ?? null} of=${player} />
        <${Call} what=${own.worst} call=${recap?.worst ?? null} of=${player} />
      </div>
    `
  })
}

const Call = ({ what, call, of }: { what: string; call: Recap['best']; of: Player }) =>
  call?.instrumentId === of.instrumentId
    ? html`<em class="num ${way(call.pnl)}"><small>${what}</small> ${signed(call.pnl)}</em>`
    : null

function Movers({ movers }: { movers: Recap['movers'] }) {
  if (movers.length === 0) return null
  return html`
    <section class="card movers" aria-labelledby="moved-title">
      <header><h2 id="moved-title">${own.movers}</h2></header>
      <ol>
        ${movers.map(({ instrumentId, player, from, to }) => {
          const changed = (to / from - 1) * 100
          return html`
            <li key=${instrumentId}>
              <span
                ><b>${player}</b>
                <small class="num">${say(own.fromTo, { from: units(from), to: units(to) })}</small></span
              >
              <span></span>
              <span class="num ${way(changed)}"><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</span>
            </li>
          `
        })}
      </ol>
    </section>
  `
}
