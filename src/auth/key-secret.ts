/**
 * The text of a personal key: `tl_`, 34 characters with 200 random bits, and 6 that are a checksum of the rest.
 * Scanners for leaked secrets know it by its form, and a mistyped one is refused without a look into the database.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { World } from '../../actors/kernel/world.ts'

const PREFIX = 'tl_'
const RANDOM_BYTES = 25
const RANDOM_LENGTH = 34
const CHECKSUM_LENGTH = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const FORM = /^tl_[0-9A-Za-z]{40}$/

/** A new secret. */
export function newKeySecret(world: Pick<World, 'secret'>): string {
  const body = PREFIX + base62(BigInt(`0x${world.secret(RANDOM_BYTES)}`), RANDOM_LENGTH)
  return body + checksumOf(body)
}

/** True if a text has the form of a key, and its checksum. */
export const isKeySecret = (text: string): boolean =>
  FORM.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)

/** What is stored of a secret. Its 200 random bits cannot be guessed, so it needs neither salt nor stretching. */
export const digestOfKey = (secret: string): string => hash('sha256', secret, 'base64url')

const checksumOf = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_LENGTH)

function base62(value: bigint, length: number): string {
  const base = BigInt(DIGITS.length)
  let text = ''
  for (let rest = value; rest > 0n; rest /= base) text = DIGITS.charAt(Number(rest % base)) + text
  return text.padStart(length, '0')
}
