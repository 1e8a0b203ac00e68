import { describe, expect, it } from 'vitest'
import { renderMarkdown, type Passage } from './markdown'

function show(source: string, passages: Passage[] = []): HTMLElement {
  const box = document.createElement('div')
  box.append(new DOMParser().parseFromString(renderMarkdown(source, passages), 'text/html').body)
  return box
}

/** The words of each run that names its place must stand there in the source. */
function expectPlaces(source: string, box: HTMLElement): void {
  for (const run of box.querySelectorAll('[data-s]:not([data-n])')) {
    const start = Number(run.getAttribute('data-s'))
    const words = run.textContent
    expect(source.slice(start, start + words.length), 'a run stands in the source where it says').toBe(words)
  }
}

describe('Markdown of transcripts', () => {
  it.each([
    '<script>window.hacked = true</script>',
    '<img src=x onerror=alert(1)>',
    '<style>body{display:none}</style>',
    '<iframe src="https://evil.example"></iframe>',
    '<svg onload=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](<javascript:alert(1)>)',
    '![x](https://evil.example/pixel.png)',
    '![x](file:///etc/passwd)',
    '[![x](https://evil.example/a.png)](https://evil.example)',
    '<https://evil.example>',
    '`<img src=x onerror=alert(1)>`',
    '```html\n<script>alert(1)</script>\n```',
    '```"><script>alert(1)</script>\ncode\n```',
    '[x](https://a.example "title\\" onmouseover=alert(1)")',
    '| a |\n|:-:|\n| <b onclick=x>b</b> |',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '<a href="https://evil.example" style="position:fixed;inset:0">x</a>',
  ])('runs, loads and restyles nothing: %s', (source) => {
    const box = show(source)
    expect(box.querySelectorAll('script, img, iframe, style, svg, object, embed, link, form, input, a, base, meta')).toHaveLength(0)
    for (const element of box.querySelectorAll('*')) {
      for (const name of element.getAttributeNames()) {
        expect(['class', 'data-s', 'data-n', 'data-lines', 'data-link', 'title', 'role', 'tabindex', 'start'], `<${element.tagName}> has ${name}`).toContain(name)
      }
    }
  })

  it('shows a link with its address, to be opened only by the desktop', () => {
    const link = show('[docs](https://example.org/a?b=1&c=2)').querySelector('[data-link]')
    expect(link?.getAttribute('data-link')).toBe('https://example.org/a?b=1&c=2')
    expect(link?.getAttribute('href')).toBeNull()
  })

  it.each([
    'plain words',
    'one **two** `three` *four*',
    '# Head\n\n- a\n- b `c`\n\n> quoted **text**\n> more',
    '| a | b |\n|---|--:|\n| one | two |',
    'see [one](https://x.example/one) one',
    'line one\nline two\n  indented three',
    '1. first\n2. second\n\n   ```js\n   const a = 1\n   ```\n\nlast',
    'emoji 😀 and ümlaut **ß**',
    'a \\* b &amp; c',
  ])('each run names its place in the source: %s', (source) => {
    const box = show(source)
    expect(box.querySelectorAll('[data-s]').length).toBeGreaterThan(0)
    expectPlaces(source, box)
  })

  it('names the place of each line of code, however it is indented', () => {
    const source = '- item\n\n  ```\n  one\n    two\n  ```\n'
    const lines = show(source).querySelector('[data-lines]')?.getAttribute('data-lines')?.split(',').map(Number) ?? []
    expect(lines.map((at) => source.slice(at, at + 3))).toEqual(['one', '  t'])
  })
})

describe('keepit passages', () => {
  it('that hold whole blocks are a box with one chip, and their syntax is never shown', () => {
    const source = 'Before.\n\n##keepit0.75## Decision: one **lock**.\n\nBecause of tabs.'
    const start = source.indexOf('##')
    const box = show(source, [{ markerId: 'k1', weight: 0.75, start, contentStart: start + 15, end: source.length }])
    expect(box.textContent).not.toContain('##')
    expect(box.querySelectorAll('.keep')).toHaveLength(1)
    expect(box.querySelectorAll('.keep > p')).toHaveLength(2)
    expect(box.querySelectorAll('.keep-chip')).toHaveLength(1)
    expect(box.querySelector('.keep-chip')?.textContent).toBe('0.75 Important')
    expect(box.querySelector('.keep')?.textContent).not.toContain('Before')
    expectPlaces(source, box)
  })

  it('at the start of a line open a block of their own', () => {
    const source = 'Before.\n##keepit1##Never log a token.'
    const start = source.indexOf('##')
    const box = show(source, [{ markerId: 'k', weight: 1, start, contentStart: start + 11, end: source.length }])
    expect(box.querySelector('.keep')?.textContent).toBe('1.00 PinnedNever log a token.\n'.replace('\n', '') + '\n')
    expectPlaces(source, box)
  })

  it('within a paragraph are marked in the line, through other markup', () => {
    const source = 'Refresh is **single-flight** per session, always.'
    const start = source.indexOf('single')
    const end = source.indexOf(' session')
    const box = show(source, [{ markerId: 'k', weight: 0.5, start, contentStart: start, end }])
    expect(box.querySelector('.keep')).toBeNull()
    expect([...box.querySelectorAll('.keep-run')].map((run) => run.textContent).join('')).toBe('single-flight per')
    expect(box.querySelectorAll('.keep-chip')).toHaveLength(1)
    expectPlaces(source, box)
  })

  it('with a closing marker end there, and it is not shown', () => {
    const source = '##keepit0.9## Keep this. ##/keepit##\nNot this.'
    const end = source.indexOf(' ##/')
    const box = show(source, [{ markerId: 'k', weight: 0.9, start: 0, contentStart: 14, end }])
    expect(box.textContent).not.toContain('##')
    expect(box.querySelector('.keep')?.textContent).toContain('Keep this.')
    expect(box.querySelector('.keep')?.textContent).not.toContain('Not this')
    expectPlaces(source, box)
  })
})
