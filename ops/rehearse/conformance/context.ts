/** The tools of a check: visitors, users, an admin, matches and players of its own, sockets. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Room } from '@colyseus/sdk'
import { DOES_NOT_APPLY, Skip } from './check.ts'
import { FeedSocket, waitFor } from './feed.ts'
import type { Fixture, Footballer, Role, Side } from './football.ts'
import {
  Districts,
  Instrument,
  Instruments,
  type Match,
  Matches,
  NeedsProfile,
  type Player,
  type Profile,
  Settings,
  SignedIn,
  Trade,
  type TradeSeen,
  WsToken,
} from './shapes.ts'
import type { Stores } from './deployment.ts'
import { unnoted } from './notes.ts'
import { ADMIN, type Trust } from './trust.ts'
import { type Ask, read, type Reply, Visitor } from './visitor.ts'
import { WAITS, type Waits } from './waits.ts'
import { z } from 'zod'

/** Where the deployment is, and what is known of it. */
export interface Target {
  readonly urls: readonly string[]
  /** In the order of `urls`; if empty, the tokens contain them. */
  readonly wsUrls: readonly string[]
  readonly production: boolean
  /** Null: its configuration is unknown. */
  readonly trust: Trust | null
  /** What an operator can do to its data; null if it cannot be reached. */
  readonly stores: Stores | null
}

const LOOK_MS = 50
/** A setting is in force in every process within a second. */
const SETTINGS_MS = 1_200
const MATCH_MS = 20_000

const Verified = z.looseObject({ verified: z.literal(true) })

function needsProfile(reply: Reply): z.output<typeof NeedsProfile> {
  assert.equal(reply.status, 422, `${reply.asked} was answered ${reply.status} ${reply.text}`)
  return NeedsProfile.parse(reply.body)
}

/** A signed-in user. */
export class User extends Visitor {
  readonly profile: z.output<typeof Profile>
  /** The subject at the identity provider; empty for a synthetic user. */
  readonly sub: string

  constructor(visitor: Visitor, profile: z.output<typeof Profile>, sub: string) {
    super(visitor.url)
    for (const [name, token] of visitor.cookies) this.cookies.set(name, token)
    this.profile = profile
    this.sub = sub
  }

  get id(): string {
    return this.profile.userId
  }

  /** Sends an order. By default: half a lot, long, at the current price, with a new key. */
  async order(player: Player, order: object = {}, headers: Ask['headers'] = newKey()): Promise<Reply> {
    const { currentPrice } = await this.get(`/api/instruments/${player.id}`, Instrument)
    const body = { instrumentId: player.id, direction: 'long', lotSize: 0.5, clientPrice: currentPrice, ...order }
    return this.ask('POST', '/api/positions/open', { body, headers })
  }

  async opens(player: Player, order: object = {}): Promise<TradeSeen> {
    return read(await this.order(player, order), Trade)
  }

  close(positionId: string, body: object = {}, headers: Ask['headers'] = newKey()): Promise<Reply> {
    return this.post(`/api/positions/${positionId}/close`, body, headers)
  }

  async closes(positionId: string): Promise<TradeSeen> {
    return read(await this.close(positionId), Trade)
  }
}

const newKey = () => ({ 'idempotency-key': randomUUID() })

/** At a time. */
const REGISTRATIONS = 4
/** A check of ten minutes still ends within the fifteen that an access token lives. */
const RENEW_MS = 240_000

/** Made when it is first wanted, and again when it is old. */
class Renewed<T> {
  #made: Promise<T> | null = null
  #at = 0

  get(make: () => Promise<T>): Promise<T> {
    if (this.#made !== null && performance.now() - this.#at < RENEW_MS) return this.#made
    this.#at = performance.now()
    this.#made = make()
    return this.#made
  }
}

/** What checks share, created by the first check that needs it. */
class SharedState {
  readonly target: Target
  nextUrl = 0
  people = 0
  readonly admin = new Renewed<User>()
  readonly observer = new Renewed<User>()
  /** Players of a match in a break, where prices do not move; each is given to one check. */
  readonly #players: Record<Role, Footballer[]> = { GK: [], DEF: [], MID: [], FWD: [] }
  #ground: Promise<void> = Promise.resolve()
  readonly #lanes = Array.from({ length: REGISTRATIONS }, () => Promise.resolve())
  #registrations = 0
  readonly #instruments = new Map<number, Player>()

