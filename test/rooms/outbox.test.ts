import { expect, it } from 'vitest'
import { Outbox } from '../../rooms/cluster/outbox.ts'
import type { Reached } from '../../rooms/cluster/pub-sub.ts'

/** An outbox on a network where each message waits to be let through. */
function stalled() {
  const sent: { readonly channel: string; readonly items: readonly string[] }[] = []
  const gates: PromiseWithResolvers<Reached>[] = []
  const send = (channel: string, message: Buffer): Promise<Reached> => {
    sent.push({ channel, items: message.toString().split(' ') })
    const gate = Promise.withResolvers<Reached>()
    gates.push(gate)
    return gate.promise
  }
  const publish = async (): Promise<void> => expect.unreachable('it is not known how many it reached')
  const outbox = new Outbox({ pubSub: { send, publish }, bundled: (items) => items.join(' ') })
  const ends: string[] = []
  const put = (channel: string, text: string): void =>
    outbox.put(channel, {
      text,
      isWanted: null,
      reached: (count) => ends.push(`${text} reached ${count}`),
      left: (error) => void (error === null || ends.push(`${text} failed`)),
    })
  return { put, sent, ends, gates }
}

const turn = () => new Promise(setImmediate)

it('[Q23] a channel whose message is under way delays no other', async () => {
  const { put, sent, gates, ends } = stalled()
  put('a', '1')
  await turn()
  for (const text of ['2', '3']) put('a', text)
  put('b', '4')
  await turn()
  expect(sent).toEqual([
    { channel: 'a', items: ['1'] },
    { channel: 'b', items: ['4'] },
  ])
  gates[0]?.resolve(1)
  await expect.poll(() => sent.length).toBe(3)
  expect(sent[2]).toEqual({ channel: 'a', items: ['2', '3'] })
  expect(ends).toEqual(['1 reached 1'])
})

it('[Q23] a message that fails ends what it carries, and the next one leaves', async () => {
  const { put, sent, gates, ends } = stalled()
  for (const text of ['1', '2']) put('a', text)
  await turn()
  put('a', '3')
  gates[0]?.reject(new Error('cut'))
  await expect.poll(() => gates.length).toBe(2)
  gates[1]?.resolve(0)
  await turn()
  expect(ends).toEqual(['1 failed', '2 failed', '3 reached 0'])
  expect(sent.map(({ items }) => items)).toEqual([['1', '2'], ['3']])
})

it('[Q23] no more than 10,000 wait on a channel', async () => {
  const { put, ends } = stalled()
  put('a', 'first')
  await turn()
  for (let n = 0; n < 10_002; n++) put('a', String(n))
  expect(ends).toEqual(['10000 failed', '10001 failed'])
})
