/** Replays: progress, stop and start, and tournaments to come. */
import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { useRequest, useRepeated, Waiting } from '../parts/use-request.ts'
import { Library } from './library.ts'
import { runAction } from './run-action.ts'
import { operations, type Replay } from './operations.ts'

export function Replays() {
  const { answer, trouble, again } = useRequest(() => operations.replays())
  useRepeated(again, 3_000)
  return html`
    <div class="columns">
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
      <${Start} again=${again} />
      <${Schedule} />
      <${Library} again=${again} />
    </div>
  `
}

function Playing({ replay, again }: { replay: Replay; again: () => void }) {
  const { id, fixtureId, matchId, minute, progress, speed, traders, state, demo, practice } = replay
  const stop = async (): Promise<void> => {
    if (!confirm(`Stop ${fixtureId}? Open positions settle at the current prices.`)) return
    if (await runAction(`Stop ${fixtureId}`, () => operations.stopReplay(id))) again()
  }
  return html`
    <li>
      <div>
        <b>${fixtureId}</b>${demo ? html` <em>demo</em>` : null}
        <p class="hint">
          Match ${matchId} · ${minute ?? 0}′ · ${speed}× · ${traders} traders · ${practice ? 'practice' : 'main'} purse
        </p>
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
    if (recording === null) return
    if (await runAction(`Start ${recording}`, () => operations.startReplay(recording, speed, traders, practice)))
      again()
  }
  const number = (event: Event): number => Number((event.target as HTMLInputElement).value)
  return html`
    <section class="card" aria-labelledby="start-title">
      <header><h2 id="start-title">Start another</h2></header>
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

/** A tournament that the server starts at its time, on a match from a secret seed. */
function Schedule() {
  const [name, setName] = useState('')
  const [at, setAt] = useState('')
  const [speed, setSpeed] = useState(10)
  const typed = (event: Event): string => (event.target as HTMLInputElement).value
  const schedule = async (event: Event): Promise<void> => {
    event.preventDefault()
    const wanted = { name: name.trim(), startsAt: new Date(at).toISOString(), speed }
    if (await runAction(`Schedule ${wanted.name}`, () => operations.scheduleTournament(wanted))) setName('')
  }
  return html`
    <section class="card" aria-labelledby="schedule-title">
      <header><h2 id="schedule-title">Schedule a tournament</h2></header>
      <form class="inside stack" onSubmit=${(event: Event) => void schedule(event)}>
        <label>
          Its name
          <input
            maxlength="64"
            required
            autocomplete="off"
            value=${name}
            onInput=${(event: Event) => setName(typed(event))}
          />
        </label>
        <label>
          Begins, in your time
          <input type="datetime-local" required value=${at} onInput=${(event: Event) => setAt(typed(event))} />
        </label>
        <label>
          Speed: ${speed}×
          <input
            type="range"
            min="1"
            max="120"
            value=${speed}
            onInput=${(event: Event) => setSpeed(Number(typed(event)))}
          />
        </label>
        <button class="primary tall" disabled=${name.trim() === '' || at === ''}>Schedule</button>
      </form>
    </section>
  `
}
