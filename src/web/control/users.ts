/** All users, searchable, with their roles. */
import { useEffect, useState } from 'preact/hooks'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { setRole } from './acts.ts'
import { type ListedUser, operations } from './operations.ts'
import { Table as Rows } from './table.ts'

const PAGE = 25
const TYPING_MS = 250

export function Users() {
  const [typed, setTyped] = useState('')
  const [search, setSearch] = useState('')
  const [offset, setOffset] = useState(0)
  const { answer, trouble, again } = useRequest(() => operations.users(search, offset), [search], [offset])
  useEffect(() => {
    const waiting = setTimeout(() => {
      setSearch(typed)
      setOffset(0)
    }, TYPING_MS)
    return () => clearTimeout(waiting)
  }, [typed])
  return html`
    <section class="card" aria-labelledby="users-title">
      <header>
        <h2 id="users-title">Users</h2>
        <input
          type="search"
          placeholder="Name, mail or id"
          aria-label="Find a user"
          value=${typed}
          onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)}
        />
        <a class="small" href="/api/admin/users/export.csv" download>CSV</a>
      </header>
      ${answer === null ? html`<${Waiting} trouble=${trouble} />` : html`<${Table} users=${answer.users} again=${again} />`}
      <footer class="pager">
        <button class="small" disabled=${offset === 0} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>
          Newer
        </button>
        <span class="num"
          >${answer === null ? '' : `${Math.min(offset + 1, answer.total)}–${Math.min(offset + PAGE, answer.total)} of ${answer.total}`}</span
        >
        <button
          class="small"
          disabled=${offset + PAGE >= (answer?.total ?? 0)}
          onClick=${() => setOffset(offset + PAGE)}
        >
          Older
        </button>
      </footer>
    </section>
  `
}

function Table({ users, again }: { users: readonly ListedUser[]; again: () => void }) {
  const turn = async (one: ListedUser): Promise<void> => {
    if (await setRole(one)) again()
  }
  return html`
    <${Rows}
      label="List of users"
      columns=${['User', 'E-mail', '#Balance', 'Since', 'Role']}
      rows=${users.map((one) => [
        html`<a href=${`#/control/users/${one.userId}`}>${one.username}</a>${' '}
          <small>${one.synthetic ? 'synthetic' : one.name}</small>`,
        html`<span class="wraps">${one.email}</span>`,
        one.balance === null ? '–' : units(one.balance),
        dayTime(one.createdAt),
        html`<button class="small" onClick=${() => void turn(one)}>${one.role}</button>`,
      ])}
    />
  `
}
