import { deserialize, serialize } from 'node:v8'
import { MentionFinder } from './extract/mention-finder.ts'
import { FormTable, Trie } from './extract/mention-tables.ts'
import { PunctuatedNames } from './extract/punctuated-names.ts'
import { KeyedLists } from './labels/keyed-lists.ts'
import type { SkillEntry } from './labels/labels.ts'
import { NearWords } from './labels/near-words.ts'
import { Vocabulary } from './labels/vocabulary.ts'
import { LabelOverlaps } from './match/label-overlaps.ts'
import { Paraphrases } from './match/paraphrases.ts'
import { type IndexParts, SkillIndex } from './skill-index.ts'
import { WordTable } from './text/word-table.ts'
import { LabelVectors } from './vectors/label-vectors.ts'
import { wordVectors } from './vectors/word-vectors.ts'

/**
 * Converts the parts of an index to bytes and back. Restoring an index takes a few per cent of the time of building it. The bytes:
 *
 * - bytes 0 to 7: the length of the structure
 * - the structure: objects, lists and strings, in the format of `v8.serialize`
 * - the numbers of all typed arrays, each from a multiple of 8 bytes on. Restored arrays are views of these bytes, which are not copied.
 *
 * Bytes of another version of Node.js or of this code, or for other skills, must not be restored.
 */

interface StorableObject {
  storedParts(): readonly unknown[]
}

interface StoredClass {
  type: { readonly prototype: StorableObject }
  /** Creates an instance from the values that `storedParts` returned. */
  restore: (...parts: never) => StorableObject
}

const STORED_CLASSES: Readonly<Record<string, StoredClass>> = {
  FormTable: { type: FormTable, restore: FormTable.restore },
  KeyedLists: { type: KeyedLists, restore: (...parts: Stored<KeyedLists>) => new KeyedLists(...parts) },
  LabelOverlaps: { type: LabelOverlaps, restore: (...parts: Stored<LabelOverlaps>) => new LabelOverlaps(...parts) },
  LabelVectors: { type: LabelVectors, restore: (...parts: Stored<LabelVectors>) => new LabelVectors(...parts) },
  MentionFinder: { type: MentionFinder, restore: (...parts: Stored<MentionFinder>) => new MentionFinder(...parts) },
  NearWords: { type: NearWords, restore: (...parts: Stored<NearWords>) => new NearWords(...parts) },
  Paraphrases: { type: Paraphrases, restore: (...parts: Stored<Paraphrases>) => new Paraphrases(...parts) },
  PunctuatedNames: {
    type: PunctuatedNames,
    restore: (...parts: Stored<PunctuatedNames>) => new PunctuatedNames(...parts),
  },
  Trie: { type: Trie, restore: Trie.restore },
  Vocabulary: { type: Vocabulary, restore: (...parts: Stored<Vocabulary>) => new Vocabulary(...parts) },
  WordTable: { type: WordTable, restore: WordTable.restore },
}
type Stored<T extends StorableObject> = ReturnType<T['storedParts']>

const ARRAY_TYPES = { Float32Array, Float64Array, Int32Array, Uint8Array, Uint16Array }
type NumberArray = InstanceType<(typeof ARRAY_TYPES)[keyof typeof ARRAY_TYPES]>

/** Stands for a typed array, an instance of a class or an object that is not stored. No other stored object has the property `kind`. */
type Placeholder =
  | { kind: 'numbers'; type: keyof typeof ARRAY_TYPES; at: number; length: number }
  | { kind: 'instance'; className: string; parts: unknown[] }
  | { kind: 'model' | 'names' }

const LENGTH_BYTES = 8
const ALIGNMENT = 8

/** Returns the stored parts of an index, as consecutive pieces. */
export function storeIndex({ parts }: SkillIndex): Uint8Array[] {
  const numbers: Uint8Array[] = []
  let numbersLength = 0
  const structure = serialize(mapGraph(parts, toPlaceholder))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeDoubleLE(structure.length)
  return [length, structure, padding(LENGTH_BYTES + structure.length), ...numbers]

  function toPlaceholder(value: object, mapPart: (part: unknown) => unknown): object | undefined {
    if (value === wordVectors()) return { kind: 'model' }
    if (value === parts.labels.names) return { kind: 'names' }
    if (ArrayBuffer.isView(value)) {
      const { buffer, byteOffset, byteLength, length } = value as NumberArray
      const placeholder: Placeholder = { kind: 'numbers', type: arrayTypeOf(value), at: numbersLength, length }
      const pad = padding(byteLength)
      numbers.push(new Uint8Array(buffer, byteOffset, byteLength), pad)
      numbersLength += byteLength + pad.length
      return placeholder
    }
    if (!isStorable(value)) return undefined
    const className = Object.keys(STORED_CLASSES).find((name) => STORED_CLASSES[name]!.type === value.constructor)
    if (!className) throw new Error(`instances of ${value.constructor.name} cannot be stored`)
    return { kind: 'instance', className, parts: value.storedParts().map(mapPart) }
  }
}

/** Restores an index of these skills, which must be sorted by number. The index keeps `bytes`, which begin at a multiple of 8 bytes. */
export function restoreIndex(bytes: Uint8Array, entries: readonly SkillEntry[]): SkillIndex {
  const structureEnd = LENGTH_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true)
  const numbersStart = bytes.byteOffset + structureEnd + padding(structureEnd).length
  const fromPlaceholder = (value: object, mapPart: (part: unknown) => unknown): object | undefined => {
    if (!('kind' in value)) return undefined
    const placeholder = value as Placeholder
    if (placeholder.kind === 'numbers') {
      const { type, at, length } = placeholder
      return new ARRAY_TYPES[type](bytes.buffer as ArrayBuffer, numbersStart + at, length)
    }
    if (placeholder.kind === 'instance')
      return STORED_CLASSES[placeholder.className]!.restore(...(placeholder.parts.map(mapPart) as never))
    return placeholder.kind === 'model' ? wordVectors() : entries.map(({ name }) => name)
  }
  return new SkillIndex(
    mapGraph(deserialize(bytes.subarray(LENGTH_BYTES, structureEnd)), fromPlaceholder) as IndexParts,
  )
}

/**
 * Copies a graph of objects, lists and maps. `replace` may return another object for an object. An object that is referenced several times is
 * copied once.
 */
function mapGraph(
  root: unknown,
  replace: (value: object, mapPart: (part: unknown) => unknown) => object | undefined,
): unknown {
  const copies = new Map<object, object>()
  const mapPart = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    let copy = copies.get(value)
    if (!copy) {
      copy = replace(value, mapPart) ?? copyOf(value)
      copies.set(value, copy)
    }
    return copy
  }
  const copyOf = (value: object): object => {
    if (value instanceof Map) return new Map(Array.from(value, ([key, item]) => [key, mapPart(item)]))
    if (Array.isArray(value)) return isListOfObjects(value) ? value.map(mapPart) : value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapPart(item)]))
  }
  return mapPart(root)
}

function isListOfObjects(list: unknown[]): boolean {
  return typeof list[0] === 'object'
}

function isStorable(value: object): value is StorableObject {
  return 'storedParts' in value
}

function arrayTypeOf(value: object): keyof typeof ARRAY_TYPES {
  const { name } = value.constructor
  if (!(name in ARRAY_TYPES)) throw new Error(`a ${name} cannot be stored`)
  return name as keyof typeof ARRAY_TYPES
}

/** Returns the bytes that follow a piece of this length, so that the next one begins at a multiple of 8 bytes. */
function padding(length: number): Uint8Array {
  return new Uint8Array((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT)
}
