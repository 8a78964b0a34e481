/** The embedded database: PGlite in this process. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PGlite, type PGliteOptions, types as oids } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, sql } from 'kysely'
import { LITERALS, safeInteger } from './arrays.ts'
import { CallLimit, type CallLimitOptions } from './call-limit.ts'
import { type Call, Calls, type Connection, ping } from './connection.ts'
import { copyTemplate, PGLITE } from './embedded-template.ts'
import { type FolderLock, lockFolderSoon } from './folder-lock.ts'
import type { Database } from './schema.ts'

/** The embedded database does one thing at a time. */
const ONE_CALL: CallLimitOptions = { together: 1, slowAfterMs: 250, atMost: 1 }

type Program = NonNullable<PGliteOptions['pgliteWasmModule']>
/** Of Node, whose types do not have it. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<Program> }

let program: Promise<Program> | null = null

/** The database as a program. Its nine megabytes are freed at once: they would stay for minutes as garbage. */
async function compiled(): Promise<Program> {
  const bytes = await readFile(fileURLToPath(import.meta.resolve('@electric-sql/pglite/pglite.wasm')))
  const code = await WebAssembly.compile(bytes)
  bytes.buffer.transfer(0)
  return code
}

/**
 * The embedded database in a folder or in memory, as a copy of `template` (a dumped data folder) when one is given. A
 * new folder begins with a copy of the kept one, if there is one.
 * It survives the death of the process, not of the machine: PGlite never syncs its files.
 */
export async function connectEmbedded(dataDir: string | null, template?: Blob): Promise<Connection> {
  const lock: FolderLock | null = dataDir === null ? null : await lockFolderSoon(dataDir)
  try {
    const isCopy = dataDir !== null && template === undefined && copyTemplate(dataDir)
    const pglite = await PGlite.create({
      ...(dataDir === null ? {} : { dataDir: join(dataDir, PGLITE) }),
      ...(template === undefined ? {} : { loadDataDir: template }),
      pgliteWasmModule: await (program ??= compiled()),
      parsers: { [oids.INT8]: safeInteger },
      // A server's defaults would cost this process 200 MB.
      postgresqlconf: ['shared_buffers=8MB', 'jit=off'],
    })
    endOnPanic(pglite)
    const client = polite(pglite)
    const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite: client }) })
    if (isCopy) await sql`update installation set id = default`.execute(db)
    const calls = new Calls()
    const limit = new CallLimit(ONE_CALL)
    const call = <Row extends object>(next: () => Call | null) =>
      limit.run(async () => {
        const one = next()
        if (one === null) return []
        const { text, values } = calls.of(one)
        return (await client.query<Row>(text, values)).rows
      })
    return {
      db,
      reads: db,
      replica: null,
      kind: 'pglite',
      arrays: LITERALS,
      callsTogether: ONE_CALL.together,
      call,
      ping: () => ping(db),
      cutSilent: async () => 0,
      pools: () => [],
      withoutTimeout: (work) => work(db), // PGlite cancels nothing
      async close() {
        await db.destroy()
        if (!pglite.closed) await pglite.close()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Ends the process as a kill would: after a panic every statement fails, or spins and holds up all else. */
function endOnPanic(pglite: PGlite): void {
  const exec = pglite.execProtocolStream.bind(pglite)
  pglite.execProtocolStream = (...args) =>
    exec(...args).catch((error: unknown) => {
      if (error instanceof Error && 'severity' in error && /PANIC|FATAL/.test(String(error.severity))) {
        process.stderr.write(`The database has ended: ${error.message}. Is its disk full? Make room and start again.\n`)
        process.exit(1)
      }
      throw error
    })
}

type Polite = Exclude<ConstructorParameters<typeof PGliteDialect>[0]['pglite'], (...args: never[]) => unknown>

/**
 * PGlite answers within microtasks, so a busy one would starve sockets and timers. One turn of the event loop before
 * each unit of work cuts the longest stall of 500 concurrent transactions from 500 ms to 20 ms, at no cost in total
 * time.
 */
function polite(pglite: PGlite): Polite {
  return {
    get closed() {
      return pglite.closed
    },
    get ready() {
      return pglite.ready
    },
    waitReady: pglite.waitReady,
    close: () => pglite.close(),
    async query(query, parameters, options) {
      await nextTurn()
      return pglite.query(query, parameters, options)
    },
    async transaction(work) {
      await nextTurn()
      return pglite.transaction(work)
    },
  }
}
