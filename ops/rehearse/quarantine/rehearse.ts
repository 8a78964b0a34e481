/**
 * Breaks each stored document of matches with open positions in turn, starts the program again, and lets an operator
 * end every match. No user may get an error, and the books must balance.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type UserId } from '../../../actors/kernel/ids.ts'
import { lots } from '../../../actors/kernel/micros.ts'
import { instant, MINUTE_MS, SECOND_MS } from '../../../actors/kernel/world.ts'
import type { SaidFixture } from '../../../actors/market/fixture.ts'
import type { MatchView } from '../../../actors/match/state.ts'
import type { Connection } from '../../../db/postgres/connection.ts'
import { WalletCache } from '../../../db/wallet-cache.ts'
import { Wallets } from '../../../db/wallets.ts'
import { readConfig } from '../../../src/config.ts'
import { compose, type Touchline } from '../../../src/compose/index.ts'
import { createLog } from '../../../src/observe/log.ts'
import { instrumentIdFor } from '../../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../../src/provider/snapshot.ts'
import { systemWorld } from '../../../src/system-world.ts'
import { chancesFrom, simulateMatch } from '../../../actors/replay/generator/match-sim.ts'
import { demand } from '../rig/account.ts'
import { SimulatedClient } from '../rig/simulated-client.ts'
import { type Damage, damagesOf } from './damages.ts'

/** Where the program keeps its data. */
export interface QuarantinePlace {
  readonly settings: Readonly<Record<string, string>>
  /** Opens the database while the program is down. */
  look<T>(at: (connection: Connection) => Promise<T>): Promise<T>
}

export interface QuarantineResult {
  readonly damages: number
  /** Those after which the match could still be read. */
  readonly readable: number
  readonly positions: number
}

type Document = 'info' | 'pricing' | 'news' | 'moved'
/** The nth damage to a document. */
type Broken = Pick<Damage, 'what'> & { readonly document: Document; readonly nth: number }

const FIRST_ID = 70_000_001
/** Positions that each match leaves open: a long and a short of two holders. */
const HELD = 2
const MATCHES_PER_HOLDER = 80
/** Matches at a time: at most 100 are listed as quarantined. */
const ROUND = 60
const STARTERS = 3
const PATIENCE_MS = 2 * MINUTE_MS
/** These two are null without protection: what a version with another idea of them may have left there. */
const NEVER_WRITTEN: readonly Damage[] = [
  { what: 'of another type', json: 'text' },
  { what: 'all of it removed', json: {} },
  { what: 'a list of nothing known', json: [{ fill: 7 }] },
]
const world = systemWorld()
const log: string[] = []

/** The match before its first event and with some, of a few players that no other match has. */
const frames = simulateMatch({
  chances: chancesFrom(11),
  fixtureId: FIRST_ID,
  kickOff: instant(Date.UTC(2026, 4, 2, 14)),
  league: 'Meridian League',
  home: { name: 'Harbour Town', shortCode: 'HAR', expectedGoals: 1.8 },
  away: { name: 'Mill Rovers', shortCode: 'MIL', expectedGoals: 1.6 },
  knockout: false,
  moments: [{ kind: 'red_card', minute: 30, side: 'away' }],
})

function snapshotOf(n: number, frame: unknown): SaidFixture {
  const idOf = (player: Parameters<typeof instrumentIdFor>[1]) => instrumentIdFor(`quarantine/${n}`, player)
  const parsed = parseFixture(frame, { instrumentIdOf: idOf, receivedAt: world.now() })
  if (!parsed.ok) throw new Error(`the frame of the rehearsal cannot be read: ${parsed.reason}`)
  const { players } = parsed.snapshot
  const some = (['home', 'away'] as const).flatMap((side) =>
    players.filter((one) => one.side === side && one.starter).slice(0, STARTERS),
  )
  return { ...parsed.snapshot, fixtureId: idOfMatch(n), players: some, sourceAt: world.now() }
}

const idOfMatch = (n: number): FixtureId => fixtureId(FIRST_ID + n)

/**
 * Runs the rehearsal with every nth damage, some matches at a time: each start of the program takes up those that were
 * broken before, and plays the next ones. Throws what does not hold.
 */
export async function rehearseQuarantine(place: QuarantinePlace, every: number): Promise<QuarantineResult> {
  let damages: readonly Broken[] = []
  let broken: readonly number[] = []
  let readable = 0
  for (let from = 0; from === 0 || broken.length > 0; from += ROUND) {
    const next = await withProgram(place, async (program, url) => {
      readable += await endAll(program, url, { damages, matches: broken })
      if (from === 0) {
        await play(program, 0)
        damages = damagesTo(present(program.realTime.desk.view(idOfMatch(0)), 'match'), every)
      }
      const matches = [...damages.keys()].slice(from, from + ROUND)
      for (const n of matches) if (n > 0) await play(program, n)
      return matches
    })
    await place.look((connection) => breakAll(connection, { damages, matches: next }))
    broken = next
  }
  const positions = damages.length * HELD
  await place.look((connection) => checkBooks(connection, positions))
  return { damages: damages.length, readable, positions }
}

