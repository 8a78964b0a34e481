/** Checks every wallet against its ledger entries, its positions and the book. */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { MemoryMatchStore } from '../support/memory-store.ts'
import type { Book } from './book.ts'
import { hold, same } from './violation.ts'

export class WalletCheck {
  readonly #store: MemoryMatchStore
  readonly #book: Book
  readonly #users: UserId[] = []
  readonly #sums = new Map<string, number>()
  readonly #references = new Set<string>()
  #read = 0

  constructor(store: MemoryMatchStore, book: Book) {
    this.#store = store
    this.#book = book
  }

  enter(userId: UserId): void {
    this.#users.push(userId)
  }

  check(): void {
    const { ledger, positions } = this.#store
    if (this.#read === ledger.length) return
    for (const { account, amount, reference } of ledger.slice(this.#read)) {
      hold('ledger', !this.#references.has(`${account} ${reference}`), () => `${reference} is booked twice`)
      this.#references.add(`${account} ${reference}`)
      this.#sums.set(account, (this.#sums.get(account) ?? 0) + amount)
    }
    this.#read = ledger.length
    const total = [...this.#sums.values()].reduce((sum, amount) => sum + amount, 0)
    hold('zero-sum', total === 0, () => `all accounts sum to ${total}`)
    same('key', positions.size, this.#book.positions.size, 'number of positions stored')
    for (const user of this.#users) {
      const { balance, marginUsed } = this.#store.walletOf(user)
      const booked = this.#book.walletOf(user)
      same('ledger', balance, this.#sums.get(user), `balance of ${user} against the ledger`)
      same('ledger', balance, booked.balance, `balance of ${user} against the book`)
      same('margin', marginUsed, booked.marginUsed, `margin in use of ${user}`)
      hold('ledger', balance >= 0, () => `balance of ${user} is ${balance}`)
    }
  }
}
