/**
 * A call from a module to the modules above it, which it cannot import: mandates run `beforeMandateArchived`, and campaigns
 * register a handler that rejects the change. Handlers run in the caller's transaction, in the order of their registration.
 */
export interface Hook<Args extends unknown[], Result = void> {
  /** Returns a function that removes the handler. Registering the same function again has no effect. */
  register(handler: (...args: Args) => Promise<Result>): () => void
  /** Returns the handlers' results. Throws if there is no handler, because skipping one would lose events silently. */
  run(...args: Args): Promise<[Result, ...Result[]]>
}

export function defineHook<Args extends unknown[], Result = void>(name: string): Hook<Args, Result> {
  const handlers = new Set<(...args: Args) => Promise<Result>>()
  return {
    register(handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
    async run(...args) {
      const [first, ...others] = handlers
      if (!first) throw new Error(`no handler is registered for the hook ${name}: call registerHandlers()`)
      const results: [Result, ...Result[]] = [await first(...args)]
      for (const handler of others) results.push(await handler(...args))
      return results
    },
  }
}
