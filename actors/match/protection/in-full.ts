/** How goals count in prices while protection is on. */
import type { SettingValues } from '../../kernel/settings.ts'
import type { ScoringModel } from '../../market/pricing.ts'

/**
 * The model in which a goal counts in full at once. Fills follow what is taken back of goals, so the chance that a goal
 * stands would be a gift: a user who opens after it would keep the rise and get back the fall.
 */ // N8
export const inFull = (model: ScoringModel): ScoringModel => ({
  ...model,
  review: { ...model.review, share: 0, stand: 1 },
})

/** How these settings make prices of what the model says. */
export const priced = (values: Pick<SettingValues, 'trading.protection'>, model: ScoringModel): ScoringModel =>
  values['trading.protection'] === 'on' ? inFull(model) : model
