import { describe, expect, it } from 'vitest'
import { HISTORY_MAX, PriceBoard } from '../../rooms/feed/price-board.ts'
import { MATCH, P } from '../support/fixtures.ts'
import { priceOf } from './realtime-rig.ts'

describe('the price board', () => {
  it('[W8] what a match moved is remembered up to a bound; whoever was away longer gets a snapshot', () => {
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

  it('a topic outlives its match while somebody follows it, and shows nothing meanwhile', () => {
    const board = new PriceBoard<string>()
    const [followed, ignored] = board.open(MATCH, 1, [priceOf(1, 0), priceOf(2, 0)])
    followed?.subscribers.add('somebody')
    board.close(MATCH)
    expect([board.topic(P(1)), board.topic(P(2))]).toEqual([undefined, undefined])
    const [again, anew] = board.open(MATCH, 2, [priceOf(1, 0), priceOf(2, 0)])
    expect(again).toBe(followed)
    expect(anew).not.toBe(ignored)
  })
})
