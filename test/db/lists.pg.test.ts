import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from '@hono/zod-openapi'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { Positions } from '../../db/positions.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, instrument, MATCH, P, p } from '../support/fixtures.ts'
import { insertInstrument, insertMatch } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'
import { ALICE, openHttpRig } from '../http/http-rig.ts'

const ROWS = 1_500
const NEW_PER_PAGE = 3

const PositionsPage = z.object({
  positions: z.array(z.object({ id: z.string() })),
  nextCursor: z.string().nullable(),
})
const LedgerPage = z.object({
  entries: z.array(z.object({ positionId: z.string() })),
  nextCursor: z.string().nullable(),
})

eachDatabase((open) => {
  /** Positions that were opened and closed, with their ledger entries, several in each millisecond. */
  async function add(from: number, count: number): Promise<void> {
    await sql`
      with added as (
        insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros,
                               open_base_micros, margin_micros, opened_at, closable_at, opened_marker)
          select gen_random_uuid(), ${ALICE}::uuid, 'main', ${MATCH}::bigint, ${P(1)}::uuid, 1, 10000, ${p(200)}::bigint,
                 ${p(200)}::bigint, 1000000, at, at, n
            from (select n, timestamptz '2026-05-02 14:00Z' + (n / 7) * interval '1 ms' as at
                    from generate_series(${from}::integer, ${from + count - 1}::integer) n) rows
          returning id, opened_at, opened_marker
      )
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
        select ${randomUUID()}::uuid, 'user', ${ALICE}::uuid, 'main', -1000000, 'margin', id, opened_at, opened_marker
          from added`.execute(open().db)
  }

  beforeAll(async () => {
    const { db } = open()
    await insertMatch(db, info())
    await insertInstrument(db, MATCH, instrument(1, { base: p(200) }), p(200))
    await add(1, ROWS)
  })

  async function rig() {
    const { db } = open()
    const cache = new WalletCache(new FastMemory(new TestWorld()), () => {})
    cache.timeline = await timelineOf(db)
    return (await openHttpRig({ deps: { positions: new Positions(db), wallets: new Wallets(db, cache) } })).asAlice
  }

  describe('[H24] 1,500 rows, walked by cursor while new ones arrive', () => {
    let next = ROWS + 1

    it.each([
      ['/api/positions?status=open&limit=100', (body: unknown) => positionsOf(body)],
      ['/api/positions?status=all&limit=97', (body: unknown) => positionsOf(body)],
      ['/api/wallet/ledger?limit=100&matchId=90001', (body: unknown) => entriesOf(body)],
    ])('are each seen once: %s', async (path, read) => {
      const ask = await rig()
      const before = next - 1
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const response = await ask(cursor === '' ? path : `${path}&cursor=${cursor}`)
        expect(response.status).toBe(200)
        const page = read(await response.json())
        seen.push(...page.ids)
        cursor = page.nextCursor
        await add(next, NEW_PER_PAGE)
        next += NEW_PER_PAGE
      }
      expect(seen).toHaveLength(before)
      expect(new Set(seen).size).toBe(before)
    })
  })

  it('[H24] filters by match, player and time; a forged cursor, or one of another list, is a 400 that says so', async () => {
    const ask = await rig()
    const total = async (query: string) =>
      PositionsPage.parse(await (await ask(`/api/positions?${query}`)).json()).positions.length
    expect(await total(`matchId=${MATCH}&instrumentId=${P(1)}&limit=5`)).toBe(5)
    expect(await total(`instrumentId=${P(2)}`)).toBe(0)
    expect(await total('matchId=7')).toBe(0)
    expect(await total('from=2026-05-02T14:00:00.000Z&to=2026-05-02T14:00:00.001Z')).toBe(6)
    const { nextCursor } = PositionsPage.parse(await (await ask('/api/positions?limit=5')).json())
    for (const [path, cursor] of [
      ['/api/positions', `${nextCursor}A`],
      ['/api/positions', (nextCursor ?? '').slice(1)],
      ['/api/positions', Buffer.from('[1]').toString('base64url')],
      ['/api/wallet/ledger', nextCursor],
      ['/api/notifications', nextCursor],
    ]) {
      const response = await ask(`${path}?cursor=${cursor}`)
      expect(response.status, path ?? '').toBe(400)
      expect(await response.json()).toMatchObject({
        issues: [{ path: 'cursor', message: 'must be a `nextCursor` of this list' }],
      })
    }
  })
})

function positionsOf(body: unknown) {
  const { positions, nextCursor } = PositionsPage.parse(body)
  return { ids: positions.map(({ id }) => id), nextCursor }
}

function entriesOf(body: unknown) {
  const { entries, nextCursor } = LedgerPage.parse(body)
  return { ids: entries.map(({ positionId }) => positionId), nextCursor }
}
