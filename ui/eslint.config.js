// Who may import whom is written here: views → components/<domain> → components/shared; only api → host → @tauri-apps.
import js from '@eslint/js'
import { createNodeResolver, flatConfigs, importX } from 'eslint-plugin-import-x'
import pluginVue from 'eslint-plugin-vue'
import globals from 'globals'
import tseslint from 'typescript-eslint'

const zone = (target, from, message) => ({ target, from, message })

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'src/api/generated', 'src/host/generated'] },
  js.configs.recommended,
  tseslint.configs.strict,
  tseslint.configs.stylistic,
  pluginVue.configs['flat/recommended'],
  {
    files: ['**/*.{ts,vue,js}'],
    plugins: { 'import-x': importX },
    languageOptions: {
      globals: globals.browser,
      parserOptions: { parser: tseslint.parser, extraFileExtensions: ['.vue'] },
    },
    settings: {
      ...flatConfigs.typescript.settings,
      'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.vue', '.js'] })],
    },
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: "CallExpression[callee.property.name='insertAdjacentHTML']", message: 'Transcripts are hostile input: use the Markdown renderer.' },
        { selector: "MemberExpression[property.name='innerHTML']", message: 'Transcripts are hostile input: use the Markdown renderer.' },
      ],
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': [
        'error',
        {
          zones: [
            zone('./src/!(host)/**/*', './node_modules/@tauri-apps', 'Only host/ imports @tauri-apps.'),
            zone('./src/!(host|api|testing)/**/*', './src/host', 'Only api/ imports host/.'),
            zone('./src/!(views)/**/*', './src/views', 'Nothing but the router imports a view.'),
            zone('./src/{api,host}', './src/{components,state,composables,router.ts}', 'api/ and host/ know no screen.'),
            zone('./src/components/shared', './src/components/!(shared)/**/*', 'Shared components know no domain.'),
            zone('./src/components/shared', './src/{state,router.ts}', 'Shared components know no state.'),
            zone('./src/utils', './src/{components,state,api/call.ts,host}', 'utils/ are pure functions.'),
          ],
        },
      ],
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'vue/no-v-html': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'always' } }],
      'vue/html-indent': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/require-default-prop': 'off',
      'vue/block-order': ['error', { order: ['script', 'template', 'style'] }],
      'vue/component-api-style': ['error', ['script-setup']],
    },
  },
  {
    // Only these show HTML, and only what the renderers of utils/ made of escaped text (the type says so).
    files: ['src/**/*.vue'],
    ignores: ['src/components/shared/SafeHtml.vue', 'src/components/shared/CodeHtml.vue'],
    rules: { 'vue/no-v-html': 'error' },
  },
  {
    files: ['*.config.{ts,js}'],
    languageOptions: { globals: globals.node },
  },
  {
    files: ['src/**/*.{ts,vue}'],
    ignores: ['src/host/**'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ group: ['@tauri-apps/*'], message: 'Only host/ imports @tauri-apps.' }] }],
    },
  },
)
