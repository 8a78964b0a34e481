/** The client for Python, run as its users run it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { frameVectors } from './frame-vectors.ts'
import { liveSession } from './live-session.ts'
import { hasTool } from '../support/tool.ts'

const BUSY_MACHINE_MS = 120_000
const CLIENT = join(import.meta.dirname, '../../src/clients/python')
process.env['PYTHONPATH'] = CLIENT
process.env['PYTHONDONTWRITEBYTECODE'] = '1'

describe.skipIf(!hasTool('python3'))('in Python', () => {
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

  it(
    'a program with a key trades, resumes after a lost socket without a gap, and closes',
    async () => {
      await liveSession('python3', [join(import.meta.dirname, 'session.py')])
    },
    BUSY_MACHINE_MS,
  )
})
