import { expect, it } from 'vitest'
import { isSought } from '../../src/web/sought.ts'

it('a player is found without the accents of the name, and with them', () => {
  const names = [
    'Thomas Müller',
    'Martin Ødegaard',
    'İlkay Gündoğan',
    'Kadıoğlu',
    'Wojciech Szczęsny',
    'Jose\u0301 Gayà',
  ]
  const found = (sought: string) => names.filter((name) => isSought(name, sought))
  expect(
    ['muller', 'MÜLLER', 'odegaard', 'Ødeg', 'ilkay', 'İlkay', 'kadioglu', 'szczesny', 'josé', 'gaya'].map(found),
  ).toEqual([0, 0, 1, 1, 2, 2, 3, 4, 5, 5].map((n) => [names[n]]))
  expect(found(' ')).toEqual(names)
})
