import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { connectBoards } from '../../db/boards-redis.ts'
import { boardsContract, standing } from '../contract/boards.ts'
import { onRedis } from '../support/redis-server.ts'

onRedis(({ url, newPrefix }) => {
  const prefix = newPrefix()
  const open = (installation: string = randomUUID()) =>
    connectBoards({ url, prefix, installation, purse: 'main', newId: randomUUID })
  const everything = async (redis: Redis): Promise<string[]> => {
    const found: string[] = []
    for await (const keys of redis.scanStream({ match: `${prefix}*` })) found.push(...(keys as string[]))
    return found
  }

  afterAll(async () => {
    const redis = new Redis(url)
    const left = await everything(redis)
    if (left.length > 0) await redis.unlink(left)
    await redis.quit()
  })

  boardsContract(() => open())

  it('several processes see the same boards, and installations do not meet', async () => {
    const installation = randomUUID()
    const [one, two, other] = [await open(installation), await open(installation), await open()]
    await one.build(
      (async function* () {
        yield [standing(1)]
      })(),
      '',
    )
    await two.put([standing(2, { wins: 9 })])
    expect((await one.top({ by: 'roi', districtId: null }, 5)).entries.map((e) => e.standing.wins)).toEqual([9, 5])
    expect(await other.built('')).toBe(false)
    for (const boards of [one, two, other]) await boards.close()
  })

  it('a build leaves nothing of the one before', async () => {
    const installation = randomUUID()
    const boards = await open(installation)
    const redis = new Redis(url)
    const build = async () =>
      boards.build(
        (async function* () {
          yield [standing(1), standing(2)]
        })(),
        '',
      )
    const mine = async () => (await everything(redis)).filter((key) => key.includes(installation)).length
    await build()
    const before = await mine()
    await build()
    expect(await mine()).toBe(before)
    await boards.close()
    await redis.quit()
  })
})
