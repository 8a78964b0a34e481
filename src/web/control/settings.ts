/** Flags and settings: each with its default, bounds and history. A change asks first, and can be undone. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { Switch } from '../parts/switch.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { type Mode, setFlag, setMode, setSetting } from './acts.ts'
import { scopeOf } from './attention.ts'
import { changeWords } from './audit.ts'
import { operations, type Setting, type SettingValue, TRADING_MODE } from './operations.ts'
import { acted } from './run-action.ts'
import { Table } from './table.ts'

const sought = signal('')

/** By the first part of their keys; of the multipliers by role, because there are many. */
const groupOf = ({ key }: Setting): string => {
  const [first = '', second = '', third = ''] = key.split('.')
  return first === 'scoring' && second === 'multiplier' ? `multiplier.${third}` : first
}
const GROUPS: Readonly<Record<string, string>> = {
  auth: 'Signing in',
  boards: 'Boards',
  community: 'Community',
  feed: 'Match data',
  privacy: "People's data",
  pricing: 'Prices',
  referrals: 'Referrals',
  replays: 'Replays',
  retention: 'What is kept, and for how long',
  rules: 'Changing rules',
  scoring: 'Points',
  settlement: 'Full time',
  trading: 'Trading',
  'multiplier.GK': 'Points: multipliers of goalkeepers',
  'multiplier.DEF': 'Points: multipliers of defenders',
  'multiplier.MID': 'Points: multipliers of midfielders',
  'multiplier.FWD': 'Points: multipliers of forwards',
}
/** Of a feature, whose settings begin with its name. */
const headline = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`

const changedWords = (settings: readonly Setting[]): string => {
  const changed = settings.filter(({ value, default: usual }) => value !== usual).length
  return changed === 0 ? '' : `, ${changed} changed`
}

export const SettingsPanel = () => html`<${Flags} /><${Settings} />`

function Flags() {
  const { answer, trouble, again } = useRequest(() => operations.flags(), [], [acted.value])
  const set = async (key: string, enabled: boolean): Promise<void> => {
    await setFlag(key, enabled)
    again()
  }
  return html`
    <section class="card" aria-labelledby="flags-title">
      <header><h2 id="flags-title">Flags</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ul class="settings">
              ${answer.flags.map(
                ({ key, enabled, description, updatedAt, updatedBy }) => html`
                  <li key=${key}>
                    <div>
                      <b>${key}</b>
                      <p class="hint">${coded(description)} ${changedBy(updatedAt, updatedBy)}</p>
                    </div>
                    <${Switch} label=${key} isOn=${enabled} onSet=${(to: boolean) => void set(key, to)} />
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

function Settings() {
  const { answer, trouble } = useRequest(() => operations.settings(), [], [acted.value])
  const [onlyChanged, setOnlyChanged] = useState(false)
  const words = sought.value.trim().toLowerCase()
  const isFit = (one: Setting) =>
    `${one.key} ${one.description}`.toLowerCase().includes(words) && (!onlyChanged || one.value !== one.default)
  const shown = (answer?.settings ?? []).filter(isFit)
  return html`
    <section class="card" aria-labelledby="settings-title">
      <header>
        <h2 id="settings-title">Settings</h2>
        <input
          type="search"
          placeholder="Find"
          aria-label="Find a setting"
          value=${sought.value}
          onInput=${(event: Event) => (sought.value = (event.target as HTMLInputElement).value)}
        />
        <label class="check">
          <input type="checkbox" checked=${onlyChanged} onChange=${() => setOnlyChanged(!onlyChanged)} />
          Changed
        </label>
      </header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<div class="groups">
              ${[...Map.groupBy(shown, groupOf)].map(
                ([group, own]) => html`
                  <details key=${group} open=${words !== '' || onlyChanged || own.length === shown.length}>
                    <summary>
                      ${GROUPS[group] ?? headline(group)} <small>${own.length}${changedWords(own)}</small>
                    </summary>
                    <ul class="settings">
                      ${own.map((setting) => html`<${Row} key=${setting.key} setting=${setting} />`)}
                    </ul>
                  </details>
                `,
              )}
              ${shown.length === 0 ? html`<p class="empty">No match.</p>` : null}
            </div>`
      }
    </section>
  `
}

/** What is in backquotes is code. */
const coded = (text: string) => text.split('`').map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : part))

const changedBy = (at: string | null, by: string | null): string =>
  at === null ? '' : `Set by ${by ?? 'an erased user'}, ${dayTime(at)}.`

