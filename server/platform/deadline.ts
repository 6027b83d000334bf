/** Settles as `work` does, or rejects after `milliseconds`. The work itself is not cancelled. */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(timeoutError(milliseconds)), milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

export function timeoutError(milliseconds: number): Error {
  return new Error(`no response within ${milliseconds} ms`)
}
