/** What if: a draft of settings, tried on recordings before anything is set. */
import { useState } from 'preact/hooks'
import { messageFor } from '../../error-messages.ts'
import { percent, signed, units } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { operations, type Recording, type Setting, type SettingValue } from '../../control/operations.ts'
import { api } from '../../session.ts'

interface TriedOutcome {
  readonly positions: number
  readonly washouts: number
  readonly levels: number
  readonly voided: number
  readonly house: number
}

/** Recordings under the settings in force and under a draft. */
interface WhatIf {
  readonly matches: readonly {
    readonly recording: string
    readonly was: TriedOutcome
    readonly would: TriedOutcome
    readonly movedCount: number
    readonly moved: readonly {
      readonly name: string
      readonly was: number
      readonly would: number
      readonly farthestPct: number
    }[]
  }[]
}

type Draft = Readonly<Record<string, SettingValue>>

export function WhatIfView() {
  const settings = useRequest(() => operations.settings())
  const bundled = useRequest(() => operations.recordings())
  const [draft, setDraft] = useState<Draft>({})
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [told, setTold] = useState<WhatIf | null>(null)
  if (settings.answer === null || bundled.answer === null) {
    return html`<section class="card"><${Waiting} trouble=${settings.trouble ?? bundled.trouble} /></section>`
  }
  const fixtures = bundled.answer.fixtures
  const recordings = chosen ?? fixtures.slice(0, 1).map(({ id }) => id)
  const ask = async (): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    try {
      setTold(await tried(draft, recordings))
    } catch (error) {
      setTrouble(messageFor(error))
    }
    setBusy(false)
  }
  const isReady = Object.keys(draft).length > 0 && recordings.length > 0 && !isBusy
  return html`
    <section class="card" aria-labelledby="what-if-title">
      <header><h2 id="what-if-title">What if</h2></header>
      <div class="inside stack">
        <p class="hint">
          Each recording is played twice by 60 simulated traders: under the settings in force, and with the draft.
          Nothing is set.
        </p>
        <${AddSetting}
          settings=${settings.answer.settings}
          onAdd=${(key: string, value: SettingValue) => setDraft({ ...draft, [key]: value })}
        />
        <${Drafted} draft=${draft} settings=${settings.answer.settings} onChange=${setDraft} />
        <${Recordings} fixtures=${fixtures} chosen=${recordings} onChange=${setChosen} />
        <button class="primary tall" disabled=${!isReady} onClick=${() => void ask()}>
          ${isBusy ? 'Playing…' : 'Try it'}
        </button>
        ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
      </div>
    </section>
    ${told === null ? null : told.matches.map((match) => html`<${Match} key=${match.recording} match=${match} />`)}
  `
}

const tried = (settings: Draft, recordings: readonly string[]) =>
  api.ask<WhatIf>('/api/admin/settings/what-if', { method: 'POST', body: { settings, recordings } })

interface AddProps {
  readonly settings: readonly Setting[]
  readonly onAdd: (key: string, value: SettingValue) => void
}

function AddSetting({ settings, onAdd }: AddProps) {
  const [key, setKey] = useState('')
  const [typed, setTyped] = useState('')
  const setting = settings.find((one) => one.key === key)
  const typedIn = (event: Event): string => (event.target as HTMLInputElement).value
  const add = (event: Event): void => {
    event.preventDefault()
    if (setting === undefined || typed === '') return
    onAdd(key, valueOf(setting, typed))
    setKey('')
    setTyped('')
  }
  return html`
    <form class="draft" onSubmit=${add}>
      <label>
        Setting
        <input list="what-if-keys" value=${key} onInput=${(event: Event) => setKey(typedIn(event))} />
      </label>
      <datalist id="what-if-keys">${settings.map((one) => html`<option value=${one.key} />`)}</datalist>
      <label>
        Value
        <input
          value=${typed}
          placeholder=${setting === undefined ? '' : String(setting.value)}
          onInput=${(event: Event) => setTyped(typedIn(event))}
        />
      </label>
      <button class="small" disabled=${setting === undefined || typed === ''}>Add</button>
    </form>
    ${setting === undefined ? null : html`<p class="hint">${setting.description}</p>`}
  `
}

