/** The real World: the only place that looks at the clock or draws randomness. */
import { randomBytes, randomInt } from 'node:crypto'
import { instant, type World } from '../actors/kernel/world.ts'

/** Where a millisecond's counter starts: the lower half of its 12 bits, so that at least 2,048 more ids fit. */
const COUNTER_START_BELOW = 0x800
const COUNTER_MAX = 0xfff

/** A World over the system clock. `clock` yields milliseconds; it may jump back without ids losing their order. */
export function systemWorld(clock: () => number = Date.now): World {
  let lastMs = 0
  let counter = 0
  const entropy = pooledBytes()

  // UUIDv7 with a 12-bit counter in `rand_a` (RFC 9562, 6.2, method 1): ordered also within one millisecond.
  const newId = (): string => {
    const nowMs = clock()
    if (nowMs > lastMs) {
      lastMs = nowMs
      counter = randomInt(COUNTER_START_BELOW)
    } else if (counter < COUNTER_MAX) {
      counter += 1
    } else {
      lastMs += 1 // borrow from the next millisecond rather than repeat or wait
      counter = randomInt(COUNTER_START_BELOW)
    }
    return uuidv7(lastMs, counter, entropy(8))
  }

  return {
    now: () => instant(clock()),
    newId,
    randomInt: (below) => randomInt(below),
    secret: (bytes) => randomBytes(bytes).toString('hex'),
  }
}

/** Random bytes drawn 4 KiB at a time: one draw costs 2 µs, however few bytes it is for. */
function pooledBytes(): (count: number) => Buffer {
  let pool = Buffer.alloc(0)
  return (count) => {
    if (pool.length < count) pool = randomBytes(4_096)
    const drawn = pool.subarray(0, count)
    pool = pool.subarray(count)
    return drawn
  }
}

function uuidv7(ms: number, counter: number, random: Buffer): string {
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0) // the RFC's variant
  const time = ms.toString(16).padStart(12, '0')
  const tail = random.toString('hex')
  const version = `7${counter.toString(16).padStart(3, '0')}`
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail.slice(0, 4)}-${tail.slice(4)}`
}