/** Some of the damages, by the number of their match. */
interface Round {
  readonly damages: readonly Broken[]
  readonly matches: readonly number[]
}

const damageTo = ({ damages }: Round, n: number): Broken => present(damages[n], 'damage')

/** What there is to break, as the documents of one match show: those of the others have the same fields. */
function damagesTo({ info, pricing }: MatchView, every: number): readonly Broken[] {
  const of = (document: Document, damages: readonly Damage[]): readonly Broken[] =>
    damages.map(({ what }, nth) => ({ document, what, nth }))
  const all = [
    ...of('news', NEVER_WRITTEN),
    ...of('moved', NEVER_WRITTEN),
    ...of('info', damagesOf(info)),
    ...of('pricing', damagesOf(pricing)),
  ]
  return all.filter((_, n) => n % every === 0)
}

async function withProgram<T>(
  place: QuarantinePlace,
  work: (program: Touchline, url: string) => Promise<T>,
): Promise<T> {
  const config = readConfig({
    ...place.settings,
    DEMO_REPLAY: 'none',
    RATE_LIMIT_PER_MIN: '0',
    ADMIN_EMAILS: 'quarantine_auditor@synthetic.invalid',
    PORT: '0',
    WS_PORT: '0',
  })
  const program = await compose(config, { log: createLog({ level: 'error', world, readable: false, write }) })
  try {
    return await work(program, (await program.start()).url)
  } finally {
    await program.stop()
  }
}

const write = (line: string): void => void log.push(line)

/** Plays half an hour of the nth match, in which two users open a position. */
async function play({ realTime, users }: Touchline, n: number): Promise<void> {
  await realTime.desk.feed(updateOf(n, 1, frames[60]), { replay: false })
  const view = present(realTime.desk.view(idOfMatch(n)), 'match')
  const first = Math.floor(n / MATCHES_PER_HOLDER) * HELD
  const holders = await users.createSyntheticMany([holderNamed(first), holderNamed(first + 1)])
  for (const [at, { user }] of holders.entries()) await open(realTime, view, user.id, at)
  await realTime.desk.feed(updateOf(n, 2, frames[260]), { replay: false })
}

const holderNamed = (n: number): string => `Quarantine ${n + 1}`

const updateOf = (n: number, seq: number, frame: unknown) =>
  ({ kind: 'feed_update', seq, snapshot: snapshotOf(n, frame) }) as const

async function open({ desk }: Touchline['realTime'], view: MatchView, holder: UserId, at: number): Promise<void> {
  const player = present([...view.instruments()][at], 'player')
  const outcome = await desk.submit({
    kind: 'open_position',
    userId: holder,
    instrumentId: player.id,
    direction: at === 0 ? 'long' : 'short',
    lots: lots(10_000),
    clientPrice: player.published,
    stopLoss: null,
    takeProfit: null,
    idempotency: null,
  })
  demand(outcome.ok, () => `an order was refused: ${JSON.stringify(outcome)}`)
}

async function breakAll({ db }: Connection, round: Round): Promise<void> {
  for (const n of round.matches) {
    const [id, { document, nth }] = [idOfMatch(n), damageTo(round, n)]
    const own = await db.selectFrom('matches').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const broken = document === 'info' || document === 'pricing' ? damagesOf(own[document]) : NEVER_WRITTEN
    const text = JSON.stringify(present(broken[nth], 'damage').json)
    if (document === 'info') await sql`update matches set info = ${text}::jsonb where id = ${id}`.execute(db)
    if (document === 'pricing') await sql`update matches set pricing = ${text}::jsonb where id = ${id}`.execute(db)
    if (document === 'news') await sql`update instruments set news = ${text}::jsonb where match_id = ${id}`.execute(db)
    if (document === 'moved') await sql`update positions set moved = ${text}::jsonb where match_id = ${id}`.execute(db)
  }
}

const Feed = z.looseObject({ quarantined: z.array(z.looseObject({ matchId: z.int(), positions: z.int() })) })
const Open = z.looseObject({ positions: z.array(z.unknown()) })

