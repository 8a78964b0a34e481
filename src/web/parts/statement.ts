/** The entries of a wallet's ledger, newest first, each with the balance that it left. */
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { history, positions, refreshHistory, wallet } from '../account.ts'
import type { LedgerEntry } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { purse, purseName } from '../leagues.ts'
import { nameOf } from '../names.ts'
import { api } from '../session.ts'
import { say, words } from '../words.ts'
import { Waiting } from './use-request.ts'

interface Shown {
  readonly entries: readonly LedgerEntry[]
  readonly nextCursor: string | null
  /** Before the newest entry is taken off. */
  readonly balance: number
}

const PAGE = 10
/** What only moves between free and held is neither won nor lost. */
const STAKES: ReadonlySet<LedgerEntry['kind']> = new Set(['margin', 'release'])
const isOpen = signal(false)

/** Asked for when it is opened. */
export const Statement = () => html`
  <section class="card" aria-labelledby="statement-title">
    <header>
      <h2 id="statement-title">${say(words.statement.title, { purse: purseName(purse.value) })}</h2>
      <a class="small" href=${`/api/wallet/ledger.csv?purse=${purse.value}`} download>${words.statement.download}</a>
      <button class="small" aria-expanded=${isOpen.value} onClick=${() => (isOpen.value = !isOpen.value)}>
        ${isOpen.value ? words.statement.hide : words.statement.show}
      </button>
    </header>
    ${isOpen.value ? html`<${Entries} key=${purse.value} />` : null}
  </section>
`

/** The player of a position that is still known. */
function whoOf(id: string | null): string {
  const held = positions.value.get(id ?? '') ?? history.value?.find((one) => one.id === id)
  return held === undefined ? '' : `${nameOf(held.instrumentId)} · `
}

function Entries() {
  const [shown, setShown] = useState<Shown | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const read = async (before: Shown | null): Promise<void> => {
    try {
      const balance = before?.balance ?? (await api.wallet(purse.peek())).balance
      const found = await api.ledger(purse.peek(), PAGE, before?.nextCursor ?? undefined)
      setShown({ balance, entries: [...(before?.entries ?? []), ...found.entries], nextCursor: found.nextCursor })
    } catch (error) {
      setTrouble(messageFor(error))
    }
  }
  const balance = wallet.value?.balance
  useEffect(() => void read(null), [balance])
  useEffect(() => void refreshHistory().catch(() => undefined), [balance])
  if (shown === null) return html`<${Waiting} trouble=${trouble} />`
  let left = shown.balance
  const rows = shown.entries.map((entry) => {
    const row = { ...entry, left }
    left -= entry.amount
    return row
  })
  return html`
    <div class="scroll board" tabindex="0" role="group" aria-labelledby="statement-title">
      <table>
        <thead>
          <tr>
            <th scope="col">${words.statement.what}</th>
            <th class="num" scope="col">${words.statement.amount}</th>
            <th class="num" scope="col">${words.statement.balance}</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ kind, amount, positionId, at, left: after }) => html`
              <tr>
                <th scope="row">${words.ledger[kind]}<br /><small>${whoOf(positionId)}${dayTime(at)}</small></th>
                <td class="num ${STAKES.has(kind) ? '' : way(amount)}">${signed(amount)}</td>
                <td class="num">${units(after)}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    ${
      shown.nextCursor === null
        ? null
        : html`<p class="inside">
            <button class="small" onClick=${() => void read(shown)}>${words.statement.more}</button>
          </p>`
    }
  `
}
