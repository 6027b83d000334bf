import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { loadBundledContext, loadContexts } from './contexts.ts'

/** The parts of an active context of the package `jsonld` that `cloneContext` copies. */
interface ActiveContext {
  mappings: Map<string, object>
  protected: object
  inverse: null
  previousContext?: ActiveContext
  clone: (this: ActiveContext) => ActiveContext
  revertToPreviousContext: (this: ActiveContext) => ActiveContext
  getInverse: unknown
  '@base'?: unknown
  '@language'?: unknown
  '@vocab'?: unknown
}

let preparation: Promise<void> | undefined

/**
 * Makes `jsonld` copy contexts faster; call it before signing or verifying. The package clones all term definitions of a context
 * several times for every object that has a type, although it never changes a definition. Sharing the definitions makes a signature
 * three times as fast and has the same result, which a test compares. Copies inherit the functions of the initial context, so it
 * is enough to replace them there.
 */
export function prepareJsonLd(): Promise<void> {
  preparation ??= (async () => {
    const { default: jsonld } = await import('jsonld')
    const initialContext = (await jsonld.processContext(null, null, {
      documentLoader: loadBundledContext,
    })) as ActiveContext
    initialContext.clone = cloneContext
    initialContext.revertToPreviousContext = returnPreviousContext
  })()
  return preparation
}

/**
 * A copy of a context with the same properties as a copy of the package, but it shares the term definitions and the previous context. The
 * terms are copied when they are needed first: most copies only serve to look up a processed context.
 */
class ContextCopy implements ActiveContext {
  readonly original: ActiveContext
  readonly inverse = null
  readonly getInverse: unknown
  readonly clone = cloneContext
  readonly revertToPreviousContext = returnPreviousContext
  previousContext?: ActiveContext
  #mappings: Map<string, object> | undefined
  #protected: object | undefined

  constructor(original: ActiveContext) {
    this.original = original
    this.getInverse = original.getInverse
    if (original.previousContext) this.previousContext = original.previousContext
  }

  get mappings(): Map<string, object> {
    this.#mappings ??= new Map(this.original.mappings)
    return this.#mappings
  }

  get protected(): object {
    this.#protected ??= { ...this.original.protected }
    return this.#protected
  }
}

function cloneContext(this: ActiveContext): ActiveContext {
  const copy: ActiveContext = new ContextCopy(this)
  if ('@base' in this) copy['@base'] = this['@base']
  if ('@language' in this) copy['@language'] = this['@language']
  if ('@vocab' in this) copy['@vocab'] = this['@vocab']
  return copy
}

function returnPreviousContext(this: ActiveContext): ActiveContext {
  return this.previousContext ?? this
}

/** The result of applying a context to an active context, with the warnings to repeat. */
interface ProcessedContext {
  context: ActiveContext
  events: object[]
}

/** A processed context takes up to 50 KB. The credentials of one issuer need about 30. */
const MAX_PROCESSED_CONTEXTS = 400

/** Processed contexts by the numbers of the context and of the active context, the least recently used ones first. */
const processedContexts = new Map<string, ProcessedContext>()

const contextNumbers = new WeakMap<object, number>()
let lastContextNumber = 0

function contextNumber(context: object): number {
  let number = contextNumbers.get(context)
  if (number === undefined) {
    number = ++lastContextNumber
    contextNumbers.set(context, number)
  }
  return number
}

/** A context of a document, in the form that `jsonld` expects. */
class ResolvedContext {
  readonly document: object | null
  /** Whether the document names the context by its address. */
  readonly #isBundled: boolean

  constructor(document: object | null, isBundled = false) {
    this.document = document
    this.#isBundled = isBundled
  }

  getProcessed(activeContext: ActiveContext): ProcessedContext | undefined {
    if (appliedContexts.get(activeContext)?.has(this)) return { context: activeContext, events: [] }
    const key = this.#key(activeContext)
    const processed = processedContexts.get(key)
    if (!processed) return undefined
    processedContexts.delete(key)
    processedContexts.set(key, processed)
    return processed
  }

