/** One user: wallets, positions, ledger, sessions, keys and connections, and what an operator can do about them. */
import { closedByWords } from '../account.ts'
import { nameOf } from '../names.ts'
import { dayTime, lots, signed, units } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { runAction } from './run-action.ts'
import { type Holding, type ListedUser, operations, type UserFile } from './operations.ts'

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
    ${answer.purses.map((purse) => html`<${PurseCard} key=${purse.wallet.purse} purse=${purse} again=${again} />`)}
    <${Access} file=${answer} />
  `
}

/** The reason is for the audit log and, for a void, for the owner. Null if the operator thinks better of it. */
const reasonFor = (question: string): string | null => {
  const reason = prompt(
    `${question}\n\nThe reason, which is in the audit log until the account is erased. Do not name other people in it.`,
  )?.trim()
  return reason === undefined || reason === '' ? null : reason
}

async function setStatus({ userId, username, status }: ListedUser, again: () => void): Promise<void> {
  const next = status === 'frozen' ? 'active' : 'frozen'
  const question =
    next === 'frozen'
      ? `Freeze ${username}? They are signed out, may close positions, open none, and leave every board.`
      : `Let ${username} trade again?`
  const reason = reasonFor(question)
  if (reason === null) return
  if (await runAction(`${username}: ${next}`, () => operations.setStatus(userId, next, reason))) again()
}

async function note({ userId, username }: ListedUser, again: () => void): Promise<void> {
  const text =
    prompt(
      `A note about ${username}. It is in the audit log until the account is erased. Do not name other people in it.`,
    )?.trim() ?? ''
  if (text === '') return
  if (await runAction(`Note about ${username}`, () => operations.note(userId, text))) again()
}

async function voidPosition(position: Holding, again: () => void): Promise<void> {
  const { id, instrumentId, lotSize, direction, openPrice } = position
  const what = `${nameOf(instrumentId)}, ${direction} ${lots(lotSize)} at ${units(openPrice)}`
  const reason = reasonFor(`Void this position (${what})? It then counts nowhere, and its owner is told the reason.`)
  if (reason === null) return
  if (await runAction(`Void ${what}`, () => operations.voidPosition(id, reason))) again()
}

function Head({ file, again }: { file: UserFile; again: () => void }) {
  const { user, hiddenFromBoards, deletionDue, connections, alerts, deeds } = file
  return html`
    <section class="card" aria-labelledby="person-title">
      <header>
        <h2 id="person-title">${user.username}</h2>
        <a class="small" href="#/control/users">All users</a>
        <button class="small" onClick=${() => void setStatus(user, again)}>
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
        <button class="small" onClick=${() => void note(user, again)}>Note something</button>
      </div>
    </section>
  `
}

function PurseCard({ purse, again }: { purse: UserFile['purses'][number]; again: () => void }) {
  const { wallet, positions, ledger } = purse
  const title = `purse-${wallet.purse}`
  return html`
    <section class="card" aria-labelledby=${title}>
      <header>
        <h2 id=${title}>Wallet: ${wallet.purse}</h2>
        <span class="num">${units(wallet.balance)} free, ${units(wallet.marginUsed)} margin</span>
      </header>
      <div class="scroll" tabindex="0" role="region" aria-label=${`Positions: ${wallet.purse}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Position</th>
              <th scope="col">Opened</th>
              <th scope="col">P&L</th>
              <th scope="col">State</th>
              <th scope="col">Void</th>
            </tr>
          </thead>
          <tbody>
            ${positions.map(
              (one) => html`
                <tr key=${one.id}>
                  <th scope="row">
                    ${nameOf(one.instrumentId)}
                    <small>${one.direction} ${one.lotSize} at ${units(one.openPrice)}</small>
                  </th>
                  <td>${dayTime(one.openedAt)}</td>
                  <td class="num">${signed(one.realizedPnl ?? one.unrealizedPnl)}</td>
                  <td>${one.status === 'open' ? 'open' : closedByWords(one)}</td>
                  <td>
                    ${one.closedBy === 'void' ? '' : html`<button class="small" onClick=${() => void voidPosition(one, again)}>Void</button>`}
                  </td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      <div class="scroll" tabindex="0" role="region" aria-label=${`Ledger: ${wallet.purse}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Entry</th>
              <th scope="col">When</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            ${ledger.map(
              ({ kind, at, amount, positionId }) => html`
                <tr key=${`${kind} ${at} ${positionId}`}>
                  <th scope="row">${kind.replaceAll('_', ' ')}</th>
                  <td>${dayTime(at)}</td>
                  <td class="num">${signed(amount)}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
    </section>
  `
}

const Access = ({ file: { sessions, keys } }: { file: UserFile }) => html`
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
          ({ id, name, scopes, expiresAt }) =>
            html`<li key=${id}>Key ${name}: ${scopes.join(', ')}, until ${dayTime(expiresAt)}</li>`,
        )}
        ${sessions.length + keys.length === 0 ? html`<li>None.</li>` : ''}
      </ul>
    </div>
  </section>
`
