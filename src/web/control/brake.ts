/** The matches with their brakes: what may be traded in each and on each player, and what users see of it. */
import { useState } from 'preact/hooks'
import type { Instrument, Match } from '../client/wire.ts'
import { html } from '../html.ts'
import { instruments, matches, quoteOf } from '../market.ts'
import { stateWords } from '../parts/scoreboard.ts'
import { useRequest } from '../parts/use-request.ts'
import { endMatch } from './end-match.ts'
import { operations, type Setting, TRADING_MODE } from './operations.ts'
import { acted, runAction } from './run-action.ts'

const MODES = ['open', 'reduce_only', 'halted'] as const
type Mode = (typeof MODES)[number]
const MODE_WORDS: Readonly<Record<Mode, string>> = { open: 'Open', reduce_only: 'Close only', halted: 'Halted' }
const MEANING: Readonly<Record<Mode, string>> = {
  open: 'Everything can be traded again.',
  reduce_only: 'Nobody can open there. Users can still close.',
  halted: 'Nobody can open or close there.',
}
const GOES_ON = 'Stops, targets, washouts and full time go on. You can take it back at any time.'
const SHOWN_MAX = 12

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
  const { answer } = useRequest(() => operations.settings(), [acted.value])
  if (answer === null) return null
  const { settings } = answer
  const live = matches.value.filter(({ state }) => !OVER.has(state ?? '')).slice(0, SHOWN_MAX)
  return html`
    <section class="card" aria-labelledby="mode-title">
      <header>
        <h2 id="mode-title">Trading</h2>
        <${Brake} scope=${{ key: TRADING_MODE, name: 'every match' }} settings=${settings} />
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

const OVER: ReadonlySet<string> = new Set(['FT', 'AET', 'FT_PEN', 'FINISHED', 'CANCELLED', 'ABANDONED', 'VOID'])
const SEEN = { OPEN: 'users can trade', SUSPENDED: 'users see it suspended', CLOSED: 'users see it closed' } as const

function MatchRow({ match, settings }: BrakesProps & { match: Match }) {
  const [isOpen, setOpen] = useState(false)
  const { id, home, away, minute, tradeWindow } = match
  const name = `${home.name} – ${away.name}`
  const end = (outcome: 'settle' | 'void'): Promise<void> => endMatch({ id, name }, outcome)
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
      ${isOpen ? html`<${Players} matchId=${id} settings=${settings} />` : null}
      ${
        isOpen
          ? html`<p class="ending">
              <button class="small" onClick=${() => void end('settle')}>End and settle…</button>
              <button class="small" onClick=${() => void end('void')}>End and void…</button>
            </p>`
          : null
      }
    </li>
  `
}

function Players({ matchId, settings }: BrakesProps & { matchId: number }) {
  const own = [...instruments.value.values()].filter(({ fixtureId }) => fixtureId === matchId)
  return html`
    <ul class="rows players-of">
      ${own.map((one) => html`<${PlayerRow} key=${one.id} instrument=${one} settings=${settings} />`)}
    </ul>
  `
}

function PlayerRow({ instrument, settings }: BrakesProps & { instrument: Instrument }) {
  const { id, name } = instrument
  const scope = { key: `${TRADING_MODE}.instrument.${id}`, name }
  return html`
    <li>
      <div><b>${name}</b> <small>${quoteOf(id).value.status.toLowerCase()}</small></div>
      <${Brake} scope=${scope} settings=${settings} />
    </li>
  `
}

/** Three buttons. Stricter ones ask first, and say whom they concern. */
function Brake({ scope, settings }: BrakesProps & { scope: Scope }) {
  const found = settings.find(({ key }) => key === scope.key)?.value
  const mode = isMode(found) ? found : 'open'
  const set = async (to: Mode): Promise<void> => {
    if (to === mode) return
    if (to !== 'open' && !confirm(`${MODE_WORDS[to]}: ${scope.name}? ${MEANING[to]} ${GOES_ON}`)) return
    await runAction(`${scope.name}: ${MODE_WORDS[to]}`, () => operations.setSetting(scope.key, to))
  }
  return html`
    <div class="choice" role="group" aria-label="Trading on ${scope.name}">
      ${MODES.map(
        (value) =>
          html`<button aria-pressed=${mode === value} onClick=${() => void set(value)}>${MODE_WORDS[value]}</button>`,
      )}
    </div>
  `
}
