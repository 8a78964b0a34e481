import { describe, expect, it } from 'vitest'
import { oneTimeCode, usernameFlaw } from '../../actors/community/registration.ts'

describe('a username', () => {
  it('is 3 to 20 of a–z, 0–9 and _, starts with a letter, and is not reserved', () => {
    for (const good of [
      'ada',
      'a_1',
      'abcdefghij0123456789',
      'a__',
      'supporter',
      'badminton',
      'rooted',
      'red_house',
      'stafford',
      'steams',
    ])
      expect(usernameFlaw(good), good).toBeNull()
    const flaws = {
      '': 'too_short',
      ab: 'too_short',
      abcdefghij0123456789x: 'too_long',
      Ada: 'characters',
      '1ada': 'characters',
      _ada: 'characters',
      'ada ': 'characters',
      'ada\n': 'characters',
      'ad-a': 'characters',
      ädä: 'characters',
      аdа: 'characters', // Cyrillic
      admin: 'reserved',
      touchline: 'reserved',
      admin_1: 'reserved',
      admin7: 'reserved',
      touchline_team: 'reserved',
      ada_support: 'reserved',
      administrators: 'reserved',
      moderators: 'reserved',
      x_admins: 'reserved',
      sysadmin: 'reserved',
      adminteam: 'reserved',
      touchlineteam: 'reserved',
      officialtouchline: 'reserved',
      officials: 'reserved',
      staffmember: 'reserved',
      the_teams: 'reserved',
      mods: 'reserved',
    }
    for (const [name, flaw] of Object.entries(flaws)) expect(usernameFlaw(name), name).toBe(flaw)
  })
})

describe('a one-time code', () => {
  it('[S7] is six digits, whatever the secret', () => {
    expect(oneTimeCode('0000000000000000')).toBe('000000')
    expect(oneTimeCode('000000000000002a')).toBe('000042')
    expect(oneTimeCode('ffffffffffffffff')).toBe('551615') // 2^64 − 1
  })
})
