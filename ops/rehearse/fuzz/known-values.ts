/** Values from earlier answers (ids, prices, cookies), from which requests are made. */
import type { Chance } from '../../../actors/replay/chance.ts'
import type { Operation } from './judge.ts'

/** Few enough to use the same values repeatedly. */
const KEPT_MAX = 400
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Other field names under which a value is also kept. */
const ALSO: Readonly<Record<string, string>> = { code: 'referralCode', nextCursor: 'cursor', marker: 'since' }

export class KnownValues {
  /** Cookies of signed-in users, and of admins. */
  users: readonly string[] = []
  admins: readonly string[] = []
  readonly #found = new Map<string, string[]>()
  readonly #prices = new Map<string, number>()

  /** A value that has been seen under a name, or null. */
  find(name: string, chance: Chance): string | null {
    const known = this.#found.get(name)
    return known?.[chance.below(known.length)] ?? null
  }

  /** The fields of an order that is likely to be carried out. */
  order(chance: Chance): object {
    const prices = [...this.#prices]
    const [instrumentId, clientPrice] = prices[chance.below(prices.length)] ?? []
    if (instrumentId === undefined || chance.happens(0.2)) return {}
    return { instrumentId, clientPrice, ...(chance.happens(0.7) ? { lotSize: (1 + chance.below(50)) / 100 } : {}) }
  }

  /** The cookie of a caller, usually one with the right to ask. */
  cookie({ security = [] }: Operation, chance: Chance): string | null {
    const dice = chance.below(100)
    if (dice < 6 || (security.length === 0 && dice < 70)) return null
    if (dice < 9) return 'game_access=eyJhbGciOiJub25lIn0.eyJ0eXAiOiJhY2Nlc3MifQ.; game_refresh=a.b.c'
    const crowd = dice < 35 ? this.admins : [...this.users, ...this.admins]
    const cookie = crowd[chance.below(crowd.length)] ?? null
    if (cookie === null || dice < 96) return cookie
    // Each token in the other's place, or with a letter of its signature changed.
    if (dice < 98)
      return cookie.replace('game_access', 'x').replace('game_refresh', 'game_access').replace('x', 'game_refresh')
    return cookie.replace(/.(?=;)/, '_')
  }

  /** Keeps the values of an answer's body. `resource`: the subject of its path. */
  learn(body: unknown, resource: string): void {
    if (Array.isArray(body)) {
      for (const one of body.slice(0, 20)) this.learn(one, resource)
      return
    }
    if (typeof body !== 'object' || body === null) return
    const fields = body as Readonly<Record<string, unknown>>
    if (typeof fields['currentPrice'] === 'number' && fields['tradingStatus'] === 'OPEN') {
      this.#prices.set(String(fields['id']), fields['currentPrice'])
    }
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === 'object') this.learn(value, name)
      else if (typeof value === 'string') this.#keep(name, value, resource)
      else if (typeof value === 'number' && name.endsWith('d')) this.#keep(name, String(value), resource)
    }
  }

  /** Prices are valid for a moment only. */
  forgetPrices(): void {
    this.#prices.clear()
  }

  #keep(name: string, value: string, resource: string): void {
    if (value.length > 4_096) return
    const names = [name === 'id' || name === 'key' ? `${resource.replace(/s?$/, '')}s` : name, ALSO[name]]
    if (UUID.test(value)) names.push('uuid')
    for (const each of names) {
      if (each === undefined) continue
      const known = this.#found.get(each) ?? []
      this.#found.set(each, known)
      if (known.includes(value)) continue
      known.push(value)
      if (known.length > KEPT_MAX) known.shift()
    }
  }
}
