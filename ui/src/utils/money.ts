//! Sums of money in words: US dollars, as engines charge them.

/** `$0.21`, `$12.50`, `$0.004`; `free` for nothing. */
export function dollars(value: number): string {
  if (value === 0) return 'free'
  if (value < 0.01) return `$${value.toPrecision(1)}`
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}
