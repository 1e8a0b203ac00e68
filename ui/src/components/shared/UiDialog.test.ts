import { render, screen, waitFor } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import UiDialog from './UiDialog.vue'

describe('a dialog that opens by a key', () => {
  it('gives the keyboard back to where it was when it closes', async () => {
    const open = ref(false)
    render(defineComponent({ setup: () => () => h('div', [h('main', { tabindex: -1 }, [h('button', { onKeydown: () => (open.value = true) }, 'Row')]), h(UiDialog, { title: 'Rename', open: open.value, 'onUpdate:open': (now: boolean) => (open.value = now) }, { default: () => h('input', { 'aria-label': 'Title' }) })]) }))
    const user = userEvent.setup()
    screen.getByRole('button', { name: 'Row' }).focus()
    await user.keyboard('{F2}')
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Title' })).toHaveFocus())
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.getByRole('button', { name: 'Row' }), 'not the top of the page').toHaveFocus())
  })
})
