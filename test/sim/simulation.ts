/** One run of the simulator: steps of trading, football and mishaps from one seed, and an orderly end. */
import { PURSES } from '../../actors/kernel/purse.ts'
import { createHash } from 'node:crypto'
import { BATCH_MAX, DEFAULT_PROTECTION, DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import { SHARED_BATCH_MAX } from '../../rooms/match/fair-share.ts'
import { type Wish, wish } from './simulated-users.ts'
import { Football } from './football.ts'
import { type MatchSlot, SimWorld, turn } from './sim-world.ts'
import type { Owner } from './owner.ts'
import { SIM_LEAGUE } from './book.ts'
import { type Plan, planFor, SQUADS } from './plan.ts'
import { type Request, requestFor } from './requests.ts'
import type { Call } from './wire.ts'
import { hold } from './violation.ts'

/** The result of a run. The same seed gives the same digest. */
export interface Report {
  readonly digest: string
  /** Counts of closes by reason, refusals by code, mishaps by name. */
  readonly counts: Readonly<Record<string, number>>
}

/** Every fifth seed plays under protection, half of these with windows that are as short as the runs. */
function protectionOf(seed: number): TradingRules['protection'] {
  if (seed % 5 !== 0) return null
  return seed % 2 === 0 ? DEFAULT_PROTECTION : { lateMs: 5_000, newsHoldMs: 2_000, movePpm: 20_000 }
}

/** The number of last log lines that a failure shows. */
const SHOWN = 20
/** More than a crowded match may commit at once; some of these orders are not sent, as their users only look. */
const CROWD = 2 * SHARED_BATCH_MAX
/** Rounds within which every request must be answered and every match settled. */
const ROUNDS_MAX = 300

export class Simulation {
  step = 0
  readonly #lines: string[] = []
  /** The actions a step may take, by weight. */
  readonly #acts: readonly { readonly weight: number; readonly happens: () => Promise<void> }[]
  readonly #chance: Chance
  readonly #plan: Plan
  readonly #isProtected: boolean
  readonly #sim: SimWorld
  readonly #hash = createHash('sha256')
  readonly #counts = new Map<string, number>()
  #keys = 0
  #fixtures = 90_000

  constructor(seed: number) {
    this.#chance = chanceFrom(seed)
    this.#plan = planFor(this.#chance)
    const { model, anchors, users, storm } = this.#plan
    const rules = { ...this.#plan.rules, protection: protectionOf(seed) }
    this.#isProtected = rules.protection !== null
    const batchMax = [BATCH_MAX, 1, 3][seed % 3] ?? BATCH_MAX
    this.#sim = new SimWorld(rules, { model, anchors, batchMax, log: (line) => this.#log(line) })
    for (const [n, squad] of SQUADS.entries()) {
      this.#sim.slots.push({
        n: n + 1,
        players: squad,
        football: this.#kickOff(squad),
        seq: 0,
        serving: null,
        rulesChanged: false,
      })
    }
    for (const { userId, grant } of users) this.#sim.grant(userId, grant)
    this.#acts = [
      { weight: 40, happens: () => this.#play() },
      { weight: 0.3, happens: () => this.#crowd() },
      { weight: 6, happens: () => this.#askAgain() },
      { weight: 60, happens: () => this.#deliver() },
      { weight: 6, happens: () => this.#feed(this.#anySlot()) },
      { weight: 10, happens: () => this.#pass(50 + this.#chance.below(700)) },
      { weight: 1, happens: () => this.#pass(1_000 + this.#chance.below(20_000)) },
      { weight: 5, happens: () => this.#publish() },
      { weight: 1, happens: () => this.#changeRules() },
      { weight: 80 * storm, happens: () => this.#mishap() },
      { weight: 40 * storm, happens: () => this.#haunt() },
    ]
  }

  /** Takes one action and checks the invariants. */
  async next(): Promise<void> {
    this.step++
    const act = this.#chance.pick(this.#acts, ({ weight }) => weight)
    await act?.happens()
    await turn()
    this.#sim.check()
  }

  /** Ends the mishaps: every request is answered, every match settles, and no position stays open. */
  async finish(): Promise<void> {
    const { wire, requests, book, slots } = this.#sim
    wire.ghosts.length = 0
    for (let round = 0; ; round++) {
      this.step++
      hold('alive', round < ROUNDS_MAX, () => `no end after ${round} rounds`)
      this.#sim.world.pass(1_100)
      for (const slot of slots) {
        const begun = book.matches.has(slot.football.fixtureId)
        if (!begun || (requests.open.length === 0 && !this.#hasSettled(slot))) await this.#feed(slot, true)
        const owner = await this.#sim.serving(slot)
        if (owner !== null) this.#sim.clock(owner)
      }
      for (const request of requests.open) await this.#send(request, false)
      await turn()
      while (wire.calls.length > 0) await this.#deliver(true)
      this.#sim.check()
      if (requests.open.length === 0 && slots.every((slot) => this.#hasSettled(slot))) break
    }
    requests.checkCounts(book)
    await this.#sim.tapes.check()
    hold('settled', book.openPositions().length === 0, () => `${book.openPositions().length} positions are left open`)
  }

  get lastLines(): readonly string[] {
    return this.#lines.slice(-SHOWN)
  }

  /** Ends the run. */
  report(): Report {
    for (let n = 0; n < this.#sim.sharedBatches; n++) this.#count('a crowd shares its process')
    for (let n = 0; n < this.#sim.book.longSteps; n++) this.#count('steps over several commits')
    for (const { close, partOf } of this.#sim.book.positions.values()) {
      this.#count(`closed by ${close?.by ?? 'none'}`)
      if (partOf !== undefined) this.#count('closed in parts')
    }
    for (let n = 0; n < this.#sim.book.moves.count; n++) this.#count('fills moved by news')
    for (const { result } of this.#sim.book.results.values()) {
      if ('refusal' in result) this.#count(`refused ${result.refusal.code}`)
    }
    for (const { userId } of this.#plan.users) {
      const balances = [...PURSES, SIM_LEAGUE].map((purse) => this.#sim.store.walletOf(userId, purse).balance)
      this.#hash.update(`${userId} ${balances.join(' ')}`)
    }
    return { digest: this.#hash.digest('hex'), counts: Object.fromEntries(this.#counts) }
  }

  /** More orders than a batch may have come to one match, right after somebody has ordered in the other. */
  async #crowd(): Promise<void> {
    const hot = this.#anySlot()
    for (const slot of this.#sim.slots) if (slot !== hot) await this.#play(slot)
    for (let orders = CROWD; orders > 0; orders--) await this.#play(hot)
  }

  /** A user takes a turn. */
  async #play(slot = this.#anySlot()): Promise<void> {
    const user = this.#plan.users[this.#chance.below(this.#plan.users.length)]
    const owner = await this.#sim.serving(slot)
    if (user === undefined || owner === null) return
    const { book } = this.#sim
    const all = [...book.positions.values()].slice(-60)
    const isOwn = (p: (typeof all)[number]): boolean => p.userId === user.userId && p.close === null
    const wished = wish(
      user,
      {
        instruments: [...owner.actor.view.instruments()].map(({ id, published, base }) => ({ id, published, base })),
        own: all.filter(isOwn),
        others: all.filter((p) => !isOwn(p)),
        balance: book.balanceOf({ userId: user.userId, purse: owner.actor.view.info.purse }),
        bullish: this.#plan.herd ? 0.9 : 0.5,
      },
      this.#chance,
    )
    if (wished === null) return
    const request = requestFor(this.#withKey(wished))
    this.#sim.requests.add(request)
    await this.#send(request)
    if (user.habit !== 'double_clicker') return
    for (let again = this.#chance.below(3); again > 0; again--) await this.#send(request)
  }

  #withKey(wished: Wish): UserCommand {
    if (wished.kind === 'change_levels') return wished
    const route = wished.kind === 'open_position' ? 'open' : 'close'
    // Sometimes a key that another user or route has used as well.
    const key = this.#chance.happens(0.02) ? 'shared key' : `k${++this.#keys}`
    const id = `${wished.userId} ${route} ${key}`
    const known = this.#sim.requests.commandOf(id)
    const none = this.#chance.happens(0.15) || known !== undefined
    return { ...wished, idempotency: none ? null : { id, fingerprint: 'body' } }
  }

  /** A client without a certain answer retries with the same key. */
  async #askAgain(): Promise<void> {
    const { open } = this.#sim.requests
    const request = open[this.#chance.below(Math.max(1, open.length))]
    if (request !== undefined) await this.#send(request)
  }

  async #send(request: Request, patient = this.#chance.happens(0.2)): Promise<void> {
    if (request.key === null && request.closed) return
    const { command } = request
    const { book, slots } = this.#sim
    const fingerprint = this.#chance.happens(0.04) ? 'another body' : 'body'
    const place = command.kind === 'open_position' ? book.instruments.get(command.instrumentId) : undefined
    const position = command.kind === 'open_position' ? undefined : book.positions.get(command.positionId)
    const matchId = place?.matchId ?? position?.fixtureId
    const slot = slots.find((p) => p.football.fixtureId === matchId) ?? slots[0]
    if (slot === undefined) return
    const over = position !== undefined && slot.football.fixtureId !== matchId
    if (over) return this.#sim.recall(request, fingerprint)
    const owner = this.#formerOwner(slot) ?? (await this.#sim.serving(slot))
    if (owner === null) return
    this.#log(`send ${JSON.stringify(command)} to owner ${owner.epoch}`)
    this.#sim.send(request, { owner, fingerprint, delivered: !this.#chance.happens(this.#plan.storm), patient })
  }

  /** A request may still reach an owner that has been overtaken, or has stopped. */
  #formerOwner(slot: MatchSlot): Owner | null {
    const former = this.#sim.owners.findLast(
      (o) => o.slot === slot.n && (o.standing === 'stalled' || o.standing === 'stopped'),
    )
    return former !== undefined && this.#chance.happens(0.3) ? former : null
  }

  /** One call reaches the store, or its answer the actor, or neither; at the end all goes well. */
  async #deliver(calm = false): Promise<void> {
    const { wire } = this.#sim
    const call = wire.calls[this.#chance.below(Math.max(1, wire.calls.length))]
    if (call === undefined) return
    const fate = calm ? 1 : this.#chance.uniform() / Math.max(this.#plan.storm, 1e-9)
    if (fate < 3 && !calm) return this.#breakOff(call, Math.floor(fate))
    if (call.kind === 'histories') return this.#sim.answerHistories(call)
    if (call.verdict === null) {
      await this.#sim.carryOut(call)
      if (!calm && this.#chance.happens(0.25)) return // the answer is still on its way
    }
    await this.#sim.answer(call)
  }

  async #breakOff(call: Call, how: number): Promise<void> {
    const { wire } = this.#sim
    this.#count(['commit fails before', 'commit fails after', 'commit arrives late'][how] ?? 'line breaks')
    this.#log(`line of owner ${call.owner.epoch} breaks (${how})`)
    if (call.kind === 'commit' && call.verdict === null) {
      if (how === 1) await this.#sim.carryOut(call)
      if (how === 2) wire.ghosts.push(call)
    }
    this.#sim.breakOff(call)
  }

  /** The provider sends a new update, or repeats an old one. */
  async #feed(slot: MatchSlot, calm = false): Promise<void> {
    const stadium = this.#sim
    if (this.#hasSettled(slot) && !calm) return this.#nextMatch(slot)
    const snapshot = slot.football.next(stadium.world.now())
    const owner = await stadium.serving(slot, snapshot)
    if (owner === null) return
    const old = !calm && this.#chance.happens(0.15)
    const seq = old ? Math.max(0, slot.seq - this.#chance.below(3)) : (slot.seq += 1 + this.#chance.below(2))
    this.#log(`feed ${slot.football.fixtureId} ${seq} ${snapshot.state ?? snapshot.stateId}`)
    stadium.offer(owner, { kind: 'feed_update', seq, snapshot })
    const former = this.#formerOwner(slot)
    if (former !== null) stadium.offer(former, { kind: 'feed_update', seq, snapshot })
  }

  #hasSettled(slot: MatchSlot): boolean {
    return (this.#sim.book.matches.get(slot.football.fixtureId)?.settledAt ?? null) !== null
  }

  /** The slot is used again, once no request or commit of the last match is open. */
  #nextMatch(slot: MatchSlot): void {
    const { owners, wire } = this.#sim
    if (wire.calls.some((call) => call.owner.slot === slot.n)) return
    const living = owners.filter((owner) => owner.slot === slot.n && owner.standing !== 'gone')
    for (const owner of living) this.#sim.kill(owner, () => false)
    slot.football = this.#kickOff(slot.players)
    slot.seq = 0
    this.#count('matches')
  }

  #kickOff(players: readonly number[]): Football {
    return new Football({
      fixtureId: ++this.#fixtures,
      players,
      chance: this.#chance,
      countsGoals: this.#isProtected,
    })
  }

  async #pass(ms: number): Promise<void> {
    this.#log(`${ms} ms pass`)
    this.#sim.world.pass(ms)
    for (const owner of this.#sim.owners) if (owner.standing !== 'gone') this.#sim.clock(owner)
  }

  async #publish(): Promise<void> {
    for (const owner of this.#sim.owners) if (owner.standing !== 'gone') this.#sim.publish(owner)
  }

  /** A process dies or stalls, or the clock jumps. */
  async #mishap(): Promise<void> {
    const slot = this.#anySlot()
    const living = this.#sim.owners.filter((o) => o.standing !== 'gone')
    const owner = living[this.#chance.below(Math.max(1, living.length))]
    switch (this.#chance.below(4)) {
      case 0:
        if (owner !== undefined) this.#sim.kill(owner, () => this.#chance.happens(0.5))
        return this.#count('owner dies')
      case 1:
        this.#count('owner stalls')
        await this.#sim.takeOver(slot)
        return
      case 2:
        this.#sim.retire(slot)
        return this.#count('owner retires')
      default:
        this.#count('clock jumps')
        return this.#pass(this.#chance.happens(0.5) ? 200_000 : -this.#chance.below(5_000))
    }
  }

  async #changeRules(): Promise<void> {
    // A batch that was rejected once is checked by the rules of its last attempt; the book knows only those.
    if (this.#sim.wire.calls.length > 0) return
    const changes: readonly Partial<TradingRules>[] = [
      { impactCapPpm: 100 + this.#chance.below(2_000) },
      { impactCapPpm: DEFAULT_RULES.impactCapPpm },
      { holdMs: this.#chance.below(10_000) },
      { priceGuardPpm: this.#chance.below(50_000) },
      { lotMax: lots(30_000_000) },
      { lotMax: DEFAULT_RULES.lotMax },
    ]
    const change = changes[this.#chance.below(changes.length)]
    this.#log(`rules ${JSON.stringify(change)}`)
    this.#sim.changeRules(change ?? {})
    this.#count('rules change')
    if (this.#chance.happens(0.5)) return
    // A new rule often comes with a new version of everything.
    for (const slot of this.#sim.slots) await this.#sim.takeOver(slot)
  }

  /** A commit without a waiting caller arrives, or is lost. */
  async #haunt(): Promise<void> {
    const ghost = this.#sim.wire.ghosts.shift()
    if (ghost === undefined || this.#chance.happens(0.3)) return
    this.#count('ghosts')
    await this.#sim.carryOut(ghost)
  }

  #anySlot(): MatchSlot {
    const slot = this.#sim.slots[this.#chance.below(this.#sim.slots.length)]
    if (slot === undefined) throw new Error('no slot')
    return slot
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  #log(line: string): void {
    const whole = `${this.step} @${this.#sim?.world.now() ?? 0} ${line}`
    this.#hash.update(whole)
    this.#lines.push(whole)
    if (this.#lines.length > 4 * SHOWN) this.#lines.splice(0, 2 * SHOWN)
  }
}
