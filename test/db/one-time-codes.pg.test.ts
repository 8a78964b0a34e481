import { beforeEach, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { instant } from '../../actors/kernel/world.ts'
import { OneTime } from '../../db/one-time.ts'
import type { Mail } from '../../src/auth/mail-queue.ts'
import { createOneTimeCodes, type OneTimeCodes } from '../../src/auth/one-time-codes.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const ada = { sub: 'ada', email: 'ada@example.com', name: 'Ada', picture: null }
const MINUTE = 60_000
/** Each test has a day of its own, in which nothing of an earlier one counts. */
const DAY = 86_400_000
let started = Date.UTC(2026, 0, 1)

eachDatabase((open) => {
  let world: TestWorld
  let store: OneTime
  let codes: OneTimeCodes
  let posted: Mail[]
  beforeEach(() => {
    world = new TestWorld({ now: (started += DAY) })
    store = new OneTime(open().db, world, 5 * MINUTE)
    posted = []
    codes = createOneTimeCodes({ store, secret: 'a secret', world, post: (mail) => posted.push(mail) })
  })
  const mailed = () => present(/\d{6}/.exec(posted.at(-1)?.text ?? '')?.[0], 'a code')
  const wrong = () => (mailed() === '000000' ? '000001' : '000000')

  it('[S7] are mailed to the address of the account, and stored as a digest for that account only', async () => {
    expect(await codes.send(ada)).toEqual({ sent: true, nextInMs: MINUTE })
    expect(posted).toMatchObject([{ to: 'ada@example.com', before: world.steady.now() + 5 * MINUTE }])
    expect(posted[0]?.subject).not.toContain(mailed())
    const kept = present(await store.code('ada'), 'code')
    expect(JSON.stringify(kept)).not.toContain(mailed())
    await store.putCode('bob', kept)
    expect(await codes.check({ ...ada, sub: 'bob' }, mailed())).toMatchObject({ kind: 'wrong' })
    expect(await codes.check({ ...ada, email: 'eve@example.com' }, mailed())).toMatchObject({ kind: 'wrong' })
  })

  it.each([-10 * MINUTE, -DAY, 10 * MINUTE, DAY])(
    '[X15] a clock that jumps by %d ms keeps a user waiting for no more than a minute, and no code alive',
    async (jump) => {
      const bea = { ...ada, sub: `bea ${jump}` }
      await codes.send(bea)
      const first = mailed()
      world.pass(jump)
      expect(await codes.check(bea, first)).toMatchObject({ kind: 'expired' })
      expect(await codes.send(bea)).toMatchObject({ sent: true })
      expect(await codes.check(bea, mailed())).toEqual({ kind: 'right' })
    },
  )

  it('[S7] verify the e-mail once, for the lifetime of the ticket', async () => {
    await codes.send(ada)
    expect(await codes.isVerified(ada)).toBe(false)
    expect(await codes.check(ada, mailed())).toEqual({ kind: 'right' })
    expect(await codes.check(ada, wrong())).toEqual({ kind: 'expired' })
    expect(await codes.isVerified(ada)).toBe(true)
    expect(await codes.isVerified({ ...ada, email: 'eve@example.com' })).toBe(false)
    expect(await codes.isVerified({ ...ada, sub: 'eve' })).toBe(false)
    world.pass(5 * MINUTE)
    expect(await codes.isVerified(ada)).toBe(false)
  })

  it('[S7] a repeat of the right code is right for a minute, and proves nothing more', async () => {
    const third = async (): Promise<void> => {
      for (const guess of [wrong(), wrong(), mailed()]) await codes.check(ada, guess)
    }
    await codes.send(ada)
    await third()
    world.pass(MINUTE - 1)
    const repeats = await Promise.all(Array.from({ length: 5 }, () => codes.check(ada, mailed())))
    expect(new Set(repeats.map(({ kind }) => kind))).toEqual(new Set(['right']))
    expect(await codes.check(ada, wrong())).toEqual({ kind: 'expired' })
    expect(await codes.check({ ...ada, email: 'eve@example.com' }, mailed())).toEqual({ kind: 'expired' })
    expect(await codes.check({ ...ada, sub: 'eve' }, mailed())).toEqual({ kind: 'expired' })
    world.pass(1)
    expect(await codes.check(ada, mailed())).toEqual({ kind: 'expired' })
    world.pass(4 * MINUTE - 1)
    expect(await codes.isVerified(ada)).toBe(true)
    world.pass(1)
    expect(await codes.isVerified(ada)).toBe(false)
  })

  it('[S7] concurrent requests with the right code are all right', async () => {
    await codes.send(ada)
    const checked = await Promise.all(Array.from({ length: 3 }, () => codes.check(ada, mailed())))
    expect(checked.map(({ kind }) => kind)).toEqual(['right', 'right', 'right'])
  })

  it('[S7] another code ends the repeats of the one before', async () => {
    await codes.send(ada)
    world.pass(MINUTE - 1_000)
    const first = mailed()
    await codes.check(ada, first)
    world.pass(1_000)
    await codes.send(ada)
    expect(await codes.check(ada, first)).toMatchObject({ kind: first === mailed() ? 'right' : 'wrong' })
  })

  it('[S7] are valid for five minutes', async () => {
    await codes.send(ada)
    world.pass(5 * MINUTE - 1)
    expect(await codes.check(ada, wrong())).toMatchObject({ kind: 'wrong' })
    world.pass(1)
    expect(await codes.check(ada, mailed())).toEqual({ kind: 'expired' })
    expect(await codes.check({ ...ada, sub: 'nobody' }, '000000')).toEqual({ kind: 'expired' })
  })

  it('[S7] allow three tries, even if many guess at once', async () => {
    await codes.send(ada)
    const guesses = await Promise.all(Array.from({ length: 100 }, () => codes.check(ada, wrong())))
    const left = guesses.flatMap((guess) => (guess.kind === 'wrong' ? [guess.attemptsRemaining] : []))
    expect(left.toSorted((a, b) => b - a)).toEqual([2, 1, 0])
    expect(guesses.filter(({ kind }) => kind === 'exhausted')).toHaveLength(97)
    expect(await codes.check(ada, mailed())).toEqual({ kind: 'exhausted' })
    expect(await codes.isVerified(ada)).toBe(false)
  })

  it('are sent once a minute, even for many requests at once, and the last one counts', async () => {
    const sent = await Promise.all(Array.from({ length: 50 }, () => codes.send(ada)))
    expect([sent.filter((each) => each.sent).length, posted.length]).toEqual([1, 1])
    const first = mailed()
    await codes.check(ada, wrong())
    world.pass(MINUTE - 1_000)
    expect(await codes.send(ada)).toEqual({ sent: false, nextInMs: 1_000 })
    world.pass(1_000)
    expect(await codes.send(ada)).toMatchObject({ sent: true })
    expect(await codes.check(ada, first)).toEqual({ kind: 'wrong', attemptsRemaining: 2 })
    expect(await codes.check(ada, mailed())).toEqual({ kind: 'right' })
  })

  it('[S7] are sent once a minute to each account, whichever client asks and whatever its address', async () => {
    const asked = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        codes.send({ ...ada, sub: `ada ${n % 2}`, email: n > 5 ? ada.email : 'ADA@example.com' }),
      ),
    )
    expect([asked.filter(({ sent }) => sent).length, posted.length]).toEqual([2, 2])
  })

  it('[S6] a nonce and an identity token can each be claimed once, in whatever spelling', async () => {
    const claim = () => store.claimNonce('a nonce \0')
    expect((await Promise.all(Array.from({ length: 20 }, claim))).filter(Boolean)).toHaveLength(1)
    const until = instant(world.now() + 310_000)
    expect(await store.claimIdToken('head.body.sign', until)).toBe(true)
    expect(await store.claimIdToken('head.body.sigm', until)).toBe(false)
    world.pass(300_000)
    expect([await claim(), await store.claimIdToken('head.body.sign', until)]).toEqual([true, false])
  })
})
