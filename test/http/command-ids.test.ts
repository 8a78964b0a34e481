import { describe, expect, it } from 'vitest'
import { userId } from '../../actors/kernel/ids.ts'
import { commandId } from '../../src/http/command-ids.ts'

const ada = userId('00000000-0000-4000-8000-000000000001')
const ben = userId('00000000-0000-4000-8000-000000000002')

describe('the ids of commands', () => {
  it('are the same for a retry and for nothing else, and never change between versions', () => {
    expect(commandId(ada, 'open', 'k')).toBe('70d1b1ad-e9b7-8ccd-a579-28ffd997a0a1')
    const others = [commandId(ben, 'open', 'k'), commandId(ada, 'close', 'k'), commandId(ada, 'open', 'K')]
    expect(new Set([commandId(ada, 'open', 'k'), ...others]).size).toBe(4)
  })

  it('are UUIDs of version 8', () => {
    for (let n = 0; n < 100; n++) {
      expect(commandId(ada, 'close', String(n))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    }
  })
})
