/**
 * Opens per second on the embedded database, which is for trials and tests: it survives its process, not a power cut.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbedded } from './bench-database.ts'
import type { Load } from './closed-loop.ts'
import { actorOpens } from './opens.ts'
import { figure, type Pace, type Section, table } from './report.ts'

const USERS = 10_000

export async function benchEmbedded(pace: Pace): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-bench-'))
  const loads: { readonly outstanding: number; readonly load: Load }[] = []
  try {
    const database = await createEmbedded(folder, USERS)
    try {
      for (const outstanding of [1, 64, 1_000]) {
        loads.push({ outstanding, load: await actorOpens(database, { outstanding, matches: 1 }, pace) })
      }
    } finally {
      await database.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  const rows = loads.map(({ outstanding, load }) => [
    `${outstanding} under way`,
    figure(load.perSecond),
    figure(load.p50Ms),
    figure(load.p99Ms),
  ])
  const text = `Openings on the embedded database\n${table(['', 'a second', 'p50 ms', 'p99 ms'], rows)}`
  return { text, data: { loads } }
}
