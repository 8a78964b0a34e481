import { expect, it, vi } from 'vitest'
import { districtId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { createAccountMails } from '../../src/auth/account-mails.ts'
import type { Mail } from '../../src/auth/mail-queue.ts'
import type { PersonalKey } from '../../src/auth/personal-keys.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

const USER = userId('0197f2a0-0000-7000-8000-00000000000a')
const ALICE = {
  id: USER,
  username: 'alice',
  firstName: 'Alice',
  name: 'Alice Ford',
  lastName: null,
  picture: null,
  role: 'user',
  status: 'active',
  districtId: districtId(1),
  xp: 0,
  referralCode: 'ALICE1',
  hiddenFromBoards: false,
  deletionDue: null,
  createdAt: instant(Date.UTC(2026, 4, 2, 14, 30)),
} as const
const KEY: PersonalKey = {
  id: sessionId('0197f2a0-0000-7000-8000-0000000000e2'),
  name: 'My bot',
  scopes: ['trade'],
  createdAt: instant(Date.UTC(2026, 4, 2, 14, 30)),
  expiresAt: instant(Date.UTC(2026, 7, 1)),
  lastUsedAt: null,
}

/** The mails to a user with this address. */
function open(email: string, isOn: boolean) {
  const world = new TestWorld()
  const mails: Mail[] = []
  const log = createLog({ level: 'silent', world })
  const users = { find: async () => ({ ...ALICE, email }) }
  const notices = createAccountMails({
    mail: { post: (mail) => void mails.push(mail) },
    users,
    isOn: () => isOn,
    world,
    log,
  })
  return { mails, notices }
}

it('[S21] a user gets a mail about a new key, which no setting switches off', async () => {
  const { mails, notices } = open('ada@people.example', false)
  notices.newDevice(USER, { userAgent: 'Phone', addressPrefix: '203.0.113.0/24' })
  notices.newKey(USER, KEY, '203.0.113.0/24')
  await vi.waitUntil(() => mails.length > 0, { timeout: 30_000 })
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
    ['ada@people.example', 'New key on your Touchline account'],
  ])
  for (const said of ['My bot', 'trade', '2026-08-01T00:00:00.000Z', '203.0.113.0/24', 'everywhere'])
    expect(mails[0]?.text).toContain(said)
})

it('[S21] an address that cannot exist gets none', async () => {
  const { mails, notices } = open('ada@synthetic.invalid', true)
  notices.newKey(USER, KEY, '203.0.113.0/24')
  await new Promise((resolve) => setImmediate(resolve))
  expect(mails).toEqual([])
})

it('[Y8] a user gets a mail about a requested deletion: the day, and how to keep the account', async () => {
  const { mails, notices } = open('ada@people.example', false)
  notices.leaving(USER, instant(Date.UTC(2026, 4, 9, 14, 30)))
  await vi.waitUntil(() => mails.length > 0, { timeout: 30_000 })
  expect(mails).toMatchObject([{ to: 'ada@people.example', subject: 'Your Touchline account will be deleted' }])
  for (const said of ['2026-05-09T14:30:00.000Z', 'sign in before']) expect(mails[0]?.text).toContain(said)
})
