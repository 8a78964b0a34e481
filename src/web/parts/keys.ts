/** The user's keys for programs: what there are, a new one whose secret is shown once, and deleting one. */
import { useState } from 'preact/hooks'
import type { PersonalKey, Scope } from '../client/wire.ts'
import { offerSignIn } from '../provider.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { now } from '../server-clock.ts'
import { api, isAdmin } from '../session.ts'
import { toast } from '../toasts.ts'
import { toTitle } from './to-title.ts'
import { useRequest, Waiting } from './use-request.ts'
import { plural, say, words } from '../words.ts'

const DAY_MS = 24 * 3_600_000
/** Lives to choose from, in days. */
const LIVES = [7, 30, 90, 366] as const
const SCOPES: readonly { readonly scope: Scope; readonly label: string; readonly isForAdmins: boolean }[] = [
  { scope: 'read', label: words.keys.read, isForAdmins: false },
  { scope: 'trade', label: words.keys.trade, isForAdmins: false },
  { scope: 'admin:read', label: words.keys.adminRead, isForAdmins: true },
  { scope: 'admin:write', label: words.keys.adminWrite, isForAdmins: true },
]

export function Keys() {
  const { answer, trouble, again } = useRequest(() => api.keys())
  const [secret, setSecret] = useState<string | null>(null)
  const made = (shown: string): void => {
    setSecret(shown)
    again()
  }
  return html`
    <section class="card" aria-labelledby="keys-title">
      <header><h2 id="keys-title">${words.keys.title}</h2></header>
      <div class="inside">
        <p class="hint">${words.keys.hint}</p>
        ${secret === null ? null : html`<${Secret} secret=${secret} onDone=${() => setSecret(null)} />`}
        ${answer === null ? html`<${Waiting} trouble=${trouble} />` : html`<${List} keys=${answer.keys} again=${again} />`}
        <${NewKey} made=${made} />
      </div>
    </section>
  `
}

function List({ keys, again }: { keys: readonly PersonalKey[]; again: () => void }) {
  const end = async (event: Event, { id, name }: PersonalKey): Promise<void> => {
    if (!confirm(say(words.keys.confirmDelete, { name }))) return
    toTitle(event)
    try {
      await api.deleteKey(id)
      toast({ tone: 'plain', title: words.keys.deleted, text: name })
    } catch (error) {
      toast({ tone: 'bad', title: words.keys.notDeleted, text: messageFor(error) })
    }
    again()
  }
  if (keys.length === 0) return html`<p class="empty">${words.keys.none}</p>`
  return html`
    <ul class="rows keys">
      ${keys.map(
        (key) => html`
          <li key=${key.id}>
            <b>${key.name}</b>
            <small>
              ${key.scopes.join(', ')} · ${say(words.keys.until, { when: dayTime(key.expiresAt) })} ·
              ${key.lastUsedAt === null ? ` ${words.keys.never}` : ` ${say(words.keys.lastUsed, { when: dayTime(key.lastUsedAt) })}`}
            </small>
            <button
              class="small"
              aria-label=${say(words.keys.deleteOne, { name: key.name })}
              onClick=${(event: Event) => void end(event, key)}
            >
              ${words.keys.delete}
            </button>
          </li>
        `,
      )}
    </ul>
  `
}

function Secret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(secret)
      toast({ tone: 'good', title: words.keys.copied, text: words.keys.shownOnce })
    } catch {
      toast({ tone: 'plain', title: words.keys.notCopied, text: words.keys.byHand })
    }
  }
  return html`
    <div class="secret" role="status">
      <p>${words.keys.copyNow}</p>
      <code>${secret}</code>
      <p>
        <button class="small" onClick=${() => void copy()}>${words.keys.copy}</button>
        <button class="small" onClick=${(event: Event) => (toTitle(event), onDone())}>${words.keys.done}</button>
      </p>
    </div>
  `
}

function NewKey({ made }: { made: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read'])
  const [days, setDays] = useState<number>(90)
  const [isBusy, setBusy] = useState(false)
  const turn = (scope: Scope): void =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      const expiresAt = new Date(now.peek() + days * DAY_MS - 3_600_000).toISOString()
      made((await api.newKey({ name: name.trim(), scopes, expiresAt })).secret)
      setName('')
    } catch (error) {
      toast({ tone: 'bad', title: words.keys.notCreated, text: messageFor(error), ...offerSignIn(error) })
    }
    setBusy(false)
  }
  return html`
    <form class="new-key" onSubmit=${(event: Event) => void create(event)}>
      <label>
        ${words.keys.name}
        <input
          maxlength="64"
          required
          placeholder=${words.keys.myBot}
          value=${name}
          onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
        />
      </label>
      <fieldset>
        <legend>${words.keys.itMay}</legend>
        ${SCOPES.filter(({ isForAdmins }) => isAdmin.value || !isForAdmins).map(
          ({ scope, label }) => html`
            <label key=${scope} class="choice">
              <input type="checkbox" checked=${scopes.includes(scope)} onChange=${() => turn(scope)} />
              ${label}
            </label>
          `,
        )}
      </fieldset>
      <label>
        ${words.keys.for}
        <select value=${days} onChange=${(event: Event) => setDays(Number((event.target as HTMLSelectElement).value))}>
          ${LIVES.map((life) => html`<option key=${life} value=${life}>${plural(life, words.keys.days)}</option>`)}
        </select>
      </label>
      <button class="small" disabled=${isBusy || name.trim() === '' || scopes.length === 0}>
        ${words.keys.create}
      </button>
    </form>
  `
}
