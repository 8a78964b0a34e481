/** One simulated user: trades while the server is up, keeps a journal, and checks it against the account. */
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { performance } from 'node:perf_hooks'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { Account, demand, isLeague } from './account.ts'
import {
  type Answer,
  Changes,
  type EventSeen,
  Failure,
  SimulatedClient,
  type InstrumentSeen,
  type PositionSeen,
  Positions,
  Trade,
  Wallet,
} from './simulated-client.ts'
import { type Command, type Entry, Journal, type Levels, type Order } from './journal.ts'
import type { TradingTally } from './trading-tally.ts'
import { HONEST_REFUSALS } from './honest-refusals.ts'

/** The instruments as last seen by the traders. */
export interface Market {
  instruments: readonly InstrumentSeen[]
  /** Set when all traders must stop although the server is up. */
  isClosed?: boolean
  /** While set, everybody wants the same player, most of them more of it than they can pay, with stops on a ladder. */
  isRushed?: boolean
}

/** Maximum positions per trader. */
const HOLDINGS = 30
/** Answered commands that may be sent again. */
const REMEMBERED = 20
const THINK_MS = 25
/** Of the orders of a trader in a league. */
const LEAGUE_SHARE = 0.25
/** The largest order, which few wallets can pay, and none twice. */
const LOTS_MAX = 100
/** How long an answer to a retry may take: longer than a dead owner's lease, on a machine that others use as well. */
const PATIENCE_MS = 60_000

/** A trade that the server has acknowledged: when it was first sent, and when the answer came, by `performance.now`. */
export interface Acknowledged {
  readonly what: 'opened' | 'closed'
  readonly positionId: string
  readonly begunAt: number
  readonly doneAt: number
}

/** A command that was carried out, and the whole answer. */
interface Done {
  readonly command: Command
  readonly body: unknown
}

export class SimulatedTrader {
  readonly client: SimulatedClient
  account = new Account()
  /** The league in which it places some of its orders. */
  league: string | null = null
  /** Gets each trade that is acknowledged. */
  onAcknowledged: ((trade: Acknowledged) => void) | null = null
  #journal = new Journal()
  readonly #chance: Chance
  readonly #tally: TradingTally
  #keys = 0
  /** Positions it believes are open; stop-losses and full time change them silently. */
  readonly #held = new Map<string, PositionSeen>()
  readonly #done: Done[] = []
  /** Changes already requested. Each is unique, so that an event identifies its request. */
  readonly #asked = new Set<string>()

  constructor(name: string, chance: Chance, tally: TradingTally) {
    this.client = new SimulatedClient(name)
    this.#chance = chance
    this.#tally = tally
  }

  /** They are named `name` 1, 2 and so on, and each does the same again for the same seed. */
  static crowd(name: string, users: number, seed: number, tally: TradingTally): SimulatedTrader[] {
    return Array.from({ length: users }, (_, n) => {
      return new SimulatedTrader(`${name} ${n + 1}`, chanceFrom(seed * 1_000 + n + 1), tally)
    })
  }

