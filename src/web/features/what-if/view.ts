/** What if: a draft of settings, tried on recordings before anything is set. */
import { useEffect, useState } from 'preact/hooks'
import type { z } from 'zod'
import type { WhatIfBody } from '../../../features/what-if/schema.ts'
import { messageFor } from '../../error-messages.ts'
import { percent, signed, units } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { operations, type Recording, type Setting, type SettingValue } from '../../control/operations.ts'
import { Table } from '../../control/table.ts'
import { item } from '../../route.ts'
import { api } from '../../session.ts'
import { saidBy, type Spread, spreadOf } from './spread.ts'

/** Recordings under the settings in force and under a draft. */
type WhatIf = z.output<typeof WhatIfBody>

type Draft = Readonly<Record<string, SettingValue>>

export function WhatIfView() {
  const settings = useRequest(() => operations.settings())
  const bundled = useRequest(() => operations.recordings())
  const [draft, setDraft] = useState<Draft | null>(null)
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const [seeds, setSeeds] = useState(SEEDS)
  const [asking, setAsking] = useState<AbortController | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [told, setTold] = useState<readonly WhatIf[]>([])
  // Who leaves the view waits for no answer.
  useEffect(() => () => asking?.abort(), [asking])
  if (settings.answer === null || bundled.answer === null) {
    return html`<section class="card"><${Waiting} trouble=${settings.trouble ?? bundled.trouble} /></section>`
  }
  const known = settings.answer.settings
  const drafted = draft ?? draftFrom(item.value, known)
  const fixtures = bundled.answer.fixtures
  const recordings = chosen ?? fixtures.slice(0, 1).map(({ id }) => id)
  const ask = async (): Promise<void> => {
    const leaving = new AbortController()
    setAsking(leaving)
    setTrouble(null)
    setTold([])
    try {
      // One after the other: the server answers one question at a time, each within a minute.
      for (let seed = 0; seed < seeds && !leaving.signal.aborted; seed++) {
        const answer = await tried(drafted, recordings, seed)
        setTold((answers) => [...answers, answer])
      }
    } catch (error) {
      setTrouble(messageFor(error))
    }
    setAsking(null)
  }
  const isReady = Object.keys(drafted).length > 0 && recordings.length > 0
  return html`
    <section class="card" aria-labelledby="what-if-title">
      <header><h2 id="what-if-title">What if</h2></header>
      <div class="inside stack">
        <p class="hint">
          Each recording is played twice by 60 simulated traders for every seed: under the settings in force, and with
          the draft. Seeds differ in what the traders happen to do. Nothing is set.
        </p>
        <${AddSetting}
          settings=${settings.answer.settings}
          onAdd=${(key: string, value: SettingValue) => setDraft({ ...drafted, [key]: value })}
        />
        <${Drafted} draft=${drafted} settings=${settings.answer.settings} onChange=${setDraft} />
        <${Recordings} fixtures=${fixtures} chosen=${recordings} onChange=${setChosen} />
        <label class="seeds">
          Seeds
          <input
            class="num"
            type="number"
            min="1"
            max="100"
            value=${seeds}
            onInput=${(event: Event) => setSeeds(Number((event.target as HTMLInputElement).value))}
          />
        </label>
        ${
          asking === null
            ? html`<button class="primary tall" disabled=${!isReady} onClick=${() => void ask()}>Try it</button>`
            : html`<progress max=${seeds} value=${told.length} aria-label="Seeds played"></progress>
                <button class="small" onClick=${() => asking.abort()}>
                  Stop after ${told.length} of ${seeds} seeds
                </button>`
        }
        ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
      </div>
    </section>
    ${recordingsOf(told).map((runs) => html`<${Match} key=${runs[0]?.recording} runs=${runs} />`)}
  `
}

const SEEDS = 20

const tried = (settings: Draft, recordings: readonly string[], seed: number) =>
  api.ask<WhatIf>('/api/admin/settings/what-if', { method: 'POST', body: { settings, recordings, seed } })

type Run = WhatIf['matches'][number]

/** The runs of each recording, by seed. */
const recordingsOf = (told: readonly WhatIf[]): readonly (readonly Run[])[] => [
  ...Map.groupBy(
    told.flatMap(({ matches }) => matches),
    ({ recording }) => recording,
  ).values(),
]

/** What the question before a change leads here with: `trading.hold_secs=60`. */
function draftFrom(text: string, settings: readonly Setting[]): Draft {
  const [key = '', value = ''] = text.split('=').map(decodeURIComponent)
  const setting = settings.find((one) => one.key === key)
  return setting === undefined ? {} : { [key]: valueOf(setting, value) }
}

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

const count = (n: number): string => signed(n).replace(/^\+/, '').replace(/\.00$/, '')

const ROWS = [
  ['Positions opened', 'positions', count],
  ['Washouts', 'washouts', count],
  ['Stops and targets reached', 'levels', count],
  ['Void', 'voided', count],
  ['House', 'house', signed],
] as const

/** +12.30 ± 4.10 (−3.00 to +20.00) */
const changeWords = ({ mean, error, least, most }: Spread, words: (n: number) => string): string =>
  error === null ? words(mean) : `${words(mean)} ± ${units(2 * error)} (${words(least)} to ${words(most)})`

const verdictOf = (change: Spread): string =>
  ({ same: 'no difference', more: 'more', less: 'less', chance: 'may be chance', unknown: 'ask more seeds' })[
    saidBy(change)
  ]

function Match({ runs }: { runs: readonly Run[] }) {
  const [first] = runs
  if (first === undefined) return null
  const { recording, moved, movedCount } = first
  const id = `what-if-${recording}`
  const rest = movedCount - moved.length
  const rows = ROWS.map(([label, key, words]) => {
    const change = spreadOf(runs.map(({ was, would }) => would[key] - was[key]))
    const mean = (of: 'was' | 'would') => words(spreadOf(runs.map((run) => run[of][key])).mean)
    return [label, mean('was'), mean('would'), changeWords(change, words), verdictOf(change)]
  })
  return html`
    <section class="card" aria-labelledby=${id}>
      <header><h2 id=${id}>${recording}</h2></header>
      <p class="hint inside">
        Means over ${runs.length === 1 ? '1 seed: no spread is known' : `${runs.length} seeds`}. The difference has
        twice its standard error and, in brackets, the least and the most that a seed made.
      </p>
      <${Table}
        label="${recording}: outcome"
        columns=${['Outcome', '#In force', '#Draft', '#Difference', 'Says']}
        rows=${rows}
      />
      ${
        moved.length === 0
          ? html`<p class="empty">No price would have differed.</p>`
          : html`<${Table}
              label="${recording}: prices"
              columns=${['Player', '#At the end, in force', '#Draft', '#Farthest apart']}
              rows=${moved.map(({ name, was: from, would: to, farthestPct }) => [
                name,
                units(from),
                units(to),
                percent(farthestPct).replace('+', ''),
              ])}
            />`
      }
      ${rest > 0 ? html`<p class="hint inside">And ${rest} more players by less.</p>` : null}
    </section>
  `
}
