import userEvent from '@testing-library/user-event'
import { render, screen } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import type { ConfigState } from '../../api/generated/ConfigState'
import type { SettingState } from '../../api/generated/SettingState'
import { config } from '../../state/settings'
import { useTestHost } from '../../testing/host'
import { settingSections } from '../../utils/settingWords'
import SettingRow from './SettingRow.vue'

const keep: SettingState = { key: 'backup.keep', value: 7, default: 3, rule: { kind: 'whole', from: 1, to: 365 }, allowed: 'a whole number from 1 to 365' }
const cache: SettingState = { key: 'storage.maxCacheSize', value: '1GB', default: '1GB', rule: { kind: 'size' }, allowed: 'a size such as "500MB" or "1GB"' }
const state = (settings: SettingState[]): ConfigState => ({ config: {}, path: '/m/config.json', settings })

describe('a setting', () => {
  it('writes a change when the field is left, and shows what counts then', async () => {
    const host = useTestHost({ config_set: ({ value }) => state([{ ...cache, value }]) })
    render(SettingRow, { props: { setting: cache } })
    const field = screen.getByRole('textbox', { name: 'Cache' })
    await userEvent.clear(field)
    await userEvent.type(field, '2GB{Enter}')
    expect(host.calls).toEqual([{ command: 'config_set', request: { key: 'storage.maxCacheSize', value: '2GB' } }])
    expect(config.value?.settings[0]?.value).toBe('2GB')
  })

  it('keeps what was typed in view with the reason when it may not be', async () => {
    useTestHost({ config_set: () => { throw { kind: 'usage', message: '`storage.maxCacheSize` cannot be "much": it must be a size' } as unknown as Error } })
    render(SettingRow, { props: { setting: cache } })
    const field = screen.getByRole('textbox', { name: 'Cache' })
    await userEvent.clear(field)
    await userEvent.type(field, 'much')
    await userEvent.tab()
    expect(await screen.findByRole('alert')).toHaveTextContent('it must be a size')
    expect(field).toHaveValue('much')
  })

  it('offers its default only while it is another', async () => {
    const host = useTestHost({ config_set: () => state([]) })
    const { rerender } = render(SettingRow, { props: { setting: keep } })
    await userEvent.click(screen.getByRole('button', { name: 'Reset Keep to 3' }))
    expect(host.calls).toEqual([{ command: 'config_set', request: { key: 'backup.keep', value: null } }])
    await rerender({ setting: { ...keep, value: 3 } })
    expect(screen.queryByRole('button', { name: /Reset/ })).toBeNull()
  })

  it('says of a value that was written by hand why it may not be', () => {
    render(SettingRow, { props: { setting: { ...keep, value: 0, fault: '`backup.keep` cannot be 0: it must be a whole number from 1 to 365' } } })
    expect(screen.getByRole('alert')).toHaveTextContent('it must be a whole number from 1 to 365')
  })
})

describe('the sections of the settings', () => {
  it('hold every setting once, known or not', () => {
    const odd: SettingState = { key: 'new.thing', value: true, default: false, rule: { kind: 'truth' }, allowed: 'true or false' }
    const sections = settingSections([keep, cache, odd])
    expect(sections.map((section) => [section.title, section.settings.map((setting) => setting.key)])).toEqual([['Storage', ['storage.maxCacheSize']], ['Backups', ['backup.keep']], ['More', ['new.thing']]])
  })
})
