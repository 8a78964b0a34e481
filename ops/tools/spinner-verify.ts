/**
 * Verifies past draws of the weekly spinner from the API's answers, recomputed without the server:
 *
 *   curl -b jar $API/api/spinner/history | npm run ops -s -- spinner-verify [--noted 2026-W21:HASH ...]
 *
 * A draw is proven if its seed has the published hash, the hash was published before the week ended, and seed,
 * candidates and settlement bases draw the winner. The instant of publication is what the server says: give the hashes
 * that you noted yourself, or you trust it with that. Candidates and bases are the server's too; compare the bases with
 * the prices at which you saw the match settle. The exit code is 1 if a draw is not proven, or one that you noted is
 * missing.
 */
import { createHash, createHmac } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { instrumentId, userId } from '../../actors/kernel/ids.ts'
import { microsNearest, price } from '../../actors/kernel/micros.ts'
import { drawn, drawText } from '../../actors/community/spinner.ts'
import { understood } from '../rehearse/rig/options.ts'

const Person = z.looseObject({ userId: z.string().transform(userId), username: z.string() })
const Base = z.object({
  instrumentId: z.string().transform(instrumentId),
  base: z.number().transform((base) => price(microsNearest(base))),
})
const Week = z.looseObject({
  week: z.string(),
  endsAt: z.coerce.date(),
  winner: Person.optional(),
  candidates: z.array(Person),
  seedHash: z.string().optional(),
  publishedAt: z.coerce.date().optional(),
  seed: z.string().optional(),
  bases: z.array(Base),
})
type Week = z.output<typeof Week>

const { values } = parseArgs({ options: { noted: { type: 'string', multiple: true, default: [] } } })
const noted = new Map(
  understood(() => values.noted.map((each) => z.tuple([z.string(), z.string()]).parse(each.split(':')))),
)

const answer = await text(process.stdin)
const { weeks } = understood(() => z.looseObject({ weeks: z.array(Week) }).parse(JSON.parse(answer)))
for (const week of weeks) {
  const flaw = flawOf(week)
  const verdict = flaw ?? `proven${week.candidates.length > 1 ? ofDraw(week) : ', no draw was needed'}`
  console.log(`${week.week}: ${verdict} (${week.winner?.username ?? 'no winner'} of ${week.candidates.length})`)
  if (flaw !== null) process.exitCode = 1
}
for (const week of noted.keys()) {
  if (weeks.some((given) => given.week === week)) continue
  console.log(`${week}: IS NOT AMONG THE DRAWS, BUT YOU NOTED ITS HASH`)
  process.exitCode = 1
}

function flawOf({ week, endsAt, winner, candidates, seedHash, publishedAt, seed, bases }: Week): string | null {
  if ((noted.get(week) ?? seedHash) !== seedHash) return 'THE HASH IS NOT THE ONE THAT YOU NOTED'
  const users = candidates.map((candidate) => candidate.userId)
  const [only] = users
  if (users.length < 2) return winner?.userId === only ? null : 'THE WINNER IS NOT THE LEADER'
  if (seedHash === undefined) return winner === undefined ? null : 'THERE IS NO SEED, BUT A WINNER'
  if (seed === undefined || publishedAt === undefined) return 'THE SEED THAT WAS PROMISED IS NOT SHOWN'
  if (publishedAt >= endsAt) return 'THE SEED WAS PUBLISHED AFTER THE WEEK'
  if (createHash('sha256').update(seed).digest('hex') !== seedHash) return 'THE SEED IS NOT THE ONE PROMISED'
  const digest = createHmac('sha256', seed)
    .update(drawText(week, users, bases))
    .digest('hex')
  return drawn(digest, users) === (winner?.userId ?? null) ? null : 'THE SEED DRAWS ANOTHER USER'
}

function ofDraw({ week, seed, bases }: Week): string {
  if (seed === undefined) return ', no seed was promised, so no user was drawn'
  const hash = noted.has(week) ? '' : ', if the hash was published when the server says'
  return bases.length > 0 ? hash : `${hash}; no live match settled, so the operator could have known the draw before`
}
