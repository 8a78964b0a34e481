import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { bareEnvironment } from '../../ops/rehearse/rig/bare-environment.ts'
import { AuditChain, type ChainHead } from '../../db/audit-chain.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { tamper } from '../support/audit-rows.ts'
import { createMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { eachDatabase, onPostgres } from '../support/databases.ts'
import { U } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

eachDatabase((open) => {
  const db = () => open().db
  const chain = () => new AuditChain(db())
  const log = () => new AuditLog(db(), new TestWorld())
  const entry = (subject: string) => ({ actor: U(1), action: 'thing.do', subject, before: { a: [1] }, after: 'x' })
  const append = (...subjects: string[]) => log().recordAll(subjects.map(entry))

  beforeEach(async () => {
    await tamper(db(), 'truncate audit_log restart identity')
    await append('one', 'two', 'three', 'four', 'five')
    await chain().seal()
  })

  it('[H20] entries are sealed once each, in a chain that holds', async () => {
    await append('six')
    expect((await chain().check()).unsealed).toMatchObject({ entries: 1 })
    const sealed = await chain().seal()
    expect(sealed.entries).toMatchObject([{ action: 'thing.do', after: '"x"', outcome: 'ok' }])
    expect(await chain().seal()).toEqual({ entries: [], head: null })
    expect(await chain().check()).toEqual({ head: sealed.head, broken: null, unsealed: null })
    expect(sealed.head?.n).toBe(6)
  })

  it('[H10] words without their entry are not kept', async () => {
    const words = { field: 'text', about: U(1), words: 'kept in vain' } as const
    const kept = async () => (await sql`select from audit_words where words = ${words.words}`.execute(db())).rows.length
    // No text of a database has it.
    await expect(log().record({ ...entry('\u0000'), after: {}, words })).rejects.toThrow()
    expect(await kept()).toBe(0)
    await log().record({ ...entry('six'), after: {}, words })
    expect(await kept()).toBe(1)
  })

  const TAMPERED = {
    'an altered subject': [`update audit_log set subject = 'other' where n = 3`, 'entry 3 (id 3) was altered or moved'],
    'an altered value': [
      `update audit_log set before = '{"a":[2]}' where n = 3`,
      'entry 3 (id 3) was altered or moved',
    ],
    'another actor': [`update audit_log set actor_id = null where n = 1`, 'entry 1 (id 1) was altered or moved'],
    'another instant': [
      `update audit_log set at = at + interval '1 microsecond' where n = 5`,
      'entry 5 (id 5) was altered or moved',
    ],
    'a missing row': [`delete from audit_log where n = 2`, 'entry 2 is missing'],
    'two rows that changed places': [
      `update audit_log set n = case n when 2 then 300 else 2 end where n in (2, 3);
       update audit_log set n = 3 where n = 300`,
      'entry 2 (id 3) was altered or moved',
    ],
    'two rows that exchanged what they say': [
      `update audit_log a set subject = b.subject from audit_log b where (a.n, b.n) in ((2, 3), (3, 2))`,
      'entry 2 (id 2) was altered or moved',
    ],
    'a row put in between': [
      `insert into audit_log (at, action, subject, n, hash) values (now(), 'a', 'b', 6, repeat('0', 64))`,
      'entry 6 (id 6) was altered or moved',
    ],
  } as const
  it.each(Object.entries(TAMPERED))('[H20] %s is found', async (_what, [change, broken]) => {
    for (const statement of change.split(';')) await tamper(db(), statement)
    expect(await chain().check()).toMatchObject({ broken })
  })

  it('[H20] a chain that was cut, or made anew, is told by a head noted elsewhere', async () => {
    const noted = (await chain().check()).head as ChainHead
    await tamper(db(), 'delete from audit_log where n = 5')
    expect(await chain().check()).toMatchObject({ broken: null })
    expect(await chain().check([noted])).toMatchObject({
      broken: 'the chain ends at entry 4, before the noted entry 5',
    })
    await tamper(db(), `update audit_log set n = null, hash = null, subject = 'forged'`)
    await append('five again')
    await chain().seal()
    expect(await chain().check()).toMatchObject({ broken: null, head: { n: 5 } })
    const forged = (await chain().check()).head as ChainHead
    for (const heads of [[noted], [noted, forged], [forged, noted]]) {
      expect(await chain().check(heads)).toMatchObject({ broken: 'entry 5 has another hash than the one noted' })
    }
    expect(await chain().check([forged])).toMatchObject({ broken: null })
  })

  it('[H20] rows are neither changed nor removed, sealed or not', async () => {
    await append('six')
    for (const change of [
      `update audit_log set subject = 'other' where n is null`,
      `update audit_log set subject = 'other' where n = 2`,
      `update audit_log set n = null, hash = null where n = 5`,
      `delete from audit_log where n is null`,
      `truncate audit_log`,
    ]) {
      await expect(sql.raw(change).execute(db()), change).rejects.toThrow('the audit log is append only')
    }
    expect((await chain().check()).unsealed).toMatchObject({ entries: 1 })
  })
})

onPostgres((server) => {
  const opened: Connection[] = []
  let drop = async () => {}
  afterAll(async () => {
    for (const connection of opened) await connection.close()
    await drop()
  })
  const entry = (subject: string) => ({ actor: null, action: 'thing.do', subject, before: null, after: null })

  let url = ''
  beforeAll(async () => {
    const database = await createMigrated(server)
    drop = database.drop
    url = database.url
    for (let n = 0; n < 3; n += 1) opened.push(await connect({ databaseUrl: url, dataDir: null }))
  })

  it('[H20] processes append and seal at once and make one chain; an open transaction keeps none waiting', async () => {
    const [first, ...others] = opened.map(({ db }) => db)
    if (first === undefined) throw new Error('no connection')
    const record = (db: Kysely<Database>, subject: string) => new AuditLog(db, new TestWorld()).record(entry(subject))
    const seal = async (db: Kysely<Database>) => (await new AuditChain(db).seal()).entries.length

    // The first entry by its id commits last. Nobody waits for it, and it is sealed after those that came before it.
    let before = 0
    await first.transaction().execute(async (tx) => {
      await record(tx, 'slow')
      const work = Array.from({ length: 20 }, (_, n) =>
        others.flatMap((db) => [record(db, `${n}`).then(() => 0), ...(n % 3 === 0 ? [seal(db)] : [])]),
      )
      for (const sealed of await Promise.all(work.flat())) before += sealed
      for (const db of others) before += await seal(db)
    })
    expect(before).toBe(40)
    expect(await seal(first)).toBe(1)
    const report = await new AuditChain(first).check()
    expect(report).toMatchObject({ head: { n: 41 }, broken: null, unsealed: null })
  })

  it('[H20] the command names the head of a whole chain, and the first entry that does not hold', async () => {
    const { db } = present(opened[0], 'connection')
    await new AuditLog(db, new TestWorld()).recordAll([entry('one'), entry('two')])
    const { head } = await new AuditChain(db).seal()
    const noted = `${head?.n}:${head?.hash}`
    expect(await verify(url, '--head', noted)).toMatchObject({
      code: 0,
      stdout: `${head?.n} entries hold; head ${noted}\n`,
    })
    await tamper(db, `update audit_log set subject = 'other' where n = ${head?.n}`)
    expect(await verify(url)).toMatchObject({ code: 1, stderr: expect.stringContaining(`BROKEN: entry ${head?.n} `) })
  })
})

/** What the command says about a database. */
async function verify(url: string, ...options: string[]) {
  const file = join(import.meta.dirname, '../../ops/tools/audit-verify.ts')
  const env = { ...bareEnvironment(), DATABASE_URL: url }
  const child = spawn(process.execPath, [file, ...options], { env })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code: await code, stdout: await stdout, stderr: await stderr }
}
