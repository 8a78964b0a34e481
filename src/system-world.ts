/** The real World: the only place that looks at the clock or draws randomness. */
import { randomBytes, randomInt } from 'node:crypto'
import { uuidVariant } from '../actors/kernel/ids.ts'
import { instant, type World } from '../actors/kernel/world.ts'

/** A millisecond's counter starts in the lower half of its 12 bits, so that at least 2,048 more ids fit. */
const COUNTER_START_BELOW = 0x800
const COUNTER_MAX = 0xfff

/**
 * A World over the system's clocks. `clock` yields milliseconds; it may jump back without ids losing their order. A
 * clock that a test moves also measures durations, unless it is given another for them.
 */
export function systemWorld(given?: () => number, steady: () => number = given ?? monotonicMs): World {
  const clock = given ?? Date.now
  let lastMs = 0
  let counter = 0
  const entropy = pooledHex()

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
    return uuidv7(lastMs, counter, entropy())
  }

  return {
    now: () => instant(clock()),
    steady: { now: () => instant(steady()) },
    newId,
    randomInt: (below) => randomInt(below),
    secret: (bytes) => randomBytes(bytes).toString('hex'),
  }
}

/** Milliseconds since the process began; never jumps. */
export const monotonicMs = (): number => performance.now()

/** 16 random hex digits at a time, from a pool of 4 KiB: a draw costs 2 µs even for a few bytes. */
function pooledHex(): () => string {
  const DIGITS = 16
  let pool = ''
  let taken = 0
  return () => {
    if (taken === pool.length) {
      pool = randomBytes(4_096).toString('hex')
      taken = 0
    }
    taken += DIGITS
    return pool.slice(taken - DIGITS, taken)
  }
}

function uuidv7(ms: number, counter: number, random: string): string {
  const time = ms.toString(16).padStart(12, '0')
  const version = counter.toString(16).padStart(3, '0')
  const variant = uuidVariant(random.charAt(0))
  return `${time.slice(0, 8)}-${time.slice(8)}-7${version}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}
