/** The client for Python, run as its users run it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { frameVectors } from './frame-vectors.ts'
import { liveSession } from './live-session.ts'
import { hasTool } from '../support/tool.ts'

const BUSY_MACHINE_MS = 120_000
const CLIENT = join(import.meta.dirname, '../../src/clients/python')
process.env['PYTHONPATH'] = CLIENT
process.env['PYTHONDONTWRITEBYTECODE'] = '1'

/** What `faults.py` prints. */
const Faults = z.object({
  many: z.object({ first: z.int(), most: z.int() }),
  broken: z.array(z.string()),
  raised: z.array(z.string()),
  running: z.int(),
})

describe.skipIf(!hasTool('python3'))('in Python', () => {
  let faults: z.infer<typeof Faults>
  beforeAll(() => {
    const out = execFileSync('python3', [join(import.meta.dirname, 'faults.py')], { encoding: 'utf8' })
    faults = Faults.parse(JSON.parse(out))
  })

  it('a price frame decodes to its values, and a damaged one to nothing', async () => {
    const vectors = await frameVectors()
    const input = vectors.flatMap(({ hex, damaged }) => [hex, damaged]).join('\n')
    const out = execFileSync('python3', [join(import.meta.dirname, 'frames.py')], { input, encoding: 'utf8' })
    const decoded: unknown[] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(decoded).toEqual(
      vectors.flatMap(({ frame }) => [
        {
          flags: frame.flags,
          epoch: frame.epoch,
          seq: frame.seq,
          instrument_id: frame.instrumentId,
          at: expect.closeTo(frame.at / 1_000, 5),
          price: frame.price,
          live_base: frame.liveBase,
          imbalance: frame.imbalance,
          previous_price: frame.previousPrice,
          event_id: frame.eventId,
          fixture_id: frame.fixtureId,
          cause: frame.cause,
          minute: frame.minute,
          trading_status: frame.tradingStatus,
        },
        null,
      ]),
    )
  })

  it('the feed subscribes to players of many matches in one message, and sends no more than ten in a second', () => {
    expect(faults.many.first).toBe(12)
    expect(faults.many.most).toBeLessThanOrEqual(10)
  })

  it('half an answer, or one that is not JSON, is an error of the API', () => {
    expect(faults.broken).toEqual(['OFFLINE', 'OFFLINE', 'HTTP_400'])
  })

  it('a feed whose callback raises is stopped and can be started again; so can one that a callback has stopped', () => {
    expect(faults.raised).toEqual(['connecting', 'live', 'stopped', 'connecting', 'live', 'stopped'])
    expect(faults.running, 'after the last stop').toBe(0)
  })

  it(
    'a program with a key trades, resumes after a lost socket without a gap, and closes',
    async () => {
      await liveSession('python3', [join(import.meta.dirname, 'session.py')])
    },
    BUSY_MACHINE_MS,
  )
})
