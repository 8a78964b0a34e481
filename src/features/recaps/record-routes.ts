/** `GET /api/recaps/record`. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { HOUR_MS, type Instant, instant } from '../../../actors/kernel/world.ts'
import type { ClosedPosition } from '../../../actors/position/position.ts'
import { errors, fail, type HttpEnv, invalid } from '../../http/answers.ts'
import { type CsvField, csvRecord } from '../../http/csv.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { purseInput, stretchInput } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { type FairQueue, QUEUE_FULL } from '../../http/queue.ts'
import { recordOf, type Sums } from './record.ts'
import { RecordBody } from './schema.ts'
import { byClose, recapOf } from './recap.ts'
import { curveJson, type RecapPorts, tradeJson } from './routes.ts'
import type { RecapCloses, RecordedPlayer } from './store.ts'

const YEAR_MS = 365 * 24 * HOUR_MS
const PLAYERS_MAX = 100

const route = createRoute({
  method: 'get',
  path: '/api/recaps/record',
  operationId: 'getMyRecord',
  tags: ['Leaderboards'],
  summary: "The caller's trading record",
  description:
    'What closed positions came to: whole, and by player, role, direction, time held and month. `from` and `to` ask ' +
    'for the time of closing; by default the last 365 days. A position closed in parts counts once, when its last ' +
    'part closes; void ones do not count. `type=csv` gives a line per close instead, parts and void ones too ' +
    '(RFC 4180). 400 where the caller has opened more than 20,000 positions since `from`, or has no wallet in the purse.',
  security: READ_SECURITY,
  request: {
    query: z.object({ purse: purseInput, ...stretchInput, type: z.enum(['json', 'csv']).default('json') }),
  },
  responses: {
    200: {
      description: 'As the ledger has it.',
      content: {
        'application/json': { schema: RecordBody },
        'text/csv': { schema: z.string().openapi({ example: 'positionId,player,role\r\n' }) },
      },
    },
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

type Deps = Pick<RecapPorts, 'recaps'> & Pick<HttpDeps, 'catalogue' | 'history' | 'world'>

export function recordRoutes(deps: Deps & { readonly reading: FairQueue }, gates: Gates) {
  const { recaps, world, reading } = deps
  const app = new OpenAPIHono<HttpEnv>()
  return app.openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { purse, type, ...asked } = c.req.valid('query')
    const { userId } = c.var.caller
    const to = asked.to ?? instant(world.now() + 1)
    const from = asked.from ?? instant(to - YEAR_MS)
    const send = async () => {
      const found = await recaps.closes(userId, { purse, match: null, from, to })
      if (found === null) return fail(c, invalid('from', 'more than 20,000 positions since then, or no such wallet'))
      const players = await recaps.players([...new Set(found.closes.map(({ instrumentId }) => instrumentId))])
      if (type === 'json') return c.json({ purse, ...(await recordJson(deps, { ...found, from, to, players })) }, 200)
      const name = `touchline-record-${timestamp(world.now()).slice(0, 10)}.csv`
      c.header('Content-Type', 'text/csv; charset=utf-8')
      c.header('Content-Disposition', `attachment; filename="${name}"`)
      return c.body(csvOf(found.closes, players), 200)
    }
    return (await reading.run(userId, c.req.raw.signal, send)) ?? fail(c, QUEUE_FULL)
  })
}

interface Found extends RecapCloses {
  readonly from: Instant
  readonly to: Instant
  readonly players: Players
}

async function recordJson(deps: Deps, { start, closes, earlier, from, to, players }: Found) {
  const record = recordOf(closes, (id) => players.get(id)?.role, earlier)
  await nextTurn() // each half takes long where there are many
  const { curve, best, worst } = recapOf(start, closes, [], earlier)
  const [bestTrade, worstTrade] = await Promise.all([tradeJson(deps, best), tradeJson(deps, worst)])
  return {
    from: timestamp(from),
    to: timestamp(to),
    total: sumsJson(record.total),
    curve: curveJson(curve),
    best: bestTrade,
    worst: worstTrade,
    byPlayer: record.byPlayer.slice(0, PLAYERS_MAX).map(({ key, ...sums }) => ({
      instrumentId: key,
      player: players.get(key)?.name ?? 'A former player',
      ...sumsJson(sums),
    })),
    byRole: record.byRole.map(({ key, ...sums }) => ({ role: key, ...sumsJson(sums) })),
    byDirection: record.byDirection.map(({ key, ...sums }) => ({ direction: key, ...sumsJson(sums) })),
    byTimeHeld: record.byTimeHeld.map(({ key, ...sums }) => ({
      underSecs: key === null ? null : key / 1_000,
      ...sumsJson(sums),
    })),
    byMonth: record.byMonth.map(({ key, ...sums }) => ({ month: key, ...sumsJson(sums) })),
  }
}

const sumsJson = ({ pnl, margin, averageWin, averageLoss, ...counts }: Sums) => ({
  ...counts,
  pnl: decimal(pnl),
  margin: decimal(margin),
  averageWin: averageWin === null ? null : decimal(averageWin),
  averageLoss: averageLoss === null ? null : decimal(averageLoss),
})

type Players = ReadonlyMap<InstrumentId, RecordedPlayer>
const COLUMNS: readonly (readonly [string, (position: ClosedPosition, players: Players) => CsvField])[] = [
  ['positionId', ({ id }) => id],
  ['partOf', ({ partOf }) => partOf ?? null],
  ['matchId', ({ fixtureId }) => fixtureId],
  ['player', ({ instrumentId }, players) => players.get(instrumentId)?.name ?? null],
  ['role', ({ instrumentId }, players) => players.get(instrumentId)?.role ?? null],
  ['direction', ({ direction }) => direction],
  ['lotSize', ({ lots }) => decimal(lots)],
  ['margin', ({ margin }) => decimal(margin)],
  ['openedAt', ({ openedAt }) => timestamp(openedAt)],
  ['openPrice', ({ openPrice }) => decimal(openPrice)],
  ['closedAt', ({ close }) => timestamp(close.at)],
  ['closePrice', ({ close }) => decimal(close.price)],
  ['closedBy', ({ close }) => close.by],
  ['pnl', ({ close }) => decimal(close.pnl)],
]

/** Oldest close first. */
function csvOf(closes: readonly ClosedPosition[], players: Players): string {
  const rows = closes.toSorted(byClose)
  const lines = rows.map((position) => csvRecord(COLUMNS.map(([, of]) => of(position, players))))
  return csvRecord(COLUMNS.map(([name]) => name)) + lines.join('')
}
