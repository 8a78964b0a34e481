import type { World } from '../../actors/kernel/world.ts'

/**
 * The last value of each key while it is young, and one reading for all who ask meanwhile. A failed reading is not
 * kept. Holds at most `max` values, and drops the oldest.
 */
export function held<T>(ms: number, max: number, world: Pick<World, 'now'>) {
  /** The oldest first. */
  const readings = new Map<string, { readonly at: number; readonly value: Promise<T> }>()
  return (key: string, read: () => Promise<T>): Promise<T> => {
    const now = world.now()
    for (const [old, { at }] of readings) {
      if (now >= at && now - at < ms) break
      readings.delete(old)
    }
    const known = readings.get(key)
    if (known !== undefined) return known.value
    const reading = { at: now, value: read() }
    readings.set(key, reading)
    const [oldest] = readings.keys()
    if (readings.size > max && oldest !== undefined) readings.delete(oldest)
    reading.value.catch(() => {
      if (readings.get(key) === reading) readings.delete(key)
    })
    return reading.value
  }
}
