/** The way to the identity provider and back to the view that was left. */
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { stubPage } from '../support/page-globals.ts'

stubPage('es')
afterAll(() => void vi.unstubAllGlobals())

/** Its types are those of a browser, which tests do not have. */
const PROVIDER: string = '../../src/web/provider.ts'
interface Provider {
  readonly leaveForProvider: (facts: { authorizeUrl: string; clientId: string }) => void
  readonly takeToken: () => { readonly idToken: string } | null
}
const { leaveForProvider, takeToken }: Provider = await import(PROVIDER)

let address: URL
beforeEach(() => {
  vi.stubGlobal('history', { replaceState: (_: unknown, __: string, to: string) => show(new URL(to, address)) })
})

function show(at: URL): void {
  address = at
  vi.stubGlobal('location', Object.assign(at, { assign() {} }))
}

/** Where the page is after a sign-in that began here. */
function after(path: string): string {
  show(new URL(`https://touchline.example${path}`))
  leaveForProvider({ authorizeUrl: 'https://provider.example/', clientId: 'touchline' })
  show(new URL('https://touchline.example/#id_token=the.token'))
  expect(takeToken()?.idToken).toBe('the.token')
  return address.href
}

it('signing in with the provider leads back to the view, and to no other host', () => {
  expect(['/', '/watch/7', '/league/abc', '/#/account', '/watch/7#/club'].map(after)).toEqual([
    'https://touchline.example/',
    'https://touchline.example/watch/7',
    'https://touchline.example/league/abc',
    'https://touchline.example/#/account',
    'https://touchline.example/watch/7#/club',
  ])
  expect(after('//other.example/')).toBe('https://touchline.example/')
})

it('a token that no visit has asked for is left', () => {
  show(new URL('https://touchline.example/#id_token=the.token'))
  expect(takeToken()).toBeNull()
})