  setProcessed(activeContext: ActiveContext, processed: ProcessedContext): void {
    const applied = appliedContexts.get(activeContext) ?? []
    if (this.#isBundled && isProtected(this.document))
      appliedContexts.set(processed.context, new Set([...applied, this]))
    else if (this.#isBundled || definesOnlyTerms(this.document))
      appliedContexts.set(processed.context, new Set(applied))
    processedContexts.set(this.#key(activeContext), processed)
    if (processedContexts.size > MAX_PROCESSED_CONTEXTS)
      processedContexts.delete(processedContexts.keys().next().value!)
  }

  /**
   * Before `jsonld` applies the context of a type, it copies the active context and stores the original as the previous context. All
   * these copies of a context are equal.
   */
  #key(activeContext: ActiveContext): string {
    const { previousContext } = activeContext
    const isCopy = activeContext instanceof ContextCopy && activeContext.original === previousContext
    return `${contextNumber(this)} ${isCopy ? `copy ${contextNumber(previousContext)}` : contextNumber(activeContext)}`
  }
}

/**
 * The bundled contexts of the document that an active context consists of. Their terms are protected, so applying one of them again
 * changes nothing.
 */
const appliedContexts = new WeakMap<ActiveContext, ReadonlySet<ResolvedContext>>()

const resolvedContexts = new WeakMap<object, ResolvedContext>()

/**
 * Resolves contexts for `jsonld` (its option `contextResolver`), from the bundled contexts only. The resolver of the package looks up the
 * contexts of types by their JSON text and processes them again for every object; and its cache of 100 contexts is emptied by
 * documents with contexts of their own.
 */
export const contextResolver = {
  async resolve({ context }: { context: unknown }): Promise<ResolvedContext[]> {
    const resolved: ResolvedContext[] = []
    for (const entry of Array.isArray(context) ? context : [context]) resolved.push(...(await resolveContext(entry)))
    return resolved
  },
}

async function resolveContext(context: unknown): Promise<ResolvedContext[]> {
  if (typeof context === 'string') {
    const document = (await loadContexts()).get(context)
    if (!document) throw new Error(`The JSON-LD context ${context} is not one of the bundled contexts.`)
    return [(document as { '@context': unknown })['@context']].flat().flatMap((entry) => resolveObject(entry, true))
  }
  return resolveObject(context, false)
}

function resolveObject(context: unknown, isBundled: boolean): ResolvedContext[] {
  if (context === null) return [new ResolvedContext(null)]
  if (!isJsonObject(context))
    throw new Error('A JSON-LD context must be the address of a bundled context, or an object.')
  let resolved = resolvedContexts.get(context)
  if (!resolved) {
    resolved = new ResolvedContext(context, isBundled)
    resolvedContexts.set(context, resolved)
    if (isBundled) addScopedContexts(context)
  }
  return [resolved]
}

function isProtected(context: object | null): boolean {
  return isJsonObject(context) && context['@protected'] === true
}

/** The contexts of types and properties in the bundled contexts. They may change the meaning of protected terms. */
const scopedContexts = new WeakSet<object>()

function addScopedContexts(context: JsonObject): void {
  for (const definition of Object.values(context)) {
    if (!isJsonObject(definition)) continue
    for (const scoped of [definition['@context']].flat()) {
      if (!isJsonObject(scoped)) continue
      scopedContexts.add(scoped)
      addScopedContexts(scoped)
    }
  }
}

/** Returns whether an inline context only gives addresses to terms; a check accepts no others, and only new terms. */
function definesOnlyTerms(context: object | null): boolean {
  return (
    isJsonObject(context) &&
    !scopedContexts.has(context) &&
    Object.entries(context).every(([term, address]) => !term.startsWith('@') && /^https?:/.test(String(address)))
  )
}
