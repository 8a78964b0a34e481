/** What drawing the first picture of a process does to the rest of it. */
import { expect, it } from 'vitest'
import { framed, picture } from '../../src/features/share-picture.ts'

it('the first picture looks up no names of connections', async () => {
  expect(await picture(framed('A card', []))).not.toHaveLength(0)
  // A report of Node that asks for names says what the network of the machine is, too.
  expect(process.report.getReport()).toMatchObject({ header: { nodejsVersion: process.version } })
  expect(process.report.getReport()).not.toHaveProperty('header.networkInterfaces')
})
