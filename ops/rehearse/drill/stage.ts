/**
 * The deployment of a drill: two processes in production, one for the API and one for the matches, on a PostgreSQL
 * database and a Redis of their own, each behind a relay that can break. Match data, mail and the identity provider are
 * those of the conformance suite, whose context signs users in and starts matches.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { Relay } from '../chaos/relay.ts'
import { CheckContext, type OwnMatch, User } from '../conformance/context.ts'
import { SignedIn } from '../conformance/shapes.ts'
import { startTrust } from '../conformance/trust.ts'
import { read } from '../conformance/visitor.ts'
import { serverPlace } from '../rig/data-place.ts'
import { freePort } from '../rig/ports.ts'
import { Program } from '../rig/program.ts'
import { OwnRedis } from '../rig/redis.ts'

/** The operator, and an admin who causes trouble. */
const ADMINS = ['otto', 'ann'] as const
type Undo = (() => Promise<unknown>)[]
const Books = z.looseObject({ balanced: z.boolean() })
const Held = z.looseObject({ positions: z.array(z.unknown()) })

export class Stage {
  readonly context: CheckContext
  readonly redis: Relay
  readonly database: Relay
  /** In play, with open positions. */
  readonly match: OwnMatch
  readonly #holder: User
  /** The address of the database, past the relay. */
  readonly #postgres: string
  readonly #undo: Undo
  #trades = 0

  private constructor(
    { context, redis, database }: Pick<Stage, 'context' | 'redis' | 'database'>,
    match: OwnMatch,
    own: { readonly holder: User; readonly postgres: string },
    undo: Undo,
  ) {
    this.context = context
    this.redis = redis
    this.database = database
    this.match = match
    this.#holder = own.holder
    this.#postgres = own.postgres
    this.#undo = undo
  }

  get url(): string {
    return this.#holder.url
  }

  /** Starts all of it on the server of this address of PostgreSQL, and waits until it is ready. */
  static async start(server: string): Promise<Stage> {
    const undo: Undo = []
    try {
      const folder = mkdtempSync(join(tmpdir(), 'touchline-drill-'))
      undo.push(async () => rmSync(folder, { recursive: true }))
      const own = await OwnRedis.start(folder)
      undo.push(() => own.kill())
      const place = await serverPlace(server, own.url)
      undo.push(() => place.remove())
      const trust = await startTrust()
      undo.push(() => trust.stop())
      const postgres = present(place.env['DATABASE_URL'], 'address of the database')
      const database = await Relay.to(postgres)
      const redis = await Relay.to(own.url)
      undo.push(() => Promise.all([database.close(), redis.close()]))
      const [port, wsPort] = [String(await freePort()), String(await freePort())]
      const settings = {
        ...place.env,
        ...trust.environment,
        ADMIN_EMAILS: '',
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        COOKIE_DOMAIN: '127.0.0.1',
        LOG_LEVEL: 'info',
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        PUBLIC_WS_URL: `ws://127.0.0.1:${wsPort}`,
      }
      const api = new Program({ ...settings, ROLES: 'api', PORT: port, WS_PORT: wsPort })
      undo.push(() => api.stop())
      const { url } = await api.listening
      const rooms = new Program({ ...settings, ROLES: 'rooms' })
      undo.push(() => rooms.stop())
      await rooms.listening
      const context = new CheckContext({ urls: [url], wsUrls: [], production: true, trust, stores: null })
      undo.push(() => context.clear())
      for (const name of ADMINS) await register(context, name)
      // As if they had been made admins long ago: an audit entry of today would be an alert.
      await place.look(({ db }) => db.updateTable('users').set({ role: 'admin' }).execute())
      const match = await context.match('INPLAY_1ST_HALF')
      const stage = new Stage({ context, redis, database }, match, { holder: await context.user(), postgres }, undo)
      await stage.trade()
      return stage
    } catch (error) {
      for (const step of undo.toReversed()) await step()
      throw error
    }
  }

  /** Signs in as an admin: the operator of the drill, or another. */
  async admin(name: (typeof ADMINS)[number]): Promise<User> {
    const visitor = this.context.visitor()
    return new User(visitor, read(await this.context.google(visitor, name), SignedIn).user, name)
  }

  /** A user opens a position in the match. Throws if they cannot. */
  async trade(): Promise<void> {
    const striker = this.match.instrument(this.match.player('FWD', this.#trades++ % 3))
    await this.context.eventually('an open', async () => {
      const { status } = await this.#holder.order(striker)
      return status === 201 ? true : undefined
    })
  }

  /** The match is over, and every position is settled. Throws if it is not so soon. */
  async isPaid(): Promise<void> {
    await this.context.eventually('the settlement', async () => {
      const { positions } = await this.#holder.get('/api/positions?status=open', Held)
      return positions.length === 0 ? true : undefined
    })
  }

  /** What an incident does as a user: any request, with their cookies or a key. Throws unless it is carried out. */
  async does(
    who: User | { readonly key: string },
    method: string,
    path: string,
    body: object,
  ): Promise<Record<string, unknown>> {
    const identity: Record<string, string> =
      who instanceof User
        ? { cookie: [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
        : { authorization: `Bearer ${who.key}` }
    const headers = { 'content-type': 'application/json', ...identity }
    const answer = await fetch(this.url + path, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status} ${await answer.text()}`)
    return z.record(z.string(), z.unknown()).parse(await answer.json())
  }

  /** Locks a table, as a report in an open transaction does. Returns what ends it. */
  async lock(table: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: this.#postgres })
    // The database is dropped with its connections when a drill fails in between.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(`begin; lock table ${table} in access exclusive mode`)
    return () => client.end()
  }

  /** The audit of the whole ledger, as at the end of every drill. */
  async booksBalance(): Promise<boolean> {
    return (await (await this.admin('otto')).get('/api/admin/ledger/audit', Books)).balanced
  }

  /** Runs at the end, before what was started earlier is stopped. */
  later(step: () => Promise<unknown>): void {
    this.#undo.push(step)
  }

  async stop(): Promise<void> {
    for (const step of this.#undo.splice(0).toReversed()) await step()
  }
}

async function register(context: CheckContext, name: string): Promise<void> {
  const visitor = context.visitor()
  const { registrationTicket, otp } = await context.ticket(visitor, name)
  await visitor.post('/api/auth/verify-otp', { registrationTicket, otp })
  const profile = { username: name, firstName: name, districtId: await context.district() }
  read(await visitor.post('/api/auth/google/complete', { registrationTicket, ...profile }), SignedIn)
}