  constructor(target: Target) {
    this.target = target
  }

  /** Registers a user, after some of those before: a crowd at once is refused by a server on a slow machine. */
  register<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#registrations++ % REGISTRATIONS
    const done = (this.#lanes[lane] ?? Promise.resolve()).then(work)
    this.#lanes[lane] = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  /** A player whom no other check trades; null if the deployment does not follow our fixtures. */
  async player(context: CheckContext, role: Role): Promise<Player> {
    const taken = this.#ground.then(async () => {
      if (this.#players[role].length === 0) await this.#fill(context)
      const player = this.#players[role].pop()
      assert(player !== undefined, `there is no ${role} left`)
      const instrument = this.#instruments.get(player.id)
      assert(instrument !== undefined, 'a player without an instrument')
      return instrument
    })
    this.#ground = taken.then(
      () => undefined,
      () => undefined,
    )
    return taken
  }

  async #fill(context: CheckContext): Promise<void> {
    const match = await context.breakMatch()
    // The bench is closed to opens.
    for (const player of match.fixture.players.filter(({ starter }) => starter)) {
      this.#players[player.role].push(player)
      this.#instruments.set(player.id, match.instrument(player))
    }
  }
}

/** A match of the suite's own, as the deployment shows it. */
export class OwnMatch {
  readonly fixture: Fixture
  readonly #instruments: ReadonlyMap<string, Player>

  constructor(fixture: Fixture, instruments: readonly Player[]) {
    this.fixture = fixture
    this.#instruments = new Map(instruments.map((one) => [one.name, one]))
  }

  get id(): number {
    return this.fixture.id
  }

  /** Of the players on the pitch. */
  get instrumentIds(): readonly string[] {
    return this.fixture.players.filter(({ starter }) => starter).map((player) => this.instrument(player).id)
  }

  /** The nth player of this role in a team. */
  player(role: Role, n = 0, side: Side = 'home'): Footballer {
    const found = this.fixture.players.filter((one) => one.side === side && one.role === role)[n]
    assert(found !== undefined, `there is no ${role} ${n}`)
    return found
  }

  instrument(player: Footballer): Player {
    const found = this.#instruments.get(player.name)
    assert(found !== undefined, `${player.name} has no instrument`)
    return found
  }
}

export class CheckContext {
  readonly target: Target
  readonly #shared: SharedState
  readonly #undo: (() => unknown)[] = []

  constructor(target: Target, shared = new SharedState(target)) {
    this.target = target
    this.#shared = shared
  }

