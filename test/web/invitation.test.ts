/** Signing in with the code of a share link. */
import { afterAll, beforeEach, expect, it, vi } from 'vitest'

const kept = new Map<string, string>()
vi.stubGlobal('location', { search: '' })
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => kept.set(key, value),
  removeItem: (key: string) => kept.delete(key),
})
afterAll(() => void vi.unstubAllGlobals())

/** Its types are those of a browser, which tests do not have. */
const INVITATION: string = '../../src/web/invitation.ts'
const ASK: string = '../../src/web/client/ask.ts'
interface Invitation {
  readonly invitation: () => string | null
  readonly enterInvited: (send: (code: string | null) => Promise<unknown>) => Promise<unknown>
}
const { invitation, enterInvited }: Invitation = await import(INVITATION)
const { ApiError }: { ApiError: new (status: number, facts: object) => Error } = await import(ASK)

const refused = (path: string) =>
  new ApiError(400, { error: 'invalid', code: 'VALIDATION_FAILED', issues: [{ path, message: 'unknown' }] })

/** Signs in where the server refuses any code for this field. */
async function sent(path: string): Promise<{ codes: (string | null)[]; outcome: unknown }> {
  const codes: (string | null)[] = []
  const outcome = await enterInvited(async (code) => {
    codes.push(code)
    if (code !== null) throw refused(path)
    return 'in'
  }).catch((error: unknown) => error)
  return { codes, outcome }
}

beforeEach(() => {
  kept.clear()
  vi.stubGlobal('location', { search: '?ref=gone' })
})

it('an invitation that is no longer valid keeps no visitor out', async () => {
  expect(await sent('referralCode')).toEqual({ codes: ['gone', null], outcome: 'in' })
  vi.stubGlobal('location', { search: '' })
  expect(invitation()).toBeNull()
})

it('what else is refused is told, and the invitation stays', async () => {
  expect(await sent('districtId')).toEqual({ codes: ['gone'], outcome: refused('districtId') })
  vi.stubGlobal('location', { search: '' })
  expect(invitation()).toBe('gone')
})

it('a valid invitation is used once', async () => {
  expect(await enterInvited(async (code) => code)).toBe('gone')
  expect([...kept]).toEqual([])
})