  /** Trades until the server is gone or the market closes. */
  async play(url: string, market: Market): Promise<void> {
    while (market.isClosed !== true && (await this.#act(url, market))) {
      // In a rush too: while there is nothing to order, no other task could run.
      await pause(market.isRushed === true ? 1 : this.#chance.below(THINK_MS))
    }
  }

  /** Waits until nothing that it has sent can happen any more, unless it is sent again. */
  async rest(): Promise<void> {
    await pause(Math.max(0, this.#journal.restsAt - performance.now()))
  }

  /** Reads new account events. Returns how many there were. */
  async catchUp(url: string): Promise<number> {
    const before = this.account.marker
    for (;;) {
      const page = await this.client.read(url, `/api/account/changes?since=${this.account.marker}`, Changes)
      demand(!page.snapshot, () => `the account of ${this.client.name} cannot be resumed from ${this.account.marker}`)
      for (const event of page.events) {
        this.account.apply(event)
        const { closedBy } = event.position
        const isClosing = event.type === 'closed' && closedBy === 'user'
        const own = event.type === 'opened' || event.type === 'changed' || isClosing
        if (own) this.#journal.witness(event)
        this.#tally.event(event.type === 'closed' ? `closed by ${closedBy}` : event.type)
      }
      demand(page.marker === this.account.marker, () => `marker ${page.marker} after event ${this.account.marker}`)
      if (!page.more) break
    }
    this.#journal.settle(this.account)
    return this.account.marker - before
  }

  /** Reads every event of its account since the first. */
  async events(url: string): Promise<readonly EventSeen[]> {
    const all: EventSeen[] = []
    for (;;) {
      const page = await this.client.read(url, `/api/account/changes?since=${all.length}`, Changes)
      demand(!page.snapshot, () => this.#says('the events of its account do not begin with the first'))
      all.push(...page.events)
      if (!page.more) return all
    }
  }

  /** The server was set back to an earlier moment: begins again with what the account was then. Returns its events. */
  async rewind(url: string): Promise<readonly EventSeen[]> {
    const events = await this.events(url)
    this.account = new Account()
    this.#journal = new Journal()
    this.#held.clear()
    this.#done.length = 0
    for (const event of events) this.account.apply(event)
    return events
  }

  /** Retries a command with an unknown outcome, with the same key, until the outcome is known. */
  async findOut(url: string): Promise<void> {
    const entry = this.#journal.unsure
    if (entry === null) return
    const hadHappened = entry.event !== null
    const until = performance.now() + PATIENCE_MS
    for (let attempts = 1; this.#journal.unsure === entry; attempts++) {
      const reply = await this.#send(url, entry.command)
      if (reply !== 'lost') this.#record(entry, reply)
      if (entry.state === 'unknown') {
        demand(performance.now() < until, () => `no answer for ${PATIENCE_MS} ms: ${JSON.stringify(reply)}`)
        await pause(50)
        continue
      }
      const isStored = entry.state === 'done' && reply !== 'lost' && reply.repeated
      if (hadHappened) demand(isStored, () => `the retry of what had happened was answered ${JSON.stringify(reply)}`)
      else
        demand(
          !isStored || attempts > 1,
          () => `an answer was stored for what had not happened: ${JSON.stringify(reply)}`,
        )
      this.#tally.retry(hadHappened ? 'had happened' : entry.state === 'done' ? 'done by the retry' : 'refused')
    }
  }

  /** Compares wallet and open positions as the server shows them with the events. Call it only when nothing trades. */
  async compare(url: string): Promise<void> {
    this.#held.clear()
    for (const purse of this.#purses()) await this.#compareIn(purse, url)
  }

  async #compareIn(purse: string, url: string): Promise<void> {
    const [wallet, { positions }] = await Promise.all([
      this.client.read(url, `/api/wallet?purse=${purse}`, Wallet),
      this.client.read(url, `/api/positions?purse=${purse}&status=open&limit=100`, Positions),
    ])
    const { balance, marginUsed } = this.account.holding(purse)
    const open = [...this.account.open.values()].filter((position) => position.purse === purse).map(({ id }) => id)
    const shown = `${wallet.balance} with ${wallet.marginUsed} in use`
    const due = `${balance} with ${marginUsed}`
    demand(wallet.balance === balance && wallet.marginUsed === marginUsed, () =>
      this.#says(`the wallet of ${purse} holds ${shown} instead of ${due}`),
    )
    demand(wallet.balance >= 0, () => this.#says(`the wallet of ${purse} is overdrawn: ${shown}`))
    const ids = positions.map(({ id }) => id).toSorted()
    demand(isDeepStrictEqual(ids, open.toSorted()), () =>
      this.#says(`${ids.length} positions are open in ${purse} instead of ${open.length}`),
    )
    for (const position of positions) this.#held.set(position.id, position)
  }

  /** Compares every position, open or closed, with the events. Call it only when nothing trades. */
  async compareAll(url: string): Promise<number> {
    const known = new Map([...this.account.open, ...this.account.closed])
    for (const purse of this.#purses()) await this.#compareList(url, purse, known)
    demand(known.size === 0, () => this.#says(`${known.size} positions are not listed`))
    return this.account.open.size + this.account.closed.size
  }

  /** Takes what is listed for a purse from the positions that are known. */
  async #compareList(url: string, purse: string, known: Map<string, PositionSeen>): Promise<void> {
    for (let offset = 0; ; offset += 100) {
      const path = `/api/positions?purse=${purse}&status=all&limit=100&offset=${offset}`
      const { positions } = await this.client.read(url, path, Positions)
      for (const position of positions) {
        const [shown, derived] = [lasting(position), lasting(known.get(position.id))]
        demand(isDeepStrictEqual(shown, derived), () =>
          this.#says(`position ${JSON.stringify(shown)} follows from its events as ${JSON.stringify(derived)}`),
        )
        known.delete(position.id)
      }
      if (positions.length < 100) break
    }
  }

  #purses(): readonly string[] {
    return ['main', ...(this.league === null ? [] : [this.league])]
  }

  /** Sends one command. False if the server is gone. */
  async #act(url: string, market: Market): Promise<boolean> {
    const habit = market.isRushed === true ? 'open' : this.#chance.pick(HABITS, ([, weight]) => weight)?.[0]
    // A command with an unknown outcome must be resolved first: the journal holds only one.
    if (this.#journal.unsure !== null) return this.#pursue(this.#journal.unsure, url, market)
    if (habit === 'resend') return this.#resend(url)
    const command = this.#intend(habit ?? 'open', market)
    if (command === null) return true
    const entry = this.#journal.begin(command)
    if (habit === 'double-click') {
      const replies = await Promise.all([this.#send(url, command), this.#send(url, command)])
      for (const reply of replies) if (reply !== 'lost') this.#record(entry, reply)
      if (replies.includes('lost')) return false
    }
    return this.#pursue(entry, url, market)
  }

  /** Retries until the outcome is known. False when the server is gone. */
  async #pursue(entry: Entry, url: string, market: Market): Promise<boolean> {
    while (entry.state === 'unknown' && market.isClosed !== true) {
      const reply = await this.#send(url, entry.command)
      if (reply === 'lost') return false
      this.#record(entry, reply)
      // Without a key a retry could do it twice; the account's events will show the outcome.
      if (entry.command.kind === 'change') break
      if (entry.state === 'unknown') await pause(50)
    }
    return true
  }

  #intend(habit: string, market: Market): Command | null {
    if (habit === 'change' || habit === 'close') {
      const position = this.#chance.pick([...this.#held.values()], () => 1)
      if (position === null) return null
      if (habit === 'change') return this.#changing(position, market)
      const isHeld = position.closableAt > Date.now()
      if (isHeld && this.#chance.happens(0.9)) return null
      return { kind: 'close', key: this.#nextKey(), positionId: position.id }
    }
    if (this.#held.size >= HOLDINGS) this.#held.clear() // most have closed by now, without an answer
    const open = market.instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
    const instrument = this.#chance.pick(market.isRushed === true ? open.slice(0, 1) : open, () => 1)
    if (instrument === null) return null
    if (market.isRushed === true) return { kind: 'open', key: this.#nextKey(), order: this.#rushing(instrument) }
    const direction = this.#chance.happens(0.5) ? 'long' : 'short'
    const purse = this.league !== null && this.#chance.happens(LEAGUE_SHARE) ? { purse: this.league } : {}
    const price = priceIn(purse.purse ?? 'main', instrument)
    const order: Order = {
      ...purse,
      instrumentId: instrument.id,
      direction,
      lotSize: (1 + this.#chance.below(400)) / 100,
      clientPrice: price,
      ...this.#levels(direction, price),
    }
    return { kind: 'open', key: this.#nextKey(), order }
  }

  #rushing({ id, currentPrice }: InstrumentSeen): Order {
    const isGreedy = this.#chance.happens(0.6)
    const stopLoss = cents(currentPrice * (0.985 - 0.000_1 * this.#chance.below(100)))
    const lotSize = isGreedy ? LOTS_MAX : (1 + this.#chance.below(20)) / 100
    return { instrumentId: id, direction: 'long', lotSize, clientPrice: currentPrice, stopLoss, takeProfit: null }
  }

  #changing(position: PositionSeen, market: Market): Command | null {
    const instrument = market.instruments.find(({ id }) => id === position.instrumentId)
    if (instrument === undefined) return null
    const levels = this.#levels(position.direction, priceIn(position.purse, instrument))
    const asked = `${position.id} ${levels.stopLoss} ${levels.takeProfit}`
    if (this.#asked.has(asked)) return null
    this.#asked.add(asked)
    return { kind: 'change', positionId: position.id, levels }
  }

  /** Most stops are near enough for the next trades to reach, so that holders do not wait three minutes. */
  #levels(direction: 'long' | 'short', price: number): Levels {
    // Mostly just beyond the distance that a level must keep during the hold, sometimes too close.
    const near = () => cents(price * (0.014_8 + 0.005 * this.#chance.uniform() ** 3))
    const [below, above] = [cents(price - near()), cents(price + near())]
    const [stopLoss, takeProfit] = direction === 'long' ? [below, above] : [above, below]
    return {
      stopLoss: this.#chance.happens(0.8) ? stopLoss : null,
      takeProfit: this.#chance.happens(0.6) ? takeProfit : null,
    }
  }

  async #send(url: string, command: Command): Promise<Answer | 'lost'> {
    const reply = await this.#request(url, command)
    this.#tally.reply(command.kind, reply)
    return reply
  }

  #request(url: string, command: Command): Promise<Answer | 'lost'> {
    switch (command.kind) {
      case 'open':
        return this.client.ask(url, 'POST', '/api/positions/open', command.order, command.key)
      case 'change':
        return this.client.ask(url, 'PATCH', `/api/positions/${command.positionId}`, command.levels)
      case 'close':
        return this.client.ask(url, 'POST', `/api/positions/${command.positionId}/close`, {}, command.key)
    }
  }

  /** Records an answer. Throws a Violation for a forbidden one. */
  #record(entry: Entry, { status, body }: Answer): void {
    if (status === 200 || status === 201) {
      const { position, wallet } = Trade.parse(body)
      const { balance, marginUsed } = wallet
      this.#journal.acknowledge(entry, position, { balance, marginUsed })
      if (position.status === 'open') this.#held.set(position.id, position)
      else this.#held.delete(position.id)
      if (entry.command.kind === 'change') return
      this.#remember({ command: entry.command, body })
      const what = entry.command.kind === 'open' ? 'opened' : 'closed'
      const { begunAt } = entry
      this.onAcknowledged?.({ what, positionId: position.id, begunAt, doneAt: performance.now() })
      return
    }
    const { code } = Failure.parse(body)
    // The outcome is unknown; without a key, only `BUSY` proves that nothing happened.
    const isOpen = status === 503 || code === 'KEY_IN_FLIGHT'
    if (isOpen && (entry.command.kind !== 'change' || code !== 'BUSY')) return
    demand(isOpen || HONEST_REFUSALS.has(code), () =>
      this.#says(`${JSON.stringify(entry.command)} got ${JSON.stringify(body)}`),
    )
    if (entry.state === 'unknown') this.#journal.refuse(entry, code)
    if (code === 'POSITION_NOT_OPEN' && entry.command.kind !== 'open') this.#held.delete(entry.command.positionId)
  }

  /** Repeats an old command: the answer must be the old one. False if the server is gone. */
  async #resend(url: string): Promise<boolean> {
    const done = this.#chance.pick(this.#done, () => 1)
    return done === null || (await this.#repeat(url, done)) !== 'lost'
  }

  /** Repeats every command that it remembers: each answer must be the old one. Returns how many there were. */
  async repeatAll(url: string): Promise<number> {
    const until = performance.now() + PATIENCE_MS
    for (const done of this.#done) {
      while ((await this.#repeat(url, done)) !== 'same') {
        demand(performance.now() < until, () => this.#says(`no answer to ${JSON.stringify(done.command)}`))
        await pause(50)
      }
    }
    return this.#done.length
  }

  async #repeat(url: string, done: Done): Promise<'same' | 'open' | 'lost'> {
    const reply = await this.#request(url, done.command)
    if (reply === 'lost') return 'lost'
    // The earlier request may still be on its way through a process that was frozen.
    const isOpen = reply.status === 503 || Failure.safeParse(reply.body).data?.code === 'KEY_IN_FLIGHT'
    if (isOpen) return 'open'
    const isSame = reply.repeated && isDeepStrictEqual(reply.body, done.body)
    demand(isSame, () => this.#says(`${JSON.stringify(done)} was repeated and got ${JSON.stringify(reply)}`))
    this.#tally.resent++
    return 'same'
  }

  #remember(done: Done): void {
    // Some are remembered for long, to also repeat keys from before a crash.
    if (this.#done.length < REMEMBERED) this.#done.push(done)
    else this.#done[this.#chance.below(REMEMBERED)] = done
  }

  #nextKey(): string {
    this.#keys++
    return `${this.client.name} ${this.#keys}`
  }

  #says(what: string): string {
    return `${this.client.name}: ${what}`
  }
}

/** The weight of each action. */
const HABITS: readonly (readonly [string, number])[] = [
  ['open', 60],
  ['change', 15],
  ['close', 15],
  ['double-click', 5],
  ['resend', 5],
]

/** In a league one trades at the price from match data alone. */
const priceIn = (purse: string, instrument: InstrumentSeen): number =>
  isLeague(purse) ? instrument.live_base_price : instrument.currentPrice

const cents = (units: number): number => Math.round(units * 10_000) / 10_000

/** A position without the fields that move with the price. */
export const lasting = (position: PositionSeen | undefined) => ({
  ...position,
  currentPrice: null,
  exitPrice: null,
  unrealizedPnl: null,
})
