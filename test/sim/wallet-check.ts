/** Checks every wallet against its ledger entries, its positions and the book. */
import type { UserId } from '../../actors/kernel/ids.ts'
import { type Purse, PURSES } from '../../actors/kernel/purse.ts'
import type { MemoryMatchStore } from '../support/memory-store.ts'
import { type Book, SIM_LEAGUE } from './book.ts'
import { hold, same } from './violation.ts'

export class WalletCheck {
  readonly #store: MemoryMatchStore
  readonly #book: Book
  readonly #users: UserId[] = []
  readonly #sums = new Map<string, number>()
  readonly #totals = new Map<Purse, number>()
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
    for (const { account, purse, amount, reference } of ledger.slice(this.#read)) {
      const name = `${purse} ${account}`
      hold('ledger', !this.#references.has(`${name} ${reference}`), () => `${reference} is booked twice`)
      this.#references.add(`${name} ${reference}`)
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + amount)
      this.#totals.set(purse, (this.#totals.get(purse) ?? 0) + amount)
    }
    this.#read = ledger.length
    for (const [purse, total] of this.#totals) {
      hold('zero-sum', total === 0, () => `the accounts of ${purse} sum to ${total}`)
    }
    same('key', positions.size, this.#book.positions.size, 'number of positions stored')
    for (const wallet of this.#users.flatMap((userId) => [...PURSES, SIM_LEAGUE].map((purse) => ({ userId, purse })))) {
      const user = `${wallet.purse} ${wallet.userId}`
      const { balance, marginUsed } = this.#store.walletOf(wallet.userId, wallet.purse)
      const booked = this.#book.walletOf(wallet)
      same('ledger', balance, this.#sums.get(user), `balance of ${user} against the ledger`)
      same('ledger', balance, booked.balance, `balance of ${user} against the book`)
      same('margin', marginUsed, booked.marginUsed, `margin in use of ${user}`)
      hold('ledger', balance >= 0, () => `balance of ${user} is ${balance}`)
    }
  }
}
