import { describe, expect, it } from 'vitest'
import { HISTORY_MAX, PriceBoard } from '../../rooms/feed/price-board.ts'
import { MATCH, P } from '../support/fixtures.ts'
import { priceOf } from './realtime-rig.ts'

describe('the price board', () => {
  it('[W8] keeps a bounded number of moves; a client that was away longer gets a snapshot', () => {
    const board = new PriceBoard<string>()
    board.open(MATCH, 1, [priceOf(1, 0)])
    const last = HISTORY_MAX * 3
    for (let seq = 1; seq <= last; seq++) board.publish(priceOf(1, seq))
    const missed = (seq: number) => board.missed(priceOf(1, last), { epoch: 1, seq })?.map((move) => move.seq)
    expect(missed(last - 2)).toEqual([last - 1, last])
    expect(missed(last)).toEqual([])
    expect(missed(1)).toBeUndefined()
    expect(missed(last + 1)).toBeUndefined()
  })

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
