/** In the account: the players that the user follows, what they are told of, and the prices that they wait for. */
import type { Follows, PriceAlert } from '../../client/wire.ts'
import { units } from '../../format.ts'
import { html } from '../../html.ts'
import { Switch } from '../../parts/switch.ts'
import { toTitle } from '../../parts/to-title.ts'
import { api } from '../../session.ts'
import { say, wordsOf } from '../../words.ts'
import { changeFollows, follows } from './state.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const KINDS = ['lineup', 'kickoff', 'goal', 'card', 'pitch'] as const

export function FollowsCard() {
  const list = follows.value
  if (list === null) return null
  return html`
    <section class="card" aria-labelledby="follows-title">
      <header><h2 id="follows-title">${own.title}</h2></header>
      <div class="inside">
        <p class="hint">${own.hint}</p>
        <${Kinds} kinds=${list.kinds} />
        ${list.players.length === 0 ? html`<p>${own.none}</p>` : html`<${Players} players=${list.players} />`}
        <h3>${own.alerts}</h3>
        ${list.alerts.length === 0 ? html`<p>${own.noAlerts}</p>` : html`<${Alerts} alerts=${list.alerts} />`}
      </div>
    </section>
  `
}

function Kinds({ kinds }: { kinds: Follows['kinds'] }) {
  const turn = (kind: (typeof KINDS)[number]): void => {
    const wanted = kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind]
    void changeFollows(() => api.chooseFollowKinds(wanted))
  }
  return html`
    <h3>${own.kinds}</h3>
    ${KINDS.map(
      (kind) => html`
        <label key=${kind} class="choice">
          <${Switch} isOn=${kinds.includes(kind)} onSet=${() => turn(kind)} />
          ${own[kind]}
        </label>
      `,
    )}
  `
}

/** Takes a row away. */
function without(event: Event, remove: () => Promise<unknown>): void {
  toTitle(event)
  void changeFollows(remove)
}

const Players = ({ players }: { players: Follows['players'] }) => html`
  <ul class="rows">
    ${players.map(
      ({ instrumentId, player, currentPrice }) => html`
        <li key=${instrumentId}>
          <b>${player}</b>
          <span class="num">${units(currentPrice)}</span>
          <button
            class="star"
            aria-pressed="true"
            aria-label=${say(own.unfollow, { player })}
            onClick=${(event: Event) => without(event, () => api.follow(instrumentId, false))}
          >
            ★
          </button>
        </li>
      `,
    )}
  </ul>
`

const Alerts = ({ alerts }: { alerts: readonly PriceAlert[] }) => html`
  <ul class="rows">
    ${alerts.map(
      ({ id, player, level, direction }) => html`
        <li key=${id}>
          <span>${say(own[direction], { player, level: units(level) })}</span>
          <button
            class="bare"
            aria-label=${say(own.remove, { player, level: units(level) })}
            onClick=${(event: Event) => without(event, () => api.removeAlert(id))}
          >
            ✕
          </button>
        </li>
      `,
    )}
  </ul>
`
