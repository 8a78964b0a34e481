/**
 * Verifies past draws of the weekly spinner from the API's answers, recomputed without the server:
 *
 *   curl -b jar $API/api/spinner/history | npm run ops -s -- spinner-verify
 *
 * Each seed must have the hash that was published, and must draw the winner from the candidates. The exit code is 1 if
 * one does not. If you noted the hash before the week ended, you need not trust the server.
 */
import { createHash, createHmac } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { userId } from '../../actors/kernel/ids.ts'
import { drawn, drawText } from '../../actors/community/spinner.ts'

const Person = z.looseObject({ userId: z.string().transform(userId), username: z.string() })
const History = z.looseObject({
  weeks: z.array(
    z.looseObject({
      week: z.string(),
      winner: Person.optional(),
      candidates: z.array(Person),
      seedHash: z.string(),
      seed: z.string(),
    }),
  ),
})

const { weeks } = History.parse(JSON.parse(await text(process.stdin)))
for (const { week, winner, candidates, seedHash, seed } of weeks) {
  const users = candidates.map((candidate) => candidate.userId)
  const digest = createHmac('sha256', seed).update(drawText(week, users)).digest('hex')
  const promised = createHash('sha256').update(seed).digest('hex') === seedHash
  const fair = drawn(digest, users) === (winner?.userId ?? null)
  const verdict = promised ? (fair ? 'proven' : 'THE SEED DRAWS ANOTHER USER') : 'THE SEED IS NOT THE ONE PROMISED'
  console.log(`${week}: ${verdict} (${winner?.username ?? 'no winner'} of ${users.length})`)
  if (!promised || !fair) process.exitCode = 1
}
