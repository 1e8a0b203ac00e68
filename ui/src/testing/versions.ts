//! Versions and previews for tests, complete but for what the test says.

import type { CompressionPreview } from '../api/generated/CompressionPreview'
import type { Version } from '../api/generated/Version'

export function aVersion(given: Partial<Version> = {}): Version {
  return {
    version_id: 'v001',
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    file: 'v001_tiered-standard_10k',
    paths: ['/m/v001.md', '/m/v001.jsonl'],
    created_at: '2026-01-20T10:00:00.000Z',
    settings: { mode: 'tiered', tier_preset: 'standard', skip_first_messages: 0, keepit_mode: 'decay' },
    engine: 'extractive',
    original_tokens: 100_234,
    output_tokens: 10_020,
    output_messages: 58,
    compression_ratio: 10,
    keepit_stats: { preserved: 6, summarized: 1, weights: {} },
    source_version: null,
    lineage: 'original',
    parts: [{ first: 0, last: 449, original_tokens: 100_234, output_tokens: 10_020, output_messages: 58, made_in: given.version_id ?? 'v001' }],
    behind: null,
    last_used: null,
    used_in: [],
    bytes: 40_000,
    auto_created: false,
    ...given,
  }
}

export function aPreview(given: Partial<CompressionPreview> = {}): CompressionPreview {
  return {
    original_tokens: 100_234,
    original_messages: 450,
    budget: 7000,
    output_tokens: 6758,
    output_messages: 58,
    compression_ratio: 14.83,
    distance: 1,
    tiers: [],
    keepits: [
      { marker_id: 'k1', message_index: 12, content: 'Never log a token.', weight: 1, survives: true, fate: 'SURVIVES', margin: 0.5, threshold: 0.5, reason: 'pinned' },
      { marker_id: 'k2', message_index: 80, content: 'Redis is a dependency.', weight: 0.5, survives: false, fate: 'SUMMARIZED', margin: -0.1, threshold: 0.6, reason: 'weight 0.50 is below the threshold 0.60' },
    ],
    left_out: [{ reason: 'over budget', messages: 392, tokens: 80_000 }],
    output_map: [],
    lineage: 'original',
    source_version: null,
    parts: [{ first: 0, last: 449, original_tokens: 100_234, output_tokens: 6758, output_messages: 58, made_in: 'new' }],
    anew: [],
    ...given,
  }
}
