/** Webhooks: where they lead, how far they are behind, and what operators do with them. */
import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type * as schema from '../../../features/webhooks/schema.ts'
import { messageFor } from '../../error-messages.ts'
import { html } from '../../html.ts'
import { useRequest, useRepeated, Waiting } from '../../parts/use-request.ts'
import { toast } from '../../toasts.ts'
import { remove as removeAfter } from '../../control/acts.ts'
import { runAction } from '../../control/run-action.ts'
import { operations, type Webhook } from '../../control/operations.ts'
import { api } from '../../session.ts'

interface Tested {
  readonly status: number | null
  readonly error: string | null
}

const operate = <Answer>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  sent: { readonly body?: object; readonly query?: Readonly<Record<string, string>> } = {},
): Promise<Answer> => api.ask<Answer>(`/api/admin/webhooks${path}`, { method, ...sent })

export function Webhooks() {
  const { answer, trouble, again } = useRequest(() => operations.webhooks())
  useRepeated(again, 3_000)
  return html`
    <div class="columns">
      <section class="card" aria-labelledby="webhooks-title">
        <header><h2 id="webhooks-title">Webhooks</h2></header>
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : answer.webhooks.length === 0
              ? html`<p class="empty">No webhook yet.</p>`
              : html`<ul class="hooks">
                  ${answer.webhooks.map((each) => html`<${Hook} key=${each.id} webhook=${each} again=${again} />`)}
                </ul>`
        }
      </section>
      <${Create} again=${again} />
    </div>
  `
}

function Hook({ webhook, again }: { webhook: Webhook; again: () => void }) {
  const { id, url, types, state, lastSuccessAt, failingSince, lastError, waiting } = webhook
  const act = async (title: string, action: () => Promise<unknown>): Promise<void> => {
    if (await runAction(title, action)) again()
  }
  const test = async (): Promise<void> => {
    try {
      const { status, error } = await operate<Tested>('POST', `/${id}/test`)
      const isGood = status !== null && status >= 200 && status < 300
      const title = isGood ? 'The test message arrived' : 'The test message failed'
      toast({ tone: isGood ? 'good' : 'bad', title, text: error ?? `The answer is ${status}.` })
    } catch (error) {
      toast({ tone: 'bad', title: 'The test message failed', text: messageFor(error) })
    }
  }
  const isActive = state === 'active'
  const arrived =
    lastSuccessAt === null ? 'nothing sent yet' : `last success ${new Date(lastSuccessAt).toLocaleString()}`
  const remove = (): void => {
    const effects = [
      `${waiting} commits wait for it, and are not sent.`,
      'Its secret and its place in the stream are gone.',
    ]
    void removeAfter(`Delete the webhook to ${url}`, effects, (why) =>
      operate<unknown>('DELETE', `/${id}`, { query: { reason: why } }),
    ).then(again)
  }
  return html`
    <li>
      <div>
        <b>${url}</b>${isActive ? null : html` <em>${state}</em>`}
        <p class="hint">${types.length === 0 ? 'Everything' : types.join(', ')} · ${waiting} waiting · ${arrived}</p>
        ${
          failingSince === null
            ? null
            : html`<p class="hint down">Failing since ${new Date(failingSince).toLocaleString()}: ${lastError}</p>`
        }
      </div>
      <div class="acts">
        <button class="small" onClick=${() => void test()}>Test</button>
        <button
          class="small"
          onClick=${() =>
            void act(isActive ? 'Pause webhook' : 'Resume webhook', () =>
              operate<unknown>('PATCH', `/${id}`, { body: { state: isActive ? 'paused' : 'active' } }),
            )}
        >
          ${isActive ? 'Pause' : 'Resume'}
        </button>
        <button class="small" onClick=${remove}>Delete</button>
      </div>
    </li>
  `
}

/** All that the server knows: with one missing this does not compile. */
const TYPES = Object.keys({
  'position.opened': true,
  'position.margin_warned': true,
  'position.closed': true,
  'position.moved': true,
  'position.corrected': true,
  'position.voided': true,
  'match.settled': true,
} satisfies Record<z.output<typeof schema.EventType>, true>)

function Create({ again }: { again: () => void }) {
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState<readonly string[]>([])
  const [secret, setSecret] = useState<string | null>(null)
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isDone = await runAction('Create webhook', async () => {
      setSecret((await operate<{ secret: string }>('POST', '', { body: { url, types } })).secret)
    })
    if (!isDone) return
    setUrl('')
    again()
  }
  const choose = (type: string, isChosen: boolean): void =>
    setTypes(TYPES.filter((each) => (each === type ? isChosen : types.includes(each))))
  return html`
    <section class="card" aria-labelledby="new-webhook-title">
      <header><h2 id="new-webhook-title">Create a webhook</h2></header>
      <form class="inside stack" onSubmit=${(event: Event) => void create(event)}>
        <label>
          Address
          <input
            type="url"
            required
            maxlength="500"
            placeholder="https://"
            value=${url}
            onInput=${(event: Event) => setUrl((event.target as HTMLInputElement).value)}
          />
        </label>
        <fieldset>
          <legend>Told of (none chosen: everything)</legend>
          ${TYPES.map(
            (type) => html`
              <label class="check" key=${type}>
                <input
                  type="checkbox"
                  checked=${types.includes(type)}
                  onChange=${(event: Event) => choose(type, (event.target as HTMLInputElement).checked)}
                />
                ${type}
              </label>
            `,
          )}
        </fieldset>
        <button class="primary tall">Create</button>
        ${
          secret === null
            ? null
            : html`<p class="hint secret" role="status">
                Give its receiver this secret now: it is not shown again.<br /><code>${secret}</code>
              </p>`
        }
      </form>
    </section>
  `
}
