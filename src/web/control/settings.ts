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

export const SettingsPanel = () => html`<${Flags} /><${Settings} />`

function Flags() {
  const { answer, trouble, again } = useRequest(() => operations.flags())
  const set = async (key: string, enabled: boolean): Promise<void> => {
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
          : html`<ul class="settings">
              ${shown.map((setting) => html`<${Row} key=${setting.key} setting=${setting} set=${set} />`)}
            </ul>`
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
