import { describe, expect, it } from 'vitest'
import { embeddedPlace, onServers } from './support/data-place.ts'
import { eachDatabase, onPostgres } from './support/databases.ts'
import { Program } from './support/process.ts'
import { onRedis } from './support/redis-server.ts'

describe('a file whose name says no need', () => {
  it('gets no database', () => {
    expect(() => eachDatabase(() => undefined)).toThrow(/name the file \*\.pg\.test\.ts/)
    expect(() => onPostgres(() => undefined)).toThrow(/\*\.pg\.test\.ts/)
  })

  it('gets no Redis', () => {
    expect(() => onRedis(() => undefined)).toThrow(/\*\.redis\.test\.ts/)
  })

  it('gets no composed program, in this process or in one of its own', async () => {
    expect(() => onServers(() => undefined)).toThrow(/\*\.e2e\.test\.ts/)
    await expect(embeddedPlace()).rejects.toThrow(/\*\.e2e\.test\.ts/)
    expect(() => new Program({})).toThrow(/\*\.e2e\.test\.ts/)
  })
})
