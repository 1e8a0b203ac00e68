import { beforeEach, describe, expect, it } from 'vitest'
import { focusPane } from './panes'

describe('going from pane to pane', () => {
  beforeEach(() => {
    document.body.replaceChildren()
    const add = (tag: string, label: string, attributes: Record<string, string>, inside: string[] = []): void => {
      const pane = document.createElement(tag)
      pane.setAttribute('aria-label', label)
      for (const [name, value] of Object.entries(attributes)) pane.setAttribute(name, value)
      for (const words of inside) {
        const button = document.createElement('button')
        button.textContent = words
        pane.append(button)
      }
      document.body.append(pane)
    }
    add('nav', 'sidebar', {}, ['Search', 'Projects'])
    add('div', 'list', { role: 'listbox', tabindex: '0' })
    add('main', 'detail', {}, ['Compress'])
  })
  const where = (): string | null => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? null

  it('goes round, past what stands between', () => {
    const visited = [1, 2, 3, 4].map(() => {
      focusPane(document, false)
      return where()
    })
    expect(visited).toEqual(['Search', 'list', 'Compress', 'Search'])
  })

  it('goes back as well, from nowhere to the last', () => {
    const visited = [1, 2, 3].map(() => {
      focusPane(document, true)
      return where()
    })
    expect(visited).toEqual(['Compress', 'list', 'Search'])
  })
})
