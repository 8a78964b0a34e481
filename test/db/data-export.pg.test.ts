/** What users can download about themselves. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import * as always from '../../db/data-export.ts'
import { DataExport, type ExportedRow } from '../../db/data-export.ts'
import { FEATURES } from '../../src/features/index.ts'
import { systemWorld } from '../../src/system-world.ts'
import { crowd, eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

const OWN = FEATURES.flatMap(({ exported = [] }) => exported)
const SECTIONS = [...always.SECTIONS, ...OWN]
const NOT_EXPORTED = Object.assign({}, always.NOT_EXPORTED, ...FEATURES.map(({ notExported }) => notExported)) as object

eachDatabase((open) => {
  const world = systemWorld()
  const season = seasonOn(open, world)

  /** All sections of a user, and the size of the largest page. */
  async function exportOf(user: UserId) {
    const sections = new Map<string, ExportedRow[]>()
    let largest = 0
    for await (const { section, rows } of new DataExport(open().db, OWN).pages(user)) {
      sections.set(section, [...(sections.get(section) ?? []), ...rows])
      largest = Math.max(largest, rows.length)
    }
    return { sections, largest }
  }

  it('[Y1] every table of the schema is exported, or has a reason why not', async () => {
    const { rows } = await sql<{ name: string }>`
      select c.relname as name from pg_class c where c.relkind in ('r', 'p') and not c.relispartition
         and c.relnamespace = 'public'::regnamespace order by 1`.execute(open().db)
    const exported = new Set(SECTIONS.map(({ table }) => table))
    const unknown = rows.map(({ name }) => name).filter((name) => !exported.has(name) && !(name in NOT_EXPORTED))
    expect(
      unknown,
      'add a section to db/data-export.ts or its feature, or a reason, and erase what is personal in it',
    ).toEqual([])
    expect(Object.keys(NOT_EXPORTED).filter((name) => exported.has(name))).toEqual([])
  })

  it('[Y1] every column that leads to a user is in an exported table, or has a reason', async () => {
    const { rows } = await sql<{ table: string; column: string }>`
      select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and exists (
               select from pg_class c where c.oid = to_regclass(table_name) and c.relkind in ('r', 'p') and not c.relispartition)
         and (column_name in ('user_id', 'referrer_id', 'referee_id', 'actor_id', 'winner_id',
         'updated_by', 'email', 'google_sub', 'username', 'subject', 'address_prefix', 'network')
         or column_name like '%_user_id')`.execute(open().db)
    const exported = new Set(SECTIONS.map(({ table }) => table))
    const others = rows.filter(({ table }) => !exported.has(table)).map(({ table, column }) => `${table}.${column}`)
    expect(others.toSorted()).toEqual([
      'board_changes.user_id',
      'closed_balances.user_id',
      'command_results.user_id',
      'detached_balances.user_id',
      'match_board_steps.user_id',
      'positions_archive.user_id',
      'registration_networks.network',
      'settings.updated_by',
      'spinner_weeks.winner_id',
    ])
  })

  it('[Y1] a user gets everything of their own and nothing of others, in pages', async () => {
    const [user, other] = [await season.user('Exported'), await season.user('Not Exported')]
    const match = await season.match()
    const mine = await match.open(user)
    const theirs = await match.open(other)
    await match.close(mine, 230)
    await match.close(theirs, 230)
    await season.reactor.drain()
    const { sections } = await exportOf(user)
    expect([...sections.keys()]).toEqual(SECTIONS.map(({ name }) => name))
    expect(sections.get('profile')).toMatchObject([{ username: 'exported', email: 'exported@synthetic.invalid' }])
    expect(sections.get('positions')).toMatchObject([{ id: mine.id, open: 200, close: 230, lots: 1 }])
    expect(sections.get('ledger')?.map(({ kind }) => kind)).toEqual(['margin', 'release'])
    expect(sections.get('ledgerOther')?.map(({ kind }) => kind)).toEqual(['grant', 'grant'])
    expect(sections.get('wallets')).toHaveLength(2)
    expect(sections.get('activity')?.length).toBeGreaterThan(0)
    const text = JSON.stringify([...sections])
    expect(text).not.toContain(other)
    expect(text).not.toContain(theirs.id)
    expect(text).not.toMatch(/fingerprint|digest/i)
  })

  it('[Y1] wallets add up to the ledger as of their marker, while their user trades', async () => {
    const user = await season.player()
    const match = await season.match()
    let reads = 0
    const trade = async () => {
      while (reads < 20) await match.close(await match.open(user), 201)
    }
    const read = async () => {
      for (; reads < 20; reads++) {
        const { sections } = await exportOf(user)
        const main = sections.get('wallets')?.find(({ purse }) => purse === 'main')
        const entries = [...(sections.get('ledger') ?? []), ...(sections.get('ledgerOther') ?? [])]
        const included = entries.filter(
          ({ purse, marker }) => purse === 'main' && Number(marker) <= Number(main?.events),
        )
        const sum = included.reduce((all, { amount }) => all + Math.round(Number(amount) * 1e6), 0)
        expect(sum).toBe(Math.round(Number(main?.balance) * 1e6))
      }
    }
    await Promise.all([trade(), read()])
  })

  it('[Y1] thousands of positions come complete and in order, with at most 500 rows in memory', async () => {
    const count = crowd(open(), 20_000)
    const user = await season.user('Busy Exporter')
    const match = await season.match()
    const one = match.position(user)
    await sql`
      insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                             margin_micros, opened_at, closable_at, opened_marker)
        select md5('export' || n)::uuid, ${user}::uuid, 'main', ${match.id}::bigint, ${one.instrumentId}::uuid, 1, 1000000,
               200000000, 200000000, 1000, now(), now(), n from generate_series(1, ${count}::integer) n`.execute(
      open().db,
    )
    await sql`
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
        select md5('export' || n)::uuid, 'user', ${user}::uuid, 'main', -1000, 'margin', md5('export' || n)::uuid, now(), n
          from generate_series(1, ${count}::integer) n`.execute(open().db)
    const { sections, largest } = await exportOf(user)
    const markers = sections.get('positions')?.map(({ openedMarker }) => openedMarker)
    expect(markers).toEqual(Array.from({ length: count }, (_, n) => n + 1))
    expect(sections.get('ledger')).toHaveLength(count)
    expect(largest).toBe(500)
    await sql`delete from ledger_entries where user_id = ${user} and marker is not null`.execute(open().db)
    await sql`delete from positions where user_id = ${user}`.execute(open().db)
  })
})
