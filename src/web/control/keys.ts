/** Personal keys that reach endpoints for admins, of all users. */
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { revokeKey } from './acts.ts'
import { type AdminKey, operations } from './operations.ts'
import { Table } from './table.ts'

export function Keys() {
  const { answer, trouble, again } = useRequest(() => operations.keys())
  const revoke = async (key: AdminKey): Promise<void> => {
    if (await revokeKey(key, key.username)) again()
  }
  return html`
    <section class="card" aria-labelledby="keys-title">
      <header><h2 id="keys-title">Keys for admins</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.keys.length === 0
            ? html`<p class="empty">No key reaches the control room.</p>`
            : html`<${Table}
                label="Keys"
                columns=${['Key', 'Of', 'May', 'Last used', 'Until', 'Revoke']}
                rows=${answer.keys.map((key) => [
                  key.name,
                  html`<a href="#/control/users/${key.userId}">${key.username}</a>`,
                  html`<span class="wraps">${key.scopes.join(', ')}</span>`,
                  key.lastUsedAt === null ? 'never' : dayTime(key.lastUsedAt),
                  dayTime(key.expiresAt),
                  html`<button class="small danger" onClick=${() => void revoke(key)}>Revoke</button>`,
                ])}
              />`
      }
      <p class="inside hint">Keys without admin scopes are in the file of their user, under Users.</p>
    </section>
  `
}
