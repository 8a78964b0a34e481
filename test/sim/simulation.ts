/** One run of the simulator: a seed, so many steps of trading, football and mishaps, and a quiet end. */
import { createHash } from 'node:crypto'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import { type Wish, wish } from './cast.ts'
import { Football } from './football.ts'
import { type Pitch, SimWorld, turn } from './sim-world.ts'
import type { Owner } from './owner.ts'
import { type Plan, planFor, SQUADS } from './plan.ts'
import { type Request, requestFor } from './requests.ts'
import type { Call } from './wire.ts'
import { hold } from './violation.ts'

/** What a run was like: its digest is the same whenever the seed is. */
export interface Report {
  readonly digest: string
  /** How often what happened: closes by their reason, refusals by their code, mishaps by their name. */
  readonly counts: Readonly<Record<string, number>>
}

/** How many of the last log lines are kept. */
const SHOWN = 20
/** Sweeper after which everybody must have had his answer, and every match its end. */
const ROUNDS_MAX = 300

export class Simulation {
  step = 0
  readonly #lines: string[] = []
  /** What may happen in a step, each as often as its weight. */
  readonly #acts: readonly { readonly weight: number; readonly happens: () => Promise<void> }[]
  readonly #chance: Chance
  readonly #plan: Plan
  readonly #stadium: SimWorld
  readonly #hash = createHash('sha256')
  readonly #counts = new Map<string, number>()
  #keys = 0
  #fixtures = 90_000

