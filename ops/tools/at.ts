/**
 * Shows a match at a moment of its past: phase, score, minute, and of each player base, imbalance, price, status and
 * the news that held them.
 *
 *   npm run ops -- at <match> [<seq> | <time>] [--json]
 *
 * `seq` is the number of a row of the match's journal, as `n` in a downloaded recording, and the state is the one after
 * that commit. A time is written as 2026-05-06T19:34:00Z. Without either it is the end of the journal. It reads the
 * environment of the server and changes nothing; with the embedded database the server must be stopped. The exit code
 * is 1 if the moment is not in the journal, and 2 for wrong arguments.
 */
import { parseArgs } from 'node:util'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { drawn, momentOf, type Until } from '../verify/moment.ts'
import { onDatabase } from './on-database.ts'

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [match, moment] = positionals
const matchId = Number(match)
const until = untilOf(moment)
if (!Number.isSafeInteger(matchId) || matchId < 1 || until === null || positionals.length > 2) {
  console.error('npm run ops -- at <match> [<seq> | <time>] [--json]: a time is written as 2026-05-06T19:34:00Z')
  process.exit(2)
}

await onDatabase(async (db) => {
  try {
    const found = await momentOf(db, fixtureId(matchId), until)
    if (found === null) throw new Error(`match ${matchId} had heard no update by then, or its journal is not kept`)
    console.log(values.json ? JSON.stringify(found, null, 2) : drawn(found))
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
})

function untilOf(text: string | undefined): Until | null {
  if (text === undefined) return { at: instant(Date.now()) }
  if (/^\d+$/.test(text)) return Number(text) > 0 ? { n: Number(text) } : null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : { at: instant(at) }
}
