/**
 * Proves the public tapes of matches as they are stored:
 *
 *   npm run ops -- tape-verify [match ...]
 *
 * It reads the environment of the server and changes nothing; with the embedded database the server must be stopped.
 * Without arguments it takes every match that has a tape, whether it has ended or not. A tape is proven if it is one
 * chain up to its last commit, every checkpoint was signed over it, and every line follows from what the match heard.
 * The exit code is 1 if one is not.
 */
import { hash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { type FixtureId } from '../../actors/kernel/ids.ts'
import { readMatchInfo } from '../../actors/match/read-match-info.ts'
import { Flaw } from '../../actors/tape/read-tape.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { PublicTape } from '../../db/public-tape.ts'
import { Recordings } from '../../db/recordings.ts'
import { verify } from '../../src/verify/verify.ts'
import { checkMatches } from './on-database.ts'

const digest = (text: string): string => hash('sha256', text, 'hex')

await checkMatches('tape', check)

async function check(db: Kysely<Database>, matchId: FixtureId): Promise<string> {
  const tapes = new PublicTape(db)
  const match = await db.selectFrom('matches').select('info').where('id', '=', matchId).executeTakeFirst()
  if (match === undefined) return 'BROKEN: there is no such match'
  const info = readMatchInfo(match.info, `match ${matchId}: info`)
  try {
    const evidence = {
      tape: (await Array.fromAsync(tapes.lines(matchId))).join(''),
      recording: (await Array.fromAsync(new Recordings(db).lines(info))).join(''),
      checkpoints: await tapes.checkpoints(matchId),
      keys: new Map((await tapes.keys()).map(({ kid, publicKey }) => [kid, publicKey])),
      proof: null,
    }
    const { lines, checkpoints, counts } = await verify(evidence, { digest })
    return `${lines} lines, ${counts['open'] ?? 0} openings, ${checkpoints} checkpoints, proven`
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    return error instanceof Flaw ? `BROKEN: line ${error.line}: ${what}` : `BROKEN: ${what}`
  }
}
