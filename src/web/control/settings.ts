/** Flags and settings: sent on change, in force everywhere within a second. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { ApiError } from '../client/api.ts'
import { refusalMessage } from '../error-messages.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { runAction } from './run-action.ts'
import { operations, type Setting, type SettingValue } from './operations.ts'

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
  return changed === 0 ? '' : `, ${changed} not as usual`
}

/** Whom a dangerous change concerns, or null. */
function dangerOf(key: string, value: SettingValue): string | null {
  if (key === 'coming_soon' && value === true)
    return 'Nobody but admins can use the service: everybody else is cut off within three seconds.'
  if (key.startsWith('trading.mode') && value === 'halted') return 'Nobody can open or close a position there.'
  if (key.startsWith('trading.mode') && value === 'reduce_only') return 'Nobody can open a position there.'
  return null
}

/** Asks before a dangerous change. */
const isMeant = (key: string, value: SettingValue): boolean => {
  const danger = dangerOf(key, value)
  return danger === null || confirm(`${key}: ${String(value)}? ${danger} You can take it back here at any time.`)
}

export const SettingsPanel = () => html`<${Flags} /><${Settings} />`

function Flags() {
  const { answer, trouble, again } = useRequest(() => operations.flags())
  const set = async (key: string, enabled: boolean): Promise<void> => {
    if (!isMeant(key, enabled)) return again()
    await runAction(`${key}: ${enabled ? 'on' : 'off'}`, () => operations.setFlag(key, enabled))
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
                ({ key, enabled, description }) => html`
                  <li key=${key}>
                    <div>
                      <b>${key}</b>
                      <p class="hint">${description}</p>
                    </div>
                    <input
                      type="checkbox"
                      aria-label=${key}
                      checked=${enabled}
                      onChange=${() => void set(key, !enabled)}
                    />
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

function Settings() {
  const { answer, trouble, again } = useRequest(() => operations.settings())
  const set = async (key: string, value: SettingValue): Promise<void> => {
    if (!isMeant(key, value)) return again()
    await runAction(`${key}: ${value}`, () => setOrAsk(key, value))
    again()
  }
  const words = sought.value.trim().toLowerCase()
  const shown = (answer?.settings ?? []).filter((one) => `${one.key} ${one.description}`.toLowerCase().includes(words))
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
      </header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<div class="groups">
              ${[...Map.groupBy(shown, groupOf)].map(
                ([group, own]) => html`
                  <details key=${group} open=${words !== '' || own.length === shown.length}>
                    <summary>
                      ${GROUPS[group] ?? headline(group)} <small>${own.length}${changedWords(own)}</small>
                    </summary>
                    <ul class="settings">
                      ${own.map((setting) => html`<${Row} key=${setting.key} setting=${setting} set=${set} />`)}
                    </ul>
                  </details>
                `,
              )}
              ${shown.length === 0 ? html`<p class="empty">No setting has these words.</p>` : null}
            </div>`
      }
    </section>
  `
}

/** Sets it. If that would move running prices far, says how far and asks first. */
async function setOrAsk(key: string, value: SettingValue): Promise<void> {
  try {
    await operations.setSetting(key, value)
  } catch (error) {
    const moves = error instanceof ApiError && error.facts.code === 'RULES_MOVE_PRICES'
    if (!moves || !confirm(`${refusalMessage(error.facts)} Set it all the same?`)) throw error
    await operations.setSetting(key, value, { force: true })
  }
}

interface RowProps {
  readonly setting: Setting
  readonly set: (key: string, value: SettingValue) => Promise<void>
}

const Row = ({ setting, set }: RowProps) => html`
  <li>
    <div>
      <b>${setting.key}</b
      >${setting.value === setting.default ? null : html` <em>default ${String(setting.default)}</em>`}
      <p class="hint">${setting.description}</p>
    </div>
    <${Field} setting=${setting} onSet=${(value: SettingValue) => void set(setting.key, value)} />
  </li>
`

function Field({ setting, onSet }: { setting: Setting; onSet: (value: SettingValue) => void }) {
  const { key, type, value, min, max, decimals = 0, options = [] } = setting
  // What is being typed outlasts answers that arrive meanwhile.
  const [typed, setTyped] = useState<string | null>(null)
  switch (type) {
    case 'boolean':
      return html`<input type="checkbox" aria-label=${key} checked=${value} onChange=${() => onSet(value !== true)} />`
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
