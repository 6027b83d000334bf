import { loadBundledContext } from './contexts.ts'

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

/** Copies the same properties as the function that it replaces, but shares the term definitions and the previous context. */
function cloneContext(this: ActiveContext): ActiveContext {
  const copy: ActiveContext = {
    mappings: new Map(this.mappings),
    protected: { ...this.protected },
    inverse: null,
    getInverse: this.getInverse,
    clone: this.clone,
    revertToPreviousContext: this.revertToPreviousContext,
  }
  if (this.previousContext) copy.previousContext = this.previousContext
  if ('@base' in this) copy['@base'] = this['@base']
  if ('@language' in this) copy['@language'] = this['@language']
  if ('@vocab' in this) copy['@vocab'] = this['@vocab']
  return copy
}

function returnPreviousContext(this: ActiveContext): ActiveContext {
  return this.previousContext ?? this
}
