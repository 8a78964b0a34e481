/** The terms of referral credits as the settings say. */
import type { ReferralTerms } from '../../actors/community/referral.ts'
import type { Settings } from '../../db/settings.ts'

export const referralTermsOf = (settings: Pick<Settings, 'value'>): ReferralTerms => ({
  closesMin: settings.value('referrals.closes_min'),
  daysMin: settings.value('referrals.days_min'),
  weeklyMax: settings.value('referrals.weekly_max'),
})
