const REFERENCE_BODY = JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: [1, 'x'] })))
/** CPU time of parsing the reference body on a machine on which the limits hold as they are. */
const REFERENCE_MS = 3.5
const RUNS_PER_ROUND = 8
const MAX_ROUNDS = 40

/** Speed of this machine when it was last measured; that of the reference machine is 1. */
let speed = 1

/**
 * Returns the CPU time of a function in milliseconds. The fastest run counts, because other work on the machine slows single runs down. On a
 * processor that is slow, or whose cache is used by others, the time is scaled down to that of a machine that parses the reference body in
 * 3.5 ms. The speed of a shared machine changes all the time, so both are measured alternately until the time is below the limit.
 */
export async function measureCpuMs<T>(
  limitMs: number,
  { input, run }: { input: (runNumber: number) => T; run: (input: T) => unknown },
): Promise<number> {
  let runNumber = 0
  const measureRun = () => measureFastestMs(() => input(runNumber++), run, limitMs / 2)
  let fastestMs = (await measureRun()) * speed
  for (let round = 0; round < MAX_ROUNDS && fastestMs > limitMs; round++) {
    speed = Math.min(1, REFERENCE_MS / (await measureFastestMs(() => REFERENCE_BODY, JSON.parse)))
    fastestMs = Math.min(fastestMs, (await measureRun()) * speed)
  }
  return fastestMs
}

/** Stops after a run that is fast enough. */
async function measureFastestMs<T>(input: () => T, run: (input: T) => unknown, fastEnoughMs = 0): Promise<number> {
  let fastestMs = Number.POSITIVE_INFINITY
  for (let count = 0; count < RUNS_PER_ROUND && fastestMs > fastEnoughMs; count++) {
    const value = input()
    const start = process.cpuUsage()
    await run(value)
    const { user, system } = process.cpuUsage(start)
    fastestMs = Math.min(fastestMs, (user + system) / 1000)
  }
  return fastestMs
}
