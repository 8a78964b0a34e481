/**
 * Exponential, logarithm and hyperbolic tangent, with one result on every engine. ECMAScript leaves the last digit of
 * `Math.exp` and its kin open, and prices must come out alike wherever they are derived. These use nothing but +, −, ×
 * and ÷, which IEEE 754 makes exact to the bit, in the order of fdlibm (Sun Microsystems, 1993): less than one unit in
 * the last place from the true value.
 */

const LN2_HIGH = 0.6931471803691238
const LN2_LOW = 1.9082149292705877e-10
const INVERSE_LN2 = Math.LOG2E
/** Beyond these e^x is not finite, or zero. */
const EXP_MAX = 709.782712893384
const EXP_MIN = -745.1332191019411
/** Just below 2^1024 and above 2^−1074: the exponent of a result is set in two steps where one does not reach. */
const TWO_1000 = 1.0715086071862673e301
const TWO_M1000 = 9.332636185032189e-302

const bits = new DataView(new ArrayBuffer(8))

/** Sign, exponent and the first 20 binary digits. */
function highWord(x: number): number {
  bits.setFloat64(0, x)
  return bits.getInt32(0)
}

/** The number with these as its sign, exponent and first digits, and x's other digits. */
function withHighWord(x: number, high: number): number {
  bits.setFloat64(0, x)
  bits.setInt32(0, high)
  return bits.getFloat64(0)
}

/** 2^k, for k from −1022 to 1023. */
function powerOfTwo(k: number): number {
  bits.setUint32(0, (0x3ff + k) << 20)
  bits.setUint32(4, 0)
  return bits.getFloat64(0)
}

/** e^x. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x
  if (x > EXP_MAX) return Infinity
  if (x < EXP_MIN) return 0
  if (x === 1) return Math.E
  const size = highWord(x) & 0x7fffffff
  if (size < 0x3e300000) return 1 + x
  const { k, high, low } = reduced(x, size)
  const r = k === 0 ? x : high - low
  const t = r * r
  const c =
    r -
    t *
      (0.16666666666666602 +
        t *
          (-0.0027777777777015593 +
            t * (0.00006613756321437934 + t * (-0.0000016533902205465252 + t * 4.1381367970572385e-8))))
  if (k === 0) return 1 - ((r * c) / (c - 2) - r)
  const y = 1 - (low - (r * c) / (2 - c) - high)
  if (k > 1_000) return y * powerOfTwo(k - 1_000) * TWO_1000
  return k >= -1_021 ? y * powerOfTwo(k) : y * powerOfTwo(k + 1_000) * TWO_M1000
}

/** x = k × ln 2 + (high − low), with the rest at most half of ln 2. `size` is the high word without the sign. */
function reduced(x: number, size: number): { readonly k: number; readonly high: number; readonly low: number } {
  if (size <= 0x3fd62e42) return { k: 0, high: x, low: 0 }
  if (size < 0x3ff0a2b2) {
    const k = x < 0 ? -1 : 1
    return { k, high: x - k * LN2_HIGH, low: k * LN2_LOW }
  }
  const k = Math.trunc(INVERSE_LN2 * x + (x < 0 ? -0.5 : 0.5))
  return { k, high: x - k * LN2_HIGH, low: k * LN2_LOW }
}

/** The natural logarithm: −∞ of 0, not a number below it. */
export function log(of: number): number {
  if (of === 0) return -Infinity
  if (Number.isNaN(of) || of < 0) return NaN
  if (of === Infinity) return of
  let [x, k] = [of, 0]
  if (highWord(x) < 0x00100000) {
    k = -54
    x *= 18_014_398_509_481_984
  }
  const word = highWord(x)
  const digits = word & 0x000fffff
  const half = (digits + 0x95f64) & 0x100000
  k += (word >> 20) - 1_023 + (half >> 20)
  // The rest is between √½ and √2.
  const f = withHighWord(x, digits | (half ^ 0x3ff00000)) - 1
  if ((0x000fffff & (2 + digits)) < 3) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + k * LN2_LOW
    const r = f * f * (0.5 - 0.3333333333333333 * f)
    return k === 0 ? f - r : k * LN2_HIGH - (r - k * LN2_LOW - f)
  }
  const s = f / (2 + f)
  const z = s * s
  const w = z * z
  const odd = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373))
  const even = z * (0.6666666666666735 + w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)))
  const r = even + odd
  if (((digits - 0x6147a) | (0x6b851 - digits)) > 0) {
    const square = 0.5 * f * f
    if (k === 0) return f - (square - s * (square + r))
    return k * LN2_HIGH - (square - (s * (square + r) + k * LN2_LOW) - f)
  }
  return k === 0 ? f - s * (f - r) : k * LN2_HIGH - (s * (f - r) - k * LN2_LOW - f)
}

/** The hyperbolic tangent. */
export function tanh(x: number): number {
  if (Number.isNaN(x)) return x
  const size = Math.abs(x)
  if (size >= 22) return x < 0 ? -1 : 1
  if ((highWord(x) & 0x7fffffff) < 0x3e300000) return x
  if (size >= 1) {
    const result = 1 - 2 / (expMinus1(2 * size) + 2)
    return x < 0 ? -result : result
  }
  const t = expMinus1(-2 * size)
  const result = -t / (t + 2)
  return x < 0 ? -result : result
}

/** e^x − 1, for x from −2 to 44: all that `tanh` asks for. */
function expMinus1(x: number): number {
  const size = highWord(x) & 0x7fffffff
  if (size < 0x3c900000) return x
  const { k, high, low } = reduced(x, size)
  const r = k === 0 ? x : high - low
  const c = k === 0 ? 0 : high - r - low
  const half = 0.5 * r
  const square = r * half
  const r1 =
    1 +
    square *
      (-0.03333333333333313 +
        square *
          (0.0015873015872548146 +
            square * (-0.0000793650757867488 + square * (0.000004008217827329362 + square * -2.0109921818362437e-7))))
  const t = 3 - r1 * half
  const e = square * ((r1 - t) / (6 - r * t))
  if (k === 0) return r - (r * e - square)
  const rest = r * (e - c) - c - square
  if (k === -1) return 0.5 * (r - rest) - 0.5
  if (k === 1) return r < -0.25 ? -2 * (rest - (r + 0.5)) : 1 + 2 * (r - rest)
  if (k <= -2 || k > 56) return (1 - (rest - r)) * powerOfTwo(k) - 1
  if (k < 20) return (withHighWord(1, 0x3ff00000 - (0x200000 >> k)) - (rest - r)) * powerOfTwo(k)
  return (r - (rest + powerOfTwo(-k)) + 1) * powerOfTwo(k)
}
