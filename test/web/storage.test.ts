/** What the page keeps where the browser does not. */
import { expect, it } from 'vitest'
import { keeping } from '../../src/web/storage.ts'

it('keeps for this page what the browser may not keep', () => {
  const blocked = keeping(() => {
    throw new DOMException('blocked', 'SecurityError')
  })
  expect(blocked.get('one')).toBe(null)
  blocked.set('one', '1')
  expect(blocked.get('one')).toBe('1')
  blocked.remove('one')
  expect(blocked.get('one')).toBe(null)
})

it('reads the newest value also when the browser is full and still has an older one', () => {
  const kept = new Map([['one', 'old']])
  let isFull = true
  const full = keeping(() => ({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      kept.set(key, value)
    },
    removeItem: (key) => void kept.delete(key),
  }))
  full.set('one', 'new')
  expect(full.get('one')).toBe('new')
  isFull = false
  full.set('one', 'newest')
  expect([full.get('one'), kept.get('one')]).toEqual(['newest', 'newest'])
})
