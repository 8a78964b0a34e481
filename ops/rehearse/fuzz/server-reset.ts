/** Resets a server on which fuzzed requests may act as admin: signs the users in again and restores the settings. */
import { setTimeout as pause } from 'node:timers/promises'
import type { KnownValues } from './known-values.ts'

const CROWD = 24
/** Replays run beside the demo; more of them would take time from the requests. */
const REPLAYS_MAX = 2
/** Settings restored to a value other than their default: a short hold, so that positions can be closed. */
const KEPT: Readonly<Record<string, unknown>> = { 'trading.hold_secs': 1 }

export interface ResetOptions {
  readonly url: string
  /** By display name; the first is the reset. */
  readonly admins: readonly string[]
  readonly knownValues: KnownValues
  /** Cookies of signed-in users are added here. */
  readonly userIds: string[]
}

interface Setting {
  readonly key: string
  readonly value: unknown
  readonly default: unknown
}

export class ServerReset {
  readonly #options: ResetOptions
  #cookie = ''
  #rounds = 0

  constructor(options: ResetOptions) {
    this.#options = options
  }

  /** Afterwards all users are signed in, settings are restored, a match is in play, and its prices are known. */
  async tidyUp(): Promise<void> {
    const { admins, knownValues } = this.#options
    const [reset = '', ...others] = admins
    this.#cookie = await this.#signIn(reset)
    await this.#putBack()
    knownValues.admins = await Promise.all(others.map((name) => this.#signIn(name)))
    knownValues.users = await Promise.all(Array.from({ length: CROWD }, (_, n) => this.#signIn(`Fuzz ${n}`)))
    knownValues.forgetPrices()
    for (const path of ['/api/instruments', '/api/matches', '/api/positions?status=all', '/api/districts']) {
      knownValues.learn(await this.#get(path), path.slice(5).split('?')[0] ?? '')
    }
    for (const path of ['settings', 'flags', 'gameplay-bot/fixtures', 'users']) {
      knownValues.learn(await this.#get(`/api/admin/${path}`), path)
    }
  }

  /** The ledger audit, once nothing moves any more. */
  async audit(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#get('/api/admin/ledger/audit')) as Readonly<Record<string, unknown>>
  }

  async #putBack(): Promise<void> {
    await this.#put('/api/admin/flags/coming_soon', { enabled: false })
    const { settings } = (await this.#get('/api/admin/settings')) as { settings: Setting[] }
    for (const { key, value, default: usual } of settings) {
      const wanted = KEPT[key] ?? usual
      if (value !== wanted) await this.#put(`/api/admin/settings/${encodeURIComponent(key)}`, { value: wanted })
    }
    const { replays } = (await this.#get('/api/admin/gameplay-bot/status')) as {
      replays: { id: string; demo: boolean; state: string }[]
    }
    const own = replays.filter(({ demo, state }) => !demo && state === 'playing')
    for (const { id } of own.slice(REPLAYS_MAX)) await this.#ask('POST', '/api/admin/gameplay-bot/stop', { id })
    if (own.length === 0) {
      await this.#ask('POST', '/api/admin/gameplay-bot/start', { fixtureId: 'cup-night', speed: 10, traders: 5 })
      await pause(1_500)
    }
  }

  async #signIn(displayName: string): Promise<string> {
    const response = await this.#send('POST', '/api/auth/dev', { displayName })
    if (!response.ok) throw new Error(`${displayName} cannot sign in: ${response.status} ${await response.text()}`)
    const { user } = (await response.json()) as { user: { userId: string } }
    if (!this.#options.userIds.includes(user.userId)) this.#options.userIds.push(user.userId)
    return response.headers
      .getSetCookie()
      .map((set) => set.slice(0, set.indexOf(';')))
      .join('; ')
  }

  async #get(path: string): Promise<unknown> {
    return this.#ask('GET', path)
  }

  async #put(path: string, body: unknown): Promise<void> {
    await this.#ask('PUT', path, body)
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await this.#send(method, path, body)
    if (!response.ok) throw new Error(`the reset got ${response.status} to ${method} ${path}: ${await response.text()}`)
    return response.json()
  }

  #send(method: string, path: string, body?: unknown): Promise<Response> {
    const n = this.#rounds++
    const headers = {
      cookie: this.#cookie,
      'x-forwarded-for': `172.${16 + ((n >> 14) % 16)}.${(n >> 7) % 128}.${n % 128}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return fetch(this.#options.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}
