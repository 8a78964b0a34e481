/** One user: wallets, positions, ledger, sessions, keys and connections, and what an operator can do about them. */
import { closedByWords } from '../account.ts'
import { nameOf } from '../names.ts'
import { dayTime, signed, units } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { note, revokeKey, setStatus, voidPosition } from './acts.ts'
import { type Holding, operations, type UserFile } from './operations.ts'
import { Table } from './table.ts'
import { number } from '../words.ts'

const CONNECTION: Readonly<Record<string, string>> = {
  same_network: 'same network',
  invited_by: 'invited by',
  invited: 'invited',
}

export function Person({ id }: { id: string }) {
  const { answer, trouble, again } = useRequest(() => operations.user(id), [id])
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  return html`
    <${Head} file=${answer} again=${again} />
    ${answer.purses.map((own) => html`<${PurseCard} key=${own.wallet.purse} purse=${own} again=${again} />`)}
    <${Access} file=${answer} again=${again} />
  `
}

function Head({ file, again }: { file: UserFile; again: () => void }) {
  const { user, hiddenFromBoards, deletionDue, connections, alerts, deeds, purses } = file
  const after = async (done: Promise<boolean>): Promise<void> => {
    if (await done) again()
  }
  return html`
    <section class="card" aria-labelledby="person-title">
      <header>
        <h2 id="person-title">${user.username}</h2>
        <a class="small" href="#/control/users">All users</a>
        <button class="small" onClick=${() => void after(setStatus(user, purses))}>
          ${user.status === 'frozen' ? 'Unfreeze' : 'Freeze'}
        </button>
      </header>
      <div class="inside own">
        <p>
          ${user.name}, ${user.email}, ${user.role}, ${user.status}, since ${dayTime(user.createdAt)}.
          ${hiddenFromBoards ? ' Hidden from boards.' : ''}
          ${deletionDue === null ? '' : ` Erased on ${dayTime(deletionDue)}.`}
        </p>
        <h3>Connections</h3>
        ${
          connections.length === 0
            ? html`<p class="empty">None.</p>`
            : html`<ul>
                ${connections.map(
                  ({ kind, userId, username }) =>
                    html`<li key=${`${kind} ${userId}`}>
                      ${CONNECTION[kind] ?? kind}: <a href=${`#/control/users/${userId}`}>${username}</a>
                    </li>`,
                )}
              </ul>`
        }
        <h3>Alerts</h3>
        ${
          alerts.length === 0
            ? html`<p class="empty">None.</p>`
            : html`<ul>
                ${alerts.map(({ id, at, finding }) => html`<li key=${id}>${dayTime(at)}: ${finding.replaceAll('_', ' ')}</li>`)}
              </ul>`
        }
        <h3>What was done</h3>
        ${
          deeds.length === 0
            ? html`<p class="empty">Nothing.</p>`
            : html`<ul>
                ${deeds.map(
                  ({ id, at, action, by, text }) =>
                    html`<li key=${id}>
                      ${dayTime(at)}: ${action}${by === null ? '' : ` by ${by}`}${text === null ? '' : `: ${text}`}
                    </li>`,
                )}
              </ul>`
        }
        <button class="small" onClick=${() => void after(note(user))}>Add a note</button>
      </div>
    </section>
  `
}

interface PurseProps {
  readonly purse: UserFile['purses'][number]
  readonly again: () => void
}

function PurseCard({ purse, again }: PurseProps) {
  const { wallet, league, positions, ledger } = purse
  const name = league ?? wallet.purse
  const title = `purse-${wallet.purse}`
  const takeOut = async (position: Holding): Promise<void> => {
    if (await voidPosition(position)) again()
  }
  return html`
    <section class="card" aria-labelledby=${title}>
      <header>
        <h2 id=${title}>Wallet: ${name}</h2>
        <span class="num">${units(wallet.balance)} free, ${units(wallet.marginUsed)} margin</span>
      </header>
      <${Table}
        label=${`Positions: ${name}`}
        columns=${['Position', 'Opened', '#P&L', 'State', 'Void']}
        rows=${positions.map((one) => [
          html`${nameOf(one.instrumentId)}
            <small>${one.direction} ${number(one.lotSize)} at ${units(one.openPrice)}</small>`,
          dayTime(one.openedAt),
          signed(one.realizedPnl ?? one.unrealizedPnl),
          html`<span class="wraps">${one.status === 'open' ? 'open' : closedByWords(one)}</span>`,
          one.closedBy === 'void' ? '' : html`<button class="small" onClick=${() => void takeOut(one)}>Void</button>`,
        ])}
      />
      <${Table}
        label=${`Ledger: ${name}`}
        columns=${['Entry', 'When', '#Amount']}
        rows=${ledger.map(({ kind, at, amount }) => [kind.replaceAll('_', ' '), dayTime(at), signed(amount)])}
      />
    </section>
  `
}

const Access = ({ file: { user, sessions, keys }, again }: { file: UserFile; again: () => void }) => html`
  <section class="card" aria-labelledby="access-title">
    <header><h2 id="access-title">Sessions and keys</h2></header>
    <div class="inside own">
      <ul>
        ${sessions.map(
          ({ id, lastSeenAt, addressPrefix, userAgent }) =>
            html`<li key=${id}>
              Session from ${addressPrefix}, seen ${dayTime(lastSeenAt)} <small>${userAgent ?? ''}</small>
            </li>`,
        )}
        ${keys.map(
          (key) =>
            html`<li key=${key.id}>
              Key ${key.name}: ${key.scopes.join(', ')}, until ${dayTime(key.expiresAt)}
              <button class="small" onClick=${() => void revokeKey(key, user.username).then(again)}>Revoke</button>
            </li>`,
        )}
        ${sessions.length + keys.length === 0 ? html`<li>None.</li>` : ''}
      </ul>
    </div>
  </section>
`