  constructor(seed: number) {
    this.#chance = chanceFrom(seed)
    this.#plan = planFor(this.#chance)
    const { rules, model, anchors, players, storm } = this.#plan
    this.#stadium = new SimWorld(rules, { model, anchors, log: (line) => this.#log(line) })
    for (const [n, squad] of SQUADS.entries()) {
      this.#stadium.pitches.push({
        n: n + 1,
        players: squad,
        football: this.#kickOff(squad),
        seq: 0,
        serving: null,
        unruly: false,
      })
    }
    for (const { userId, grant } of players) this.#stadium.grant(userId, grant)
    this.#acts = [
      { weight: 40, happens: () => this.#play() },
      { weight: 6, happens: () => this.#askAgain() },
      { weight: 60, happens: () => this.#deliver() },
      { weight: 6, happens: () => this.#feed(this.#pitch()) },
      { weight: 10, happens: () => this.#pass(50 + this.#chance.below(700)) },
      { weight: 1, happens: () => this.#pass(1_000 + this.#chance.below(20_000)) },
      { weight: 5, happens: () => this.#publish() },
      { weight: 1, happens: () => this.#changeRules() },
      { weight: 80 * storm, happens: () => this.#mishap() },
      { weight: 40 * storm, happens: () => this.#haunt() },
    ]
  }

  /** One thing happens, and everything must still be true. */
  async next(): Promise<void> {
    this.step++
    const act = this.#chance.pick(this.#acts, ({ weight }) => weight)
    await act?.happens()
    await turn()
    this.#stadium.check()
  }

  /** The storm is over: everybody gets his answer, every match comes to its end, and nothing is left. */
  async finish(): Promise<void> {
    const { wire, requests, book, pitches } = this.#stadium
    wire.ghosts.length = 0
    for (let round = 0; ; round++) {
      this.step++
      hold('alive', round < ROUNDS_MAX, () => `no end after ${round} rounds`)
      this.#stadium.world.pass(1_100)
      for (const pitch of pitches) {
        const begun = book.matches.has(pitch.football.fixtureId)
        if (!begun || (requests.open.length === 0 && !this.#hasSettled(pitch))) await this.#feed(pitch, true)
        const owner = await this.#stadium.serving(pitch)
        if (owner !== null) this.#stadium.clock(owner)
      }
      for (const request of requests.open) await this.#send(request, false)
      await turn()
      while (wire.calls.length > 0) await this.#deliver(true)
      this.#stadium.check()
      if (requests.open.length === 0 && pitches.every((pitch) => this.#hasSettled(pitch))) break
    }
    requests.checkCounts(book)
    hold('settled', book.openPositions().length === 0, () => `${book.openPositions().length} positions are left open`)
  }

  get lastLines(): readonly string[] {
    return this.#lines.slice(-SHOWN)
  }

  /** Ends the run. */
  report(): Report {
    for (const { close } of this.#stadium.book.positions.values()) this.#count(`closed by ${close?.by ?? 'nobody'}`)
    for (const { result } of this.#stadium.book.results.values()) {
      if ('refusal' in result) this.#count(`refused ${result.refusal.code}`)
    }
    for (const { userId } of this.#plan.players) {
      this.#hash.update(`${userId} ${this.#stadium.store.walletOf(userId).balance}`)
    }
    return { digest: this.#hash.digest('hex'), counts: Object.fromEntries(this.#counts) }
  }

  /** A player has his turn. */
  async #play(): Promise<void> {
    const player = this.#plan.players[this.#chance.below(this.#plan.players.length)]
    const pitch = this.#pitch()
    const owner = await this.#stadium.serving(pitch)
    if (player === undefined || owner === null) return
    const { book } = this.#stadium
    const all = [...book.positions.values()].slice(-60)
    const isOwn = (p: (typeof all)[number]): boolean => p.userId === player.userId && p.close === null
    const wished = wish(
      player,
      {
        instruments: [...owner.actor.view.instruments()].map(({ id, published }) => ({ id, published })),
        own: all.filter(isOwn),
        others: all.filter((p) => !isOwn(p)),
        balance: book.balances.get(player.userId) ?? 0,
        bullish: this.#plan.herd ? 0.9 : 0.5,
      },
      this.#chance,
    )
    if (wished === null) return
    const request = requestFor(this.#withKey(wished))
    this.#stadium.requests.add(request)
    await this.#send(request)
    if (player.habit !== 'double_clicker') return
    for (let again = this.#chance.below(3); again > 0; again--) await this.#send(request)
  }

  #withKey(wished: Wish): UserCommand {
    if (wished.kind === 'change_levels') return wished
    const route = wished.kind === 'open_position' ? 'open' : 'close'
    // Now and then a key that another user, or another route, has used as well.
    const key = this.#chance.happens(0.02) ? 'everybody’s key' : `k${++this.#keys}`
    const id = `${wished.userId} ${route} ${key}`
    const known = this.#stadium.requests.commandOf(id)
    const none = this.#chance.happens(0.15) || known !== undefined
    return { ...wished, idempotency: none ? null : { id, fingerprint: 'body' } }
  }

  /** Somebody who has heard nothing, or nothing certain, asks again with the same key. */
  async #askAgain(): Promise<void> {
    const { open } = this.#stadium.requests
    const request = open[this.#chance.below(Math.max(1, open.length))]
    if (request !== undefined) await this.#send(request)
  }

  async #send(request: Request, patient = this.#chance.happens(0.2)): Promise<void> {
    if (request.key === null && request.closed) return
    const { command } = request
    const { book, pitches } = this.#stadium
    const fingerprint = this.#chance.happens(0.04) ? 'another body' : 'body'
    const place = command.kind === 'open_position' ? book.instruments.get(command.instrumentId) : undefined
    const position = command.kind === 'open_position' ? undefined : book.positions.get(command.positionId)
    const matchId = place?.matchId ?? position?.fixtureId
    const pitch = pitches.find((p) => p.football.fixtureId === matchId) ?? pitches[0]
    if (pitch === undefined) return
    const over = position !== undefined && pitch.football.fixtureId !== matchId
    if (over) return this.#stadium.recall(request, fingerprint)
    const owner = this.#formerOwner(pitch) ?? (await this.#stadium.serving(pitch))
    if (owner === null) return
    this.#log(`send ${JSON.stringify(command)} to owner ${owner.epoch}`)
    this.#stadium.send(request, { owner, fingerprint, heard: !this.#chance.happens(this.#plan.storm), patient })
  }

  /** A request may still reach an owner that has been overtaken, or has stopped. */
  #formerOwner(pitch: Pitch): Owner | null {
    const former = this.#stadium.owners.findLast(
      (o) => o.pitch === pitch.n && (o.standing === 'stalled' || o.standing === 'stopped'),
    )
    return former !== undefined && this.#chance.happens(0.3) ? former : null
  }

  /** One call reaches the store, or its answer the actor, or neither; at the end all goes well. */
  async #deliver(calm = false): Promise<void> {
    const { wire } = this.#stadium
    const call = wire.calls[this.#chance.below(Math.max(1, wire.calls.length))]
    if (call === undefined) return
    const fate = calm ? 1 : this.#chance.uniform() / Math.max(this.#plan.storm, 1e-9)
    if (fate < 3 && !calm) return this.#breakOff(call, Math.floor(fate))
    if (call.kind === 'histories') return this.#stadium.answerHistories(call)
    if (call.verdict === null) {
      await this.#stadium.carryOut(call)
      if (!calm && this.#chance.happens(0.25)) return // the answer is still on its way
    }
    await this.#stadium.answer(call)
  }

  async #breakOff(call: Call, how: number): Promise<void> {
    const { wire } = this.#stadium
    this.#count(['commit fails before', 'commit fails after', 'commit arrives late'][how] ?? 'line breaks')
    this.#log(`line of owner ${call.owner.epoch} breaks (${how})`)
    if (call.kind === 'commit' && call.verdict === null) {
      if (how === 1) await this.#stadium.carryOut(call)
      if (how === 2) wire.ghosts.push(call)
    }
    this.#stadium.breakOff(call)
  }

  /** The provider says something new, or something old again. */
  async #feed(pitch: Pitch, calm = false): Promise<void> {
    const stadium = this.#stadium
    if (this.#hasSettled(pitch) && !calm) return this.#nextMatch(pitch)
    const snapshot = pitch.football.next(stadium.world.now())
    const owner = await stadium.serving(pitch, snapshot)
    if (owner === null) return
    const old = !calm && this.#chance.happens(0.15)
    const seq = old ? Math.max(0, pitch.seq - this.#chance.below(3)) : (pitch.seq += 1 + this.#chance.below(2))
    this.#log(`feed ${pitch.football.fixtureId} ${seq} ${snapshot.state ?? snapshot.stateId}`)
    stadium.offer(owner, { kind: 'feed_update', seq, snapshot })
    const former = this.#formerOwner(pitch)
    if (former !== null) stadium.offer(former, { kind: 'feed_update', seq, snapshot })
  }

  #hasSettled(pitch: Pitch): boolean {
    return (this.#stadium.book.matches.get(pitch.football.fixtureId)?.settledAt ?? null) !== null
  }

  /** The pitch is used again, once nobody has anything to say about the last match. */
  #nextMatch(pitch: Pitch): void {
    const { owners, wire } = this.#stadium
    if (wire.calls.some((call) => call.owner.pitch === pitch.n)) return
    const living = owners.filter((owner) => owner.pitch === pitch.n && owner.standing !== 'gone')
    for (const owner of living) this.#stadium.kill(owner, () => false)
    pitch.football = this.#kickOff(pitch.players)
    pitch.seq = 0
    this.#count('matches')
  }

  #kickOff(players: readonly number[]): Football {
    return new Football({ fixtureId: ++this.#fixtures, players, chance: this.#chance })
  }

  async #pass(ms: number): Promise<void> {
    this.#log(`${ms} ms pass`)
    this.#stadium.world.pass(ms)
    for (const owner of this.#stadium.owners) if (owner.standing !== 'gone') this.#stadium.clock(owner)
  }

  async #publish(): Promise<void> {
    for (const owner of this.#stadium.owners) if (owner.standing !== 'gone') this.#stadium.publish(owner)
  }

  /** A process dies or stalls, or the clock jumps. */
  async #mishap(): Promise<void> {
    const pitch = this.#pitch()
    const living = this.#stadium.owners.filter((o) => o.standing !== 'gone')
    const owner = living[this.#chance.below(Math.max(1, living.length))]
    switch (this.#chance.below(4)) {
      case 0:
        if (owner !== undefined) this.#stadium.kill(owner, () => this.#chance.happens(0.5))
        return this.#count('owner dies')
      case 1:
        this.#count('owner stalls')
        await this.#stadium.takeOver(pitch)
        return
      case 2:
        this.#stadium.retire(pitch)
        return this.#count('owner retires')
      default:
        this.#count('clock jumps')
        return this.#pass(this.#chance.happens(0.5) ? 200_000 : -this.#chance.below(5_000))
    }
  }

  async #changeRules(): Promise<void> {
    // A batch that was turned down once is judged by the rules of its last attempt; the book knows only those.
    if (this.#stadium.wire.calls.length > 0) return
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
    this.#stadium.changeRules(change ?? {})
    this.#count('rules change')
    if (this.#chance.happens(0.5)) return
    // A new rule often comes with a new version of everything.
    for (const pitch of this.#stadium.pitches) await this.#stadium.takeOver(pitch)
  }

  /** A commit that nobody waits for any more arrives, or is lost for good. */
  async #haunt(): Promise<void> {
    const ghost = this.#stadium.wire.ghosts.shift()
    if (ghost === undefined || this.#chance.happens(0.3)) return
    this.#count('ghosts')
    await this.#stadium.carryOut(ghost)
  }

  #pitch(): Pitch {
    const pitch = this.#stadium.pitches[this.#chance.below(this.#stadium.pitches.length)]
    if (pitch === undefined) throw new Error('no pitch')
    return pitch
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  #log(line: string): void {
    const whole = `${this.step} @${this.#stadium?.world.now() ?? 0} ${line}`
    this.#hash.update(whole)
    this.#lines.push(whole)
    if (this.#lines.length > 4 * SHOWN) this.#lines.splice(0, 2 * SHOWN)
  }
}
