/** Replays: progress, stop and start, the library, and what features add. */
import { useState } from 'preact/hooks'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { Loaded } from '../parts/loaded.ts'
import { useRequest, useRepeated, Waiting } from '../parts/use-request.ts'
import { Library } from './library.ts'
import { startReplay, stopReplay } from './acts.ts'
import { operations, type Replay } from './operations.ts'
import { acted } from './run-action.ts'

export function Replays() {
  const { answer, trouble, again } = useRequest(() => operations.replays(), [], [acted.value])
  useRepeated(again, 3_000)
  return html`
    <div class="columns">
      <div>
        <section class="card" aria-labelledby="replays-title">
          <header><h2 id="replays-title">Playing</h2></header>
          ${
            answer === null
              ? html`<${Waiting} trouble=${trouble} />`
              : answer.replays.length === 0
                ? html`<p class="empty">No replay is playing.</p>`
                : html`<ul class="replays">
                    ${answer.replays.map((replay) => html`<${Playing} key=${replay.id} replay=${replay} again=${again} />`)}
                  </ul>`
          }
        </section>
        ${PAGE_FEATURES.map(({ replays }) =>
          replays?.card === undefined ? null : html`<${Loaded} load=${replays.card} />`,
        )}
      </div>
      <${Start} again=${again} />
      <${Library} />
    </div>
  `
}

function Playing({ replay, again }: { replay: Replay; again: () => void }) {
  const { fixtureId, matchId, minute, progress, speed, traders, state, demo, practice } = replay
  const stop = async (): Promise<void> => {
    if (await stopReplay(replay)) again()
  }
  return html`
    <li>
      <div>
        <b>${fixtureId}</b>${demo ? html` <em>demo</em>` : null}${' '}
        <em class=${practice ? 'plain' : 'main'}>${practice ? 'practice' : 'main purse'}</em>
        <p class="hint">Match ${matchId} · ${minute ?? 0}′ · ${speed}× · ${traders} traders</p>
      </div>
      <progress max="1" value=${progress ?? 0} aria-label="${fixtureId}, played"></progress>
      <button class="small" disabled=${state === 'stopping'} onClick=${() => void stop()}>
        ${state === 'stopping' ? 'Stopping' : 'Stop'}
      </button>
    </li>
  `
}

const PRACTICE: Readonly<Record<string, boolean>> = { true: true, false: false }

function Start({ again }: { again: () => void }) {
  const { answer, trouble } = useRequest(() => operations.recordings())
  const [chosen, setChosen] = useState<string | null>(null)
  const [speed, setSpeed] = useState(10)
  const [traders, setTraders] = useState(20)
  const [practice, setPractice] = useState<boolean | null>(null)
  const recording = chosen ?? answer?.fixtures[0]?.id ?? null
  const start = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (recording !== null && (await startReplay(recording, { speed, traders, practice }))) again()
  }
  const number = (event: Event): number => Number((event.target as HTMLInputElement).value)
  return html`
    <section class="card" aria-labelledby="start-title">
      <header><h2 id="start-title">Start a replay</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<form class="inside stack" onSubmit=${(event: Event) => void start(event)}>
              <label>
                Recording
                <select
                  value=${recording}
                  onChange=${(event: Event) => setChosen((event.target as HTMLSelectElement).value)}
                >
                  ${answer.fixtures.map(
                    ({ id, title, minutes, players }) =>
                      html`<option value=${id}>${title} (${minutes} min, ${players} players)</option>`,
                  )}
                </select>
              </label>
              <label>
                Speed: ${speed}×
                <input
                  type="range"
                  min="1"
                  max="120"
                  value=${speed}
                  onInput=${(event: Event) => setSpeed(number(event))}
                />
              </label>
              <label>
                Simulated traders: ${traders}
                <input
                  type="range"
                  min="0"
                  max="500"
                  step="5"
                  value=${traders}
                  onInput=${(event: Event) => setTraders(number(event))}
                />
              </label>
              <label>
                Traded with
                <select
                  value=${String(practice)}
                  onChange=${(event: Event) => setPractice(PRACTICE[(event.target as HTMLSelectElement).value] ?? null)}
                >
                  <option value="null">what replays.practice says</option>
                  <option value="true">practice money</option>
                  <option value="false">the main purse</option>
                </select>
              </label>
              <button class="primary tall">Start</button>
            </form>`
      }
    </section>
  `
}