  /** A context for one check: it shares the admin and other shared state, and closes what the check opened. */
  forNextCheck(): CheckContext {
    return new CheckContext(this.target, this.#shared)
  }

  async clear(): Promise<void> {
    for (const step of this.#undo.splice(0).toReversed()) await step()
  }

  /** Runs when the check is over, whatever its result. */
  later(step: () => unknown): void {
    this.#undo.push(step)
  }

  /** The suite's own servers, for checks on a deployment that trusts them. */
  get trust(): Trust {
    if (this.target.trust === null) throw new Skip('needs a deployment that trusts the suite (--trust)')
    return this.target.trust
  }

  /** The data of a deployment that the suite has started itself. */
  get stores(): Stores {
    return this.target.stores ?? this.skip('its stores cannot be reached from outside (--mode)')
  }

  skip(reason: string): never {
    throw new Skip(reason)
  }

  /** The sentence says nothing about this kind of deployment. */
  doesNotApply(reason: string): never {
    throw new Skip(DOES_NOT_APPLY + reason)
  }

  /** A client that is not signed in. Visitors are spread over the processes of the deployment. */
  visitor(): Visitor {
    const { urls } = this.target
    const url = urls[this.#shared.nextUrl++ % urls.length]
    assert(url !== undefined, 'a deployment without an address')
    return new Visitor(url)
  }

  /** A name that is unused at the identity provider and in the deployment. */
  newName(): string {
    return `c${Date.now().toString(36)}_${(++this.#shared.people).toString(36)}`.slice(0, 20)
  }

  /** The answer of `POST /api/auth/google` to this account, with a valid token. */
  async google(visitor: Visitor, sub: string, claims: object = {}): Promise<Reply> {
    const nonce = `nonce-${this.newName()}`
    const idToken = await this.trust.identity.token(sub, nonce, { ...claims })
    return visitor.post('/api/auth/google', { idToken, nonce })
  }

  /** The first step of registering: a ticket, and the code that was mailed. */
  async ticket(visitor: Visitor, sub = this.newName()) {
    const { registrationTicket, email } = needsProfile(await this.google(visitor, sub))
    return { sub, registrationTicket, email, otp: await this.code(email) }
  }

  /** The code in the nth mail to this address. */
  async code(email: string, nth = 1): Promise<string> {
    const mail = await this.trust.mail.mailTo(email, nth)
    const code = /\b(\d{6})\b/.exec(mail?.split('\r\n\r\n').slice(1).join('\n') ?? '')?.[1]
    assert(code !== undefined, `no code was mailed to ${email}`)
    return code
  }

  /** A ticket with a verified e-mail. */
  async verified(visitor: Visitor) {
    const begun = await this.ticket(visitor)
    const { registrationTicket, otp } = begun
    read(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), Verified)
    return begun
  }

  /** A newly registered user; if the deployment does not trust us, a synthetic user of the dev routes. */
  user(profile: object = {}): Promise<User> {
    return unnoted(() => this.#shared.register(() => this.#newUser(profile, this.visitor())))
  }

  /** The same from an address of one's own choice. */
  userFrom(address: string): Promise<User> {
    return unnoted(() => this.#shared.register(() => this.#newUser({}, Object.assign(this.visitor(), { address }))))
  }

  async #newUser(profile: object, visitor: Visitor): Promise<User> {
    if (this.target.trust === null) return this.#synthetic(visitor, `Conformance ${this.newName()}`)
    const { sub, registrationTicket } = await this.verified(visitor)
    const districtId = await this.district()
    const body = { registrationTicket, username: this.newName(), firstName: 'Con', districtId, ...profile }
    const { user } = read(await visitor.post('/api/auth/google/complete', body), SignedIn)
    return new User(visitor, user, sub)
  }

  async district(): Promise<number> {
    const { districts } = await this.visitor().get('/api/districts', Districts)
    const [first] = districts
    assert(first !== undefined, 'there are no districts')
    return first.id
  }

  /** A user in `ADMIN_EMAILS` who never signs out. */
  admin(): Promise<User> {
    return this.#shared.admin.get(() => unnoted(() => this.#signInAdmin()))
  }

  /** A user who only reads public data. */
  observer(): Promise<User> {
    return this.#shared.observer.get(() => this.user())
  }

  /** The waits as they are. */
  async waits(): Promise<Waits> {
    const { settings } = await (await this.admin()).get('/api/admin/settings', Settings)
    return Object.fromEntries(
      WAITS.map((wait) => [wait, Number(settings.find(({ key }) => key === wait)?.value ?? NaN)]),
    )
  }

  /** The waits are in force in every process when it returns. */
  async set(waits: Waits): Promise<void> {
    const admin = await this.admin()
    for (const [key, value] of Object.entries(waits)) {
      const reply = await admin.put(`/api/admin/settings/${key}`, { value })
      assert.equal(reply.status, 200, `${key} cannot be set to ${value}: ${reply.text}`)
    }
    await pause(SETTINGS_MS)
  }

  /** Sets `coming_soon`. The check ends when every process has heard that it is over. */
  async comingSoon(): Promise<Reply> {
    const admin = await this.admin()
    this.later(async () => {
      await admin.put('/api/admin/flags/coming_soon', { enabled: false })
      await pause(SETTINGS_MS)
    })
    return admin.put('/api/admin/flags/coming_soon', { enabled: true })
  }

  /** A player for this check alone, in a match in a break: the price moves only by trades. */
  player(role: Role = 'MID'): Promise<Player> {
    return unnoted(() => this.#shared.player(this, role))
  }

  /** A match for this check alone, in this state; the deployment shows all its players on the pitch. */
  async match(state: string): Promise<OwnMatch> {
    const match = await unnoted(() => this.#newMatch(state))
    // A match that plays on costs the deployment work. Those of `player` are in a break until the end.
    this.later(() => match.fixture.enters('FINISHED'))
    return match
  }

  /** A match in a break until the suite ends. */
  breakMatch(): Promise<OwnMatch> {
    return this.#newMatch('HT')
  }

  async #newMatch(state: string): Promise<OwnMatch> {
    const fixture = this.trust.football.fixture()
    fixture.enters('INPLAY_1ST_HALF')
    const observer = await this.observer()
    const instruments = await waitFor(
      `the players of fixture ${fixture.id}`,
      async () => {
        const all = (await observer.get('/api/instruments', Instruments)).instruments
        const mine = all.filter(({ fixtureId }) => fixtureId === fixture.id)
        const starters = fixture.players.filter(({ starter }) => starter)
        const missing = starters.some(({ name }) => !mine.some((one) => one.name === name))
        if (missing) await pause(LOOK_MS)
        return missing ? undefined : mine
      },
      MATCH_MS,
    )
    const match = new OwnMatch(fixture, instruments)
    if (state === 'INPLAY_1ST_HALF') return match
    fixture.enters(state)
    await this.sees(match, ({ state: shown }) => shown === state)
    // Prices have moved until now, and do not move in a break.
    const { instruments: all } = await observer.get('/api/instruments', Instruments)
    return new OwnMatch(
      fixture,
      all.filter(({ fixtureId }) => fixtureId === fixture.id),
    )
  }

  /** The match as shown once the condition holds. */
  sees(match: OwnMatch, isSo: (shown: z.output<typeof Match>) => boolean): Promise<z.output<typeof Match>> {
    return unnoted(async () => {
      const observer = await this.observer()
      return this.eventually(`match ${match.id} to be so`, async () => {
        const { matches } = await observer.get('/api/matches', Matches)
        return matches.find((shown) => shown.id === match.id && isSo(shown))
      })
    })
  }

  /** The result of `look`, once there is one. */
  eventually<T>(what: string, look: () => Promise<T | undefined>, secs = 15): Promise<T> {
    const slowly = async (): Promise<T | undefined> => {
      const found = await look()
      if (found === undefined) await pause(LOOK_MS)
      return found
    }
    return waitFor(what, slowly, secs * 1_000)
  }

  wait(secs: number): Promise<void> {
    return pause(secs * 1_000)
  }

  async wsToken(user: User): Promise<string> {
    return read(await user.post('/api/ws/token'), WsToken).token
  }

  /** The WebSocket address of the process that this visitor talks to. */
  async wsUrl(user: User): Promise<string> {
    const own = this.target.wsUrls[this.target.urls.indexOf(user.url)]
    if (own !== undefined) return own
    const { wsUrl } = (await user.post('/api/ws/token')).body as { wsUrl?: unknown }
    return typeof wsUrl === 'string' ? wsUrl : this.skip('the WebSocket address is not known (--ws)')
  }

  /** A socket on the price feed, closed when the check is over. */
  async feed(user: User): Promise<FeedSocket> {
    const socket = await FeedSocket.open(await this.wsUrl(user), await this.wsToken(user))
    this.later(() => socket.close())
    return socket
  }

  /** A seat in the room of a match, left when the check is over. */
  async room(user: User, matchId: number): Promise<Room> {
    const client = new Client(`${await this.wsUrl(user)}/?token=${await this.wsToken(user)}`)
    const room = await client.join('match', { matchId })
    // Leaving a room that the server has closed is never answered.
    this.later(() => (room.connection.isOpen ? room.leave() : undefined))
    return room
  }

  async #synthetic(visitor: Visitor, displayName: string): Promise<User> {
    const reply = await visitor.post('/api/auth/dev', { displayName })
    if (reply.status === 404) this.skip('needs a signed-in user: neither --trust nor dev routes')
    return new User(visitor, read(reply, SignedIn).user, '')
  }

  async #signInAdmin(): Promise<User> {
    const admin =
      this.target.trust === null
        ? await this.#synthetic(this.visitor(), 'Conformance Admin')
        : await this.knownAs(ADMIN)
    if (admin.profile.role === 'admin') return admin
    // With trust, the deployment has ADMIN_EMAILS from the suite.
    assert(this.target.trust === null, 'the e-mail of ADMIN_EMAILS has signed in, and is no admin')
    return this.skip('needs an admin (ADMIN_EMAILS)')
  }

  /** The user with this subject, who registers unless they have. */
  async knownAs(sub: string): Promise<User> {
    const visitor = this.visitor()
    const known = await this.google(visitor, sub)
    if (known.status === 200) return new User(visitor, read(known, SignedIn).user, sub)
    const { registrationTicket, email } = needsProfile(known)
    read(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp: await this.code(email) }), Verified)
    const body = { registrationTicket, username: this.newName(), firstName: 'Admin', districtId: await this.district() }
    return new User(visitor, read(await visitor.post('/api/auth/google/complete', body), SignedIn).user, sub)
  }
}
