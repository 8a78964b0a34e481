import { expect, it } from 'vitest'
import { isAway, isTransient } from '../../db/faults.ts'
import { inScript62, REFUSALS } from '../support/refusals.ts'

const withCode = (code: string): Error => Object.assign(new Error('from the server'), { code })

it.each(['08000', '08001', '08003', '08004', '08006', '08007', '57P01', '57P02', '57P03', '57P04', '57P05'])(
  'SQLSTATE %s says that the connection is gone: the database is away',
  (code) => {
    expect([isAway(withCode(code)), isTransient(withCode(code))]).toEqual([true, true])
  },
)

// 25006: no transaction of ours that writes is read-only, so the server takes no writes now.
it.each([
  '25006',
  '25P03',
  '40001',
  '40P01',
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  '55P03',
  '57014',
  '58000',
  '58030',
])('SQLSTATE %s comes from a database that is there, and may pass', (code) => {
  expect([isAway(withCode(code)), isTransient(withCode(code))]).toEqual([false, true])
})

it.each(['08P01', '22001', '22003', '22021', '22P02', '23502', '23503', '23505', '23514', '25P02', '42601'])(
  'SQLSTATE %s is the fault of what was asked',
  (code) => {
    expect([isAway(withCode(code)), isTransient(withCode(code))]).toEqual([false, false])
  },
)

it.each(['54000', '55000', '57000', 'P0001', 'TL001', 'XX000', 'XX001', '', 'ENOENT'])(
  'neither does code "%s" say that the database is away',
  (code) => {
    expect([isAway(withCode(code)), isTransient(withCode(code))]).toEqual([false, false])
  },
)

it('a cause counts as much as the error itself', () => {
  expect(isAway(new Error('reading failed', { cause: withCode('57P01') }))).toBe(true)
  expect(isAway(new Error('reading failed', { cause: withCode('08P01') }))).toBe(false)
  expect(isTransient(new Error('reading failed', { cause: withCode('40P01') }))).toBe(true)
})

const refused = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' })

it.each(REFUSALS)('whatever Redis answers means that it is away: %s', (message) => {
  expect(isAway(refused(message))).toBe(true)
  expect(isAway(refused(inScript62(message)))).toBe(true)
})

it.each([
  'ERR user_script:2: attempt to compare nil with number script: 3a1, on @user_script:2.',
  'ERR Error running script (call to f_3a1): @user_script:2: user_script:2: attempt to compare nil with number',
  "ERR Error compiling script (new function): user_script:1: '=' expected",
  "ERR wrong number of arguments for 'set' command",
  'ERR value is not an integer or out of range script: 3a1, on @user_script:1.',
  inScript62('ERR value is not an integer or out of range').replace(': -', ': '),
])('a mistake in a script of our own does not: %s', (message) => {
  expect(isAway(refused(message))).toBe(false)
})
