/** Returns a function that runs work, at most `max` at the same time. Further work waits in order. */
export function limitConcurrency(max: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const startNext = waiting.shift()
      if (startNext) startNext()
      else running--
    }
  }
}
