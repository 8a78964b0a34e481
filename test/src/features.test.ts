/** What is true of every feature. */
import { expect, it } from 'vitest'
import { readSetting } from '../../actors/kernel/settings.ts'
import { FEATURES } from '../../src/features/index.ts'

const declared = FEATURES.flatMap(({ name, settings = {} }) =>
  Object.entries(settings).map(([key, setting]) => ({ name, key, setting })),
)

it('[H18] a setting of a feature begins with its name, and its default is within its bounds', () => {
  expect(declared.length).toBeGreaterThan(0)
  for (const { name, key, setting } of declared) {
    expect(key.startsWith(`${name}.`), key).toBe(true)
    expect(setting.description.length, key).toBeGreaterThan(20)
    expect(readSetting(setting, setting.default), key).toEqual({ ok: true, value: setting.default })
  }
})
