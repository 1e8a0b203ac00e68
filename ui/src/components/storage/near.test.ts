import { render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { ref } from 'vue'
import type { NearDuplicate } from '../../api/generated/NearDuplicate'
import { withProviders } from '../../testing/render'
import NearGroups from './NearGroups.vue'
import NearMember from './NearMember.vue'

const said = (text: string, given: Partial<NearDuplicate> = {}): NearDuplicate => ({
  session_id: 's1', session_title: 'Fix the lock', project_id: 'p', project: 'my-app', index: 4, message_uuid: 'u', role: 'user', similarity: 1, copies: 0, text, cut: 0, only_here: [], ...given,
})

describe('a message of a group of near-duplicates', () => {
  it('marks the words that only it has and those that it lacks, and opens in its session', async () => {
    const opened: NearDuplicate[] = []
    const member = said('Use one lock per window please', { session_id: 's2', similarity: 0.839, copies: 2 })
    render(withProviders(NearMember, { member, first: said('Use one lock per tab please'), onOpen: (which: NearDuplicate) => opened.push(which) }))
    const article = screen.getByTestId('near-member')
    expect(within(article).getByText('window', { selector: 'ins' })).toBeInTheDocument()
    expect(within(article).getByText('tab', { selector: 'del' })).toBeInTheDocument()
    expect(article, 'never rounded up to what it is not').toHaveTextContent('83 % alike')
    expect(article).toHaveTextContent('word for word in 2 other places')
    await userEvent.click(within(article).getByRole('button', { name: 'Open' }))
    expect(opened).toEqual([member])
  })

  it('of hostile text is text', () => {
    render(withProviders(NearMember, { member: said('<img src=x onerror=alert(1)> hello'), first: undefined }))
    expect(screen.getByTestId('near-member').querySelector('img')).toBeNull()
    expect(screen.getByTestId('near-member')).toHaveTextContent('<img src=x onerror=alert(1)> hello')
  })
})

describe('the groups of near-duplicates', () => {
  it('are gone through with the arrow keys', async () => {
    const chosen = ref(0)
    const groups = [['one two', 'one three'], ['four five', 'four six']].map((texts) => ({ messages: texts.map((text) => said(text)) }))
    render(withProviders(NearGroups, { groups, modelValue: 0, 'onUpdate:modelValue': (at: number) => (chosen.value = at) }))
    screen.getByRole('listbox', { name: 'Groups' }).focus()
    await userEvent.keyboard('{ArrowDown}')
    expect(chosen.value).toBe(1)
  })
})
