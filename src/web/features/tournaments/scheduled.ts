/** Tournaments that the server plays at their time: scheduled, moved and cancelled here. */
import { useState } from 'preact/hooks'
import type { Tournament } from '../../client/wire.ts'
import { dayTime } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, useRepeated, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { plural } from '../../words.ts'
import { ask } from '../../control/ask.ts'
import { acted, runAction } from '../../control/run-action.ts'

const TOURNAMENTS = '/api/admin/tournaments'
const AGAIN_MS = 5_000
const SHOWN_MAX = 10
const ENTRANTS = { one: '{n} entrant', other: '{n} entrants' }
const change = (id: string, wanted: { state?: 'cancelled'; startsAt?: string; reason: string }) =>
  api.ask<unknown>(`${TOURNAMENTS}/${id}`, { method: 'PATCH', body: wanted })
const typed = (event: Event): string => (event.target as HTMLInputElement).value

export function ScheduledTournaments() {
  const { answer, trouble, again } = useRequest(() => api.tournaments(), [], [acted.value])
  useRepeated(again, AGAIN_MS)
  return html`
    <section class="card" aria-labelledby="tournaments-title">
      <header><h2 id="tournaments-title">Tournaments</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.tournaments.length === 0
            ? html`<p class="empty">None is scheduled.</p>`
            : html`<ul class="hooks">
                ${answer.tournaments.slice(0, SHOWN_MAX).map((one) => html`<${Row} key=${one.id} tournament=${one} />`)}
              </ul>`
      }
      <${Schedule} />
    </section>
  `
}

const when = ({ state, startsAt }: Tournament): string =>
  ({ upcoming: 'begins', running: 'running since', decided: 'played', cancelled: 'cancelled, was to begin' })[state] +
  ` ${dayTime(startsAt)}`

function Row({ tournament }: { tournament: Tournament }) {
  const { id, name, state, startsAt, speed, entrants, matchId } = tournament
  const [at, setAt] = useState('')
  const facts = [
    when(tournament),
    plural(entrants, ENTRANTS),
    `${speed}×`,
    ...(matchId === null ? [] : [`match ${matchId}`]),
  ]
  const told = `${plural(entrants, ENTRANTS)} ${entrants === 1 ? 'is' : 'are'} told.`
  const cancel = () =>
    ask({
      title: `Cancel ${name}`,
      label: 'Cancel the tournament',
      effects: () => [`It is not played. ${told}`, 'An entry costs nothing, so nothing is paid back.'],
      reason: 'asked',
      run: (reason) => change(id, { state: 'cancelled', reason }),
    })
  const move = async (event: Event): Promise<void> => {
    event.preventDefault()
    const to = new Date(at).toISOString()
    const isMoved = await ask({
      title: `Move ${name}`,
      label: 'Move it',
      change: { from: dayTime(startsAt), to: dayTime(to) },
      effects: () => [told],
      reason: 'asked',
      run: (reason) => change(id, { startsAt: to, reason }),
      undo: () => change(id, { startsAt, reason: 'undone' }),
    })
    if (isMoved) setAt('')
  }
  return html`
    <li>
      <div>
        <b>${name}</b>
        <p class="hint">${facts.join(' · ')}</p>
      </div>
      ${
        state === 'upcoming'
          ? html`<form class="acts" onSubmit=${(event: Event) => void move(event)}>
              <input
                type="datetime-local"
                required
                aria-label="New beginning of ${name}"
                value=${at}
                onInput=${(event: Event) => setAt(typed(event))}
              />
              <button class="small" disabled=${at === ''}>Move</button>
              <button type="button" class="small danger" onClick=${() => void cancel()}>Cancel…</button>
            </form>`
          : null
      }
    </li>
  `
}

/** A tournament that the server starts at its time, on a match from a secret seed. */
function Schedule() {
  const [name, setName] = useState('')
  const [at, setAt] = useState('')
  const [speed, setSpeed] = useState(10)
  const schedule = async (event: Event): Promise<void> => {
    event.preventDefault()
    const wanted = { name: name.trim(), startsAt: new Date(at).toISOString(), speed }
    if (
      await runAction(`Schedule ${wanted.name}`, () => api.ask<unknown>(TOURNAMENTS, { method: 'POST', body: wanted }))
    )
      setName('')
  }
  return html`
    <details class="more">
      <summary>Schedule one</summary>
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
    </details>
  `
}
