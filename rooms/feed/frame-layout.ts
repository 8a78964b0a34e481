/** The price frame byte by byte, as documents tell it to those who write a decoder of their own. Tests hold it against the codec. */
import { CAUSES } from '../../actors/market/instrument.ts'
import { PHASE_CODE } from '../../actors/market/phase.ts'
import { FLAG } from './price-frame.ts'

/** Big-endian; `i64` is signed, `uuid` sixteen bytes in the order they are written in. */
export type FieldType = 'u8' | 'u16' | 'u32' | 'u64' | 'i64' | 'uuid'

export const FIELD_BYTES: Readonly<Record<FieldType, number>> = { u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, uuid: 16 }

export interface FrameField {
  readonly name: string
  readonly type: FieldType
  readonly meaning: string
  /** What the numbers of a code stand for, from 0 on. */
  readonly values?: readonly string[]
}

const flags = Object.entries(FLAG).map(([name, bit]) => `${bit} ${name.toUpperCase()}`)

/** In the order of the bytes, without gaps. */
const FRAME_FIELDS: readonly FrameField[] = [
  { name: 'type', type: 'u8', meaning: '1: a price. Skip what you do not know.' },
  { name: 'version', type: 'u8', meaning: '1: this layout.' },
  { name: 'flags', type: 'u16', meaning: `Added up: ${flags.join(', ')}.` },
  {
    name: 'epoch',
    type: 'u32',
    meaning: 'Which incarnation of the match speaks. Another one: earlier `seq` are void.',
  },
  {
    name: 'seq',
    type: 'u64',
    meaning: 'Counts the moves of the match within the epoch, from 1. A snapshot repeats one.',
  },
  { name: 'instrumentId', type: 'uuid', meaning: 'Whose price it is.' },
  { name: 'time', type: 'i64', meaning: 'Microseconds since 1970 UTC.' },
  { name: 'price', type: 'i64', meaning: 'Millionths of a unit: `currentPrice`.' },
  { name: 'liveBase', type: 'i64', meaning: 'Millionths: `live_base_price`.' },
  { name: 'imbalance', type: 'i64', meaning: 'Millionths of a lot: `net_position_imbalance`.' },
  {
    name: 'previousPrice',
    type: 'i64',
    meaning: 'Millionths. Of the move before; another one than you know means you missed some.',
  },
  { name: 'providerEventId', type: 'u64', meaning: 'The in-game event that caused the move, or 0.' },
  { name: 'fixtureId', type: 'u32', meaning: 'The match. `seq` and `epoch` are its.' },
  {
    name: 'matchState',
    type: 'u8',
    meaning: 'A code.',
    values: Object.entries(PHASE_CODE)
      .toSorted(([, a], [, b]) => a - b)
      .map(([phase]) => phase),
  },
  {
    name: 'cause',
    type: 'u8',
    meaning: 'A code: what moved the price.',
    values: CAUSES,
  },
  { name: 'minute', type: 'u16', meaning: 'The match clock, 65535 before kick-off.' },
  { name: 'tradingStatus', type: 'u8', meaning: 'A code.', values: ['CLOSED', 'OPEN', 'SUSPENDED'] },
  { name: 'checksum', type: 'u32', meaning: 'CRC-32 (IEEE 802.3) of the 89 bytes before.' },
]

/** The fields with where each begins. */
export function placed(): (FrameField & { readonly offset: number })[] {
  let offset = 0
  return FRAME_FIELDS.map((field) => {
    const at = offset
    offset += FIELD_BYTES[field.type]
    return { ...field, offset: at }
  })
}
