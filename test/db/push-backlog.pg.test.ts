/** Push messages that wait by the thousand, or too long. */
import { createECDH, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, expect, it, vi } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { present } from '../../actors/kernel/assert.ts'
import { PUSH_KINDS } from '../../db/push-outbox.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { PushSender } from '../../src/features/push/sender.ts'
import { Pushes } from '../../src/features/push/store.ts'
import { vapidKeys } from '../../src/features/push/vapid.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

eachDatabase((open) => {
  const world = new TestWorld()
  let pushes: Pushes
  let ada: UserId
  let bob: UserId

  beforeEach(async () => {
    const { db } = open()
    await seedDistricts(db)
    const made = await new Users(db, world).createSyntheticMany(['Ada', 'Bob'])
    ada = present(made[0], 'Ada').user.id
    bob = present(made[1], 'Bob').user.id
    pushes = new Pushes(db, world)
  })

  const subscribe = async (user: UserId): Promise<string> => {
    const pair = createECDH('prime256v1')
    pair.generateKeys()
    const [p256dh, auth] = [pair.getPublicKey('base64url'), randomBytes(16).toString('base64url')]
    const endpoint = `https://push.example/${world.newId()}`
    return (await pushes.subscribe(user, { endpoint, p256dh, auth }, PUSH_KINDS)).id
  }
  /** Queues this many messages for a browser. */
  const tell = (user: UserId, browser: string, messages: number) =>
    sql`
      with told as (
        insert into notifications (user_id, type, title, body, data, source, created_at)
          select ${user}::uuid, 'margin_warning', 'Warned', 'Warned.', '{}', gen_random_uuid()::text,
                 ${new Date(world.now())}::timestamptz
            from generate_series(1, ${messages}::integer) returning id)
      insert into push_outbox select id, ${browser}::uuid from told`.execute(open().db)

  /** A sender, and what became of its messages. */
  function senderThat(sends: () => void) {
    const counts: Record<string, number> = {}
    const sender = new PushSender({
      pushes,
      keys: vapidKeys('a secret of the server'),
      contact: 'mailto:ops@touchline.example',
      send: async () => {
        sends()
        return 201
      },
      count: (outcome, messages) => void (counts[outcome] = (counts[outcome] ?? 0) + messages),
      report: (event, error) => expect.unreachable(`${event}: ${String(error)}`),
      world,
    })
    const look = async () => {
      await sender.run()
      await sender.settled()
      return counts
    }
    return look
  }

  it('[R22] a claim looks at the oldest part of a backlog alone, and passes over the browsers that are busy', async () => {
    const [flooded, next] = [await subscribe(ada), await subscribe(bob)]
    await tell(ada, flooded, 20_000)
    await tell(bob, next, 1)
    const claimed = async (busy: readonly string[]) =>
      (await pushes.claim(100, busy)).map(({ subscription }) => subscription)
    expect(await claimed([])).toEqual([flooded])
    expect(await claimed([flooded])).toEqual([next])
    await pushes.forgetBrowsers([flooded, next])
  })

  it('a backlog that is too old is dropped at the next look, and counted', async () => {
    await tell(ada, await subscribe(ada), 5_000)
    world.pass(15 * MINUTE_MS + 1)
    const browser = await subscribe(bob)
    await tell(bob, browser, 1)
    const claimed = await pushes.claim(100, [])
    expect(claimed.filter(({ isLate }) => !isLate).map(({ subscription }) => subscription)).toEqual([browser])
    await pushes.putOff(browser, -1)
    expect(await senderThat(() => undefined)()).toEqual({ sent: 1, late: 5_000 })
  })

  it('what becomes too old while a long look goes on is dropped, and counted', async () => {
    await tell(ada, await subscribe(ada), 3)
    const forgetLate = vi.spyOn(pushes, 'forgetLate')
    const look = senderThat(() => world.pass(15 * MINUTE_MS + 1))
    expect(await look()).toEqual({ sent: 1, late: 2 })
    expect(forgetLate, 'all at once, not one by one').toHaveBeenCalledTimes(2)
    expect(await look()).toEqual({ sent: 1, late: 2 })
  })
})