/** The server says what is wrong with a value that is not valid. */
function valueOf({ type }: Setting, typed: string): SettingValue {
  if (type === 'boolean') return typed === 'true'
  return type === 'number' ? Number(typed) : typed
}

interface DraftedProps {
  readonly draft: Draft
  readonly settings: readonly Setting[]
  readonly onChange: (draft: Draft) => void
}

const Drafted = ({ draft, settings, onChange }: DraftedProps) => html`
  <ul class="settings" aria-label="Draft">
    ${Object.entries(draft).map(
      ([key, value]) => html`
        <li key=${key}>
          <div>
            <b>${key}</b>
            <p class="hint">${String(settings.find((one) => one.key === key)?.value)} → ${String(value)}</p>
          </div>
          <button
            class="small"
            onClick=${() => onChange(Object.fromEntries(Object.entries(draft).filter(([one]) => one !== key)))}
          >
            Remove
          </button>
        </li>
      `,
    )}
  </ul>
`

interface RecordingsProps {
  readonly fixtures: readonly Recording[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** The server plays at most three at a time. */
const RECORDINGS_MAX = 3

const Recordings = ({ fixtures, chosen, onChange }: RecordingsProps) => html`
  <fieldset>
    <legend>Recordings</legend>
    ${fixtures.map(({ id, title, minutes }) => {
      const isChosen = chosen.includes(id)
      return html`<label key=${id} class="check">
        <input
          type="checkbox"
          checked=${isChosen}
          disabled=${!isChosen && chosen.length >= RECORDINGS_MAX}
          onChange=${() => onChange(isChosen ? chosen.filter((one) => one !== id) : [...chosen, id])}
        />
        ${title} (${minutes} min)
      </label>`
    })}
  </fieldset>
`

const ROWS = [
  ['Positions opened', 'positions'],
  ['Washouts', 'washouts'],
  ['Stops and targets reached', 'levels'],
  ['Void after news', 'voided'],
] as const

function Match({ match: { recording, was, would, moved, movedCount } }: { match: WhatIf['matches'][number] }) {
  const id = `what-if-${recording}`
  const rest = movedCount - moved.length
  return html`
    <section class="card" aria-labelledby=${id}>
      <header><h2 id=${id}>${recording}</h2></header>
      <div class="scroll" tabindex="0" role="region" aria-label="${recording}: outcome">
        <table>
          <thead>
            <tr>
              <th scope="col">Outcome</th>
              <th scope="col">In force</th>
              <th scope="col">Draft</th>
              <th scope="col">Difference</th>
            </tr>
          </thead>
          <tbody>
            ${ROWS.map(
              ([label, key]) =>
                html`<tr key=${key}>
                  <th scope="row">${label}</th>
                  <td class="num">${was[key]}</td>
                  <td class="num">${would[key]}</td>
                  <td class="num">${signed(would[key] - was[key]).replace(/\.00$/, '')}</td>
                </tr>`,
            )}
            <tr>
              <th scope="row">House</th>
              <td class="num">${signed(was.house)}</td>
              <td class="num">${signed(would.house)}</td>
              <td class="num">${signed(would.house - was.house)}</td>
            </tr>
          </tbody>
        </table>
      </div>
      ${
        moved.length === 0
          ? html`<p class="empty">No price would have differed.</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="${recording}: prices">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Player</th>
                    <th scope="col">At the end, in force</th>
                    <th scope="col">Draft</th>
                    <th scope="col">Farthest apart</th>
                  </tr>
                </thead>
                <tbody>
                  ${moved.map(
                    ({ name, was: from, would: to, farthestPct }) =>
                      html`<tr key=${name}>
                        <th scope="row">${name}</th>
                        <td class="num">${units(from)}</td>
                        <td class="num">${units(to)}</td>
                        <td class="num">${percent(farthestPct).replace('+', '')}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
      ${rest > 0 ? html`<p class="hint inside">And ${rest} more players by less.</p>` : null}
    </section>
  `
}