/** What may be set, and what holds by default. */
function boundsOf({ default: usual, min, max, options }: Setting): string {
  const bounds = min === undefined ? '' : `, from ${min} to ${max}`
  return `Default ${String(usual)}${options === undefined ? bounds : `, one of ${options.join(', ')}`}.`
}

function Row({ setting }: { setting: Setting }) {
  const { key, value, default: usual, description, updatedAt, updatedBy } = setting
  const [hasHistory, setHistory] = useState(false)
  // Counts answers, so that a field shows again what is in force when the operator thinks better of it.
  const [turn, setTurn] = useState(0)
  const set = async (to: SettingValue): Promise<void> => {
    if (to !== value) await (key.startsWith(TRADING_MODE) ? setModeOf(key, value, to) : setSetting(key, value, to))
    setTurn(turn + 1)
  }
  return html`
    <li class=${value === usual ? '' : 'changed'}>
      <div>
        <b>${key}</b>
        <p class="hint">${coded(description)}</p>
        <p class="hint">${boundsOf(setting)} ${changedBy(updatedAt, updatedBy)}</p>
        ${key === 'trading.protection' ? html`<${Protection} />` : null}
        ${hasHistory ? html`<${History} subject=${key} />` : null}
      </div>
      <div class="acts">
        <${Field} key=${turn} setting=${setting} onSet=${(to: SettingValue) => void set(to)} />
        <button class="small" disabled=${value === usual} onClick=${() => void set(usual)}>
          Reset<span class="sr-only"> ${key}</span>
        </button>
        <button class="small" aria-expanded=${hasHistory} onClick=${() => setHistory(!hasHistory)}>
          History<span class="sr-only"> of ${key}</span>
        </button>
      </div>
    </li>
  `
}

const asMode = (value: SettingValue): Mode => (value === 'halted' || value === 'reduce_only' ? value : 'open')
const setModeOf = (key: string, was: SettingValue, to: SettingValue) => setMode(scopeOf(key), asMode(was), asMode(to))

/** Who changed what when, and why. */
function History({ subject }: { subject: string }) {
  const { answer, trouble } = useRequest(() => operations.audit({ subject }), [], [acted.value])
  if (answer === null) return html`<${Waiting} trouble=${trouble} />`
  const changes = answer.entries.filter(({ outcome }) => outcome === 'ok')
  if (changes.length === 0) return html`<p class="hint">It was never changed.</p>`
  return html`
    <ol class="history">
      ${changes.map(
        (entry) =>
          html`<li key=${entry.id}>
            <b class="num">${changeWords(entry)}</b> ${dayTime(entry.at)},
            ${entry.actor?.username ?? 'the server'}${entry.reason === null ? '' : `: ${entry.reason}`}
          </li>`,
      )}
    </ol>
  `
}

/** From `npm run ops -- market --protection both`, as docs/measured.md has it. */
const PROTECTED = [
  ['opens 5 s before goals and cards', '+29.9 %', '+0.3 %'],
  ['closes 5 s before', '+15.2 %', '0.0 %'],
  ['opens 20 s before shots and saves', '+11.4 %', '+0.1 %'],
  ['honest: anything at any time', '0.0 %', '0.0 %'],
] as const

const Protection = () => html`
  <details class="more">
    <summary>What it protects from, and what it costs</summary>
    <${Table} label="Protection" columns=${['A user who', '#Earns of margin, off', '#On']} rows=${PROTECTED} />
    <p class="hint">
      It costs honest users certainty: 15 % of their fills move afterwards, and a position shortly before news is not
      what they saw. Without it, play for nothing that is worth cheating for.
    </p>
  </details>
`

function Field({ setting, onSet }: { setting: Setting; onSet: (value: SettingValue) => void }) {
  const { key, type, value, min, max, decimals = 0, options = [] } = setting
  // What is being typed outlasts answers that arrive meanwhile.
  const [typed, setTyped] = useState<string | null>(null)
  switch (type) {
    case 'boolean':
      return html`<${Switch} label=${key} isOn=${value === true} onSet=${onSet} />`
    case 'choice':
      return html`
        <select
          aria-label=${key}
          value=${value}
          onChange=${(event: Event) => onSet((event.target as HTMLSelectElement).value)}
        >
          ${options.map((option) => html`<option value=${option}>${option}</option>`)}
        </select>
      `
    case 'number':
      return html`
        <input
          class="num"
          type="number"
          aria-label=${key}
          min=${min}
          max=${max}
          step=${10 ** -decimals}
          value=${typed ?? value}
          onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)}
          onChange=${() => {
            if (typed !== null) onSet(Number(typed))
            setTyped(null)
          }}
        />
      `
    default:
      return type satisfies never
  }
}
