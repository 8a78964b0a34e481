/** When a referral is credited. A single opening is cheap to fake; several closes on different days are less so. */
import { REFERRAL_CLOSES, REFERRAL_DAYS, REFERRALS_WEEKLY_MAX } from '../kernel/limits.ts'
import type { Career } from './career.ts'

export interface ReferralTerms {
  /** The number of positions that the friend must have closed, voids excluded. */
  readonly closesMin: number
  /** The least number of different days (UTC). */
  readonly daysMin: number
  /** Credits to one referrer in an ISO week. */
  readonly weeklyMax: number
}

export const DEFAULT_REFERRAL_TERMS: ReferralTerms = {
  closesMin: REFERRAL_CLOSES,
  daysMin: REFERRAL_DAYS,
  weeklyMax: REFERRALS_WEEKLY_MAX,
}

/** Whether this friend has traded enough for their referrer to be credited. */ // R10
export const isEarned = ({ main, closeDays }: Career, { closesMin, daysMin }: ReferralTerms): boolean =>
  main.closed > 0 && main.closed >= closesMin && closeDays >= daysMin
