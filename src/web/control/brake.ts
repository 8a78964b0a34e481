/** The matches with their brakes: what may be traded in each and on each player, and what users see of it. */
import { useState } from 'preact/hooks'
import type { Instrument, Match } from '../client/wire.ts'
import { html } from '../html.ts'
import { instruments, matches, quoteOf } from '../market.ts'
import { stateWords } from '../parts/scoreboard.ts'
import { useRequest } from '../parts/use-request.ts'
import { braked } from './braked.ts'
import { endMatch, type Mode, MODE_WORDS, setMode } from './acts.ts'
import { operations, type Setting, TRADING_MODE } from './operations.ts'
import { acted } from './run-action.ts'

const MODES = ['open', 'reduce_only', 'halted'] as const satisfies readonly Mode[]

const isMode = (value: unknown): value is Mode => MODES.some((mode) => mode === value)

/** What a brake is on: everything, a match or a player. */
interface Scope {
  readonly key: string
  readonly name: string
}

interface BrakesProps {
  readonly settings: readonly Setting[]
}

export function Brakes() {
  const { answer } = useRequest(() => operations.settings(), [], [acted.value])
  if (answer === null) return null
  const { settings } = answer
  const live = braked(matches.value)
  return html`
    <section class="card" aria-labelledby="mode-title">
      <header>
        <h2 id="mode-title">Trading</h2>
        <${Brake} scope=${{ key: TRADING_MODE, name: 'Every match' }} settings=${settings} />
      </header>
    </section>
    <section class="card brakes" aria-labelledby="games-title">
      <header><h2 id="games-title">Matches</h2></header>
      ${
        live.length === 0
          ? html`<p class="empty">No match is on, and none is near.</p>`
          : html`<ul class="rows inside">
              ${live.map((match) => html`<${MatchRow} key=${match.id} match=${match} settings=${settings} />`)}
            </ul>`
      }
    </section>
  `
}

const SEEN = { OPEN: 'users can trade', SUSPENDED: 'users see it suspended', CLOSED: 'users see it closed' } as const

function MatchRow({ match, settings }: BrakesProps & { match: Match }) {
  const [isOpen, setOpen] = useState(false)
  const { id, home, away, minute, tradeWindow } = match
  const name = `${home.name} – ${away.name}`
  const end = (outcome: 'settle' | 'void') => void endMatch({ id, name }, outcome)
  return html`
    <li>
      <div>
        <b>${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}</b>
        <small>${minute === null ? '' : `${minute}′ · `}${stateWords(match)} · ${SEEN[tradeWindow.status]}</small>
      </div>
      <${Brake} scope=${{ key: `${TRADING_MODE}.match.${id}`, name }} settings=${settings} />
      <button class="link" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        ${isOpen ? 'Hide the players' : 'Players and ending'}
      </button>
      ${
        isOpen
          ? html`<p class="ending">
                <button class="small" onClick=${() => end('settle')}>End and settle…</button>
                <button class="small danger" onClick=${() => end('void')}>End and void…</button>
              </p>
              <${Players} matchId=${id} settings=${settings} />`
          : null
      }
    </li>
  `
}

function Players({ matchId, settings }: BrakesProps & { matchId: number }) {
  // Those on the pitch first: what is suspended or braked is looked for there.
  const own = [...instruments.value.values()]
    .filter(({ fixtureId }) => fixtureId === matchId)
    .toSorted((a, b) => Number(isClosed(a)) - Number(isClosed(b)) || a.name.localeCompare(b.name))
  return html`
    <ul class="rows players-of">
      ${own.map((one) => html`<${PlayerRow} key=${one.id} instrument=${one} settings=${settings} />`)}
    </ul>
  `
}

const isClosed = ({ id }: Instrument): boolean => quoteOf(id).value.status === 'CLOSED'
const PITCH = { OPEN: 'on the pitch', SUSPENDED: 'suspended', CLOSED: 'not on the pitch' } as const

function PlayerRow({ instrument, settings }: BrakesProps & { instrument: Instrument }) {
  const { id, name } = instrument
  const scope = { key: `${TRADING_MODE}.instrument.${id}`, name }
  return html`
    <li>
      <div><b>${name}</b> <small>${PITCH[quoteOf(id).value.status]}</small></div>
      <${Brake} scope=${scope} settings=${settings} />
    </li>
  `
}

/** Three buttons, coloured by what is in force. Each asks first. */
function Brake({ scope, settings }: BrakesProps & { scope: Scope }) {
  const found = settings.find(({ key }) => key === scope.key)?.value
  const own = isMode(found) ? found : 'open'
  // What is halted everywhere is halted here, whatever this brake says.
  const platform = settings.find(({ key }) => key === TRADING_MODE)?.value
  const isOverruled = scope.key !== TRADING_MODE && own === 'open' && isMode(platform) && platform !== 'open'
  const mode = isOverruled ? null : own
  return html`
    <div class="choice mode ${mode ?? ''}" role="group" aria-label="Trading on ${scope.name}">
      ${MODES.map(
        (value) =>
          html`<button
            aria-pressed=${mode === value}
            onClick=${() => void (value === own || setMode(scope, own, value))}
          >
            ${MODE_WORDS[value]}
          </button>`,
      )}
    </div>
    ${isOverruled ? html`<small class="overruled">${MODE_WORDS[platform].toLowerCase()} everywhere</small>` : null}
  `
}
