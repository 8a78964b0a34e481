import { describe, expect, it } from 'vitest'
import { HISTORY_MAX, RESENT_MAX } from '../../rooms/feed/history.ts'
import { PriceBoard } from '../../rooms/feed/price-board.ts'
import {
  decodePriceFrame,
  FLAG,
  flagged,
  PRICE_FRAME_BYTES,
  type PriceFrame,
  type Pack,
} from '../../rooms/feed/price-frame.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { MATCH, P } from '../support/fixtures.ts'
import { priceOf } from './realtime-rig.ts'

const plain: Pack = (frame) => frame

/** A board on which players 1 to `players` have moved in turn, `moves` times in all. */
function moved(moves: number, players = 1): PriceBoard<string> {
  const board = new PriceBoard<string>()
  const numbers = Array.from({ length: players }, (_, n) => n + 1)
  board.open(
    MATCH,
    1,
    numbers.map((n) => priceOf(n, 0)),
  )
  for (let seq = 1; seq <= moves; seq++) board.publish(priceOf(1 + (seq % players), seq))
  return board
}

/** What these players' follower is sent who has seen everything up to `seq`. */
function sent(board: PriceBoard<string>, players: readonly number[], seq: number, epoch = 1): PriceFrame[] {
  const { bytes, prices } = board.catchUp(players.map(P), plain, { epoch, seq })
  const all = Buffer.concat(bytes)
  const frames = Array.from({ length: all.length / PRICE_FRAME_BYTES }, (_, n) =>
    decodePriceFrame(all.subarray(n * PRICE_FRAME_BYTES, (n + 1) * PRICE_FRAME_BYTES)),
  )
  expect(frames).toHaveLength(prices)
  return frames.filter((frame) => frame !== null)
}

const seqs = (frames: readonly PriceFrame[]): number[] => frames.map(({ seq }) => seq)
const flags = (frames: readonly PriceFrame[]): number[] => [...new Set(frames.map((frame) => frame.flags))]

describe('what a returning client is sent', () => {
  it('[W8] the moves it missed, in the order of the moves over all its instruments', () => {
    const board = moved(60, 3)
    const missed = sent(board, [3, 1, 2], 20)
    expect(seqs(missed)).toEqual(Array.from({ length: 40 }, (_, n) => 21 + n))
    expect(flags(missed)).toEqual([FLAG.replay])
    const some = sent(board, [3, 1], 20)
    expect(seqs(some)).toEqual(seqs(missed).filter((seq) => seq % 3 !== 1))
    expect(sent(board, [1, 2, 3], 60)).toEqual([])
  })

  it('[W8] snapshots, in the order of the moves, when it missed more than 256 of them or another epoch', () => {
    const board = moved(1_000, 3)
    expect(sent(board, [1], 1_000 - 3 * RESENT_MAX)).toHaveLength(RESENT_MAX)
    for (const frames of [sent(board, [1, 2, 3], 1_000 - RESENT_MAX - 1), sent(board, [2, 3, 1], 999, 2)]) {
      expect(seqs(frames)).toEqual([998, 999, 1_000])
      expect(flags(frames)).toEqual([FLAG.snapshot])
    }
    expect(sent(board, [1, 2, 3], 1_000 - RESENT_MAX)).toHaveLength(RESENT_MAX)
  })

  it('[W23] no price that only stood still: the moves before and after it, however many there were', () => {
    const board = moved(10, 2)
    const still = (seq: number) => {
      const n = 1 + (seq % 2)
      const { frame } = priceOf(n, n === 1 ? 10 : 9)
      const again = Buffer.from(frame)
      again.writeBigUInt64BE(BigInt(seq), 8)
      return { matchId: MATCH, instrumentId: P(n), epoch: 1, seq, frame: flagged(again, 0) }
    }
    for (let seq = 11; seq <= 3 * HISTORY_MAX; seq++) board.publish(still(seq))
    expect(seqs(sent(board, [1, 2], 5))).toEqual([6, 7, 8, 9, 10])
    expect(sent(board, [1, 2], 700)).toEqual([])
    expect(flags(sent(board, [1], 3 * HISTORY_MAX + 1))).toEqual([FLAG.snapshot])
    board.publish(priceOf(1, 4_000))
    expect(seqs(sent(board, [1, 2], 9))).toEqual([10, 4_000])
    // Out of the same price in another condition something new follows.
    board.publish({ ...priceOf(1, 4_001), frame: flagged(priceOf(1, 4_000).frame, FLAG.suspended) })
    expect(sent(board, [1, 2], 4_000)).toHaveLength(1)
  })

  it('[W8] a snapshot when it was away for longer than moves are kept, or has what was never published', () => {
    const last = HISTORY_MAX * 3
    const board = moved(last)
    expect(seqs(sent(board, [1], last - 2))).toEqual([last - 1, last])
    for (const seq of [1, last + 1]) expect(flags(sent(board, [1], seq))).toEqual([FLAG.snapshot])
  })

  it('[W8] a snapshot when it has only what is older than the board, as after a restart of this process', () => {
    const board = new PriceBoard<string>()
    board.open(MATCH, 1, [priceOf(1, 500)])
    for (const seq of [0, 499]) expect(flags(sent(board, [1], seq))).toEqual([FLAG.snapshot])
    expect(sent(board, [1], 500)).toEqual([])
    board.publish(priceOf(1, 501))
    expect(seqs(sent(board, [1], 500))).toEqual([501])
    expect(flags(sent(board, [1], 499))).toEqual([FLAG.snapshot])
  })

  it('[W8] each match by itself: what one has lost costs the other nothing', () => {
    const board = moved(5)
    const other = fixtureId(MATCH + 1)
    board.open(other, 1, [{ ...priceOf(9, 0), matchId: other }])
    for (let seq = 1; seq <= 2; seq++) board.publish({ ...priceOf(9, seq), matchId: other })
    expect(seqs(sent(board, [9, 1], 4))).toEqual([2, 5]) // of the other match, 4 was never published
  })

  it('is made once for all who missed the same', () => {
    const board = moved(60, 3)
    const since = { epoch: 1, seq: 20 }
    const [one] = board.catchUp([1, 2, 3].map(P), plain, since).bytes
    expect(board.catchUp([3, 2, 1].map(P), plain, since).bytes[0]).toBe(one)
    board.publish(priceOf(1, 61))
    expect(seqs(sent(board, [1, 2, 3], 20)).at(-1)).toBe(61)
  })
})

describe('the price board', () => {
  it('a topic with subscribers outlives its match, and has no price meanwhile', () => {
    const board = new PriceBoard<string>()
    const [followed, ignored] = board.open(MATCH, 1, [priceOf(1, 0), priceOf(2, 0)])
    followed?.subscribers.add('a subscriber')
    board.close(MATCH)
    expect([board.topic(P(1)), board.topic(P(2))]).toEqual([undefined, undefined])
    const [again, another] = board.open(MATCH, 2, [priceOf(1, 0), priceOf(2, 0)])
    expect(again).toBe(followed)
    expect(another).not.toBe(ignored)
  })
})
