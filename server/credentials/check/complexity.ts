import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { asArray } from './credential-text.ts'

/**
 * The signature of a Data Integrity proof can be verified only after canonicalisation, so that a credential with a wrong signature
 * costs as much as a genuine one. Therefore its cost is estimated first, from what the libraries do with each part: the numbers are
 * microseconds, measured on a machine that parses the body of `test/support/cpu-limit.ts` in 3.5 ms. The complete example of the Open
 * Badges specification costs about 4,400 (estimated by counting its objects and values).
 */
const MAX_COST = 4500
const COST_OF_SIGNATURE = 700
const COST_OF_OBJECT = 24
/** Of an object that cannot be told apart from an earlier one by its own values. */
const COST_OF_EQUAL_OBJECT = 35
const COST_OF_VALUE = 1
/** A value is compared with the earlier ones of the same property of the same node. */
const COST_OF_COMPARISON = 0.036
const COST_OF_CHARACTER = 0.02
/** Of embedded pictures, which are addresses, and of status lists. */
const COST_OF_DATA_CHARACTER = 0.027
const COST_OF_ESCAPED_CHARACTER = 0.13
/** Of a bundled context in an unusual place, which often has been processed for another credential. */
const COST_OF_CONTEXT = 150
const COST_OF_INLINE_CONTEXT = 500
/** Of a bundled context after an inline one, so that it has to be processed again. */
const COST_OF_CONTEXT_AFTER_INLINE = 2000
/** Of the terms that belong to a type, if they have to be processed again. */
const COST_OF_TYPE = 100

/** A fetched status list may be longer than a submitted credential, and has only a few other values. */
const MAX_COUNTED_LIST_CHARACTERS = 128 * 1024

/** The contexts that apply to an object. */
interface Scope {
  /** Identifies the list of contexts. */
  key: string
  bundled: ReadonlySet<string>
  hasInline: boolean
}

/** Returns why a credential is too expensive to canonicalise; undefined if it is not. */
export function findComplexityError(document: JsonObject): string | undefined {
  const cost = estimateCost(document)
  return cost > MAX_COST
    ? `The credential is too complex: checking its proof would take ${(cost / MAX_COST).toFixed(1)} times as long as is allowed. Ask the issuer for a VC-JWT, which may be larger.`
    : undefined
}

function estimateCost(document: JsonObject): number {
  let cost = COST_OF_SIGNATURE
  let objects = 0
  const valueCounts = new Map<string, number>()
  /** Contexts and types that are processed only once. */
  const processed = new Set<string>()
  const blankNodes = new Set<string>()
  walkObject(document, { key: '', bundled: new Set(), hasInline: false }, true)
  for (const count of valueCounts.values()) cost += count * count * COST_OF_COMPARISON
  return cost

  function walkObject(object: JsonObject, outerScope: Scope, isRoot = false) {
    cost += COST_OF_OBJECT
    const scope = '@context' in object ? enterContexts(object['@context'], outerScope, isRoot) : outerScope
    addTypes(object.type, scope)
    const node = typeof object.id === 'string' ? object.id : `_:${++objects}`
    if (typeof object.id !== 'string') addBlankNode(object)
    for (const [name, value] of Object.entries(object)) {
      if (name === '@context') continue
      const count = walkValue(value, name, scope)
      const key = `${node} ${name}`
      valueCounts.set(key, (valueCounts.get(key) ?? 0) + count)
    }
  }

  function addBlankNode(object: JsonObject) {
    const key = Object.entries(object)
      .map(([name, value]) => (typeof value === 'object' ? name : `${name} ${value}`))
      .join('\n')
    if (blankNodes.has(key)) cost += COST_OF_EQUAL_OBJECT
    blankNodes.add(key)
  }

  /** Returns the number of values. */
  function walkValue(value: unknown, name: string, scope: Scope): number {
    if (Array.isArray(value)) {
      let count = 0
      for (const entry of value) count += walkValue(entry, name, scope)
      return count
    }
    cost += COST_OF_VALUE
    if (typeof value === 'string') cost += costOfText(value, name)
    else if (isJsonObject(value)) walkObject(value, scope)
    return 1
  }

  function enterContexts(contexts: unknown, outer: Scope, isRoot: boolean): Scope {
    const bundled = new Set(outer.bundled)
    let { key, hasInline } = outer
    for (const [index, context] of asArray(contexts).entries()) {
      if (typeof context === 'string' && bundled.has(context)) continue
      key += ` ${JSON.stringify(context)}`
      const isUsual = isRoot && index < 2 && typeof context === 'string'
      if (!isUsual && !processed.has(key))
        cost +=
          typeof context !== 'string'
            ? COST_OF_INLINE_CONTEXT
            : hasInline
              ? COST_OF_CONTEXT_AFTER_INLINE
              : COST_OF_CONTEXT
      processed.add(key)
      if (typeof context === 'string') bundled.add(context)
      else hasInline = true
    }
    return { key, bundled, hasInline }
  }

  function addTypes(type: unknown, { key, hasInline }: Scope) {
    const types = asArray(type).map(String).sort()
    const typesKey = `${key} ${JSON.stringify(types)}`
    if (processed.has(typesKey)) return
    processed.add(typesKey)
    cost += COST_OF_TYPE * Math.max(0, hasInline ? types.length : types.length - 1)
  }
}

function costOfText(text: string, name: string): number {
  if (name === 'encodedList') return Math.min(text.length, MAX_COUNTED_LIST_CHARACTERS) * COST_OF_DATA_CHARACTER
  if (text.startsWith('data:')) return text.length * COST_OF_DATA_CHARACTER
  return text.length * COST_OF_CHARACTER + countEscaped(text) * COST_OF_ESCAPED_CHARACTER
}

/** Counts the characters that N-Quads escapes. */
function countEscaped(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f || code === 0x22 || code === 0x5c) count++
  }
  return count
}
