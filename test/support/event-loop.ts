const SAMPLE_INTERVAL_MS = 5

/**
 * Measures the longest time that this thread computed without returning to the event loop, in milliseconds of CPU time, so
 * that other processes do not affect it. Returns a function that stops and returns the maximum.
 */
export function watchEventLoop(): () => number {
  let longest = 0
  let last = threadCpuMs()
  const sample = () => {
    const now = threadCpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(sample, SAMPLE_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    sample()
    return longest
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
