import assert from 'node:assert/strict'

const REFERENCE_BODY = JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: [1, 'x'] })))
/** CPU time of parsing the reference body on a machine on which the limits hold as they are. */
const REFERENCE_MS = 3.5
const RUNS = 20

/**
 * Returns a limit of CPU time for this machine: on a slower processor, or one that shares its cache with busy ones, the limit is higher in
 * proportion. On a faster one it is not lower.
 */
export function scaleCpuLimit(limitMs: number): number {
  let fastestMs = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS; run++) {
    const start = process.cpuUsage()
    JSON.parse(REFERENCE_BODY)
    const { user, system } = process.cpuUsage(start)
    fastestMs = Math.min(fastestMs, (user + system) / 1000)
  }
  return limitMs * Math.max(1, fastestMs / REFERENCE_MS)
}

/**
 * Fails if a measured time is above the limit, which was scaled when the test started. The speed of a busy machine changes: the limit is then
 * scaled again.
 */
export function requireCpuTime(
  what: string,
  ms: number,
  { limitMs, scaledMs }: { limitMs: number; scaledMs: number },
): void {
  assert.ok(ms <= scaledMs || ms <= scaleCpuLimit(limitMs), `${what} took ${ms.toFixed(1)} ms of CPU time`)
}
