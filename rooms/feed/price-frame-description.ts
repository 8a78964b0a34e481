/** The price frame byte by byte, for the API description. Offsets are those of the codec. */
import { CAUSES } from '../../actors/market/instrument.ts'
import { PHASE_CODE } from '../../actors/market/phase.ts'
import { FLAG, OFFSET } from './price-frame.ts'

/** Big-endian; `i64` is signed, a `uuid` is its sixteen bytes in the order of its text. */
export type FieldType = 'u8' | 'u16' | 'u32' | 'u64' | 'i64' | 'uuid'

export const FIELD_BYTES: Readonly<Record<FieldType, number>> = { u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, uuid: 16 }

export interface FrameField {
  readonly name: string
  readonly type: FieldType
  readonly meaning: string
  /** The names of a code's values, from 0. */
  readonly values?: readonly string[]
}

const flags = Object.entries(FLAG).map(([name, bit]) => `${bit} ${name.toUpperCase()}`)

const FRAME_FIELDS: Readonly<Record<keyof typeof OFFSET, FrameField>> = {
  type: { name: 'type', type: 'u8', meaning: '1: a price. Skip frames of other types.' },
  version: { name: 'version', type: 'u8', meaning: '1: this layout.' },
  flags: { name: 'flags', type: 'u16', meaning: `Added up: ${flags.join(', ')}.` },
  epoch: {
    name: 'epoch',
    type: 'u32',
    meaning: 'The incarnation of the match. When it changes, earlier `seq` are void.',
  },
  seq: {
    name: 'seq',
    type: 'u64',
    meaning: 'Counts the published prices of the match within the epoch, from 1. A snapshot repeats one.',
  },
  instrument: { name: 'instrumentId', type: 'uuid', meaning: 'The instrument that has this price.' },
  time: { name: 'time', type: 'i64', meaning: 'Microseconds since 1970 UTC.' },
  price: { name: 'price', type: 'i64', meaning: 'Millionths of a unit: `currentPrice`.' },
  base: { name: 'liveBase', type: 'i64', meaning: 'Millionths: `live_base_price`.' },
  imbalance: { name: 'imbalance', type: 'i64', meaning: 'Millionths of a lot: `net_position_imbalance`.' },
  previous: {
    name: 'previousPrice',
    type: 'i64',
    meaning: 'Millionths. The price before this move. If it is not the one you have, you missed a move.',
  },
  providerEvent: { name: 'providerEventId', type: 'u64', meaning: 'The in-game event that caused the move, or 0.' },
  fixture: { name: 'fixtureId', type: 'u32', meaning: 'The match that `seq` and `epoch` belong to.' },
  phase: {
    name: 'matchState',
    type: 'u8',
    meaning: 'A code: the phase of the match.',
    values: Object.entries(PHASE_CODE)
      .toSorted(([, a], [, b]) => a - b)
      .map(([phase]) => phase),
  },
  cause: {
    name: 'cause',
    type: 'u8',
    meaning: 'A code: the cause of the move.',
    values: CAUSES,
  },
  minute: { name: 'minute', type: 'u16', meaning: 'The match clock, 65535 before kick-off.' },
  status: {
    name: 'tradingStatus',
    type: 'u8',
    meaning: 'A code: whether the instrument is tradeable.',
    values: ['CLOSED', 'OPEN', 'SUSPENDED'],
  },
  checksum: { name: 'checksum', type: 'u32', meaning: 'CRC-32 (IEEE 802.3) of the 89 bytes before.' },
}

/** The fields in the order of their bytes, with their offsets. */
export function placed(): (FrameField & { readonly offset: number })[] {
  const fields = Object.entries(FRAME_FIELDS).map(([key, field]) => ({ ...field, offset: offsets.get(key) ?? 0 }))
  return fields.toSorted((a, b) => a.offset - b.offset)
}

const offsets: ReadonlyMap<string, number> = new Map(Object.entries(OFFSET))
