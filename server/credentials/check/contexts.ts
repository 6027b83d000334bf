import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { loadContexts } from '../proof/contexts.ts'
import { asArray } from './credential-text.ts'

/** Contexts in nested credentials, such as endorsements, are processed again at each position. */
const MAX_CONTEXTS = 40
const MAX_NEW_TERMS = 16

/** The terms of the bundled contexts, and the addresses that they stand for. */
interface Vocabulary {
  terms: Set<string>
  addresses: Set<string>
}

let bundledVocabulary: Promise<Vocabulary> | undefined

/**
 * Returns why the contexts of a credential are not accepted; undefined if they are. Only bundled contexts are, and inline contexts that
 * define new terms with new addresses. With another name for `validUntil`, for example, a holder could hide it from this check, although
 * the signature stays valid.
 */
export async function findContextError(document: JsonObject): Promise<string | undefined> {
  const contexts = collectContexts(document)
  if (contexts.length > MAX_CONTEXTS) return `The credential has more than ${MAX_CONTEXTS} contexts.`
  const bundled = await loadContexts()
  bundledVocabulary ??= collectVocabulary()
  const vocabulary = await bundledVocabulary
  for (const context of contexts) {
    if (typeof context === 'string') {
      if (!bundled.has(context))
        return `The credential uses the context ${context.slice(0, 200)}, which is not bundled with this server. Contexts are never fetched.`
    } else if (!definesOnlyNewTerms(context, vocabulary))
      return 'The inline @context redefines known terms, or contains other definitions than terms. Only new terms are supported.'
  }
  return undefined
}

function collectContexts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(collectContexts)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, entry]) =>
    name === '@context' ? (entry === null ? [null] : asArray(entry)) : collectContexts(entry),
  )
}

function definesOnlyNewTerms(context: unknown, { terms, addresses }: Vocabulary): boolean {
  if (!isJsonObject(context)) return false
  const definitions = Object.entries(context)
  return (
    definitions.length <= MAX_NEW_TERMS &&
    definitions.every(
      ([term, address]) =>
        /^[\w-]+$/.test(term) &&
        !terms.has(term) &&
        typeof address === 'string' &&
        /^https?:\/\/\S+$/.test(address) &&
        // A term whose address ends like this is a prefix.
        !/[/#?]$/.test(address) &&
        !addresses.has(address),
    )
  )
}

/** Returns all terms that the bundled contexts define, also those that are defined only inside certain types. */
async function collectVocabulary(): Promise<Vocabulary> {
  const terms = new Set<string>()
  const definedAddresses = new Set<string>()
  const prefixes = new Map<string, string>()
  function collect(context: unknown) {
    for (const entry of asArray(context)) {
      if (!isJsonObject(entry)) continue
      for (const [term, definition] of Object.entries(entry)) {
        const address = isJsonObject(definition) ? definition['@id'] : definition
        terms.add(term)
        if (typeof address === 'string') {
          definedAddresses.add(address)
          if (/[/#]$/.test(address)) prefixes.set(term, address)
        }
        if (isJsonObject(definition)) collect(definition['@context'])
      }
    }
  }
  for (const document of (await loadContexts()).values()) collect((document as JsonObject)['@context'])
  const addresses = new Set(definedAddresses)
  for (const address of definedAddresses) {
    const [, prefix, suffix] = /^([\w-]+):(?!\/\/)(.*)$/.exec(address) ?? []
    if (prefix !== undefined && prefixes.has(prefix)) addresses.add(prefixes.get(prefix)! + suffix)
  }
  return { terms, addresses }
}
