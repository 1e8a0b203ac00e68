//! What was last found of near-duplicates: kept while the window is open, for finding them reads all that was said.

import { shallowRef } from 'vue'
import type { NearDuplicates } from '../api/generated/NearDuplicates'
import type { NearDuplicatesRequest } from '../api/generated/NearDuplicatesRequest'

export interface FoundNearDuplicates {
  request: NearDuplicatesRequest
  found: NearDuplicates
  at: string
}

export const foundNearDuplicates = shallowRef<FoundNearDuplicates>()
