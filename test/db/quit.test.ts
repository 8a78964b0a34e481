/** A connection to Redis ends in time, whatever the other side does. */
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { quit } from '../../db/fast/quit.ts'

it('leaves a server that takes connections and answers nothing', async () => {
  const silent = createServer()
  const redis = new Redis({ host: '127.0.0.1', port: await listen(silent, 0), enableReadyCheck: false })
  redis.on('error', () => undefined)
  const ended = new Promise((resolve) => redis.once('end', resolve))
  await quit(redis, 50)
  await ended
  silent.close()
})

it('waits for the end, and rejects with nothing', async () => {
  const calls: string[] = []
  const redis = (end: () => Promise<'OK'>) => ({ quit: end, disconnect: () => void calls.push('cut') })
  const polite = redis(async () => {
    calls.push('quit')
    return 'OK'
  })
  await quit(polite)
  await quit(redis(() => Promise.reject(new Error('gone'))))
  expect(calls).toEqual(['quit', 'cut', 'cut'])
})
