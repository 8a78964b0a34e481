/** When a referral is credited: at the friend's first trade (specification 2.6), or later where operators want more. */
import { REFERRALS_WEEKLY_MAX } from '../kernel/limits.ts'
import type { Career } from './career.ts'

export interface ReferralTerms {
  /** The number of positions that the friend must also have closed, voids excluded. */
  readonly closesMin: number
  /** The least number of different days (UTC). */
  readonly daysMin: number
  /** Credits to one referrer in an ISO week. */
  readonly weeklyMax: number
}

export const DEFAULT_REFERRAL_TERMS: ReferralTerms = {
  closesMin: 0,
  daysMin: 0,
  weeklyMax: REFERRALS_WEEKLY_MAX,
}

/** Whether this friend has traded enough for their referrer to be credited. */ // R10
export const isEarned = ({ opened, main, closeDays }: Career, { closesMin, daysMin }: ReferralTerms): boolean =>
  opened + main.closed > 0 && main.closed >= closesMin && closeDays >= daysMin
