/**
 * What a webhook costs the trades: durable opens a second without one, with one that answers, and with one whose
 * receiver takes connections and never answers.
 *
 *   DATABASE_URL=postgres://… npm run ops -- bench-webhooks [--rounds 5] [--seconds 5] [--quick] [--json]
 *
 * The sender works in the process of the matches, as in a deployment of one process. Each round runs the three in
 * turn, beginning with another one each time, and ratios are taken within a round.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { EventStream } from '../../db/event-stream.ts'
import { Webhooks } from '../../db/webhooks.ts'
import { eventJson } from '../../src/http/event-lines.ts'
import { systemWorld } from '../../src/system-world.ts'
import { WebhookDesk } from '../../src/webhooks/desk.ts'
import { Poster } from '../../src/webhooks/post.ts'
import { webhookSecrets } from '../../src/webhooks/secret.ts'
import { WebhookSender } from '../../src/webhooks/sender.ts'
import { type BenchDatabase, createOnServer } from './bench-database.ts'
import { actorOpens } from './opens.ts'
import { figure, type Pace, paceOf, spreadOf, table, withSpread } from './report.ts'

const USERS = 100_000
const LOAD = { outstanding: 64, matches: 2 }
const VARIANTS = ['none', 'answers', 'stalled'] as const
type Variant = (typeof VARIANTS)[number]

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const pace = paceOf(options)
const database = await createOnServer(server, USERS)
try {
  const rounds: Readonly<Record<Variant, number>>[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const found: Record<Variant, number> = { none: 0, answers: 0, stalled: 0 }
    for (let n = 0; n < VARIANTS.length; n++) {
      const variant = present(VARIANTS[(n + round) % VARIANTS.length], 'variant')
      found[variant] = await opensWith(database, variant, pace)
    }
    rounds.push(found)
  }
  const rows = VARIANTS.map((variant) => [
    variant,
    withSpread(spreadOf(rounds.map((round) => round[variant]))),
    withSpread(spreadOf(rounds.map((round) => round[variant] / round.none))),
  ])
  console.log(
    options.json
      ? JSON.stringify({ rounds })
      : `Durable opens, ${figure(LOAD.outstanding)} under way\n${table(['webhook', 'opens/s', '× none'], rows)}`,
  )
} finally {
  await database.close()
}

async function opensWith(on: BenchDatabase, variant: Variant, during: Pace): Promise<number> {
  if (variant === 'none') return (await actorOpens(on, LOAD, during)).perSecond
  const { db } = on.connection
  await sql`truncate event_ranges, event_matches, webhooks`.execute(db)
  await sql`update event_head set position = 0`.execute(db)
  const world = systemWorld()
  const audit = new AuditLog(db, world)
  const webhooks = new Webhooks({ db, audit, world })
  const stream = new EventStream(db)
  const poster = new Poster({ targets: 'any', timeoutMs: 10_000 })
  const secretOf = webhookSecrets('bench')
  let asked = 0
  const receiver = createServer((request, response) => {
    asked++
    request.resume()
    if (variant === 'answers') request.on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const desk = new WebhookDesk({ webhooks, stream, poster, secretOf, audit, world })
  const by = present(on.users[0], 'user')
  const made = await desk.create({ by, url, types: [], after: [1, 0, 0] })
  if (made.kind !== 'created') throw new Error(`the webhook is ${made.kind}`)
  const report = (event: string, error: unknown): void => console.error(event, error)
  const send: Poster['send'] = (post) => poster.send(post)
  const sender = new WebhookSender({ webhooks, stream, render: eventJson, secretOf, send, world, report })
  sender.start()
  try {
    const { perSecond } = await actorOpens(on, LOAD, during)
    if (asked === 0) throw new Error('the webhook was told nothing')
    return perSecond
  } finally {
    await sender.stop()
    receiver.closeAllConnections()
    receiver.close()
    poster.close()
  }
}
