type Handler<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

/**
 * A call from a module to the modules above it, which it cannot import: mandates run `beforeMandateArchived`, and campaigns
 * register a handler that rejects the change. A hook declares which modules must handle it, so that a missing handler is an error
 * instead of silently lost events or counts. Handlers run in the caller's transaction, in the declared order.
 */
export interface Hook<Args extends unknown[], Module extends string, Result = void> {
  /** Registers the handlers of all declared modules. Registering the same functions again has no effect. */
  register(handlers: Record<Module, Handler<Args, Result>>): void
  /** Adds a handler that runs after the registered ones, for tests. Returns a function that removes it. */
  observe(handler: (...args: Args) => Promise<void>): () => void
  /** Returns the result of each module. Throws if the handlers are not registered. */
  run(...args: Args): Promise<Record<Module, Result>>
}

/** Defines a hook: `defineHook<[tx: Tx, id: string]>('mandateArchived').handledBy('campaigns', 'analytics')`. */
export function defineHook<Args extends unknown[], Result = void>(name: string) {
  return {
    handledBy<Module extends string>(...modules: [Module, ...Module[]]): Hook<Args, Module, Result> {
      return createHook(name, modules)
    },
  }
}

function createHook<Args extends unknown[], Module extends string, Result>(
  name: string,
  modules: Module[],
): Hook<Args, Module, Result> {
  let registered: Record<Module, Handler<Args, Result>> | undefined
  const observers = new Set<Handler<Args, void>>()
  return {
    register(handlers) {
      const missingModules = modules.filter((module) => typeof handlers[module] !== 'function')
      if (missingModules.length > 0)
        throw new Error(`hook ${name}: the handler of ${missingModules.join(', ')} is missing`)
      for (const module of Object.keys(handlers) as Module[]) {
        if (!modules.includes(module)) throw new Error(`hook ${name}: ${module} is not one of its modules`)
        if (registered && registered[module] !== handlers[module])
          throw new Error(`hook ${name}: the handler of ${module} is already registered`)
      }
      registered = { ...handlers }
    },
    observe(handler) {
      observers.add(handler)
      return () => void observers.delete(handler)
    },
    async run(...args) {
      if (!registered)
        throw new Error(
          `hook ${name}: the handler of ${modules.join(', ')} is not registered; call registerHandlers() first`,
        )
      const results = {} as Record<Module, Result>
      for (const module of modules) results[module] = await registered[module](...args)
      for (const observe of observers) await observe(...args)
      return results
    },
  }
}
