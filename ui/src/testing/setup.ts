//! What every test starts from: matchers, and an empty page after each.

import '@testing-library/jest-dom/vitest'
import { cleanup } from '@testing-library/vue'
import { afterEach } from 'vitest'

afterEach(() => cleanup())
