import { describe, expect, it } from 'vitest'
import { firstForm, formOf, gentlerRatio, parseRatio, ratioText, requestOf, settingsText } from './form'
import { withRatio } from './tiers'

describe('the request of the dialog', () => {
  it('names a ready set, and sends tiers only when they are of the user’s own', () => {
    expect(requestOf('s', firstForm('gentle')).settings).toMatchObject({ mode: 'tiered', tier_preset: 'gentle', custom_tiers: null, keepit_mode: 'decay', session_distance: null })
    const own = { ...firstForm(), preset: 'custom' as const, tiers: withRatio(firstForm().tiers, 1, 40) }
    expect(requestOf('s', own).settings.custom_tiers?.[1]).toEqual({ end_percent: 50, compaction_ratio: 40, aggressiveness: null })
  })

  it('says nothing of tiers in uniform mode, and of the level only when it is set', () => {
    const uniform = requestOf('s', { ...firstForm(), mode: 'uniform', ratio: 30, from: 'v001', distance: 6 })
    expect(uniform).toEqual({ session: 's', from: 'v001', settings: { mode: 'uniform', compaction_ratio: 30, aggressiveness: null, skip_first_messages: 0, keepit_mode: 'decay', session_distance: 6 }, full: false, part: null })
    expect(requestOf('s', { ...firstForm(), mode: 'uniform', level: 'light' }).settings.aggressiveness).toBe('light')
  })
})

describe('the form of settings', () => {
  it('makes the same request again', () => {
    const forms = [firstForm('aggressive', 'ignore'), { ...firstForm(), mode: 'uniform' as const, ratio: 12, level: 'light' as const, skip: 3, distance: 4, engine: 'anthropic', model: 'm' }, { ...firstForm(), preset: 'custom' as const, tiers: withRatio(firstForm().tiers, 1, 40) }]
    for (const form of forms) expect(requestOf('s', formOf(requestOf('s', form).settings))).toEqual(requestOf('s', form))
  })
})

describe('a typed ratio', () => {
  it.each([['30', 30], ['30:1', 30], ['7.5', 7.5], ['7,5 : 1', 7.5], ['1000', 1000]])('%s is %s', (typed, ratio) => expect(parseRatio(typed)).toBe(ratio))
  it.each(['1', '0', '1001', '', 'ten', '-4', '30:2'])('%s is none', (typed) => expect(parseRatio(typed)).toBeUndefined())
})

describe('words', () => {
  it('of settings and ratios', () => {
    expect(ratioText(14.83)).toBe('14.8:1')
    expect(settingsText(requestOf('s', firstForm('aggressive')).settings)).toBe('tiered, aggressive')
    expect(settingsText(requestOf('s', { ...firstForm(), mode: 'uniform', ratio: 30 }).settings)).toBe('uniform 30:1')
  })
  it('offer a gentler ratio until there is none', () => {
    expect([50, 35, 10, 2, 1.5].map(gentlerRatio)).toEqual([30, 30, 4, 1.5, undefined])
  })
})
