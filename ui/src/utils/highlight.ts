//! Code in four colours. Languages are chosen; unknown ones are shown plain.

import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { escapeHtml, type RenderedHtml } from './html'

const LANGUAGES = { bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, php, python, ruby, rust, shell, sql, swift, typescript, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)
hljs.registerAliases(['vue', 'svelte'], { languageName: 'xml' })
hljs.registerAliases(['tsx'], { languageName: 'typescript' })
hljs.registerAliases(['jsx', 'mjs', 'cjs'], { languageName: 'javascript' })

/** Longer code is shown plain: colouring it would hold the page up. */
const MOST_CHARACTERS = 60_000

/** Code as HTML with the classes of highlight.js, which prose.css maps to four colours. */
export function highlight(code: string, language: string): RenderedHtml {
  const name = language.toLowerCase()
  if (name === '' || code.length > MOST_CHARACTERS || hljs.getLanguage(name) === undefined) return escapeHtml(code) as RenderedHtml
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value as RenderedHtml
}

/** The language of a file, by its name's ending. */
export function languageOf(path: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  return hljs.getLanguage(ending) === undefined ? '' : ending
}