/** Everything that shows the matches answers, and the operator ends each. Returns how many could still be read. */
async function endAll({ realTime }: Touchline, url: string, round: Round): Promise<number> {
  const isRunning = (n: number): boolean => realTime.desk.view(idOfMatch(n)) !== undefined
  await until('every match runs', () => round.matches.every(isRunning))
  const [admin, holder] = [new SimulatedClient('Quarantine Auditor'), new SimulatedClient(holderNamed(0))]
  for (const client of [admin, holder]) await client.signIn(url)
  const answers = async (path: string): Promise<void> => {
    const reply = await holder.ask(url, 'GET', path)
    demand(reply !== 'lost' && reply.status === 200, () => `GET ${path}: ${JSON.stringify(reply).slice(0, 300)}`)
  }
  for (const path of LISTS) await answers(path)
  const { quarantined } = await admin.read(url, '/api/admin/feed', Feed)
  let readable = 0
  for (const n of round.matches) {
    const [id, { document, what }] = [idOfMatch(n), damageTo(round, n)]
    for (const part of ['', '/events', '/squad?team=home', '/trade-window']) await answers(`/api/matches/${id}${part}`)
    if (realTime.desk.view(id)?.info.quarantine === undefined) readable++
    else {
      const listed = quarantined.find(({ matchId }) => matchId === id)
      demand(listed?.positions === HELD, () => `${document} ${what}: match ${id} is not listed as quarantined`)
    }
    const { positions } = await admin.read(url, `/api/admin/matches/${id}/positions`, Open)
    demand(positions.length === HELD, () => `${document} ${what}: ${positions.length} positions of ${id} are listed`)
    const outcome = outcomeOf(n)
    const reply = await admin.ask(url, 'POST', `/api/admin/matches/${id}/end`, { outcome })
    demand(
      reply !== 'lost' && reply.status === 200,
      () => `${document} ${what}: match ${id} does not end: ${JSON.stringify(reply)}`,
    )
  }
  const isOver = (n: number): boolean => realTime.desk.view(idOfMatch(n))?.info.settledAt !== null
  await until('every match has ended', () => round.matches.every(isOver))
  for (const path of LISTS) await answers(path)
  const unexpected = log.filter((line) => !line.includes('"match_quarantined"'))
  demand(unexpected.length === 0, () => `it logged ${unexpected.join('\n')}`)
  return readable
}

const LISTS = [
  '/api/instruments',
  '/api/instruments/movers',
  '/api/matches',
  '/api/positions?status=all&limit=100',
  '/api/portfolio',
  '/api/notifications',
  '/api/account/changes',
]

const outcomeOf = (n: number): 'settle' | 'void' => (n % 2 === 0 ? 'settle' : 'void')

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = world.now() + PATIENCE_MS; !holds(); await pause(SECOND_MS / 20))
    demand(world.now() < deadline, () => `${what} is not true after ${PATIENCE_MS / SECOND_MS} s: ${log.join('\n')}`)
}

/** Settled at the last price of the player, void at the open price; every margin is back, and the ledger balances. */
async function checkBooks({ db }: Connection, opened: number): Promise<void> {
  const { rows } = await sql<{ wrong: string; count: number }>`
    select case when p.closed_at is null then 'open'
                when (p.match_id - ${FIRST_ID}::bigint) % 2 = 0 and
                     (p.closed_by <> 'full_time' or p.close_micros <> i.price_micros) then 'settled at another price'
                when (p.match_id - ${FIRST_ID}::bigint) % 2 = 1 and
                     (p.closed_by <> 'void' or p.close_micros <> p.open_micros or p.pnl_micros <> 0) then 'not void'
           end as wrong, count(*)::integer as count
      from positions p join instruments i on i.id = p.instrument_id
     where p.match_id >= ${FIRST_ID}::bigint
     group by 1`.execute(db)
  demand(
    rows.every(({ wrong }) => wrong === null),
    () => `positions: ${JSON.stringify(rows)}`,
  )
  demand(rows[0]?.count === opened, () => `${rows[0]?.count} positions were closed, ${opened} opened`)
  const held = await db
    .selectFrom('wallets')
    .select(['user_id', 'margin_micros', 'open_positions'])
    .where((one) => one.or([one('margin_micros', '<>', 0), one('open_positions', '<>', 0)]))
    .execute()
  demand(held.length === 0, () => `wallets still hold margins: ${JSON.stringify(held)}`)
  const books = await new Wallets(db, new WalletCache(null, () => undefined)).auditLedger({ whole: true })
  const { imbalanceMicros, unbalancedTransactions, mismatchedWallets } = books
  demand(
    imbalanceMicros === 0 && unbalancedTransactions === 0 && mismatchedWallets === 0,
    () => `the books do not balance: ${JSON.stringify(books)}`,
  )
}
