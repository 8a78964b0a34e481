import { expect, it } from 'vitest'
import { csvRecord } from '../../src/http/csv.ts'

it('no text becomes a formula, in full-width letters either; numbers stay numbers', () => {
  const formulas = ['=1+1', '+1', '-1', '@x', '\t=1', '\r=1', '＝1+1', '＋1', '－1', '＠x']
  for (const text of formulas) expect(csvRecord([text]).replace(/^"/, ''), text).toMatch(/^'/)
  expect(csvRecord(['1=1', -1, null, 'a"b'])).toBe('1=1,-1,,"a""b"\r\n')
})
