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
  // The page before is shown until the next one is there: it knows where it is.
  const ask = async () => ({ ...(await operations.users(search, offset)), offset })
  const { answer, trouble, again } = useRequest(ask, [search], [offset])
  const { offset: from, total } = answer ?? { offset: 0, total: 0 }
  useEffect(() => {
    if (typed === search) return undefined
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
      ${answer !== null && trouble === null ? null : html`<${Waiting} trouble=${trouble} />`}
      ${answer === null ? null : html`<${Table} users=${answer.users} again=${again} />`}
      <footer class="pager">
        <button class="small" disabled=${from === 0} onClick=${() => setOffset(Math.max(0, from - PAGE))}>Newer</button>
        <span class="num"
          >${answer === null ? '' : `${Math.min(from + 1, total)}–${Math.min(from + PAGE, total)} of ${total}`}</span
        >
        <button class="small" disabled=${from + PAGE >= total} onClick=${() => setOffset(from + PAGE)}>Older</button>
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
